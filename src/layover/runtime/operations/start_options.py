"""Validates the options of a new execution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.signal_texts import is_writable
from layover.runtime.errors import InvalidInput

if TYPE_CHECKING:
    from layover.runtime.operations.executions import Options

_MOST_PRIORITY = 2**31  # a database keeps it in 32 bits


def check_options(options: Options) -> None:
    """Refuse what not every database could keep."""
    if not -_MOST_PRIORITY <= options.priority < _MOST_PRIORITY:
        raise _refused("priority", "it is a whole number of at most 32 bits")
    texts = {"user": (options.user or "",), "correlation_id": (options.correlation_id or "",), "tags": options.tags}
    for name, found in texts.items():
        if not all(map(is_writable, found)):
            raise _refused(name, "it is text without U+0000 and without half characters")


def _refused(name: str, message: str) -> InvalidInput:
    return InvalidInput(f"`{name}`: {message}.", ((name, message),))
