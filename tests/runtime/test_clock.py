"""The time of the database is known as well as its replies were quick: between an earliest and a latest moment."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, cast

import pytest

from layover.runtime.clock import Clock
from layover.runtime.runtime import Runtime
from tests.runtime.harness import HOUR, Between, HandWound, Held, call, flow, look, settings_with

if TYPE_CHECKING:
    from layover.ports.records import Claim, Claims
    from layover.ports.store import Store

DAY = 24 * HOUR
MINUTE = 60_000
ROUNDED = 1  # a millisecond, in which it may be later than it is told


class Running:
    """The clock of a machine that never jumps, wound by hand."""

    def __init__(self) -> None:
        self.now = 5_000

    def __call__(self) -> int:
        return self.now


class Database:
    """The time of a database, whose replies take their time on their way back."""

    clock_error = 0

    def __init__(self, running: Running, ahead: int = 1_000_000) -> None:
        self._running = running
        self.ahead = ahead
        self.request = self.reply = 0  # how long they are on their way

    @property
    def time(self) -> int:
        return self._running.now + self.ahead

    async def now(self) -> int:
        self._running.now += self.request
        told = self.time
        self._running.now += self.reply
        return told


async def ask(clock: Clock, database: Database, *, request: int = 0, reply: int = 0) -> None:
    database.request, database.reply = request, reply
    await clock.ask(cast("Store", database))


@pytest.mark.parametrize(("request_takes", "reply_takes"), [(0, 9_000), (9_000, 0), (4_000, 5_000)])
async def test_the_time_lies_between_what_a_slow_reply_tells_and_that_much_later(
    request_takes: int, reply_takes: int
) -> None:
    running = Running()
    clock, database = Clock(running), Database(running)
    await ask(clock, database, request=request_takes, reply=reply_takes)
    assert (clock.now(), clock.latest()) == (database.time - reply_takes, database.time + request_takes + ROUNDED)
    running.now += 70
    assert (clock.now(), clock.latest()) == (database.time - reply_takes, database.time + request_takes + ROUNDED)


@pytest.mark.parametrize(("request_takes", "reply_takes"), [(0, 9_000), (9_000, 0)])
async def test_a_slow_reply_does_not_widen_the_bounds_of_a_quick_one(request_takes: int, reply_takes: int) -> None:
    running = Running()
    clock, database = Clock(running), Database(running)
    await ask(clock, database)
    before = clock.now()
    await ask(clock, database, request=request_takes, reply=reply_takes)
    assert before + 8_900 <= clock.now() <= database.time <= clock.latest() <= before + 9_100


async def test_a_quick_reply_narrows_the_bounds_of_a_slow_one() -> None:
    running = Running()
    clock, database = Clock(running), Database(running)
    await ask(clock, database, reply=9_000)
    await ask(clock, database)
    assert clock.now() == clock.latest() - ROUNDED == database.time


async def test_without_quick_replies_the_bounds_widen_as_time_goes_by() -> None:
    running = Running()
    clock, database = Clock(running), Database(running)
    await ask(clock, database)
    running.now += DAY
    database.ahead -= 20_000  # the clocks have parted
    await ask(clock, database, reply=60_000)
    assert clock.now() <= database.time <= clock.latest()


async def test_the_time_never_goes_back_and_neither_does_the_latest() -> None:
    running = Running()
    clock, database = Clock(running), Database(running)
    await ask(clock, database)
    before = clock.now()
    database.ahead -= HOUR
    await ask(clock, database)
    assert clock.now() == clock.latest() == before


async def test_a_clock_that_may_be_wrong_is_so_in_both_directions() -> None:
    running = Running()
    clock, database = Clock(running), Database(running)
    database.clock_error = 40
    await ask(clock, database)
    assert (clock.now(), clock.latest()) == (database.time - 40, database.time + 40 + ROUNDED)


async def test_the_latest_time_allows_for_a_clock_that_is_slow() -> None:
    running = Running()
    clock, database = Clock(running), Database(running)
    await ask(clock, database)
    running.now += 12_700
    database.ahead += 12  # by which the clock of the machine has fallen behind
    assert clock.latest() >= database.time


async def test_the_earliest_time_allows_for_a_clock_that_is_fast() -> None:
    running = Running()
    clock, database = Clock(running), Database(running)
    await ask(clock, database)
    running.now += 12_700
    database.ahead -= 12
    assert clock.earliest() <= database.time
    assert clock.now() > database.time  # it is not said again, but nothing is claimed by it
    await ask(clock, database)
    assert clock.earliest() == database.time
    await ask(clock, database)  # which is no reason to trust what was told before
    assert clock.earliest() == database.time


async def test_the_earliest_time_does_not_follow_a_database_that_is_set_back() -> None:
    running = Running()
    clock, database = Clock(running), Database(running)
    await ask(clock, database)
    before = clock.now()
    database.ahead -= HOUR
    await ask(clock, database)
    assert clock.earliest() == before


# Leases


class Stopped(Between):
    """A store whose process is stopped for a minute, when the time has been told and nobody has read it yet."""

    def __init__(self, folder: Path, clock: HandWound, running: Running) -> None:
        self.clock = clock
        self.store = clock.store(folder)
        self._running = running
        self.stops = False
        self.looked = asyncio.Event()

    async def now(self) -> int:
        told = await self.store.now()
        if self.stops:
            self._running.now += MINUTE
            self.clock.now += MINUTE
        return told

    async def claims_claim(self, wish: Claim) -> Claims:
        assert wish.now <= self.clock.now
        claims = await self.store.claims.claim(wish)
        self.looked.set()
        return claims

    async def lease(self, execution_id: str) -> int:
        """Return for how long the lease on an execution lasts."""
        row = await self.store.queries.find_execution(execution_id)
        assert row is not None
        assert row.head.wake_at is not None
        return row.head.wake_at - self.clock.now


@pytest.mark.usefixtures("each_database")
async def test_no_call_begins_without_a_lease_though_the_time_came_late(tmp_path: Path) -> None:
    clock, running, work = HandWound(), Running(), Held()
    store = Stopped(tmp_path, clock, running)
    settings = settings_with(poll=HOUR, command_poll=HOUR, lease_ttl=MINUTE // 2)
    store.stops = True
    async with Runtime(cast("Store", store), nodes=[work], settings=settings, clock=Clock(running)) as engine:
        await store.looked.wait()
        store.stops = False
        await engine.workflows.register(flow(call("a"), call("b")))
        started = await engine.executions.start("flow")
        first = await work.begun()
        assert await store.lease(started.id) > 0
        store.stops = True
        await engine.instance.lease_renewer.renew_once()
        store.stops = False
        first.returns()
        await work.begun()
        assert await store.lease(started.id) > 0


@pytest.mark.usefixtures("each_database")
async def test_no_call_begins_without_a_lease_though_the_clock_of_its_machine_is_slow(tmp_path: Path) -> None:
    clock, running, work = HandWound(), Running(), Held()
    store = Stopped(tmp_path, clock, running)
    settings = settings_with(poll=HOUR, command_poll=HOUR, lease_ttl=MINUTE // 2)
    async with Runtime(cast("Store", store), nodes=[work], settings=settings, clock=Clock(running)) as engine:
        await store.looked.wait()
        await engine.workflows.register(flow(call("a"), call("b")))
        started = await engine.executions.start("flow")
        first = await work.begun()
        await engine.instance.lease_renewer.renew_once()
        clock.now += MINUTE // 2
        running.now += MINUTE // 2 - 10
        first.returns()
        await work.begun()
        assert await store.lease(started.id) > 0


@pytest.mark.usefixtures("each_database")
async def test_nothing_is_claimed_before_its_time_though_the_clock_of_the_machine_is_fast(tmp_path: Path) -> None:
    clock, running = HandWound(), Running()
    store = Stopped(tmp_path, clock, running)
    settings = settings_with(poll=HOUR, command_poll=HOUR, lease_ttl=MINUTE // 2)
    async with Runtime(cast("Store", store), settings=settings, clock=Clock(running)) as engine:
        await store.looked.wait()
        clock.now += MINUTE
        running.now += MINUTE + 30
        assert engine.instance.clock.now() > clock.now  # it was told to somebody
        store.looked.clear()
        look(engine)
        await store.looked.wait()  # the store has looked when it was claimed
