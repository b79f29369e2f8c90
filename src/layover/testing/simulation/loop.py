"""An event loop in virtual time, on one thread, in which a seed decides who goes first.

Within a life callbacks run first in, first out, as asyncio promises; between lives chance chooses, as the scheduler of
a machine does. When no life has anything to do, time goes on to the next moment that one of them waits for.

Each life has a lane of callbacks that are ready. The loop keeps the list of lanes that are not empty, and timers in a
heap of its own, because these two are asked for at every step of a run.
"""

from __future__ import annotations

import asyncio
import heapq
from asyncio import base_events
from collections import Counter, deque
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple

from layover.testing.simulation.handles import Ready, Timer
from layover.testing.simulation.lives import LIFE, Lane
from layover.testing.simulation.trace import AT_ONCE

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextvars import Context
    from random import Random

    from layover.testing.simulation.lives import Life
    from layover.testing.simulation.trace import Trace

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_A_STEP = 0.000_02  # seconds: nothing takes no time
_LOOKED_AT = 1_000  # steps beyond the most: who makes them is told
_ANY_NUMBER = 10**9  # of looks that see nothing


def ring_unless_cancelled(rings: asyncio.Future[T], what: T) -> None:
    """Wake who sleeps, unless that was cancelled at the same moment."""
    if not rings.done():
        rings.set_result(what)


class Deadlocked(RuntimeError):  # noqa: N818 - it says what the world is
    """No callback is ready and no timer is set: nothing will ever happen again."""


class Endless(RuntimeError):  # noqa: N818 - it says what the run is
    """A run makes more steps than any run needs: some task goes round without waiting."""


