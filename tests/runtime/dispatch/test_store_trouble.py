"""A store that cannot be reached, or does not say whether it has written: nothing is lost or done twice."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence  # noqa: TC003 - read by pytest
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any, Literal

import pytest

from layover.core.engine.events import NodeCompleted
from layover.errors import AlreadyExists
from layover.ports.errors import StoreError, StoreUnavailable
from layover.ports.records import Append, Claim, Outcome
from tests.runtime.harness import (
    HOUR,
    Between,
    HandWound,
    Held,
    Scripted,
    call,
    delay,
    end,
    engine_on,
    fan_out,
    flow,
    form,
    store_in,
    until,
)

if TYPE_CHECKING:
    from layover.ports.view_records import ExecutionRow

pytestmark = pytest.mark.usefixtures("each_database")

How = Literal["before", "after"]
OnConflict = Literal["reject", "return"]


class Shaky(Between):
    """A store whose commits fail as often as a test wants, before or after they have really been made."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.how: How = "before"
        self.left = 0
        self.beginnings = False
        self.is_taken_up = False  # by another instance, before anybody could look what became of it
        self.is_silent = False  # when it is asked what became of a commit
        self.silences = 0  # the same, so many times
        self.is_broken = False  # the same, by an error that is not of the store
        self.refusals = 0  # of commits, after those that fail

    def fail(self, how: How, times: int, *, beginnings: bool = False) -> None:
        self.how, self.left, self.beginnings = how, times, beginnings

    async def appends_commit(self, appends: Sequence[Append]) -> list[Outcome]:
        concerned = any((append.new is not None) == self.beginnings for append in appends)
        if not self.left and self.refusals and concerned:
            self.refusals -= 1
            raise StoreError("It is refused.")
        if not self.left or not concerned:
            return await self.store.appends.commit(appends)
        self.left -= 1
        if self.how == "after":
            await self.store.appends.commit(appends)
        if self.is_taken_up:
            lease_is_over = max(append.lease_until for append in appends)
            await self.store.claims.claim(Claim(instance="another", now=lease_is_over, lease_until=0, most=10))
        raise StoreUnavailable("The line is dead.")

    async def queries_find_execution(self, execution_id: str) -> ExecutionRow | None:
        if self.is_silent or self.silences:
            self.silences -= not self.is_silent
            raise StoreUnavailable("The line is dead.")
        if self.is_broken:
            self.is_broken = False
            raise RuntimeError("a fault of ours")
        return await self.store.queries.find_execution(execution_id)


@pytest.mark.parametrize("how", ["before", "after"])
@pytest.mark.parametrize("times", [1, 2])
async def test_a_commit_whose_outcome_is_unknown_is_found_out_about(tmp_path: Path, how: How, times: int) -> None:
    store, work = Shaky(tmp_path), Scripted("done")
    async with engine_on(store, work) as engine:
        await engine.workflows.register(flow(call("a"), call("b"), end("${nodes.b}")))
        held = await engine.executions.start("flow")
        store.fail(how, times)
        assert await engine.executions.result(held.id) == "done"
        assert [(one.context_id, one.attempt) for one in work.calls] == [("a", 1), ("b", 1)]
        entries = await engine.queries.history(held.id)
        assert [one.seq for one in entries] == list(range(len(entries)))
        completed = [one.event.node for one in entries if isinstance(one.event, NodeCompleted)]
        assert completed == ["a", "b", "finish"]


@pytest.mark.parametrize("how", ["before", "after"])
async def test_a_commit_that_was_not_answered_and_is_then_refused_is_found_out_about(tmp_path: Path, how: How) -> None:
    store, work = Shaky(tmp_path), Held()
    async with engine_on(store, work) as engine:
        await engine.workflows.register(flow(call("a"), end("${nodes.a}")))
        started = await engine.executions.start("flow")
        running = await work.begun()
        store.silences = 2
        store.refusals = 1
        store.fail(how, 2)
        running.returns("done")
        assert await engine.executions.result(started.id) == "done"
        assert engine.instance.metrics.leases_lost == 0
        assert len(work.calls) == 1


async def test_an_append_that_landed_unnoticed_and_is_then_refused_is_not_called_unwritable(tmp_path: Path) -> None:
    store, work = Shaky(tmp_path), Held()
    async with engine_on(store, work) as engine:
        await engine.workflows.register(flow(call("a"), end("${nodes.a}")))
        started = await engine.executions.start("flow")
        running = await work.begun()
        store.silences = 2
        store.refusals = 2  # with its group, and alone
        store.fail("after", 1)
        running.returns("done")
        assert await engine.executions.result(started.id) == "done"
        assert engine.instance.metrics.leases_lost == 0


