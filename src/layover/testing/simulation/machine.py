"""The machine of one life: its clock, its chance, its threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from layover.runtime.calls.threads import Threads, done
from layover.runtime.clock import Clock
from layover.runtime.machine import Machine
from layover.testing.simulation.idle import until_due
from layover.testing.simulation.lockstep import Lockstep, here

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from concurrent.futures import Future
    from random import Random

    from aiohttp import BaseConnector

    from layover.ports.store import Store
    from layover.runtime.calls.threads import Work
    from layover.runtime.dispatch.active_executions import Leases
    from layover.runtime.dispatch.standby import StandbyRenewer
    from layover.runtime.dispatch.watchdog import Watchdog
    from layover.testing.simulation.lives import Life
    from layover.tracing.tracer import Tracer

_MOST_PASSED_OVER = 9  # rounds in a row: now and then an idle service is seen at work
T = TypeVar("T")

_CALLS_PER_SECOND = 2.0  # of functions that are not async: they take half a second, more or less


class SimulatedMachine(Machine):
    """Gives an engine what its seed says."""

    def __init__(self, life: Life, chance: Random) -> None:
        super().__init__()
        self._life = life
        self.chance = chance
        self.connect = self._internet

    def running(self) -> int:
        """Return the clock of this life, which may be a little fast or slow."""
        return int((self._life.loop.time() * self._life.rate + self._life.boot) * 1000)

    def worked(self) -> int:
        """Return nothing: what a step takes of the processor is no part of a simulation."""
        return 0

    def name(self) -> str:
        """Return the name of the life."""
        return self._life.name

    def secret(self, count: int) -> bytes:
        """Return bytes that the seed knows."""
        return self.chance.randbytes(count)

    def clock(self) -> Clock:
        """Return the clock of an engine in this life."""
        return _SimulatedClock(self._life, self.running)

    async def pause(self, seconds: float, idle: Callable[[], bool]) -> None:
        """Pass over some rounds of a service that has nothing to do; as soon as it has, the next one comes in time."""
        await self._life.loop.sleep_while(idle, seconds, _MOST_PASSED_OVER)

    def _internet(self) -> BaseConnector:
        """Return what `http` nodes reach; only who has such nodes needs the library."""
        from layover.testing.simulation.internet import Internet  # noqa: PLC0415 - see above

        return Internet(self._life)

    def threads(self, most: int, replaced: int, on_return: Callable[[], None]) -> Threads:
        """Return threads of which one runs at a time."""
        return _SimulatedThreads(most, replaced, on_return, self._life)

    def watchdog(self, blocked_after: float) -> Watchdog | None:
        """Watch nothing: a loop that is blocked stands still as a whole."""

    def tracer(self) -> Tracer | None:
        """Make no spans: their ids are up to chance that no seed knows."""

    def standby(self, store: Store, leases: Leases) -> StandbyRenewer | None:
        """Renew nothing beside the event loop."""


class _SimulatedClock(Clock):
    """A service that would find nothing due waits on; now and then it wakes up all the same."""

    def __init__(self, life: Life, running: Callable[[], int]) -> None:
        super().__init__(running)
        self._life = life

    async def wait(self, until: int, hinted: asyncio.Event) -> None:
        """Return at a moment at which there may be something to do, or when a hint says so."""
        loop = self._life.loop
        moment = loop.time() + max(0, until - self.now()) / 1000
        ringing = loop.ring(moment, hinted.set, self._later, _MOST_PASSED_OVER)
        try:
            await hinted.wait()
        finally:
            ringing.cancel()

    def _later(self) -> float | None:
        """Return when to look again; None if something is driven here or due.

        An instance that has no line to the database, or stands still, wakes up and finds out.
        """
        life = self._life
        world, instance = life.world, life.instance
        now = life.loop.time()
        if instance is None or instance.driver.active or max(life.stopped_until, life.cut_until) > now:
            return None
        if max(life.deaf_until, world.down_until) > now:
            return None
        settings = world.mixture.settings
        at_most = min(settings.poll, settings.outbox_poll)
        wait = until_due(world.database, at_most)
        return now + wait / 1000 if wait > 0 else None


class _SimulatedThreads(Threads):
    """A function that is not async runs in lockstep with the event loop, and is said to have ended some time later."""

    def __init__(self, most: int, replaced: int, on_return: Callable[[], None], life: Life) -> None:
        super().__init__(most, replaced, on_return)
        self._world = life.world

    def until_done(self, future: Future[T]) -> T:
        """Wait on a thread for something that is done on the event loop."""
        return here().wait(future, self._loop.call_soon)

    def _hand_over(self, work: Work) -> None:
        """Have a thread take up a function: mostly at once, and now and then when others have left it a processor."""
        world = self._world
        delay = 0.0
        if world.loop.time() < world.heals_at and world.chance.random() < world.mixture.late_threads:
            world.counts["late_threads"] += 1
            delay = world.chance.uniform(0, 1.5) * world.mixture.settings.lease_ttl / 1000
        self._loop.call_later(delay, self._do, work)

    def _do(self, work: Work) -> None:
        """Have a function run until it returns, or waits for something."""
        told: list[Callable[[], None]] = []

        def ended() -> None:
            self._world.threads.pop(thread)
            (tell,) = told
            self._loop.call_later(self._world.chance.expovariate(_CALLS_PER_SECOND), self._ended, work, tell)

        thread = Lockstep(lambda: told.append(done(work)), ended)
        self._world.threads[thread] = None
        thread.begin()

    def stop(self) -> None:
        """Let go of nothing: who has nothing to do has no thread."""
