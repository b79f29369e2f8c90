"""An engine that dies at a commit point is gone: nothing of it reaches the store, and another one goes on."""

from __future__ import annotations

import asyncio
import logging
import threading
from concurrent.futures import CancelledError
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from layover.errors import Closed, WrongState
from layover.ports.commit_points import reached
from layover.testing import CommitPoint, CrashNeverCame, Layover
from tests.runtime.harness import HOUR, Refused, approval, call, child, delay, end, fan_out, flow, form
from tests.testing.alive import alive

if TYPE_CHECKING:
    from pathlib import Path

    from layover import ExecutionHandle
    from layover.nodes.context import NodeContext, SyncNodeContext

P = CommitPoint

PICK: dict[str, object] = {
    "id": "pick",
    "type": "callback",
    "call": "start_picking",
    "input": {"to": "${callback.token}"},
}
PAID: dict[str, object] = {"id": "paid", "type": "wait_signal", "signal": "paid", "key": "k"}


async def causes(execution: ExecutionHandle) -> list[str]:
    """Return why each leg of an execution began."""
    return [one.cause for one in await execution.legs().all()]


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
    await (await layover.as_user("ann", ["approver"]).point((await execution.point("review")).id)).approve()
    assert (execution.status, layover.crashes) == ("paused", 1)
    await (await layover.as_user("bob", ["approver"]).point((await execution.point("review")).id)).approve()
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
    assert len([one async for one in execution.history() if one.type == "NodeFailed"]) == 2


@pytest.mark.parametrize("point", [P.ROWS_WRITTEN, P.SIGNAL_KEPT, P.COMMAND_COMMITTED, P.SIGNAL_TOLD])
async def test_a_signal_is_brought_once(layover: Layover, point: CommitPoint) -> None:
    execution = await layover.start(flow(PAID, {**PAID, "id": "again"}, end("${nodes.again.data}")))
    layover.crash_at(point)
    await layover.signal("paid", 1, key="k")
    assert ([one.context_id async for one in execution.points()], layover.crashes) == (["again"], 1)
    await layover.signal("paid", 2, key="k")
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
        await layover.callback(given["to"]).complete(3)
    else:
        await layover.callback(point_id=(await execution.point("pick")).id).complete(3)
    assert (execution.output, layover.crashes) == (3, 1)


@pytest.mark.parametrize("nth", [1, 2])
@pytest.mark.parametrize("point", [P.MESSAGES_DELIVERED, P.MESSAGES_SENT])
async def test_messages_arrive_although_their_relay_died(layover: Layover, point: CommitPoint, nth: int) -> None:
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
    assert (execution.output, layover.crashes, layover.now - began) == ("done", 1, timedelta(hours=2))
    (ended,) = [one.at async for one in execution.history() if one.type == "ExecutionCompleted"]
    assert ended - began == timedelta(hours=2)


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
    assert (await causes(execution))[-1] == "commands"


async def test_the_dead_engine_reaches_nothing_any_more(layover: Layover) -> None:
    execution = await layover.start(flow(form()))
    dead = await alive(layover)
    store = dead.instance.store
    layover.crash_at(P.ANSWER_COMMITTED)
    await execution.answer("ask", {})
    assert await alive(layover) is not dead
    with pytest.raises(asyncio.CancelledError):
        await store.definitions.save("other", "x", b"{}", 0)
    with pytest.raises(asyncio.CancelledError):
        await store.queries.find_execution(execution.id)
    with pytest.raises(Closed):
        await dead.queries.get(execution.id)
    assert await (await alive(layover)).instance.store.definitions.find_latest("other") is None


async def test_what_the_dead_engine_cleans_up_reaches_nothing(layover: Layover) -> None:
    store = (await alive(layover)).instance.store
    ends: list[BaseException] = []

    async def stubborn(context: NodeContext) -> str:
        if context.attempt > 1:
            return "done"
        try:
            await asyncio.Event().wait()
        finally:
            try:
                await store.locks.acquire("late", "dead", layover.now.milliseconds, layover.now.milliseconds + HOUR)
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
    now, store = layover.now.milliseconds, (await alive(layover)).instance.store
    assert await store.locks.acquire("late", "living", now, now + HOUR)


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
    (leg,) = await execution.legs().all()
    assert (leg.cause, leg.instance, layover.crashes) == ("created", (await alive(layover)).instance.id, 1)


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
    assert [one.attempt async for one in execution.nodes()] == [1, 2]
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


async def test_a_crash_that_never_came_fails_the_test(tmp_path: Path) -> None:
    layover = Layover(tmp_path)
    await layover.start(flow(end(1)))
    layover.crash_at(P.APPEND_DECIDED, nth=3)
    await layover.start("flow")
    with pytest.raises(CrashNeverCame, match=r"`append_decided` \(nth=3\) never came: that point was reached 1 times"):
        await layover.close()


async def test_crashes_leave_nothing_behind_and_log_takeovers_only(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
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
    assert {record.getMessage().split()[0] for record in caplog.records} == {"lease_taken_over"}
    assert asyncio.all_tasks() == tasks
    assert (loop.get_task_factory(), loop.get_exception_handler()) == before
    reached(P.APPEND_DECIDED)  # nobody listens any more
