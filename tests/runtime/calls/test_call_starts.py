"""A call is out from when its function is entered until it returns: its timeout counts that, and so does a pause."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from layover.nodes.context import NodeContext  # noqa: TC001 - the registry reads the annotation
from layover.ports.commit_points import CommitPoint
from layover.runtime.runtime import Runtime
from layover.stores.memory import MemoryDatabase, MemoryStore
from layover.stores.memory.appends import MemoryAppends
from layover.testing.virtual_time import VirtualClock, VirtualTime
from tests.runtime.calls.test_threads import HOUR, NEVER, Gate, Standing, gate
from tests.runtime.harness import Held, call, engine_at, fan_out, flow, settings_with

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from layover.ports.records import Append, Outcome
    from layover.stores.memory.session import MemorySession

__all__ = ["gate"]  # a fixture

TIMED = flow(call("a", timeout="5s"))
NAP = flow(call("a", "nap"), name="nap")


class Slow(MemoryStore):
    """A store whose commits are held up while a test wants it."""

    def __init__(self, time: VirtualTime) -> None:
        super().__init__(MemoryDatabase(time))
        self.goes_on, self.asked = asyncio.Event(), asyncio.Event()
        self.goes_on.set()
        self.appends = _SlowAppends(self, self._session)


class _SlowAppends(MemoryAppends):
    def __init__(self, store: Slow, session: MemorySession) -> None:
        super().__init__(session)
        self._store = store

    async def commit(self, appends: Sequence[Append]) -> list[Outcome]:
        self._store.asked.set()
        await self._store.goes_on.wait()
        return await super().commit(appends)


async def nap() -> None:
    """Do nothing."""


def virtual(store: Slow, time: VirtualTime, *nodes: Callable[..., object]) -> Runtime:
    chosen = settings_with(**NEVER, lease_ttl=1_000 * HOUR)
    return Runtime(store, nodes=[*nodes, nap], settings=chosen, clock=VirtualClock(time))


async def passes(engine: Runtime, time: VirtualTime, milliseconds: int) -> None:
    """Let time pass, until what was due then has been done."""
    time.pass_to(time.now + milliseconds)
    await engine.executions.start("nap", wait="end")


@pytest.mark.parametrize("is_late", [False, True])
async def test_a_call_whose_start_was_slow_to_be_written_has_its_whole_timeout(is_late: bool) -> None:
    time, work = VirtualTime(), Held()
    store = Slow(time)
    async with virtual(store, time, work) as engine:
        await engine.workflows.register(TIMED)
        await engine.workflows.register(NAP)
        store.goes_on.clear()
        store.asked.clear()
        starting = asyncio.ensure_future(engine.executions.start("flow"))
        await store.asked.wait()
        time.pass_to(time.now + 60_000)
        store.goes_on.set()
        started = await starting
        running = await work.begun()
        await passes(engine, time, 4_000)
        if is_late:
            await passes(engine, time, 1_000)
            failed = await engine.executions.wait(started.id)
            assert failed.error is not None
            assert failed.error.code == "timeout"
            await running.cancelled.wait()
        else:
            running.returns("in time")
            assert await engine.executions.result(started.id) == "in time"


@pytest.mark.parametrize("is_late", [False, True])
async def test_a_call_whose_thread_was_slow_to_enter_it_has_its_whole_timeout(gate: Gate, is_late: bool) -> None:
    time, standing = VirtualTime(), Standing(CommitPoint.CALL_IN_THREAD)
    with standing:
        async with virtual(Slow(time), time, gate) as engine:
            await engine.workflows.register(TIMED)
            await engine.workflows.register(NAP)
            started = await engine.executions.start("flow")
            await standing.reached()
            await passes(engine, time, 60_000)
            standing.goes_on()
            await gate.until_entered(1)
            await passes(engine, time, 4_000)
            if is_late:
                await passes(engine, time, 1_000)
                failed = await engine.executions.wait(started.id)
                assert failed.error is not None
                assert failed.error.code == "timeout"
            else:
                gate.opened.set()
                assert await engine.executions.result(started.id) == "a"


async def test_a_result_that_came_while_everything_stood_still_comes_before_the_timeout_of_its_call() -> None:
    time, work = VirtualTime(), Held()
    async with virtual(Slow(time), time, work) as engine:
        await engine.workflows.register(flow(fan_out(call("a", timeout="5s"))))
        started = await engine.executions.start("flow", [0, 1, 2])
        running = await work.all_begun(3)
        time.pass_to(time.now + 6_000)  # the timeouts are up, and looked at before those who have their results are
        for one in running:
            one.returns("in time")
        assert (await engine.executions.wait(started.id)).status == "completed"


class Entered:
    """A function that is not async, and notes when it is entered."""

    def __init__(self) -> None:
        self.__name__ = "late"
        self.attempts: list[int] = []

    def __call__(self, context: NodeContext) -> str:
        self.attempts.append(context.attempt)
        return "late"


async def test_a_call_that_was_not_entered_when_a_pause_was_taken_waits_for_the_resume(tmp_path: Path) -> None:
    standing, late = Standing(CommitPoint.CALL_IN_THREAD), Entered()
    with standing:
        async with engine_at(tmp_path, late) as engine:
            await engine.workflows.register(flow(call("a", "late")))
            started = await engine.executions.start("flow")
            await standing.reached()
            assert (await engine.control.pause(started.id)).status == "pausing"
            standing.goes_on()
            assert (
                await engine.executions.wait(started.id, "rest")
            ).status == "paused"  # nothing is out: nobody waits for it
            assert late.attempts == []
            await engine.control.resume(started.id)
            assert await engine.executions.result(started.id) == "late"
    assert len(late.attempts) == 1


async def test_a_call_that_waits_behind_a_pause_disturbs_no_other_and_is_made_when_that_is_taken_back(
    tmp_path: Path,
    gate: Gate,
) -> None:
    late, first = Entered(), Held("first")

    class Second(Standing):
        """Lets the thread of the first call go on."""

        def _stand(self, point: CommitPoint) -> None:
            if gate.entered:
                super()._stand(point)

    branches = [
        {"id": "x", "body": [call("a")]},
        {"id": "y", "body": [call("b", "first", next="c"), call("c", "late")]},
    ]
    standing = Second(CommitPoint.CALL_IN_THREAD)
    with standing:
        async with engine_at(tmp_path, gate, first, late) as engine:
            await engine.workflows.register(flow({"id": "both", "type": "parallel", "branches": branches}))
            started = await engine.executions.start("flow")
            await gate.until_entered(1)
            (await first.begun()).returns(None)
            await standing.reached()
            assert (await engine.control.pause(started.id)).status == "pausing"
            standing.goes_on()
            calls = engine.instance.driver.active[started.id].calls
            while calls["c:both.y"].held is None:
                await asyncio.to_thread(bool)  # as long as it takes another thread to be heard
            assert late.attempts == []
            await engine.control.resume(started.id)
            gate.opened.set()
            assert (await engine.executions.wait(started.id)).status == "completed"
    assert (gate.entered, late.attempts) == (["a:both.x"], [1])


async def test_nothing_is_begun_once_while_the_end_of_its_execution_is_written() -> None:
    time, going, tried = VirtualTime(), asyncio.Event(), asyncio.Event()
    store, effects = Slow(time), list[str]()

    async def work(context: NodeContext) -> None:
        await going.wait()
        tried.set()
        await context.once("first", lambda: effects.append("done"))

    async with virtual(store, time, work) as engine:
        await engine.workflows.register(flow(call("a")))
        await engine.workflows.register(NAP)
        started = await engine.executions.start("flow")
        store.goes_on.clear()
        store.asked.clear()
        cancelling = asyncio.ensure_future(engine.control.cancel(started.id))
        await store.asked.wait()
        going.set()
        await tried.wait()
        for _ in range(100):  # turns of the event loop: enough for it to begin
            await asyncio.sleep(0)
        assert effects == []
        store.goes_on.set()
        assert (await cancelling).status == "cancelled"
        assert effects == []