async def test_a_fault_while_the_outcome_of_a_commit_is_found_out_holds_up_nothing(tmp_path: Path) -> None:
    store, work = Shaky(tmp_path), Held()
    async with engine_on(store, work) as engine:
        await engine.workflows.register(flow(call("a"), end("${nodes.a}")))
        started = await engine.executions.start("flow")
        running = await work.begun()
        store.is_broken = True
        store.fail("before", 1)
        running.returns("done")
        assert await engine.instance.listeners.until(started.id, lambda head: head.status == "completed")


@pytest.mark.parametrize("how", ["before", "after"])
async def test_many_executions_come_through_an_outage(tmp_path: Path, how: How) -> None:
    store, work = Shaky(tmp_path), Held()
    async with engine_on(store, work) as engine:
        await engine.workflows.register(flow(fan_out(call("a")), end("${nodes.each}")))
        started = [await engine.executions.start("flow", [1, 2]) for _ in range(10)]
        running = await work.all_begun(20)
        store.fail(how, 3)
        for one in running:
            one.returns("x")
        for execution in started:
            assert await engine.executions.result(execution.id) == ["x", "x"]
        assert len(work.calls) == 20


async def test_a_beginning_that_was_not_written_is_reported_and_can_be_repeated(tmp_path: Path) -> None:
    store = Shaky(tmp_path)
    async with engine_on(store, Scripted("well"), executions=1) as engine:
        await engine.workflows.register(flow(call("a")))
        store.fail("before", 1, beginnings=True)
        with pytest.raises(StoreUnavailable):
            await engine.executions.start("flow", key="k")
        assert await engine.lists.counts() == {}
        assert (await engine.executions.start("flow", key="k", wait="end")).output == "well"


async def test_a_beginning_that_was_written_all_the_same_is_reported_as_begun(tmp_path: Path) -> None:
    store, work = Shaky(tmp_path), Scripted("well")
    async with engine_on(store, work) as engine:
        await engine.workflows.register(flow(call("a")))
        store.fail("after", 1, beginnings=True)
        assert (await engine.executions.start("flow", wait="end")).output == "well"
        assert len(work.calls) == 1


@pytest.mark.parametrize("key", [None, "k"])
async def test_a_beginning_that_was_written_and_taken_up_by_others_is_reported_as_begun(
    tmp_path: Path, key: str | None
) -> None:
    store, work = Shaky(tmp_path), Scripted("well")
    async with engine_on(store, work) as engine:
        await engine.workflows.register(flow(call("a")))
        store.is_taken_up = True
        store.fail("after", 1, beginnings=True)
        begun = await engine.executions.start("flow", key=key)
        assert await engine.executions.result(begun.id) == "well"
        assert len(work.calls) == 1


@pytest.mark.parametrize("on_conflict", ["reject", "return"])
async def test_a_failed_start_finds_the_earlier_one_with_its_key(tmp_path: Path, on_conflict: OnConflict) -> None:
    store, work = Shaky(tmp_path), Held()
    async with engine_on(store_in(tmp_path), work) as other, engine_on(store) as engine:
        await other.workflows.register(flow(call("a")))
        first = await other.executions.start("flow", key="k")
        await work.begun()
        store.fail("before", 1, beginnings=True)
        if on_conflict == "reject":
            with pytest.raises(AlreadyExists):
                await engine.executions.start("flow", key="k")
        else:
            assert (await engine.executions.start("flow", key="k", on_conflict="return")).id == first.id


@pytest.mark.parametrize("how", ["before", "after"])
async def test_a_second_start_that_rests_at_once_and_is_not_answered_has_not_begun(tmp_path: Path, how: How) -> None:
    store, work = Shaky(tmp_path), Held()
    async with engine_on(store_in(tmp_path)) as other, engine_on(store, work) as engine:
        await other.workflows.register(flow(form(), call("a", input={"n": "${input.n}"})))
        first = await other.executions.start("flow", {"n": 1}, key="k")
        store.fail(how, 1, beginnings=True)
        with pytest.raises(AlreadyExists):
            await engine.executions.start("flow", {"n": 2}, key="k")
        (row,) = await engine.points.list(first.id)
        await engine.answers.answer(row.point.id, {}, by="ann")
        assert (await work.begun()).given == {"n": 1}


@pytest.mark.parametrize("how", ["before", "after"])
async def test_a_second_start_with_the_key_of_one_that_was_written_unnoticed_is_refused(
    tmp_path: Path, how: How
) -> None:
    store, work = Shaky(tmp_path), Held()
    async with engine_on(store, work) as engine:
        await engine.workflows.register(flow(call("a", input={"n": "${input.n}"})))
        store.fail("after", 1, beginnings=True)
        store.is_silent = True
        with pytest.raises(StoreUnavailable):
            await engine.executions.start("flow", {"n": 1}, key="k")
        store.is_silent = False
        store.fail(how, 1, beginnings=True)
        with pytest.raises(AlreadyExists):
            await engine.executions.start("flow", {"n": 2}, key="k")
        assert work.calls == []


