"""An event loop in virtual time, on one thread, in which a seed decides who goes first.

Within a life callbacks run first in, first out, as asyncio promises; between lives chance chooses, as the scheduler of
a machine does. When nobody has anything to do, time goes on to the next moment that somebody waits for.
"""

from __future__ import annotations

import asyncio
import heapq
from asyncio import base_events
from collections import Counter, deque
from typing import TYPE_CHECKING, Any

from layover.testing.simulation.lives import LIFE

if TYPE_CHECKING:
    from random import Random

    from layover.testing.simulation.lives import Life
    from layover.testing.simulation.trace import Trace

_A_STEP = 0.000_02  # seconds: nothing takes no time
_LOOKED_AT = 1_000  # steps beyond the most: who makes them is told


class Deadlocked(RuntimeError):  # noqa: N818 - it says what the world is
    """Nobody has anything to do, and nobody waits for a moment: nothing will ever happen again."""


class Endless(RuntimeError):  # noqa: N818 - it says what the run is
    """More steps are made than any run needs: whoever makes them waits for nothing."""


class SimulatedLoop(base_events.BaseEventLoop):
    """Runs the callbacks of several lives in turn."""

    # What the event loop of the standard library keeps; there is no other way to order callbacks.
    _ready: deque[Any]
    _scheduled: list[Any]
    _stopping: bool

    def __init__(self, chance: Random, trace: Trace, *, shuffled: bool = False, most_steps: int = 10**12) -> None:
        super().__init__()
        self._chance = chance
        self._trace = trace
        self._shuffled = shuffled  # also within a life, which asyncio does not promise: what that finds is to be judged
        self._now = 0.0
        self._lanes: dict[Life | None, deque[Any]] = {}
        self._buried: list[Any] = []
        self.steps = 0
        self._most_steps = most_steps
        self._last: Counter[str] = Counter()  # who made the steps beyond the most

    def time(self) -> float:
        """Return the time, in seconds since the beginning."""
        return self._now

    def bury(self, life: Life) -> None:
        """End a life here and now."""
        life.dead = True
        self._buried.extend(self._lanes.pop(life, ()))

    def _run_once(self) -> None:
        """Run one callback; let time pass first if there is none."""
        able = self._able()
        while not able and not self._stopping:
            self._now = max(self._now, self._next_moment())
            able = self._able()
        if not able:
            return
        life = able[0] if len(able) == 1 else able[int(self._chance.random() * len(able))]
        lane = self._lanes[life]
        if self._shuffled and len(lane) > 1:
            lane.rotate(-int(self._chance.random() * len(lane)))
        handle = lane.popleft()
        if handle.cancelled():
            return
        self._now += _A_STEP
        self.steps += 1
        callback = handle._callback  # noqa: SLF001 - what it is called is part of what happened
        name = getattr(callback, "__qualname__", None) or type(callback).__name__
        self._trace.step(f"{self._now:.6f}{life.name if life is not None else ''}{name}")
        if self.steps > self._most_steps:
            self._goes_on_and_on(life, callback, name)
        handle._run()  # noqa: SLF001 - as the loop of the standard library does

    def _goes_on_and_on(self, life: Life | None, callback: Any, name: str) -> None:
        """Look who still makes steps, and end the run."""
        task = getattr(callback, "__self__", None)
        what = getattr(task.get_coro(), "__qualname__", name) if isinstance(task, asyncio.Task) else name
        self._last[f"{what} of {life.name if life is not None else 'nobody'}"] += 1
        if self.steps > self._most_steps + _LOOKED_AT:
            often = ", ".join(f"{one} ({count})" for one, count in self._last.most_common(3))
            raise Endless(f"{self._most_steps:,} steps, and no end; the last {_LOOKED_AT:,} are mostly {often}")

    def _able(self) -> list[Life | None]:
        """Return the lives that have something to do now."""
        self._sort()
        now = self._now
        return [life for life, lane in self._lanes.items() if lane and (life is None or life.stopped_until <= now)]

    def _sort(self) -> None:
        """Put what is due into the lanes of those it belongs to."""
        scheduled, ready = self._scheduled, self._ready
        while scheduled and (scheduled[0].when() <= self._now or scheduled[0].cancelled()):
            handle = heapq.heappop(scheduled)
            handle._scheduled = False  # noqa: SLF001 - as the loop of the standard library does
            ready.append(handle)
        while ready:
            handle = ready.popleft()
            if handle.cancelled():
                continue
            life = handle._context.get(LIFE)  # noqa: SLF001 - a handle tells nobody whose it is
            if life is not None and life.dead:
                self._buried.append(handle)
            else:
                self._lanes.setdefault(life, deque()).append(handle)

    def _next_moment(self) -> float:
        moments = [life.stopped_until for life, lane in self._lanes.items() if lane and life is not None]
        if self._scheduled:
            moments.append(self._scheduled[0].when())
        if not moments:
            raise Deadlocked("Nothing will ever happen again.")
        return min(moments)

    # What a loop with a selector does

    def _write_to_self(self) -> None:
        """Wake nobody: all of it is on one thread."""

    def _process_events(self, event_list: list[Any]) -> None:
        """Do nothing: no file is watched."""

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Leave it where it is: it is passed over when its moment comes."""
