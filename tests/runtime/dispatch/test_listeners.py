"""Waiting for executions: one look for all who wait, none for what is driven here, patience while a store is away."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.errors import Closed
from layover.ports.errors import StoreError, StoreUnavailable, StoreUnusable
from tests.runtime.harness import Between, Held, call, engine_at, engine_on, flow, form

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import Head, QueuedCommand
    from layover.ports.view_records import ExecutionRow

pytestmark = pytest.mark.usefixtures("each_database")


class Watched(Between):
    """A store that counts looks, and fails as often as a test wants."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.looks: list[set[str]] = []
        self.gets = 0
        self.errors: list[Exception] = []
        self._looked = asyncio.Event()

    async def queries_read_heads(self, ids: Sequence[str]) -> list[Head | None]:
        self.looks.append(set(ids))
        self._looked.set()
        if self.errors:
            raise self.errors.pop()
        return await self.store.queries.read_heads(ids)

    async def queries_find_execution(self, execution_id: str) -> ExecutionRow | None:
        self.gets += 1
        return await self.store.queries.find_execution(execution_id)

    async def look_after(self, count: int) -> set[str]:
        """Return what was looked at in the next look after so many."""
        while len(self.looks) <= count:
            self._looked.clear()
            await self._looked.wait()
        return self.looks[count]


async def test_idle_waiters_share_their_looks(tmp_path: Path) -> None:
    store, many = Watched(tmp_path), 200
    async with engine_on(store, wait_poll=50) as engine:
        await engine.workflows.register(flow(form()))
        ids = {(await engine.executions.start("flow", wait="rest")).id for _ in range(many)}
        store.gets, store.looks = 0, []
        waiting = [asyncio.ensure_future(engine.executions.wait(id_)) for id_ in ids]
        for n in range(5):
            await store.look_after(n)
        assert store.looks[:4].count(ids) >= 3, "each look is for all of them"
        assert store.gets == 0
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert engine.instance.listeners.waiting == {}


async def test_waiting_for_an_execution_driven_here_reads_nothing(tmp_path: Path) -> None:
    store, work = Watched(tmp_path), Held()
    async with engine_on(store, work, wait_poll=50) as engine:
        await engine.workflows.register(flow(call("a")))
        await engine.workflows.register(flow(form(), name="other"))
        started = await engine.executions.start("flow")
        other = await engine.executions.start("other", wait="rest")
        running = await work.begun()
        store.looks = []
        result, idle = (asyncio.ensure_future(engine.executions.wait(one.id)) for one in (started, other))
        for n in range(6):
            assert await store.look_after(n) == {other.id}
        running.returns("told at once")
        assert (await result).output == "told at once"
        assert not any(started.id in look for look in store.looks)
        idle.cancel()


async def test_the_view_of_a_driven_execution_is_what_the_store_says(tmp_path: Path) -> None:
    store, work = Watched(tmp_path), Held()
    async with engine_on(store, work) as engine:
        await engine.workflows.register(flow(form(), call("a")))
        started = await engine.executions.start("flow", wait="rest")
        listeners = engine.instance.listeners
        (row,) = await engine.points.list(started.id)
        await engine.answers.answer(row.point.id, {}, by="ann")
        going_on = asyncio.ensure_future(listeners.until(started.id, lambda head: head.commands_done == 1))
        running = await work.begun()
        seen = await going_on
        (stored,) = await store.store.queries.read_heads([started.id])
        assert seen is not None
        assert stored is not None
        assert replace(seen, wake_at=stored.wake_at) == stored
        assert (seen.wake_at or 0) <= (stored.wake_at or 0)  # the store counts a lease from when it is written
        store.looks = []  # what is as wanted when it is asked for is looked at: it may have been
        ending = asyncio.ensure_future(listeners.until(started.id, lambda head: head.owner is None))
        running.returns("well")
        assert [await ending] == await store.store.queries.read_heads([started.id])
        assert store.looks == []


async def test_a_condition_that_raises_leaves_no_waiter(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow")
        running = await work.begun()
        with pytest.raises(ZeroDivisionError):
            await engine.instance.listeners.until(started.id, lambda head: head.last_seq // 0 == 1)
        assert engine.instance.listeners.waiting == {}
        running.returns()


async def test_waiting_callers_outlast_an_outage_of_the_store(tmp_path: Path) -> None:
    store = Watched(tmp_path)
    async with engine_on(store) as engine:
        await engine.workflows.register(flow(form()))
        started = await engine.executions.start("flow", wait="rest")
        store.errors = [StoreUnavailable("The line is dead.") for _ in range(3)]
        waiting = asyncio.ensure_future(engine.executions.wait(started.id))
        for n in range(4):
            await store.look_after(n)
        assert store.errors == []
        (row,) = await engine.points.list(started.id)
        await engine.answers.answer(row.point.id, {}, by="ann")
        assert (await waiting).status == "completed"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (StoreUnusable("It is damaged."), StoreUnusable),
        (StoreError("No."), StoreError),
        (StoreUnavailable("Closed.", code="closed"), Closed),
    ],
)
async def test_waiting_callers_get_a_permanent_error_of_the_store(
    tmp_path: Path, error: StoreError, told: type[Exception]
) -> None:
    store = Watched(tmp_path)
    async with engine_on(store) as engine:
        await engine.workflows.register(flow(form()))
        started = await engine.executions.start("flow", wait="rest")
        store.errors = [error]
        with pytest.raises(told):
            await engine.executions.wait(started.id)


async def test_waiting_callers_see_what_another_engine_does(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as other, engine_at(tmp_path) as engine:
        await other.workflows.register(flow(call("a")))
        started = await other.executions.start("flow")
        waiting = asyncio.ensure_future(engine.executions.wait(started.id))
        (await work.begun()).returns("seen")
        assert (await waiting).output == "seen"


class NoScans(Between):
    """A store that is never asked for all commands of an execution."""

    async def commands_list_after(self, execution_id: str, after: int) -> list[QueuedCommand]:
        assert after, "all commands, with their bodies, are read"
        return await self.store.commands.list_after(execution_id, after)


async def test_a_repeated_act_is_found_by_its_source(tmp_path: Path) -> None:
    async with engine_on(NoScans(tmp_path)) as engine:
        await engine.workflows.register(flow(form()))
        started = await engine.executions.start("flow", wait="rest")
        (row,) = await engine.points.list(started.id)
        for _ in range(2):
            held = await engine.control.pause(started.id, "lunch", by="ann", key="p")
            assert held.status == "paused"
        for _ in range(2):
            assert (await engine.control.resume(started.id, by="ann", key="r")).resume_count == 1
        for _ in range(2):
            assert (await engine.answers.cancel_point(row.point.id, by="ann", key="c")).status == "failed"
