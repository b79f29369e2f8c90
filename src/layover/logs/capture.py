"""Keeping what node functions log: the lines of each attempt, bounded, until they are written.

A handler at the root of `logging` takes the lines that are written inside a call whose engine keeps them. It only puts
them aside; they are masked, packed and written later, on the loop of the engine. Of an attempt that logs more than
may be kept, the first and the last half are, and it is counted how many lines are missing between them. What is in the
last half changes while an attempt runs: its lines are written as they come, and removed again by later ones.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

from layover.logs.configuration import ConfiguredHandler
from layover.logs.context import CURRENT_CALL
from layover.logs.fields import extra_of, message_of
from layover.logs.formatters import field_text
from layover.masking import Masker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

NODE_LOGGER: Final = "layover.node"  # what `context.log` is
MOST_LINES: Final = 1_000  # of an attempt; a little more while they are in chunks
MOST_CHARACTERS: Final = 2_000  # of a line
MOST_HELD: Final = 32_000_000  # characters that an instance holds until they are written
HALF: Final = MOST_LINES // 2
_OF_A_LINE: Final = 200  # characters that each line counts besides its text


class CapturedLine(NamedTuple):
    """A line that a node function has logged."""

    at: int  # milliseconds
    level: str
    logger: str
    text: str


class TakenLines(NamedTuple):
    """Lines of an attempt that are to be written: of its first half, and after those that were dropped of its last."""

    first: list[CapturedLine]
    last: list[CapturedLine]
    dropped: int


class LineRoom:
    """How many characters of lines an instance may still hold; `lock` guards all of its lines, on any thread."""

    def __init__(self, most: int = MOST_HELD) -> None:
        self.left = most
        self.lock = threading.Lock()

    def give_back(self, lines: Iterable[CapturedLine]) -> None:
        """Note that lines were written, or are lost."""
        with self.lock:
            self.left += sum(map(_size, lines))


class AttemptLines:
    """The lines of one attempt that are not written yet; `on_first` is called, on any thread, when there are any."""

    __slots__ = ("_count", "_first", "_is_told", "_last", "_on_first", "_room", "dropped")

    def __init__(self, room: LineRoom, on_first: Callable[[AttemptLines], None]) -> None:
        self._room = room
        self._on_first = on_first
        self._first: list[CapturedLine] = []
        self._last: deque[CapturedLine] = deque()
        self._is_told = False
        self._count = 0
        self.dropped = 0

    def add(self, line: CapturedLine) -> None:
        """Take a line; on any thread."""
        room, size = self._room, _size(line)
        with room.lock:
            self._count += 1
            if len(self._last) == HALF:
                room.left += _size(self._last.popleft())
                self.dropped += 1
            if room.left < size:
                self.dropped += 1
            else:
                room.left -= size
                (self._first if self._count <= HALF else self._last).append(line)
            is_told, self._is_told = self._is_told, True
        if not is_told:
            self._on_first(self)

    @property
    def has_any(self) -> bool:
        """Whether anything was logged, ever."""
        return self._count > 0

    def take(self) -> TakenLines:
        """Return the lines that are to be written."""
        with self._room.lock:
            self._is_told = False
            taken = TakenLines(self._first, list(self._last), self.dropped)
            self._first, self.dropped = [], 0
            self._last.clear()
            return taken


class CapturingHandler(logging.Handler):
    """Puts aside what is logged inside a call."""

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record of a call whose engine keeps its lines; our own lines are in the log already."""
        call = CURRENT_CALL.get()
        lines = getattr(call, "lines", None)
        if not isinstance(lines, AttemptLines) or (record.name.startswith("layover.") and record.name != NODE_LOGGER):
            return
        try:
            text = message_of(record)
            for name, value in extra_of(record).items():
                text = f"{text} {name}={field_text(value)}"
            if record.exc_info:
                text = f"{text}\n{_plain.formatException(record.exc_info)}"
        except Exception:  # noqa: BLE001 - a line that cannot be formatted fails nothing
            self.handleError(record)
            return
        masker = getattr(call, "masker", None)
        if isinstance(masker, Masker):
            text = masker.text(text[: MOST_CHARACTERS + masker.margin])
        cut = text[: MOST_CHARACTERS * 2]  # the rest is cut when credentials are masked
        lines.add(CapturedLine(int(record.created * 1000), record.levelname.lower(), record.name, cut))


class _Capturing:
    """The handler at the root, and the levels of loggers as they were before it came."""

    def __init__(self) -> None:
        self._handler = CapturingHandler(logging.INFO)
        self._engines = 0
        self._before: dict[str, int] = {}

    def start(self) -> None:
        self._engines += 1
        if self._engines > 1:
            return
        root = logging.getLogger()
        # A handler of the program writes what reaches the root, so its level is left alone then. Ours knows its levels.
        is_ours = all(isinstance(handler, ConfiguredHandler) for handler in root.handlers)
        root.addHandler(self._handler)
        self._set(NODE_LOGGER, logging.INFO)
        if is_ours and root.level > logging.INFO:
            if logging.getLogger("layover").level == logging.NOTSET:
                self._set("layover", root.level)  # what no handler writes is not made either
            self._set("", logging.INFO)

    def stop(self) -> None:
        self._engines -= 1
        if self._engines:
            return
        logging.getLogger().removeHandler(self._handler)
        for name, level in self._before.items():
            logging.getLogger(name).setLevel(level)
        self._before = {}

    def _set(self, name: str, level: int) -> None:
        logger = logging.getLogger(name)
        self._before[name] = logger.level
        logger.setLevel(level)


_plain: Final = logging.Formatter()
_capturing: Final = _Capturing()


def start_capturing() -> None:
    """Keep lines from now on; once for each engine that does."""
    _capturing.start()


def stop_capturing() -> None:
    """Undo one start; without any left, logging is as it was before."""
    _capturing.stop()


def _size(line: CapturedLine) -> int:
    return len(line.text) + _OF_A_LINE
