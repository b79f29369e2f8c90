"""An engine that dies at a commit point is gone: nothing of it reaches the store, and another one goes on."""

from __future__ import annotations

import asyncio
import logging
import threading
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING

import pytest

from layover.core.engine.events import LegStarted
from layover.ports.commit_points import reached
from layover.runtime.errors import EngineClosed, WrongState
from layover.testing import CommitPoint, CrashNeverCame, Layover
from tests.runtime.harness import HOUR, Refused, approval, call, child, delay, end, fan_out, flow, form

if TYPE_CHECKING:
    from pathlib import Path

    from layover.nodes.context import NodeContext, SyncNodeContext
    from layover.testing import ExecutionInTest

P = CommitPoint

PICK: dict[str, object] = {
    "id": "pick",
    "type": "callback",
    "call": "start_picking",
    "input": {"to": "${callback.token}"},
}
PAID: dict[str, object] = {"id": "paid", "type": "wait_signal", "signal": "paid", "key": "k"}


def causes(execution: ExecutionInTest) -> list[str]:
    """Return why each leg of an execution began."""
    return [one.event.cause for one in execution.history if isinstance(one.event, LegStarted)]


@pytest.mark.parametrize(
    "point", [P.APPEND_DECIDED, P.ROWS_WRITTEN, P.APPEND_COMMITTED, P.CALL_STARTING, P.CALL_RETURNED]
)
async def test_a_start_survives(layover: Layover, point: CommitPoint) -> None:
    work = layover.fake("work", returns=5)
    await layover.register(flow(call("a"), end("${nodes.a}")))
    layover.crash_at(point)
    execution = await layover.start("flow")
    assert (execution.status, execution.output, layover.crashes) == ("completed", 5, 1)
    assert {one.idempotency_key for one in work.calls} == {f"{execution.id}/a"}


@pytest.mark.parametrize(
    "point", [P.ROWS_WRITTEN, P.ANSWER_COMMITTED, P.APPEND_DECIDED, P.APPEND_COMMITTED, P.REST_TOLD]
)
async def test_an_answer_is_given_once(layover: Layover, point: CommitPoint) -> None:
    execution = await layover.start(flow(approval(need=2), end("${nodes.review.decisions}")))
    layover.crash_at(point)
    await execution.approve(by="ann")
    assert (execution.status, layover.crashes) == ("paused", 1)
    await execution.approve(by="bob")
    assert [one["by"] for one in execution.output] == ["ann", "bob"]


@pytest.mark.parametrize("point", [P.ROWS_WRITTEN, P.COMMAND_COMMITTED, P.APPEND_DECIDED, P.APPEND_COMMITTED])
async def test_what_an_operator_does_is_done_once(layover: Layover, point: CommitPoint) -> None:
    execution = await layover.start(flow(delay(), end("${vars.n}"), variables={"n": 0}))
    layover.crash_at(point)
    await execution.pause("lunch")
    assert (execution.status, layover.crashes) == ("paused", 1)
    layover.crash_at(point)
    await execution.resume({"n": 1})
    assert (execution.status, layover.crashes) == ("waiting", 2)
    layover.crash_at(point)
    await execution.cancel()
    assert (execution.status, layover.crashes) == ("cancelled", 3)
    with pytest.raises(WrongState):
        await execution.cancel()


@pytest.mark.parametrize(
    "point", [P.ROWS_WRITTEN, P.APPEND_DECIDED, P.APPEND_COMMITTED, P.APPEND_TOLD, P.CALL_RETURNED]
)
async def test_a_retry_is_made_once(layover: Layover, point: CommitPoint) -> None:
    layover.fake("work", raises=Refused("no"))
    execution = await layover.start(flow(call("a")))
    layover.crash_at(point)
    await execution.retry()
    assert (execution.status, layover.crashes) == ("failed", 1)
    retried = [one for one in execution.history if type(one.event).__name__ == "NodeFailed"]
    assert len(retried) == 2


@pytest.mark.parametrize("point", [P.ROWS_WRITTEN, P.SIGNAL_KEPT, P.COMMAND_COMMITTED, P.SIGNAL_TOLD])
async def test_a_signal_is_brought_once(layover: Layover, point: CommitPoint) -> None:
    execution = await layover.start(flow(PAID, {**PAID, "id": "again"}, end("${nodes.again.data}")))
    layover.crash_at(point)
    await layover.signal("paid", "k", 1)
    assert (list(execution.points), layover.crashes) == (["again"], 1)
    await layover.signal("paid", "k", 2)
    assert execution.output == 2


@pytest.mark.parametrize("point", [P.ROWS_WRITTEN, P.COMMAND_COMMITTED, P.APPEND_DECIDED])
@pytest.mark.parametrize("by_token", [True, False])
async def test_a_reply_is_given_once(layover: Layover, point: CommitPoint, by_token: bool) -> None:
    picking = layover.fake("start_picking")
    execution = await layover.start(flow(PICK, end("${nodes.pick}")))
    given = picking.inputs[-1]
    assert isinstance(given, dict)
    layover.crash_at(point)
    if by_token:
        await layover.call_back(given["to"], 3)
    else:
        await execution.call_back("pick", 3)
    assert (execution.output, layover.crashes) == (3, 1)


