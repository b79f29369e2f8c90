"""How a reader ends early: with the one problem that makes all further reading guesswork."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from layover.core.definitions.tree import SourcePosition


class StopReading(Exception):  # noqa: N818 - it carries a problem to the reader's caller
    """Ends a reading; the reader reports the problem."""

    def __init__(self, code: str, place: SourcePosition, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.place = place
        self.message = message
