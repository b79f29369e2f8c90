"""A signal and a wait that come at the same moment, twice, or while something fails: they meet, and meet once."""

from __future__ import annotations

import asyncio
from itertools import combinations
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, TypeVar

import pytest

from layover.bootstrap import open_store
from layover.ports.commit_points import CommitPoint
from layover.ports.errors import StoreUnavailable
from layover.ports.records import Append, AuditRow, Enqueue, Enqueued, OpenedPoint, Outcome, Refusal, Signal, Wait
from layover.stores.memory import MemoryDatabase, MemoryStore
from tests.conftest import FACTOR
from tests.runtime.harness import HOUR, Between, HandWound, Held, call, end, engine_on, fan_out, flow, until
from tests.runtime.operations import signal_race
from tests.runtime.operations.test_signals import THE_ID, is_heard, noticed, wait_for
from tests.servers.postgres import databases

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from layover.ports.access import WorkflowStatus
    from layover.ports.store import Store

T = TypeVar("T")
EACH = pytest.mark.usefixtures("each_database")


# A store that fails in between


class NobodyFound(Between):
    """A store that, while told so, cannot say who waits."""

    broken = False

    async def signals_list_waits(self, name: str, key: str) -> list[Wait]:
        if self.broken:
            raise StoreUnavailable("The line is dead.")
        return await self.store.signals.list_waits(name, key)


@EACH
async def test_a_signal_that_is_kept_is_accepted_and_dispatched_later(tmp_path: Path) -> None:
    store = NobodyFound(tmp_path)
    async with engine_on(store, outbox_poll=10) as engine:
        await engine.workflows.register(flow(wait_for(), THE_ID))
        started = await engine.executions.start("flow", wait="rest")
        store.broken = True
        told = await engine.signals.deliver("paid", id="s")
        assert (told.matched, told.repeated) == ((), False)
        store.broken = False
        now = engine.instance.clock.now()
        await engine.instance.signal_router.look(now + 2_000)
        assert await engine.executions.result(started.id) == "s"
        assert await store.signals.list_undispatched(2**60, 10) == []


@EACH
async def test_all_that_were_left_are_dispatched_at_one_look(tmp_path: Path) -> None:
    store = NobodyFound(tmp_path)
    async with engine_on(store, outbox_poll=HOUR) as engine:
        await engine.workflows.register(flow(fan_out(wait_for(key="${item}")), end("${size(nodes.each)}")))
        keys = [str(n) for n in range(250)]
        started = await engine.executions.start("flow", keys, wait="rest")
        store.broken = True
        for key in keys:
            await engine.signals.deliver("paid", key)
        store.broken = False
        await engine.instance.signal_router.look(engine.instance.clock.now() + 2_000)
        assert await store.signals.list_undispatched(2**60, 10) == []
        assert await engine.executions.result(started.id) == 250