@pytest.mark.parametrize("nth", [1, 2])
@pytest.mark.parametrize("point", [P.MESSAGES_DELIVERED, P.MESSAGES_SENT])
async def test_messages_arrive_although_whoever_brought_them_died(
    layover: Layover, point: CommitPoint, nth: int
) -> None:
    await layover.register(flow(end(4), name="inner"))
    await layover.register(flow(child("kid", "inner"), end("${nodes.kid}"), name="outer"))
    before = layover.now
    layover.crash_at(point, nth)
    outer = await layover.start("outer")
    assert (outer.output, layover.crashes, layover.now) == (4, 1, before)


async def test_time_goes_on_from_where_it_was(layover: Layover) -> None:
    execution = await layover.start(flow(delay(duration="1h"), delay("more", "1h"), end("done")))
    layover.crash_at(P.CLAIM_COMMITTED)
    began = layover.now
    await layover.skip("2h")
    assert (execution.output, layover.crashes, layover.now - began) == ("done", 1, 7_200_000)
    (ended,) = [one.at for one in execution.history if type(one.event).__name__ == "ExecutionCompleted"]
    assert ended - began == 7_200_000


async def test_a_call_that_was_out_is_made_again_and_takes_its_time_again(layover: Layover) -> None:
    slow = layover.fake("work", returns=1, takes="10m")
    parallel = fan_out(call("a", input={"n": "${item}"}), "[1, 2]")
    execution = await layover.start(flow(parallel, end("${nodes.each}")))
    await layover.skip("5m")
    layover.crash_at(P.COMMAND_COMMITTED)
    await execution.pause()
    assert (layover.crashes, execution.status, len(slow.calls)) == (1, "paused", 2)
    await execution.resume()
    assert len(slow.calls) == 4
    await layover.skip("5m")
    assert execution.status == "running"
    await layover.skip("5m")
    assert execution.output == [1, 1]


async def test_states_in_memory_are_gone(layover: Layover) -> None:
    execution = await layover.start(flow(form("ask"), form("more")))
    await execution.answer("ask", {})
    assert P.STATE_LOADED not in layover.reached  # it was kept in memory
    layover.crash_at(P.ANSWER_COMMITTED)
    await execution.answer("more", {})
    assert layover.reached[P.STATE_LOADED] == 1
    assert causes(execution)[-1] == "commands"


async def test_the_dead_engine_reaches_nothing_any_more(layover: Layover) -> None:
    execution = await layover.start(flow(form()))
    dead = await layover.engine()
    store = dead.instance.store
    layover.crash_at(P.ANSWER_COMMITTED)
    await execution.answer("ask", {})
    assert await layover.engine() is not dead
    with pytest.raises(asyncio.CancelledError):
        await store.save_version("other", "x", b"{}", 0)
    with pytest.raises(asyncio.CancelledError):
        await store.get(execution.id)
    with pytest.raises(EngineClosed):
        await dead.get(execution.id)
    alive = await layover.engine()
    assert await alive.instance.store.latest("other") is None


async def test_what_the_dead_engine_cleans_up_reaches_nothing(layover: Layover) -> None:
    store = (await layover.engine()).instance.store
    ends: list[BaseException] = []

    async def stubborn(context: NodeContext) -> str:
        if context.attempt > 1:
            return "done"
        try:
            await asyncio.Event().wait()
        finally:
            try:
                await store.lock("late", "dead", layover.now, layover.now + HOUR)
            except BaseException as error:
                ends.append(error)
                raise
        raise AssertionError("it waits for ever")

    async def quick() -> None:
        return None

    layover.nodes(stubborn, quick)
    branches = [{"id": name, "body": [call(name, name)]} for name in ("stubborn", "quick")]
    both: dict[str, object] = {"id": "both", "type": "parallel", "branches": branches}
    layover.crash_at(P.CALL_RETURNED)
    execution = await layover.start(flow(both, end("${nodes.both.stubborn}")))
    assert (execution.output, [isinstance(one, asyncio.CancelledError) for one in ends]) == ("done", [True])
    alive = (await layover.engine()).instance.store
    assert await alive.lock("late", "living", layover.now, layover.now + HOUR)


async def test_nothing_is_done_between_the_moment_and_the_end(layover: Layover) -> None:
    work = layover.fake("work")
    await layover.register(flow(call("a")))
    layover.crash_at(P.CALL_STARTING)
    await layover.start("flow")
    assert (len(work.calls), layover.crashes) == (1, 1)


