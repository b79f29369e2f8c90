"""One time for all instances: that of the database, advanced between queries by the monotonic clock.

A reply has the time of the database at some unknown moment between the query and the reply. So there are two times: the
earliest that it may be now, and the latest. The earliest decides what is due and which leases of others have run out,
so that nothing is taken over too soon. The latest decides whether our own leases are still valid. Both move away from
each other as time passes, because the monotonic clock may be a little slow or fast.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.ports.store import Store

_DRIFT = 1_000  # two clocks may part by a millisecond in so many


class Clock:
    """The time of the database in milliseconds UTC; it never goes back."""

    def __init__(self, running: Callable[[], int]) -> None:
        self.running = running  # milliseconds of the clock that never jumps: only lengths of time can be told by it
        self._set_at: int | None = None
        self._least = self._most = 0  # by which the database may be ahead of the clock that never jumps
        self._last = 0
        self._ahead = 0  # milliseconds by which what was last told may be ahead, because our clock is fast

    async def ask(self, store: Store) -> None:
        """Take over the time of the database."""
        asked_at = self.running()
        told = await store.now()
        self.set(told, asked_at=asked_at, error=store.clock_error)

    def set(self, database_time: int, *, asked_at: int | None = None, error: int = 0) -> None:
        """Take over the time that the database had, with some error, at a moment since it was asked; or has now."""
        set_at = self.running()
        least = database_time - error - set_at
        most = database_time + error - (set_at if asked_at is None else asked_at)
        ahead = 0
        if self._set_at is not None:
            drift = self._drift()
            known_least, known_most = self._least - drift - 1, self._most + drift + 1
            if least <= known_most and known_least <= most:  # a slow reply does not unsay what a quick one has told
                least, most = max(least, known_least), min(most, known_most)
                ahead = max(drift, self._ahead - (set_at - self._set_at))
        self._least, self._most, self._set_at, self._ahead = least, most, set_at, ahead

    def now(self) -> int:
        """Return the time: by the clock of the database it is at least that late, if ours is not fast."""
        now = self.running() + self._least
        if now < self._last:
            return self._last
        self._last = now
        return now

    def earliest(self) -> int:
        """Return the earliest time that it may be by the clock of the database.

        What a fast clock has told as the time is taken back. If the database itself is set back, it is not: nothing
        would come due for as long.
        """
        drift = self._drift()
        return max(self.running() + self._least - drift, self.now() - self._ahead - drift)

    def latest(self) -> int:
        """Return the latest time that it may be by the clock of the database."""
        running, set_at = self.running(), self._set_at  # read once: every call that is made asks
        drift = (running - set_at) // _DRIFT if set_at is not None else 0
        now, latest = running + self._least, running + self._most + drift + 1  # milliseconds are rounded down
        if now < self._last:
            now = self._last
        else:
            self._last = now
        return max(now, latest)

    def _drift(self) -> int:
        """Return by how many milliseconds the clocks may have parted since the database told its time."""
        return (self.running() - self._set_at) // _DRIFT if self._set_at is not None else 0

    def call_at(self, at: int, ring: Callable[[], None]) -> asyncio.Handle:
        """Have something called at a moment; whatever waits for time to pass does so here."""
        return asyncio.get_running_loop().call_later(max(0, at - self.now()) / 1000, ring)

    @property
    def timers(self) -> asyncio.AbstractEventLoop:
        """Who keeps time for calls, which have no moments but only lengths."""
        return asyncio.get_running_loop()

    async def wait(self, until: int, hinted: asyncio.Event) -> None:
        """Return at a moment, or when a hint says that something is due earlier."""
        ringing = self.call_at(until, hinted.set)
        try:
            await hinted.wait()
        finally:
            ringing.cancel()
