"""Time that stands still until a test lets it pass.

Whatever in the runtime waits for a moment does so by its clock. This one keeps those moments in a list; the test goes
from one to the next, and what is called there is called by the event loop, as anything else is.
"""

from __future__ import annotations

import asyncio
import contextvars
import heapq
from itertools import count
from typing import TYPE_CHECKING, NamedTuple, cast

from layover.runtime.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Callable

_BEGINNING = 1_767_225_600_000  # the first of January 2026: the same in every run


class _Moment(NamedTuple):
    at: int
    n: int
    handle: asyncio.Handle
    ring: Callable[[], None]
    context: contextvars.Context


def _ring(moment: _Moment) -> None:
    if not moment.handle.cancelled():
        moment.ring()


class VirtualTime:
    """The time of a test, in milliseconds UTC, and what is to happen when."""

    def __init__(self) -> None:
        self.now = _BEGINNING
        self.asleep = 0  # calls that wait for time to pass, and for nothing else
        self._moments: list[_Moment] = []
        self._numbers = count()
        self._lookers: set[asyncio.Event] = set()

    def __call__(self) -> int:
        """Return the time, as stores ask for it."""
        return self.now

    def call_at(self, at: int, ring: Callable[[], None]) -> asyncio.Handle:
        """Have something called at a moment."""
        context = contextvars.copy_context()
        handle = asyncio.Handle(ring, (), asyncio.get_running_loop(), context)
        heapq.heappush(self._moments, _Moment(at, next(self._numbers), handle, ring, context))
        return handle

    def next_due(self) -> int | None:
        """Return the next moment at which something is to happen."""
        while self._moments and self._moments[0].handle.cancelled():
            heapq.heappop(self._moments)
        return self._moments[0].at if self._moments else None

    def pass_to(self, at: int) -> None:
        """Let time pass to a moment, and call what is due by then, in its order."""
        self.now = max(self.now, at)
        loop = asyncio.get_running_loop()
        while (due := self.next_due()) is not None and due <= self.now:
            moment = heapq.heappop(self._moments)
            loop.call_soon(_ring, moment, context=moment.context)
        for hinted in self._lookers:
            hinted.set()

    async def look_at_every_step(self, hinted: asyncio.Event) -> None:
        """Return at a hint, or when time has passed at all."""
        self._lookers.add(hinted)
        try:
            await hinted.wait()
        finally:
            self._lookers.discard(hinted)

    async def sleep(self, milliseconds: int) -> None:
        """Let a call take a while."""
        over = asyncio.Event()
        ringing = self.call_at(self.now + milliseconds, over.set)
        self.asleep += 1
        try:
            await over.wait()
        finally:
            self.asleep -= 1
            ringing.cancel()

    def forget_all(self) -> None:
        """Forget the timers of an engine that is dead."""
        self._moments.clear()


class VirtualClock(Clock):
    """The clock of one engine, which goes by the time of the test."""

    def __init__(self, time: VirtualTime) -> None:
        super().__init__(lambda: time.now)
        self._time = time

    def set(self, database_time: int, *, asked_at: int | None = None, error: int = 0) -> None:
        """Stay as it is: the database goes by the same time."""

    def now(self) -> int:
        """Return the time."""
        return self._time.now

    def call_at(self, at: int, ring: Callable[[], None]) -> asyncio.Handle:
        """Have something called when the test has come to a moment."""
        return self._time.call_at(at, ring)

    @property
    def timers(self) -> asyncio.AbstractEventLoop:
        """Who keeps the time of the test for calls."""
        return cast("asyncio.AbstractEventLoop", VirtualTimers(self._time))

    async def wait(self, until: int, hinted: asyncio.Event) -> None:
        """Wait for a moment or a hint; a loop that polls all the time polls at every step instead."""
        if until <= self._time.now:
            await self._time.look_at_every_step(hinted)
        else:
            await super().wait(until, hinted)


class VirtualTimers:
    """As much of an event loop as knows about time, in seconds as event loops have it."""

    def __init__(self, time: VirtualTime) -> None:
        self._time = time
        self._loop = asyncio.get_running_loop()

    def time(self) -> float:
        """Return the time."""
        return self._time.now / 1000

    def call_later(self, delay: float, ring: Callable[[], None]) -> asyncio.Handle:
        """Have something called after a while."""
        return self._time.call_at(self._time.now + round(delay * 1000), ring)

    def call_at(self, when: float, ring: Callable[[], None]) -> asyncio.Handle:
        """Have something called at a moment."""
        return self._time.call_at(round(when * 1000), ring)

    def call_soon(self, ring: Callable[[], None]) -> asyncio.Handle:
        """Have something called as soon as everything else has been."""
        return self._loop.call_soon(ring)