async def test_a_transaction_that_was_open_leaves_nothing(layover: Layover) -> None:
    await layover.register(flow(form()))
    layover.crash_at(P.ROWS_WRITTEN)
    execution = await layover.start("flow")
    alive = (await layover.engine()).instance.id
    (leg,) = [one.event for one in execution.history if isinstance(one.event, LegStarted)]
    assert (leg.cause, leg.instance, layover.crashes) == ("created", alive, 1)


async def test_what_the_dead_engine_wanted_to_do_later_is_not_done(layover: Layover) -> None:
    layover.fake("work", takes="10m")
    execution = await layover.start(flow(call("a", timeout="2m")))
    layover.crash_at(P.COMMAND_COMMITTED)
    await execution.cancel()
    assert (execution.status, layover.crashes) == ("cancelled", 1)
    assert not await layover.step()


async def test_threads_of_the_dead_engine_reach_nothing_any_more(layover: Layover) -> None:
    gone, tried, begun = threading.Event(), threading.Event(), asyncio.Event()
    ends: list[BaseException] = []
    calls: list[int] = []
    loop = asyncio.get_running_loop()

    def stubborn(context: SyncNodeContext) -> str:
        calls.append(context.attempt)
        loop.call_soon_threadsafe(begun.set)
        if context.attempt == 1:
            gone.wait(10)
            lasting = asyncio.run_coroutine_threadsafe(asyncio.sleep(3600), loop)
            try:
                lasting.result(10)
            except CancelledError as error:
                ends.append(error)
            try:
                context.once("late", lambda: "written by the dead")
            except BaseException as error:
                ends.append(error)
                raise
            finally:
                tried.set()
        gone.set()
        tried.wait(10)
        return str(context.once("late", lambda: "written by the living"))

    async def quick() -> None:
        await begun.wait()

    layover.nodes(stubborn, quick)
    branches = [{"id": name, "body": [call(name, name)]} for name in ("stubborn", "quick")]
    both: dict[str, object] = {"id": "both", "type": "parallel", "branches": branches}
    layover.crash_at(P.CALL_RETURNED)
    execution = await layover.start(flow(both, end("${nodes.both.stubborn}")))
    assert (execution.output, calls) == ("written by the living", [1, 2])
    assert [isinstance(one, CancelledError) for one in ends] == [True, True]


async def test_tasks_that_a_dead_call_has_begun_end_with_it(layover: Layover) -> None:
    begun: list[asyncio.Task[None]] = []

    async def background() -> None:
        await asyncio.Event().wait()

    async def work(context: NodeContext) -> str:
        if context.attempt == 1:
            begun.append(asyncio.create_task(background()))
        return "done"

    layover.nodes(work)
    mine = asyncio.create_task(background())
    layover.crash_at(P.CALL_RETURNED)
    execution = await layover.start(flow(call("a"), end("${nodes.a}")))
    assert (execution.output, [one.cancelled() for one in begun], mine.done()) == ("done", [True], False)
    mine.cancel()


async def test_crashes_are_counted_from_where_they_are_asked_for(layover: Layover) -> None:
    layover.fake("work")
    await layover.start(flow(call("a"), call("b")))
    layover.crash_at(P.CALL_STARTING, nth=2)
    execution = await layover.start("flow")
    assert layover.crashes == 1
    assert [one.attempt for one in execution.nodes.values()] == [1, 2]
    with pytest.raises(ValueError, match="counts from 1"):
        layover.crash_at(P.CALL_STARTING, nth=0)


async def test_another_world_beside_it_does_not_get_in_its_way(layover: Layover) -> None:
    await layover.start(flow(end(1)))
    other = layover.another()
    await other.start(flow(end(1)))
    await other.close()
    layover.crash_at(P.APPEND_COMMITTED)
    execution = await layover.start("flow")
    assert (execution.output, layover.crashes) == (1, 1)


async def test_a_crash_that_never_came_is_told(tmp_path: Path) -> None:
    layover = Layover(tmp_path)
    await layover.start(flow(end(1)))
    layover.crash_at(P.APPEND_DECIDED, nth=3)
    await layover.start("flow")
    with pytest.raises(CrashNeverCame, match=r"`append_decided` \(nth=3\) never came: that point was reached 1 times"):
        await layover.close()


async def test_nothing_is_left_behind_and_nothing_is_logged(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    tasks, loop = asyncio.all_tasks(), asyncio.get_running_loop()
    before = (loop.get_task_factory(), loop.get_exception_handler())
    with caplog.at_level(logging.WARNING):
        for folder in (None, tmp_path):
            layover = Layover(folder)
            layover.fake("work")
            for point in (P.ROWS_WRITTEN, P.APPEND_COMMITTED, P.CALL_STARTING, P.REST_TOLD):
                layover.crash_at(point)
                await layover.start(flow(call("a"), form()))
            assert layover.crashes == 4
            await layover.close()
    assert [record.getMessage() for record in caplog.records] == []
    assert asyncio.all_tasks() == tasks
    assert (loop.get_task_factory(), loop.get_exception_handler()) == before
    reached(P.APPEND_DECIDED)  # nobody listens any more
