"""Functions that are not async: each has a thread before it starts, and threads that hang are replaced."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest

from layover.core.engine import events as ev
from layover.nodes.context import NodeContext  # noqa: TC001 - the registry reads the annotation
from layover.nodes.probes import Happened
from layover.ports.commit_points import CommitPoint, watch
from layover.runtime.runtime import Runtime
from layover.stores.memory import MemoryDatabase, MemoryStore
from layover.testing.virtual_time import VirtualClock, VirtualTime
from tests.runtime.dispatch.test_leases import steal
from tests.runtime.harness import (
    HandWound,
    Held,
    call,
    engine_at,
    engine_on,
    fan_out,
    flow,
    look,
    settings_with,
    store_in,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

HOUR = 3_600_000
MANY = 200
NEVER = {"poll": HOUR, "command_poll": HOUR}


class Gate:
    """A function that is not async: its calls are inside until the test opens the gate."""

    def __init__(self, name: str = "work") -> None:
        self.__name__ = name
        self.entered: list[str] = []
        self.opened = threading.Event()
        self._entered = threading.Semaphore(0)

    def __call__(self, context: NodeContext) -> str:
        self.entered.append(context.context_id)
        self._entered.release()
        assert self.opened.wait(60)
        return context.context_id

    async def until_entered(self, count: int) -> None:
        """Wait until so many more calls are inside."""
        for _ in range(count):
            assert await asyncio.to_thread(self._entered.acquire, timeout=60)


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.opened.set()


def virtual(time: VirtualTime, *nodes: Callable[..., object], **settings: object) -> Runtime:
    """Return an engine whose time passes when the test says so."""
    chosen = settings_with(**{**NEVER, "lease_ttl": 1_000 * HOUR, **settings})
    return Runtime(MemoryStore(MemoryDatabase(time)), nodes=nodes, settings=chosen, clock=VirtualClock(time))


async def events_of(engine: Runtime, execution_id: str) -> list[ev.AnyEvent]:
    return [entry.event for entry in await engine.queries.history(execution_id, limit=10_000)]


def timed_out(events: list[ev.AnyEvent]) -> set[str]:
    return {one.node for one in events if isinstance(one, ev.NodeFailed) and one.error.code == "timeout"}


async def until(engine: Runtime, execution_id: str, wanted: Callable[[list[ev.AnyEvent]], bool]) -> list[ev.AnyEvent]:
    """Return the events of an execution once they are as wanted."""
    while not wanted(found := await events_of(engine, execution_id)):
        pass
    return found


async def until_abandoned(engine: Runtime, count: int) -> None:
    """Wait until so many threads are abandoned."""
    while engine.instance.node_runner.threads.abandoned != count:
        await asyncio.to_thread(bool)  # as long as it takes another thread to be heard


async def test_a_call_without_a_thread_is_queued_and_its_timeout_does_not_run(gate: Gate) -> None:
    time = VirtualTime()
    body = call("a", timeout="3s")
    async with virtual(time, gate, threads=4, abandoned_threads=0) as engine:
        await engine.workflows.register(flow(fan_out(body, on_failure="continue"), name="wide"))
        started = await engine.executions.start("wide", list(range(MANY)))
        await gate.until_entered(4)
        running = {one.node for one in await events_of(engine, started.id) if isinstance(one, ev.NodeStarted)}
        assert running - {"each"} == set(gate.entered)

        time.pass_to(time.now + 4_000)
        late = timed_out(await until(engine, started.id, lambda events: len(timed_out(events)) == 4))
        assert late == set(gate.entered)
        gate.opened.set()
        await engine.executions.wait(started.id)
        assert timed_out(await events_of(engine, started.id)) <= set(gate.entered)
        assert len(gate.entered) == len(set(gate.entered)) == MANY


async def test_no_call_is_entered_after_a_pause_was_accepted(tmp_path: Path, gate: Gate) -> None:
    async with engine_at(tmp_path, gate, threads=2) as engine:
        await engine.workflows.register(flow(fan_out(call("a"))))
        started = await engine.executions.start("flow", list(range(MANY)))
        await gate.until_entered(2)
        await engine.control.pause(started.id, "lunch")
        gate.opened.set()
        await engine.executions.wait(started.id, "rest")
        assert len(gate.entered) == 2
        await engine.control.resume(started.id)
        await engine.executions.wait(started.id)
        assert len(set(gate.entered)) == MANY


async def test_hung_threads_are_replaced_and_come_back(gate: Gate) -> None:
    time = VirtualTime()

    def other() -> str:
        return "well"

    async with virtual(time, gate, other, threads=2, abandoned_threads=2) as engine:
        threads = engine.instance.node_runner.threads
        await engine.workflows.register(flow(call("a", timeout="3s"), name="hangs"))
        await engine.workflows.register(flow(call("a", "other")))
        hung = [await engine.executions.start("hangs") for _ in range(2)]
        await gate.until_entered(2)
        time.pass_to(time.now + 4_000)
        for one in hung:
            assert (await engine.executions.wait(one.id)).status == "failed"
        assert (threads.abandoned, threads.free) == (2, 2)
        assert (await engine.executions.start("flow", wait="end")).output == "well"

        gate.opened.set()
        await until_abandoned(engine, 0)
        assert (threads.free, threads.lacking) == (2, 0)


async def test_beyond_the_bound_hung_threads_are_missing_and_why_says_so(gate: Gate) -> None:
    time = VirtualTime()

    def other() -> str:
        return "well"

    async with virtual(time, gate, other, threads=2, abandoned_threads=1) as engine:
        await engine.workflows.register(flow(call("a", timeout="3s"), name="hangs"))
        await engine.workflows.register(flow(call("a", "other")))
        for count in (2, 1):  # the second time, one has taken the place of one that hangs
            hung = [await engine.executions.start("hangs") for _ in range(count)]
            await gate.until_entered(count)
            time.pass_to(time.now + 4_000)
            for one in hung:
                assert (await engine.executions.wait(one.id)).status == "failed"
        waiting = await engine.executions.start("flow")
        why = await engine.queries.why(waiting.id)
        assert "2 of 2 threads are held by calls that were given up" in why.summary
        assert engine.instance.node_runner.threads.lacking == 2
        gate.opened.set()
        assert await engine.executions.result(waiting.id) == "well"


@pytest.mark.parametrize(("taken", "attempts"), [(True, [2]), (False, [1])])
async def test_a_late_thread_makes_its_call_only_if_no_other_instance_took_over(
    tmp_path: Path, taken: bool, attempts: list[int]
) -> None:
    clock, standing = HandWound(), Standing(CommitPoint.CALL_IN_THREAD)
    entered: list[int] = []

    def late(context: NodeContext) -> None:
        entered.append(context.attempt)

    with standing:
        async with engine_on(clock.store(tmp_path), late, **{**NEVER, "lease_ttl": 30_000}) as engine:
            await engine.workflows.register(flow(call("a", "late")))
            started = await engine.executions.start("flow")
            await standing.reached()
            clock.now += 60_000
            engine.instance.clock.set(clock.now)
            lease = await steal(engine, started.id) if taken else None
            engine.instance.driver.freed.clear()
            standing.goes_on()
            await engine.instance.driver.freed.wait()
            if lease is not None:
                assert entered == []
                await engine.instance.store.claims.release("thief", [lease], 0)
                look(engine)
            await engine.executions.wait(started.id)
    assert entered == attempts


async def test_a_call_that_was_stopped_before_its_thread_came_to_it_is_not_made(tmp_path: Path) -> None:
    standing, entered = Standing(CommitPoint.CALL_IN_THREAD), list[int]()

    def late(context: NodeContext) -> None:
        entered.append(context.attempt)

    with standing:
        async with engine_at(tmp_path, late) as engine:
            await engine.workflows.register(flow(call("a", "late")))
            started = await engine.executions.start("flow")
            await standing.reached()
            await engine.control.cancel(started.id)
            await until_abandoned(engine, 1)
            standing.goes_on()
            await until_abandoned(engine, 0)
    assert entered == []


async def test_a_call_that_was_not_entered_when_the_engine_stopped_is_not_made(tmp_path: Path) -> None:
    standing, entered = Standing(CommitPoint.CALL_IN_THREAD), list[int]()

    def late(context: NodeContext) -> None:
        entered.append(context.attempt)

    with standing:
        async with engine_at(tmp_path, late) as engine:
            await engine.workflows.register(flow(call("a", "late")))
            started = await engine.executions.start("flow")
            await standing.reached()
            await engine.stop(grace=0)
            standing.goes_on()
    async with engine_at(tmp_path, late) as engine:
        await engine.executions.wait(started.id)
    assert entered == [2]


async def test_a_probe_that_is_not_async_finds_a_thread_though_its_function_needs_none(tmp_path: Path) -> None:
    lost = Held()

    def looks() -> Happened:
        return Happened("found")

    async with engine_at(tmp_path, lost) as engine:
        await engine.workflows.register(flow(call("a", on_crash="probe")))
        started = await engine.executions.start("flow")
        await lost.begun()
        await engine.stop(grace=0)
    chosen = settings_with(threads=0)
    async with Runtime(store_in(tmp_path), nodes=[Held()], probes={"work": looks}, settings=chosen) as again:
        assert await again.executions.result(started.id) == "found"
        assert again.instance.node_runner.threads.taken == 0


class Standing:
    """Has a thread stand still at a moment until the test lets it go on."""

    def __init__(self, point: CommitPoint) -> None:
        self._point = point
        self._there, self._go_on = threading.Event(), threading.Event()

    def __enter__(self) -> None:
        watch(self._stand)

    def __exit__(self, *_: object) -> None:
        watch(None)
        self._go_on.set()

    def _stand(self, point: CommitPoint) -> None:
        if point is self._point and not self._go_on.is_set():
            self._there.set()
            assert self._go_on.wait(60)

    async def reached(self) -> None:
        assert await asyncio.to_thread(self._there.wait, 60)

    def goes_on(self) -> None:
        self._go_on.set()
