"""`configure_logging`: one handler at the root, which can be configured again.

Nothing else in Layover touches the configuration: a program that embeds an engine decides where its log goes.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING, Final, Literal, TextIO

from layover.errors import InvalidInput
from layover.logs.formatters import JsonFormatter, TextFormatter

if TYPE_CHECKING:
    from collections.abc import Mapping

LEVELS: Final = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
}
LogFormat = Literal["text", "json"]
FORMATS: Final = ("text", "json")


class ConfiguredHandler(logging.Handler):
    """Writes lines to a stream, or to what is standard error at that moment."""

    def __init__(self, stream: TextIO | None, formatter: logging.Formatter, levels: Mapping[str, int]) -> None:
        super().__init__()
        self._stream = stream
        self._levels = dict(levels)  # those of other loggers are added as they write
        self.setFormatter(formatter)

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line; not one that was only made for others, as those that are kept of nodes are."""
        least = self._levels.get(record.name)
        if record.levelno < (self._level_of(record.name) if least is None else least):
            return
        try:
            stream = self._stream if self._stream is not None else sys.stderr
            stream.write(f"{self.format(record)}\n")
            stream.flush()
        except Exception:  # noqa: BLE001 - as handlers do: a line that cannot be written fails nothing else
            self.handleError(record)

    def _level_of(self, logger: str) -> int:
        """Return the level of a logger for which none is set: that of the nearest one above it."""
        name = logger
        while name not in self._levels:
            name = name.rpartition(".")[0]
        found = self._levels[logger] = self._levels[name]
        return found


class _Configuration:
    """What was configured here, so that it can be undone."""

    def __init__(self) -> None:
        self._handler: ConfiguredHandler | None = None
        self._levels: dict[str, int] = {}  # of loggers, before they were changed here

    def replace(self, handler: ConfiguredHandler, levels: Mapping[str, int]) -> None:
        """Put a handler and levels in the place of earlier ones."""
        self.undo()
        self._handler = handler
        logging.getLogger().addHandler(handler)
        for name, level in levels.items():
            logger = logging.getLogger(name)
            self._levels[name] = logger.level
            logger.setLevel(level)

    def undo(self) -> None:
        """Leave logging as it was before."""
        if self._handler is not None:
            logging.getLogger().removeHandler(self._handler)
        for name, level in self._levels.items():
            logging.getLogger(name).setLevel(level)
        self._handler, self._levels = None, {}


_configuration: Final = _Configuration()


def configure_logging(
    level: str | int = "info",
    format: LogFormat = "text",  # noqa: A002 - the word of the field
    *,
    stream: TextIO | None = None,
) -> None:
    """Write log lines to a stream (by default standard error), as text for people or as JSON for machines.

    The level may name loggers, too: `info,layover.claimer=debug`. Lines that node functions write carry the ids of
    their call. Configuring again replaces what was configured here before, and nothing else.
    """
    levels = levels_of(level)
    if format not in FORMATS:  # Python passes whatever it is given
        raise _invalid("format", f"unknown format `{format}`: use `text` or `json`")
    target = stream if stream is not None else sys.stderr
    formatter = JsonFormatter() if format == "json" else TextFormatter(colour=_has_colours(target))
    _configuration.replace(ConfiguredHandler(stream, formatter, levels), levels)


def reset_logging() -> None:
    """Undo what `configure_logging` did."""
    _configuration.undo()


def levels_of(level: str | int) -> dict[str, int]:
    """Return the levels of loggers; the name of the root is empty."""
    if isinstance(level, int):
        return {"": level}
    levels = {"": logging.INFO}
    for part in filter(None, (part.strip() for part in level.split(","))):
        name, _, named = part.rpartition("=")
        levels[name.strip()] = _number_of(named)
    return levels


def _number_of(name: str) -> int:
    number = LEVELS.get(name.strip().lower())
    if number is None:
        raise _invalid("level", f"unknown level `{name.strip()[:40]}`: use {', '.join(LEVELS)}")
    return number


def _invalid(name: str, problem: str) -> InvalidInput:
    return InvalidInput(f"Logging: {problem}.", ((name, problem),), code="invalid_parameter")


def _has_colours(stream: TextIO) -> bool:
    """Return whether a stream shows colours: a terminal does, unless its user wants none."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()
