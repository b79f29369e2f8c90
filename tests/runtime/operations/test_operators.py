"""What operators do: hold, release, end, go back; and what is refused because it does not fit."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import msgspec
import pytest

from layover.core.engine import events as ev
from layover.errors import NotFound, WrongState
from tests.runtime.harness import (
    Held,
    Refused,
    Scripted,
    approval,
    call,
    delay,
    end,
    engine_at,
    fan_out,
    flow,
    form,
    until_status,
)

pytestmark = pytest.mark.usefixtures("each_database")

TWO_STEPS = flow(call("a"), call("b"), end(["${nodes.a}", "${nodes.b}"]))


async def test_nothing_starts_after_a_pause_and_what_runs_comes_to_its_end(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(TWO_STEPS)
        started = await engine.executions.start("flow")
        running = await work.begun()
        pausing = await engine.control.pause(started.id, "audit", by="ann")
        assert (pausing.status, pausing.paused_reason) == ("pausing", "audit")
        running.returns(1)
        await until_status(engine, started.id, "paused")
        assert [one.context.context_id for one in work.calls] == ["a"]
        await engine.control.resume(started.id, {"checked": True}, by="ann")
        second = await work.begun()
        assert second.context.context_id == "b"
        second.returns(2)
        done = await engine.executions.wait(started.id)
        assert (done.output, done.variables, done.resume_count) == ([1, 2], {"checked": True}, 1)


async def test_a_second_pause_changes_nothing_and_is_answered_at_once(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(TWO_STEPS)
        started = await engine.executions.start("flow")
        running = await work.begun()
        await engine.control.pause(started.id, "first")
        again = await engine.control.pause(started.id, "second")
        assert (again.status, again.paused_reason) == ("pausing", "first")
        running.returns()
        await until_status(engine, started.id, "paused")
        again = await engine.control.pause(started.id, "third")
        assert (again.status, again.paused_reason) == ("paused", "first")
        events = [type(one.event) for one in await engine.queries.history(started.id)]
        assert events.count(ev.ExecutionPausing) == 1


async def test_a_pause_can_be_taken_back_while_it_drains(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(TWO_STEPS)
        started = await engine.executions.start("flow")
        first = await work.begun()
        await engine.control.pause(started.id)
        assert (await engine.control.resume(started.id)).status == "running"
        first.returns()
        (await work.begun()).returns()
        assert (await engine.executions.wait(started.id)).status == "completed"


async def test_commands_are_obeyed_in_the_order_in_which_they_were_taken(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(TWO_STEPS)
        ids = [(await engine.executions.start("flow")).id for _ in range(10)]
        await work.all_begun(10)
        for one in ids:
            await asyncio.gather(*(engine.control.pause(one, f"{n}") for n in range(6)))
            first, *_ = await engine.instance.store.commands.list_after(one, 0)
            assert (await engine.queries.get(one)).paused_reason == msgspec.json.decode(first.body)["reason"]


async def test_a_call_that_does_not_end_is_in_doubt_when_the_time_to_drain_is_over(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work, drain=30) as engine:
        await engine.workflows.register(TWO_STEPS)
        started = await engine.executions.start("flow")
        stuck = await work.begun()
        await engine.control.pause(started.id)
        await until_status(engine, started.id, "paused")
        await stuck.cancelled.wait()
        (paused,) = [
            one.event for one in await engine.queries.history(started.id) if isinstance(one.event, ev.ExecutionPaused)
        ]
        assert paused.fates == {"a": "in_doubt"}
        await engine.control.resume(started.id)
        again = await work.begun()
        assert (again.context.context_id, again.context.attempt) == ("a", 2)
        again.returns()
        (await work.begun()).returns()
        assert (await engine.executions.wait(started.id)).status == "completed"


async def test_answers_are_taken_behind_a_closed_gate_and_applied_when_it_opens(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form(), end("${nodes.ask.n}")))
        started = await engine.executions.start("flow", wait="rest")
        (row,) = await engine.points.list(started.id)
        await engine.control.pause(started.id)
        await engine.answers.answer(row.point.id, {"n": 1}, by="ann")
        assert (await engine.executions.wait(started.id, "rest")).status == "paused"
        await engine.control.resume(started.id)
        assert await engine.executions.result(started.id) == 1


async def test_nodes_that_wait_for_a_place_wait_on_behind_a_closed_gate(tmp_path: Path) -> None:
    work, other = Held(), Held("other")
    async with engine_at(tmp_path, work, other, calls=2) as engine:
        await engine.workflows.register(flow(fan_out(call("a"))))
        await engine.workflows.register(flow(call("b", "other"), name="other"))
        bystander = await engine.executions.start("other")
        place = await other.begun()
        started = await engine.executions.start("flow", [1, 2, 3])
        first = await work.begun()
        await engine.control.pause(started.id)
        place.returns()
        await engine.executions.wait(bystander.id)
        assert len(work.calls) == 1
        await engine.control.resume(started.id)
        second = await work.begun()
        first.returns()
        second.returns()
        (await work.begun()).returns()
        assert (await engine.executions.wait(started.id)).status == "completed"


async def test_a_running_call_is_cancelled_with_its_execution_and_may_clean_up(tmp_path: Path) -> None:
    begun, cleaned, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work() -> str:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await cleaned.wait()
            ended.set()
        return "never heard"

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(TWO_STEPS)
        started = await engine.executions.start("flow")
        await begun.wait()
        done = await engine.control.cancel(started.id, "changed my mind", by="ann")
        assert (done.status, done.outcome_reason) == ("cancelled", "changed my mind")
        assert not ended.is_set()
        cleaned.set()
        await ended.wait()
        assert await engine.queries.get(started.id) == done


async def test_a_cancelled_execution_takes_its_points_with_it(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form()))
        started = await engine.executions.start("flow", wait="rest")
        done = await engine.control.cancel(started.id)
        assert done.waiting_on == ()
        assert await engine.points.list(started.id) == []
        assert len(await engine.points.list(started.id, status=["cancelled"])) == 1


async def test_what_is_closed_takes_no_commands(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end(1)))
        done = await engine.executions.start("flow", wait="end")
        for command in (engine.control.pause, engine.control.resume, engine.control.cancel, engine.control.retry):
            with pytest.raises(WrongState) as refused:
                await command(done.id)
            assert (refused.value.code, refused.value.current_status) == ("wrong_state", "completed")
        assert await engine.queries.get(done.id) == done


async def test_what_is_not_paused_cannot_be_resumed(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        await engine.workflows.register(flow(delay(), name="later"))
        await engine.workflows.register(flow(approval(), name="asking"))
        for workflow, status, code in (
            ("flow", "running", "wrong_state"),
            ("later", "waiting", "wrong_state"),
            ("asking", "paused", "decision_required"),
        ):
            started = await engine.executions.start(workflow)
            await until_status(engine, started.id, status)
            with pytest.raises(WrongState) as refused:
                await engine.control.resume(started.id)
            assert (refused.value.code, refused.value.current_status) == (code, status)
        (await work.begun()).returns()


async def test_an_execution_goes_back_to_a_node_and_on_from_there(tmp_path: Path) -> None:
    first, second = Scripted(1, 10, name="first"), Scripted(2, 20, name="second")
    async with engine_at(tmp_path, first, second) as engine:
        await engine.workflows.register(
            flow(call("a", "first"), call("b", "second"), form(), end(["${nodes.a}", "${nodes.b}", "${nodes.ask.n}"]))
        )
        started = await engine.executions.start("flow", wait="rest")
        (old,) = await engine.points.list(started.id)
        await engine.control.rewind(started.id, "b", "wrong figures", by="ann")
        await engine.executions.wait(started.id, "rest")
        (new,) = await engine.points.list(started.id)
        assert new.point.id != old.point.id
        await engine.answers.answer(new.point.id, {"n": 3}, by="ann")
        assert await engine.executions.result(started.id) == [1, 20, 3]


@pytest.mark.parametrize("status", ["completed", "failed"])
async def test_a_closed_execution_can_be_rewound(tmp_path: Path, status: str) -> None:
    work = Scripted(1, 2 if status == "completed" else Refused("no"), 3, 4)
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(TWO_STEPS)
        done = await engine.executions.start("flow", wait="end")
        assert done.status == status
        await engine.control.rewind(done.id, "a")
        again = await engine.executions.wait(done.id)
        assert again.output == [3, 4]
        assert [(one.context_id, one.attempt) for one in work.calls] == [("a", 1), ("b", 1), ("a", 2), ("b", 2)]


async def test_going_back_stops_what_is_running(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(TWO_STEPS)
        started = await engine.executions.start("flow")
        (await work.begun()).returns(1)
        second = await work.begun()
        await engine.control.rewind(started.id, "a")
        await second.cancelled.wait()
        (await work.begun()).returns(10)
        (await work.begun()).returns(20)
        assert await engine.executions.result(started.id) == [10, 20]


async def test_a_rewind_to_a_node_that_was_not_reached_is_refused(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form(), call("b")))
        started = await engine.executions.start("flow", wait="rest")
        with pytest.raises(WrongState):
            await engine.control.rewind(started.id, "b")
        for to in ("nowhere", "ask:each.0"):
            with pytest.raises(NotFound):
                await engine.control.rewind(started.id, to)
        assert await engine.queries.get(started.id) == started
