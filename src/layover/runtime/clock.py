"""One time for all instances: the database's, kept up to date between looks by the clock that never jumps."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_LEAP = 1_000  # milliseconds; clocks that differ by less are put right without a word


class Clock:
    """Milliseconds UTC as the database has them; they never go back."""

    def __init__(self, running: Callable[[], int]) -> None:
        self._running = running
        self._offset: int | None = None
        self._last = 0
        self.leaps = 0  # milliseconds by which the time was set forward, all in all: nobody has lived through them

    def set(self, database_time: int) -> None:
        """Take over the time that the database has now."""
        before, self._offset = self._offset, database_time - self._running()
        if before is not None and self._offset - before > _LEAP:
            self.leaps += self._offset - before

    def now(self) -> int:
        """Return the time."""
        now = self._running() + (self._offset or 0)
        if now < self._last:
            return self._last
        self._last = now
        return now

    def call_at(self, at: int, ring: Callable[[], None]) -> asyncio.Handle:
        """Have something called at a moment; whatever waits for time to pass does so here."""
        return asyncio.get_running_loop().call_later(max(0, at - self.now()) / 1000, ring)

    @property
    def timers(self) -> asyncio.AbstractEventLoop:
        """Who keeps time for calls, which have no moments but only lengths."""
        return asyncio.get_running_loop()

    async def wait(self, until: int, hinted: asyncio.Event) -> None:
        """Return at a moment, or when somebody hints at something earlier."""
        ringing = self.call_at(until, hinted.set)
        try:
            await hinted.wait()
        finally:
            ringing.cancel()
