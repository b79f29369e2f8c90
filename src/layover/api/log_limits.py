"""Log lines that strangers can cause: not so many of them that nothing else is found, nor that the disk fills up."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class LogLimit:
    """Lets so many lines through in some seconds, and counts those that it leaves out."""

    def __init__(self, lines: int, seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._lines = lines
        self._seconds = seconds
        self._clock = clock
        self._since = clock()
        self._written = 0
        self._left_out = 0

    def take(self) -> int | None:
        """Return how many lines were left out before this one; None if this one is to be left out."""
        now = self._clock()
        if now - self._since >= self._seconds:
            self._since, self._written = now, 0
        if self._written >= self._lines:
            self._left_out += 1
            return None
        self._written += 1
        left_out, self._left_out = self._left_out, 0
        return left_out
