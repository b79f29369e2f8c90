"""One timer for one execution that is driven: it rings once, at the moment that it was last set to."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Alarm:
    """Calls back at a moment; setting it to the moment that it has costs nothing."""

    __slots__ = ("_at", "_handle", "_ring")

    def __init__(self, ring: Callable[[], None]) -> None:
        self._ring = ring
        self._at: int | None = None
        self._handle: asyncio.TimerHandle | None = None

    def set(self, at: int | None, now: int) -> None:
        """Ring at a moment (in milliseconds), or not at all."""
        if at == self._at:
            return
        self.clear()
        if at is not None:
            self._at = at
            self._handle = asyncio.get_running_loop().call_later(max(0, at - now) / 1000, self._rung)

    def clear(self) -> None:
        """Do not ring."""
        if self._handle is not None:
            self._handle.cancel()
        self._handle = self._at = None

    def _rung(self) -> None:
        self._handle = self._at = None
        self._ring()