class SimulatedLoop(base_events.BaseEventLoop):
    """Runs the callbacks of several lives in turn."""

    _stopping: bool  # what the event loop of the standard library knows of being told to stop

    def __init__(self, chance: Random, trace: Trace, *, shuffled: bool = False, most_steps: int = 10**12) -> None:
        super().__init__()
        self._chance = chance
        self._trace = trace
        self._shuffled = shuffled  # also within a life, which asyncio does not promise: what that finds is to be judged
        self._now = 0.0
        self._timers: list[tuple[float, int, Timer]] = []
        self._timed = 0  # timers that were ever set: of those for one moment the first goes first
        self._nobody = Lane("")  # what belongs to no life
        self._busy: list[Lane] = []  # lanes with something in them, in the order in which they came to it
        self._buried: list[Any] = []
        self._stops_until = 0.0  # after it no life stands still
        self.steps = 0
        self._most_steps = most_steps
        self._last: Counter[str] = Counter()  # who made the steps beyond the most

    def time(self) -> float:
        """Return the time, in seconds since the beginning."""
        return self._now

    def bury(self, life: Life) -> None:
        """End a life here and now."""
        life.dead = True
        if life.ready:
            self._buried.append(life.ready)
            life.ready = deque()
            self._busy.remove(life)

    def stop_life(self, life: Life, until: float) -> None:
        """Run nothing of a life until a moment."""
        life.stopped_until = max(life.stopped_until, until)
        self._stops_until = max(self._stops_until, until)

    # What asyncio asks of a loop

    def call_soon(self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None) -> Ready:
        """Have something called as soon as its life is at it."""
        lane = (LIFE.get() if context is None else context.get(LIFE)) or self._nobody
        handle = Ready(callback, args, context)
        if lane.dead:
            self._buried.append(handle)  # whatever is let go of would run its `finally`
            return handle
        if not lane.ready:
            self._busy.append(lane)
        lane.ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon  # all of it is on one thread

    def call_at(
        self,
        when: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> Timer:
        """Have something called at a moment."""
        handle = Timer(when, callback, args, context)
        self._timed = timed = self._timed + 1
        heapq.heappush(self._timers, (when, timed, handle))
        return handle

    def call_later(
        self,
        delay: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> Timer:
        """Have something called after a while."""
        return self.call_at(self._now + delay, callback, *args, context=context)

    def ring(self, when: float, callback: Callable[[], object], later: Callable[[], float | None], most: int) -> Timer:
        """Have something called at a moment; as long as there is a later one, at that, at most so many times."""
        handle = Timer(when, callback, (), None)
        handle.unless(later, most)
        self._add(handle)
        return handle

    async def sleep_while(self, idle: Callable[[], bool], seconds: float, most: int) -> None:
        """Sleep; at the end, if that is so, do so again without a step, at most so many times."""
        rings: asyncio.Future[None] = self.create_future()
        handle = self.ring(
            self._now + seconds,
            lambda: ring_unless_cancelled(rings, None),
            lambda: handle.at + seconds if idle() else None,
            most,
        )
        try:
            await rings
        finally:
            handle.cancel()

    async def look_until(self, wait: Callable[[], float], look: Callable[[], T | None]) -> T:
        """Look after each wait until there is something to see; looks that see nothing are no steps."""
        rings: asyncio.Future[T] = self.create_future()
        seen: list[T] = []

        def later() -> float | None:
            if (found := look()) is None:
                return self._now + wait()
            seen.append(found)
            return None

        handle = self.ring(self._now + wait(), lambda: ring_unless_cancelled(rings, seen[0]), later, _ANY_NUMBER)
        try:
            return await rings
        finally:
            handle.cancel()

    def _add(self, handle: Timer) -> None:
        self._timed += 1
        heapq.heappush(self._timers, (handle.at, self._timed, handle))

    # Steps

    def _run_once(self) -> None:
        """Run callbacks until the loop is told to stop; let time pass whenever there is none."""
        timers, busy, chance = self._timers, self._busy, self._chance.random
        moment, word = self._trace.moments.append, self._trace.word
        while not self._stopping:
            now = self._now
            if timers and timers[0][0] <= now:
                self._ring()
            able = busy if now >= self._stops_until else [one for one in busy if one.stopped_until <= now]
            if not able:
                self._now = max(now, self._next_moment())
                continue
            lane = able[0] if len(able) == 1 else able[int(chance() * len(able))]
            ready = lane.ready
            if self._shuffled and len(ready) > 1:
                ready.rotate(-int(chance() * len(ready)))
            handle = ready.popleft()
            if not ready:
                busy.remove(lane)
            if handle.gone:
                continue
            self._now = now = now + _A_STEP
            self.steps = steps = self.steps + 1
            moment(now)
            word(lane.name)
            if not steps % AT_ONCE or steps > self._most_steps:
                self._look_at(lane, handle.call)
            try:
                handle.context.run(handle.call, *handle.args)
            except (SystemExit, KeyboardInterrupt):
                raise
            except BaseException as error:  # noqa: BLE001 - as the loop of the standard library does
                self.call_exception_handler({"message": f"Exception in callback {handle!r}", "exception": error})

    def _look_at(self, lane: Lane, callback: Any) -> None:
        """Take steps into the hash; look who still makes some beyond the most, and end the run."""
        if not self.steps % AT_ONCE:
            self._trace.digest()
        if self.steps <= self._most_steps:
            return
        task = getattr(callback, "__self__", None)
        of = task.get_coro() if isinstance(task, asyncio.Task) else callback
        self._last[f"{getattr(of, '__qualname__', type(of).__name__)} of {lane.name or 'nobody'}"] += 1
        if self.steps > self._most_steps + _LOOKED_AT:
            often = ", ".join(f"{one} ({count})" for one, count in self._last.most_common(3))
            raise Endless(f"{self._most_steps:,} steps, and no end; the last {_LOOKED_AT:,} are mostly {often}")

    def _ring(self) -> None:
        """Put timers whose moment has come into the lanes of those they belong to."""
        timers, now, nobody = self._timers, self._now, self._nobody
        while timers and timers[0][0] <= now:
            handle = heapq.heappop(timers)[2]
            if handle.gone:
                continue
            if handle.left and handle.passes_over():
                self._add(handle)
                continue
            lane = handle.context.get(LIFE) or nobody
            if lane.dead:
                self._buried.append(handle)
                continue
            if not lane.ready:
                self._busy.append(lane)
            lane.ready.append(handle)

    def _next_moment(self) -> float:
        timers = self._timers
        while timers and timers[0][2].gone:
            heapq.heappop(timers)
        if timers and not self._busy:
            return timers[0][0]
        moments = [lane.stopped_until for lane in self._busy]
        if timers:
            moments.append(timers[0][0])
        if not moments:
            raise Deadlocked("Nothing will ever happen again.")
        return min(moments)

    # What a loop with a selector does

    def _write_to_self(self) -> None:
        """Do nothing: there is one thread, which is awake."""

    def _process_events(self, event_list: list[Any]) -> None:
        """Do nothing: no file is watched."""