@pytest.mark.parametrize("how", ["before", "after"])
async def test_many_that_begin_under_one_key_in_an_outage_begin_one_execution(tmp_path: Path, how: How) -> None:
    store, work = Shaky(tmp_path), Scripted("well")
    async with engine_on(store, work) as engine:
        await engine.workflows.register(flow(call("a")))
        store.fail(how, 1, beginnings=True)
        starts = [engine.executions.start("flow", key="k", on_conflict="return", wait="end") for _ in range(5)]
        found = await asyncio.gather(*starts, return_exceptions=True)
        assert sum(isinstance(one, StoreError) for one in found) == (1 if how == "before" else 0)
        assert await engine.lists.counts() == {"completed": 1}
        assert len(work.calls) == 1


@pytest.mark.parametrize("how", ["before", "after"])
async def test_a_rest_whose_outcome_is_unknown_is_a_rest(tmp_path: Path, how: How) -> None:
    store, work = Shaky(tmp_path), Held()
    async with engine_on(store, work) as engine:
        await engine.workflows.register(flow(call("a"), form(), end("${nodes.ask.n}")))
        started = await engine.executions.start("flow")
        running = await work.begun()
        store.fail(how, 1)
        running.returns()
        resting = await engine.executions.wait(started.id, "rest")
        assert resting.status == "paused"
        (row,) = await engine.points.list(started.id)
        store.fail(how, 1)
        await engine.answers.answer(row.point.id, {"n": 1}, by="ann")
        assert await engine.executions.result(started.id) == 1


@pytest.mark.parametrize("how", ["before", "after"])
async def test_a_release_without_events_whose_outcome_is_unknown_is_made_sure_of(tmp_path: Path, how: How) -> None:
    store, work = Shaky(tmp_path), Held()
    async with engine_on(store, work, calls=1, poll=HOUR, lease_ttl=HOUR, give_back_after=1) as engine:
        await engine.workflows.register(flow(call("a"), end("${nodes.a}")))
        first = await engine.executions.start("flow")
        running = await work.begun()
        store.fail(how, 1)
        queued = await engine.executions.start("flow")  # it finds no slot, and is given back
        await until(engine, queued.id, lambda head: head.owner is None)
        running.returns(1)
        (await work.begun()).returns(2)
        assert [await engine.executions.result(one.id) for one in (first, queued)] == [1, 2]


async def test_a_command_that_changes_nothing_is_noted_although_the_outcome_was_unknown(tmp_path: Path) -> None:
    store, work = Shaky(tmp_path), Held()
    async with engine_on(store, work) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow")
        running = await work.begun()
        await engine.control.pause(started.id, "first")
        for how in ("before", "after"):
            store.fail(how, 1)
            assert (await engine.control.pause(started.id, "second")).paused_reason == "first"
        await engine.control.resume(started.id)
        running.returns("well")
        assert await engine.executions.result(started.id) == "well"


async def test_an_engine_can_stop_while_its_store_cannot_be_reached(tmp_path: Path) -> None:
    store, work = Shaky(tmp_path), Held()
    async with engine_on(store, work) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow")
        running = await work.begun()
        store.fail("before", 1_000)
        running.returns("lost with the line")
        await engine.stop(grace=1)
    async with engine_on(store_in(tmp_path), Scripted("again")) as engine:
        assert await engine.executions.result(started.id) == "again"


class Forgetful(Between):
    """A store whose time passes by hand, and that does not answer the first time it is asked for something."""

    def __init__(self, folder: Path, clock: HandWound, what: str) -> None:
        self.store = clock.store(folder)
        self._what = what
        self.failed = asyncio.Event()

    def method(self, family: str, name: str) -> Any:
        is_asked = f"{family}.{name}" == self._what and not self.failed.is_set()
        return self._fail if is_asked else super().method(family, name)

    async def _fail(self, *_asked: object) -> None:
        self.failed.set()
        raise StoreUnavailable("The line is dead.")


@pytest.mark.parametrize("what", ["definitions.find_by_hash", "queries.read_history"])
async def test_an_execution_of_which_something_could_not_be_read_is_taken_up_again_soon(
    tmp_path: Path, what: str
) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), snapshot_at_rest=1) as engine:  # the log tells its last moment
        await engine.workflows.register(flow(delay(duration="1h"), call("a")))
        started = await engine.executions.start("flow", wait="rest")
    store = Forgetful(tmp_path, clock, what)
    async with engine_on(store, Scripted("well")) as engine:
        clock.skip(engine, HOUR)
        await store.failed.wait()
        head = await until(engine, started.id, lambda head: head.owner is None)
        clock.skip(engine, 30_000)
        assert head.wake_at is not None
        assert head.wake_at <= clock.now
        assert await engine.executions.result(started.id) == "well"
