"""A pause reaches the children, and theirs: a parent is paused when all of them are, and lets all of them go on."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

from layover.core.engine import events as ev
from layover.core.ids import child_id
from layover.runtime.runtime import Runtime  # noqa: TC001 - a helper names it
from tests.runtime.harness import (
    Call,
    Held,
    Refused,
    call,
    child,
    delay,
    end,
    engine_at,
    fan_out,
    flow,
    form,
    until,
    until_child,
    until_status,
)

ONCE = {"max_attempts": 1, "delay": "1ms", "jitter": 0}


async def working(engine: Runtime, work: Held) -> tuple[str, str, Call]:
    """Return a parent and its child, whose call is out."""
    await engine.workflows.register(flow(call("a"), call("b"), name="works"))
    await engine.workflows.register(flow(child("a", "works"), end("${nodes.a}")))
    started = await engine.executions.start("flow", wait="rest")
    return started.id, child_id(started.id, "a", 1), await work.begun()


async def test_a_parent_is_pausing_until_its_child_is_paused(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        parent, inner, running = await working(engine, work)
        assert (await engine.control.pause(parent, "audit")).status == "pausing"
        await until_status(engine, inner, "pausing")
        assert (await engine.queries.get(inner)).paused_reason == "audit"
        running.returns()
        await until_status(engine, parent, "paused")
        assert (await engine.queries.get(inner)).status == "paused"
        await engine.control.resume(parent)
        (await work.begun()).returns("through")
        assert await engine.executions.result(parent) == "through"


async def test_a_pause_reaches_grandchildren_and_so_does_going_on(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), call("b"), name="inner"))
        await engine.workflows.register(flow(child("b", "inner"), name="middle"))
        await engine.workflows.register(flow(child("c", "middle")))
        started = await engine.executions.start("flow")
        running = await work.begun()
        middle = child_id(started.id, "c", 1)
        inner = child_id(middle, "b", 1)
        assert (await engine.control.pause(started.id)).status == "pausing"
        await until_status(engine, inner, "pausing")
        assert (await engine.queries.get(middle)).status == "pausing"
        running.returns()
        await until_status(engine, started.id, "paused")
        assert [(await engine.queries.get(id_)).status for id_ in (middle, inner)] == ["paused", "paused"]
        await engine.control.resume(started.id)
        (await work.begun()).returns("deep")
        assert await engine.executions.result(started.id) == "deep"


async def test_a_parent_waits_for_every_one_of_its_children(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), form(), end("${input}"), name="works"))
        await engine.workflows.register(flow(fan_out(child("a", "works", input="${item}"))))
        started = await engine.executions.start("flow", [1, 2, 3])
        calls = {one.context.execution_id: one for one in await work.all_begun(3)}
        ids = [child_id(started.id, f"a:each.{n}", 1) for n in range(3)]
        calls[ids[0]].returns()
        await until_status(engine, ids[0], "paused")  # for a person, and not yet by an operator
        assert (await engine.control.pause(started.id)).status == "pausing"
        await until(engine, ids[0], lambda head: head.commands_done == 1)
        calls[ids[1]].returns()
        await until_status(engine, ids[1], "paused")
        assert (await engine.queries.get(started.id)).status == "pausing"
        calls[ids[2]].returns()
        await until_status(engine, started.id, "paused")
        await engine.control.resume(started.id)
        for id_ in ids:
            await until(engine, id_, lambda head: head.commands_done == 2)
            await engine.executions.wait(id_, "rest")
            (asked,) = await engine.points.list(id_)
            await engine.answers.answer(asked.point.id, {}, by="ann")
        assert await engine.executions.result(started.id) == [1, 2, 3]


async def test_only_what_the_last_pause_came_to_counts(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        parent, inner, running = await working(engine, work)
        for _ in range(3):
            await engine.control.pause(parent)
            await engine.control.resume(parent)
        await engine.control.pause(parent, "at last")
        await until(engine, inner, lambda head: head.commands_done == 7)
        assert (await engine.queries.get(parent)).status == "pausing"
        running.returns()
        await until_status(engine, parent, "paused")
        assert (await engine.queries.get(inner)).status == "paused"
        assert len(work.calls) == 1
        await engine.control.resume(parent)
        (await work.begun()).returns("done")
        assert await engine.executions.result(parent) == "done"


async def test_a_child_that_rests_is_paused_and_resumed_many_times(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(delay(), name="naps"))
        await engine.workflows.register(flow(child("a", "naps")))
        started = await engine.executions.start("flow", wait="rest")
        inner = await until_child(engine, child_id(started.id, "a", 1), "waiting")
        for _ in range(5):
            await engine.control.pause(started.id)
            await until_status(engine, started.id, "paused")
            assert (await engine.queries.get(inner)).status == "paused"
            await engine.control.resume(started.id)
            await until_status(engine, inner, "waiting")
        assert (await engine.queries.get(started.id)).status == "waiting"


async def test_a_child_that_its_own_operator_paused_answers_its_parent(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        parent, inner, running = await working(engine, work)
        await engine.control.pause(inner, "its own")
        running.returns()
        await until_status(engine, inner, "paused")
        await until(engine, parent, lambda head: head.commands_done == 1)  # it knows
        assert (await engine.queries.get(parent)).status == "waiting"
        await engine.control.pause(parent)
        await until_status(engine, parent, "paused")
        assert (await engine.queries.get(inner)).paused_reason == "its own"
        await engine.control.resume(parent)
        (await work.begun()).returns("on")
        assert await engine.executions.result(parent) == "on"


async def test_a_child_that_is_just_being_paused_by_its_operator_is_waited_for(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        parent, inner, running = await working(engine, work)
        assert (await engine.control.pause(inner, "its own")).status == "pausing"
        assert (await engine.control.pause(parent)).status == "pausing"
        await until(engine, inner, lambda head: head.commands_done == 2)
        running.returns()
        await until_status(engine, parent, "paused")
        assert (await engine.queries.get(inner)).paused_reason == "its own"


async def test_a_child_that_is_closed_instead_of_paused_is_waited_for_no_longer(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), name="works"))
        await engine.workflows.register(flow(child("a", "works"), end("${nodes.a}")))
        started = await engine.executions.start("flow", wait="rest")
        running = await work.begun()
        inner = child_id(started.id, "a", 1)
        assert (await engine.control.pause(started.id)).status == "pausing"
        await until_status(engine, inner, "pausing")
        await engine.control.cancel(inner, "never mind")
        await until_status(engine, started.id, "paused")
        await running.cancelled.wait()
        assert (await engine.control.resume(started.id)).status == "failed"


async def test_what_a_child_came_to_while_its_parent_is_paused_waits_for_its_turn(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a", retry=ONCE), call("b", retry=ONCE), name="works"))
        await engine.workflows.register(flow(child("a", "works", retry=ONCE)))
        started = await engine.executions.start("flow", wait="rest")
        running = await work.begun()
        inner = child_id(started.id, "a", 1)
        await engine.control.pause(started.id, "lunch")
        await until_status(engine, inner, "pausing")
        running.returns()
        await until_status(engine, started.id, "paused")
        await engine.control.resume(inner)  # by its own operator
        (await work.begun()).raises(Refused("no money"))
        await until_status(engine, inner, "failed")
        await until(engine, started.id, lambda head: head.commands_done == 4)  # pause, paused, resumed, closed
        assert (await engine.queries.get(started.id)).status == "paused"
        assert "The answer to `a` waits for its turn." in [
            one.text for one in (await engine.queries.why(started.id)).reasons
        ]
        failed = await engine.control.resume(started.id)
        assert failed.status == "failed"
        assert failed.error is not None
        assert failed.error.message == "no money"


async def test_a_paused_child_that_has_been_paused_for_too_long_fails_its_parent_later(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(delay(), name="naps", settings={"max_pause": "1ms"}))
        await engine.workflows.register(
            flow(child("a", "naps", retry=ONCE, next={"error": "sorry"}), end("${errors.a.code}", "sorry"))
        )
        started = await engine.executions.start("flow", wait="rest")
        inner = await until_child(engine, child_id(started.id, "a", 1), "waiting")
        await engine.control.pause(started.id)
        await until_status(engine, inner, "failed")
        await until_status(engine, started.id, "paused")
        await until(engine, started.id, lambda head: head.commands_seq == head.commands_done >= 2)
        await engine.executions.wait(started.id, "rest")
        await engine.control.resume(started.id)
        assert await engine.executions.result(started.id) == "pause_expired"


async def test_a_parent_that_is_paused_before_it_wants_its_child_starts_it_later(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(end("done"), name="quick"))
        await engine.workflows.register(flow(call("a"), child("b", "quick")))
        started = await engine.executions.start("flow")
        running = await work.begun()
        await engine.control.pause(started.id)
        running.returns()
        await until_status(engine, started.id, "paused")
        assert await engine.lists.list(workflow="quick") == []
        await engine.control.resume(started.id)
        assert await engine.executions.result(started.id) == "done"
        (row,) = await engine.lists.list(workflow="quick")
        history = [entry.event for entry in await engine.queries.history(row.head.execution_id)]
        assert not any(isinstance(event, ev.ExecutionPausing | ev.ExecutionResumed) for event in history)


async def test_a_paused_parent_that_is_cancelled_cancels_its_paused_child(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        parent, inner, running = await working(engine, work)
        await engine.control.pause(parent)
        await until_status(engine, inner, "pausing")
        running.returns()
        await until_status(engine, parent, "paused")
        await engine.control.cancel(parent, "enough")
        await until_status(engine, inner, "cancelled")