class ScansFirst(Between):
    """A store in which a wait finds a signal by looking back before the signal finds the wait."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.kept, self.ended = asyncio.Event(), asyncio.Event()

    async def signals_add(self, signal: Signal, audit: AuditRow | None = None) -> bool:
        is_new = await self.store.signals.add(signal, audit)
        self.kept.set()
        return is_new

    async def signals_list_since(self, name: str, key: str, since: int) -> list[Signal]:
        await self.kept.wait()
        return await self.store.signals.list_since(name, key, since)

    async def signals_list_waits(self, name: str, key: str) -> list[Wait]:
        await self.ended.wait()
        return await self.store.signals.list_waits(name, key)


@EACH
async def test_an_execution_that_takes_a_signal_by_looking_back_is_matched(tmp_path: Path) -> None:
    store = ScansFirst(tmp_path)
    async with engine_on(store) as engine:
        await engine.workflows.register(flow(wait_for(lookback="1h"), THE_ID))
        started = await engine.executions.start("flow", wait="rest")
        sending = asyncio.create_task(engine.signals.deliver("paid", id="s"))
        assert await engine.executions.result(started.id) == "s"
        store.ended.set()
        assert (await sending).matched == (started.id,)


# The race


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def stores(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Store, Store]]:
    memory, kind = MemoryDatabase(), request.param
    address = databases.address() if kind == "postgres" else f"sqlite:///{tmp_path / 'layover.db'}"
    one, other = (MemoryStore(memory) if kind == "memory" else open_store(address) for _ in range(2))
    await one.open("one")
    await other.open("other")
    yield one, other
    await one.close()
    await other.close()
    databases.give_back()


async def test_a_signal_and_a_wait_meet_once_in_every_order_and_crash(stores: tuple[Store, Store]) -> None:
    for n, order in enumerate(signal_race.orders(), start=1):
        await signal_race.begin(stores[1], n)
        met = await signal_race.race(*stores, n, order)
        assert met == ("s" in order and "w" in order), order


async def test_a_signal_and_a_wait_that_go_at_once_meet_once(stores: tuple[Store, Store]) -> None:
    for n in range(1, 300 * FACTOR + 1):
        await signal_race.begin(stores[1], n)
        assert await signal_race.race_at_once(*stores, n) == 1


class Weighing(Between):
    """A store that notes how much it is asked to take at once."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.most = self.heaviest = 0

    async def commands_enqueue(
        self, commands: Sequence[Enqueue], now: int, status: WorkflowStatus | None = None
    ) -> list[Enqueued | Refusal]:
        self.most = max(self.most, len(commands))
        self.heaviest = max(self.heaviest, sum(len(one.body) for one in commands))
        return await self.store.commands.enqueue(commands, now, status)


@EACH
@pytest.mark.parametrize(("count", "size"), [(150, 1), (40, 200_000)])
async def test_a_wait_that_looks_back_reads_signals_in_batches(tmp_path: Path, count: int, size: int) -> None:
    store = Weighing(tmp_path)
    async with engine_on(store) as engine:
        last = f"signal.data.n == {count - 1}"
        await engine.workflows.register(flow(wait_for(lookback="1h", filter=last), end("${nodes.settled.data.n}")))
        for n in range(count):
            await engine.signals.deliver("paid", data={"n": n, "weight": "x" * size})
        started = await engine.executions.start("flow")
        assert await engine.executions.result(started.id) == count - 1
        assert 1 < store.most <= 100
        assert store.heaviest < 5_000_000


class Forgetful(Between):
    """A store that, while told so, cannot note that a signal was dispatched."""

    broken = False

    async def signals_mark_dispatched(self, ids: Sequence[str]) -> None:
        if self.broken:
            raise StoreUnavailable("The line is dead.")
        await self.store.signals.mark_dispatched(ids)


@EACH
async def test_a_signal_that_is_dispatched_again_does_not_match_later_waits(tmp_path: Path) -> None:
    store = Forgetful(tmp_path)
    async with engine_on(store, outbox_poll=HOUR) as engine:
        await engine.workflows.register(flow(wait_for(id_="first"), wait_for(id_="second"), end("${nodes.second.id}")))
        started = await engine.executions.start("flow", wait="rest")
        store.broken = True
        assert (await engine.signals.deliver("paid", id="s1")).id == "s1"
        await until(engine, started.id, lambda head: head.owner is None and head.last_seq > started.last_seq)
        store.broken = False
        await engine.instance.signal_router.look(engine.instance.clock.now() + 2_000)
        await is_heard(engine, started.id)
        await engine.signals.deliver("paid", id="s2")
        assert await engine.executions.result(started.id) == "s2"


