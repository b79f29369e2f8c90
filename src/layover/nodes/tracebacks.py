"""Reads where a function failed out of its exception: places, never values. Nothing about the exception is trusted.

Bounded in every direction: the first and the last ten frames, eight exceptions behind it with six frames each, short
names and messages, and 8,000 bytes in all.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol, TypeAlias

import msgspec

from layover.nodes.http_errors import HttpError
from layover.tracebacks import Traceback, TracebackCause, TracebackFrame

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator
    from types import CodeType, FrameType, TracebackType

    from layover.nodes.function import AnyFunction

    How: TypeAlias = Literal["cause", "context", "member"]

MOST_BYTES: Final = 8_000
_ENDS: Final = 10  # frames at each end
_CAUSES: Final = 8
_DEEPEST: Final = 3  # causes of causes, or groups in groups
_NOTES: Final = 3
_LONGEST_FILE: Final = 160
_LONGEST_NAME: Final = 120
_OURS: Final = str(Path(__file__).parents[1]) + os.sep
_LIBRARIES: Final = ("site-packages", "dist-packages")


class Readable(Protocol):
    """What may be kept of the texts of an exception: short, and without credentials."""

    def message(self, error: BaseException, /) -> str:
        """Return the message of an exception."""

    def text(self, text: str, /) -> str:
        """Return another text of it."""


class _Room(NamedTuple):
    """How much of an exception is kept: frames at each end, and exceptions behind it."""

    ends: int
    ends_of_causes: int
    causes: int


_ROOMS: Final = (_Room(_ENDS, 3, _CAUSES), _Room(5, 1, _CAUSES), _Room(2, 1, 3), _Room(1, 1, 0))


def traceback_of(error: BaseException, function: AnyFunction | None, readable: Readable) -> Traceback | None:
    """Return where an exception was raised; None if it does not let itself be read.

    An error about a call that has no frames of the function, such as a result that is not JSON, has the place where the
    `function` is defined.
    """
    try:
        if isinstance(error, HttpError):  # which says itself what happened; behind it are frames of the library
            return Traceback(module=_module_of(error), request=error.request, answer=error.answer)
        for room in _ROOMS:
            found = _read(error, function, readable, room)
            if len(msgspec.json.encode(found)) <= MOST_BYTES:
                return found
    except BaseException:  # noqa: BLE001 - its attributes may be properties, which raise anything
        return _places(error)
    return None


def awaiting_frames(task: asyncio.Task[None]) -> tuple[TracebackFrame, ...]:
    """Return where the function that a task runs is waiting."""
    last: deque[TracebackFrame] = deque(maxlen=_ENDS)
    coroutine: object = task.get_coro()
    while coroutine is not None:
        frame: FrameType | None = getattr(coroutine, "cr_frame", None)
        if frame is not None and not frame.f_code.co_filename.startswith(_OURS):
            last.append(_frame(frame.f_code, frame.f_lineno))
        coroutine = getattr(coroutine, "cr_await", None)
    return tuple(last)


def _read(error: BaseException, function: AnyFunction | None, readable: Readable, room: _Room) -> Traceback:
    frames, left_out = _frames(error.__traceback__, room.ends)
    if not frames:
        frames = tuple(_definition(function)) or _own_frames(error.__traceback__, room.ends_of_causes)
    causes = []
    for cause, how in islice(_behind(error), room.causes):
        inner, inner_left_out = _frames(cause.__traceback__, room.ends_of_causes)
        causes.append(
            TracebackCause(
                type=type_name(cause),
                module=_module_of(cause),
                message=readable.message(cause),
                how=how,
                frames=inner,
                frames_left_out=inner_left_out,
                notes=_notes(cause, readable),
            )
        )
    return Traceback(
        module=_module_of(error),
        frames=frames,
        frames_left_out=left_out,
        notes=_notes(error, readable),
        causes=tuple(causes),
    )


def _places(error: BaseException) -> Traceback | None:
    """Return the frames alone, of an exception whose other attributes do not let themselves be read."""
    try:
        frames, left_out = _frames(error.__traceback__, 2)
        return Traceback(frames=frames, frames_left_out=left_out)
    except BaseException:  # noqa: BLE001 - as above
        return None


def _behind(error: BaseException) -> Iterator[tuple[BaseException, How]]:
    """Return the exceptions behind one, each before those behind it: causes, and the members of groups."""
    seen = {id(error)}
    waiting = [(one, how, 1) for one, how in reversed(_next(error))]
    while waiting:
        found, how, depth = waiting.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        yield found, how
        if depth < _DEEPEST:
            waiting += [(one, how, depth + 1) for one, how in reversed(_next(found))]


def _next(error: BaseException) -> list[tuple[BaseException, How]]:
    """Return the cause of an exception, and its members if it is a group."""
    found: list[tuple[BaseException, How]] = []
    if error.__cause__ is not None:
        found.append((error.__cause__, "cause"))
    elif error.__context__ is not None and not error.__suppress_context__:
        found.append((error.__context__, "context"))
    if isinstance(error, BaseExceptionGroup):
        found += [(member, "member") for member in error.exceptions[:_CAUSES]]
    return found


def _notes(error: BaseException, readable: Readable) -> tuple[str, ...]:
    notes: object = getattr(error, "__notes__", None)  # it may be set to anything
    if not isinstance(notes, list | tuple):
        return ()
    return tuple(readable.text(note) for note in notes[:_NOTES] if isinstance(note, str))


def _frames(trace: TracebackType | None, ends: int) -> tuple[tuple[TracebackFrame, ...], int]:
    """Return the first and the last frames that are not ours, and how many are between them."""
    first: list[tuple[CodeType, int]] = []
    last: deque[tuple[CodeType, int]] = deque(maxlen=ends)
    count = 0
    while trace is not None:
        code = trace.tb_frame.f_code
        if not code.co_filename.startswith(_OURS):
            count += 1
            (first if len(first) < ends else last).append((code, trace.tb_lineno))
        trace = trace.tb_next
    return tuple(_frame(code, line) for code, line in (*first, *last)), max(0, count - len(first) - len(last))


def _own_frames(trace: TracebackType | None, most: int) -> tuple[TracebackFrame, ...]:
    """Return the last frames, which are ours."""
    last: deque[tuple[CodeType, int]] = deque(maxlen=most)
    while trace is not None:
        last.append((trace.tb_frame.f_code, trace.tb_lineno))
        trace = trace.tb_next
    return tuple(_frame(code, line) for code, line in last)


def _definition(function: AnyFunction | None) -> Iterator[TracebackFrame]:
    """Return where a function is defined, if it is not ours."""
    of_object = vars(type(function)).get("__call__")
    for candidate in (function, getattr(function, "__wrapped__", None), of_object):
        code: CodeType | None = getattr(candidate, "__code__", None)
        if code is not None and not code.co_filename.startswith(_OURS):
            yield _frame(code, code.co_firstlineno)
            return


def _frame(code: CodeType, line: int | None) -> TracebackFrame:
    return TracebackFrame(_short_path(code.co_filename), line or 0, _storable(code.co_qualname)[-_LONGEST_NAME:])


def type_name(error: BaseException) -> str:
    """Return the name of the type of an exception, as far as it can be stored."""
    return _storable(type(error).__name__[:_LONGEST_NAME])


def _module_of(error: BaseException) -> str:
    return _storable(str(type(error).__module__)[:_LONGEST_NAME])


def _storable(name: str) -> str:
    """Return a name without halves of characters, which a file name that is not UTF-8 has."""
    return name if name.isascii() else name.encode(errors="backslashreplace").decode()


@lru_cache(maxsize=1024)
def _short_path(file: str) -> str:
    """Return a file relative to where it was imported from, or to the working directory if it belongs to the program.

    So a path says nothing about the machine, and a terminal can open those of the program.
    """
    roots = sorted((str(Path(root).absolute()) for root in sys.path), key=len, reverse=True)
    root = next((root for root in roots if file.startswith(root + os.sep)), None)
    here = str(Path.cwd())
    is_of_library = root is not None and (file.startswith(sys.base_prefix + os.sep) or root.endswith(_LIBRARIES))
    if file.startswith(here + os.sep) and not is_of_library:
        root = here
    short = file[len(root) + 1 :] if root is not None else str(Path(*Path(file).parts[-2:]))
    return _storable(short)[-_LONGEST_FILE:]