@EACH
@pytest.mark.parametrize("ahead", [0, 5_000])
async def test_the_sender_of_a_signal_may_have_a_clock_that_is_ahead(tmp_path: Path, ahead: int) -> None:
    clock, work = HandWound(), Held()
    waits = flow(wait_for(id_="first"), wait_for(id_="second"))["nodes"]
    branches = [{"id": "busy", "body": [call("a")]}, {"id": "waits", "body": waits}]
    both: dict[str, object] = {"id": "both", "type": "parallel", "branches": branches}
    concurrent = {"resume": "concurrent"}
    async with engine_on(clock.store(tmp_path), work) as engine, engine_on(clock.store(tmp_path)) as other:
        await engine.workflows.register(flow(both, end("${nodes.both.waits.id}"), settings=concurrent))
        with noticed(CommitPoint.MESSAGES_SENT) as scanned:
            started = await engine.executions.start("flow")
            running = await work.begun()  # so it is driven here, whoever tells it something
            await scanned.wait()
        other.instance.clock.set(clock.now + ahead)
        with noticed(CommitPoint.MESSAGES_SENT) as scanned:
            await other.signals.deliver("paid", id="s1")
            await scanned.wait()
        await until(engine, started.id, lambda head: head.commands_done == head.commands_seq)
        await engine.signals.deliver("paid", id="s2")
        running.returns()
        assert await engine.executions.result(started.id) == "s2"


# Two engines


class Stepped(Between):
    """A store whose calls of some names are held, each until it is let go."""

    def __init__(self, folder: Path, *names: str) -> None:
        super().__init__(folder)
        self._let_go = {name: asyncio.Event() for name in names}
        self._done = {name: asyncio.Event() for name in names}

    async def let_go(self, name: str) -> None:
        """Let a call be made, and wait until it has been."""
        self._let_go[name].set()
        await self._done[name].wait()

    async def _held(self, name: str, make: Callable[[], Awaitable[T]]) -> T:
        if name not in self._done:
            return await make()
        await self._let_go[name].wait()
        try:
            return await make()
        finally:
            self._done[name].set()

    async def appends_commit(self, appends: Sequence[Append]) -> list[Outcome]:
        make = self.store.appends.commit
        if any(isinstance(one, OpenedPoint) for append in appends for one in append.points):
            return await self._held("commit", lambda: make(appends))
        return await make(appends)

    async def signals_list_since(self, name: str, key: str, since: int) -> list[Signal]:
        make = self.store.signals.list_since
        return await self._held("signals", lambda: make(name, key, since))

    async def signals_add(self, signal: Signal, audit: AuditRow | None = None) -> bool:
        make = self.store.signals.add
        return await self._held("keep_signal", lambda: make(signal, audit))

    async def signals_list_waits(self, name: str, key: str) -> list[Wait]:
        make = self.store.signals.list_waits
        return await self._held("waits", lambda: make(name, key))

    async def signals_mark_dispatched(self, ids: Sequence[str]) -> None:
        make = self.store.signals.mark_dispatched
        await self._held("dispatched", lambda: make(ids))


OF_WAIT, OF_SIGNAL = ("commit", "signals"), ("keep_signal", "waits", "dispatched")
PLACES = list(combinations(range(5), 2))


@EACH
@pytest.mark.parametrize("places", PLACES, ids=[f"{a}{b}" for a, b in PLACES])
async def test_two_engines_bring_signal_and_wait_together_in_every_order(
    tmp_path: Path, places: tuple[int, int]
) -> None:
    waiting, bringing = Stepped(tmp_path, *OF_WAIT), Stepped(tmp_path, *OF_SIGNAL)
    of_wait, of_signal = iter(OF_WAIT), iter(OF_SIGNAL)
    async with engine_on(waiting) as engine, engine_on(bringing, executions=0) as other:
        await engine.workflows.register(flow(wait_for(lookback="1m"), THE_ID))
        started = asyncio.create_task(engine.executions.start("flow"))
        told = asyncio.create_task(other.signals.deliver("paid", id="s"))
        for place in range(5):
            if place in places:
                await waiting.let_go(next(of_wait))
            else:
                await bringing.let_go(next(of_signal))
        assert not (await told).repeated
        assert await engine.executions.result((await started).id) == "s"
        assert await waiting.signals.list_undispatched(2**60, 10) == []
