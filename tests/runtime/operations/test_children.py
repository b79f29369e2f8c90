"""An execution that starts others: it waits for what they come to, or only says that they are to begin."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.core.engine import events as ev
from layover.core.ids import child_id
from layover.ports.records import CLOSED
from layover.runtime.operations.start_options import Options
from layover.runtime.runtime import Runtime  # noqa: TC001 - a helper names it
from tests.runtime.harness import (
    HOUR,
    HandWound,
    Held,
    Refused,
    Scripted,
    call,
    child,
    delay,
    end,
    engine_at,
    engine_on,
    fan_out,
    flow,
    form,
    until,
    until_child,
    until_status,
)

pytestmark = pytest.mark.usefixtures("each_database")

ONCE = {"max_attempts": 1, "delay": "1ms", "jitter": 0}
TWICE = {"max_attempts": 2, "delay": "1ms", "jitter": 0}
ECHO = flow(end("${input}"), name="echo")


async def statuses(engine: Runtime, workflow: str) -> list[str]:
    """Return how the executions of a workflow are, the oldest first."""
    return [row.head.status for row in reversed(await engine.lists.list(workflow=workflow))]


async def test_a_child_gets_its_input_and_gives_its_output(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end({"got": "${input.n}"}), name="echo"))
        await engine.workflows.register(flow(child("a", "echo", input={"n": "${input}"}), end("${nodes.a.got}")))
        started = await engine.executions.start("flow", 7, wait="end", options=Options(user="ann"))
        assert (started.status, started.output) == ("completed", 7)
        found = await engine.queries.get(child_id(started.id, "a", 1))
        assert (found.parent_id, found.input, found.user) == (started.id, {"n": 7}, "ann")


async def test_a_parent_rests_while_its_child_waits_for_a_person(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form(), end("${nodes.ask.n}"), name="asks"))
        await engine.workflows.register(flow(child("a", "asks"), end("${nodes.a}")))
        started = await engine.executions.start("flow", wait="rest")
        assert started.status == "waiting"
        assert [one.kind for one in started.waiting_on] == ["child"]
        inner = await until_child(engine, child_id(started.id, "a", 1), "paused")
        (asked,) = await engine.points.list(inner)
        await engine.answers.answer(asked.point.id, {"n": 3}, by="ann")
        assert await engine.executions.result(started.id) == 3


async def test_children_go_three_deep(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted("deep")) as engine:
        await engine.workflows.register(flow(call("a"), name="inner"))
        await engine.workflows.register(flow(child("b", "inner"), end({"inner": "${nodes.b}"}), name="middle"))
        await engine.workflows.register(flow(child("c", "middle"), end({"middle": "${nodes.c}"}), name="outer"))
        await engine.workflows.register(flow(child("d", "outer")))
        assert (await engine.executions.start("flow", wait="end")).output == {"middle": {"inner": "deep"}}


async def test_a_workflow_may_start_itself_if_that_has_an_end(tmp_path: Path) -> None:
    down = flow(
        {"id": "more", "type": "condition", "if": "input > 0", "next": {"true": "again", "false": "floor"}},
        end(0, "floor") | {"next": None},
        child("again", "down", input="${input - 1}"),
        end("${nodes.again + 1}", "count"),
        name="down",
    )
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(down)
        assert (await engine.executions.start("down", 5, wait="end")).output == 5
        assert await engine.lists.counts() == {"completed": 6}


async def test_many_children_side_by_side(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(ECHO)
        await engine.workflows.register(flow(fan_out(child("a", "echo", input="${item}"))))
        started = await engine.executions.start("flow", list(range(200)), wait="end")
        assert started.output == list(range(200))
        assert await engine.lists.counts() == {"completed": 201}
        assert await engine.instance.store.outbox.list_undelivered(started.id) == []


async def test_more_children_than_there_is_room_for(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted("done"), executions=2) as engine:
        await engine.workflows.register(flow(call("a"), name="works"))
        await engine.workflows.register(flow(fan_out(child("a", "works"))))
        assert (await engine.executions.start("flow", list(range(12)), wait="end")).output == ["done"] * 12


async def test_one_child_after_the_other(tmp_path: Path) -> None:
    body = [child("a", "echo", input="${item * 2}")]
    loop: dict[str, object] = {"id": "each", "type": "loop", "for_each": "input", "body": body}
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(ECHO)
        await engine.workflows.register(flow(loop))
        assert (await engine.executions.start("flow", [1, 2, 3], wait="end")).output == [2, 4, 6]


# What goes wrong


async def test_each_attempt_has_a_child_of_its_own(tmp_path: Path) -> None:
    work = Scripted(Refused("not yet"), "at last")
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a", retry=ONCE), name="works"))
        await engine.workflows.register(flow(child("a", "works", retry=TWICE)))
        started = await engine.executions.start("flow", wait="end")
        assert started.output == "at last"
        assert await statuses(engine, "works") == ["failed", "completed"]
        assert {one.execution_id for one in work.calls} == {child_id(started.id, "a", n) for n in (1, 2)}


async def test_a_child_that_fails_leaves_by_the_error_port(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted(Refused("no money"))) as engine:
        await engine.workflows.register(flow(call("a", retry=ONCE), name="works"))
        fails = child("a", "works", retry=ONCE, next={"error": "sorry"})
        await engine.workflows.register(flow(fails, end("${errors.a.message}", "sorry")))
        assert (await engine.executions.start("flow", wait="end")).output == "no money"


async def test_a_child_that_fails_is_passed_over_or_fails_its_parent(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted(Refused("no money"))) as engine:
        await engine.workflows.register(flow(call("a", retry=ONCE), name="works"))
        await engine.workflows.register(
            flow(child("a", "works", retry=ONCE, on_error="continue"), end("on"), name="passes")
        )
        await engine.workflows.register(flow(child("a", "works", retry=ONCE), end("on")))
        assert (await engine.executions.start("passes", wait="end")).output == "on"
        failed = await engine.executions.start("flow", wait="end")
        assert failed.status == "failed"
        assert failed.error is not None
        assert (failed.error.message, failed.error.context_id) == ("no money", "a")


async def test_a_failed_parent_that_is_retried_starts_another_child(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted(Refused("no"), "yes")) as engine:
        await engine.workflows.register(flow(call("a", retry=ONCE), name="works"))
        await engine.workflows.register(flow(child("a", "works", retry=ONCE)))
        failed = await engine.executions.start("flow", wait="end")
        assert failed.status == "failed"
        await engine.control.retry(failed.id)
        assert await engine.executions.result(failed.id) == "yes"
        assert await statuses(engine, "works") == ["failed", "completed"]


@pytest.mark.parametrize(
    ("node", "code"),
    [
        (child("a", "nowhere"), "unknown_workflow"),
        (child("a", "picky", version=7), "unknown_workflow"),
        (child("a", "picky", input={"n": "text"}), "invalid_input"),
    ],
    ids=["no workflow", "no version", "bad input"],
)
async def test_a_child_that_cannot_begin_is_a_failure(tmp_path: Path, node: dict[str, object], code: str) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end("fine"), name="picky", input=schema))
        await engine.workflows.register(
            flow({**node, "retry": ONCE, "next": {"error": "sorry"}}, end("${errors.a.code}", "sorry"))
        )
        assert (await engine.executions.start("flow", wait="end")).output == code
        assert await statuses(engine, "picky") == []


async def test_a_child_that_could_not_begin_begins_when_it_can(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(child("a", "late", retry={"max_attempts": 1, "on_exhausted": "pause"})))
        started = await engine.executions.start("flow")
        await until_status(engine, started.id, "paused")
        await engine.workflows.register(flow(end("here"), name="late"))
        await engine.control.retry(started.id)
        assert await engine.executions.result(started.id) == "here"


async def test_a_version_can_be_asked_for(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        for output in ("one", "two"):
            await engine.workflows.register(flow(end(output), name="versions"))
        both = flow(child("old", "versions", version=1), child("new", "versions"), end("${[nodes.old, nodes.new]}"))
        await engine.workflows.register(both)
        assert (await engine.executions.start("flow", wait="end")).output == ["one", "two"]


async def test_a_child_that_takes_too_long_is_cancelled(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(form(), name="asks"))
        late = child("a", "asks", timeout="1h", retry=ONCE, next={"error": "late"})
        await engine.workflows.register(flow(late, end("${errors.a.code}", "late")))
        started = await engine.executions.start("flow", wait="rest")
        inner = await until_child(engine, child_id(started.id, "a", 1), "paused")
        clock.skip(engine, 2 * HOUR)
        assert await engine.executions.result(started.id) == "timeout"
        await until_status(engine, inner, "cancelled")


async def test_a_cancelled_child_is_a_failure_of_its_parent(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form(), name="asks"))
        await engine.workflows.register(
            flow(child("a", "asks", next={"error": "sorry"}), end("${errors.a.code}", "sorry"))
        )
        started = await engine.executions.start("flow", wait="rest")
        inner = await until_child(engine, child_id(started.id, "a", 1), "paused")
        await engine.control.cancel(inner, "not today")
        assert await engine.executions.result(started.id) == "child_cancelled"
        assert await statuses(engine, "asks") == ["cancelled"]


# Cancelling


async def test_a_cancelled_parent_cancels_children_and_grandchildren(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), name="inner"))
        await engine.workflows.register(flow(child("b", "inner"), name="middle"))
        await engine.workflows.register(flow(child("c", "middle")))
        started = await engine.executions.start("flow")
        running = await work.begun()
        await engine.control.cancel(started.id, "enough")
        middle = child_id(started.id, "c", 1)
        for id_ in (middle, child_id(middle, "b", 1)):
            await until_status(engine, id_, "cancelled")
            assert (await engine.queries.get(id_)).outcome_reason == "enough"
        await running.cancelled.wait()


async def test_a_branch_that_fails_takes_the_children_of_the_others_with_it(tmp_path: Path) -> None:
    work = Held()
    branches = [
        {"id": "l", "body": [child("a", "asks")]},
        {"id": "r", "body": [call("b", retry=ONCE)]},
    ]
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(form(), name="asks"))
        await engine.workflows.register(flow({"id": "both", "type": "parallel", "branches": branches}))
        started = await engine.executions.start("flow")
        running = await work.begun()
        inner = await until_child(engine, child_id(started.id, "a:both.l", 1), "paused")
        running.raises(Refused("no"))
        assert (await engine.executions.wait(started.id)).status == "failed"
        await until_status(engine, inner, "cancelled")


# Detached


async def test_a_detached_child_is_begun_and_not_waited_for(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), name="works"))
        await engine.workflows.register(flow(child("a", "works", detached=True), end("${nodes.a.execution_id}")))
        started = await engine.executions.start("flow", wait="end")
        inner = child_id(started.id, "a", 1)
        assert started.output == inner
        running = await work.begun()
        assert (await engine.queries.get(inner)).parent_id == started.id
        running.returns("unheard")
        assert await engine.executions.result(inner) == "unheard"
        assert await engine.instance.store.outbox.list_undelivered(inner) == []
        assert await engine.instance.store.commands.list_after(started.id, 0) == []


async def test_a_detached_child_goes_on_whatever_becomes_of_its_parent(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), name="works"))
        await engine.workflows.register(flow(child("a", "works", detached=True), form()))
        started = await engine.executions.start("flow", wait="rest")
        running = await work.begun()
        inner = child_id(started.id, "a", 1)
        assert (await engine.control.pause(started.id)).status == "paused"
        await engine.control.cancel(started.id)
        running.returns("done")
        assert await engine.executions.result(inner) == "done"
        history = [entry.event for entry in await engine.queries.history(inner)]
        assert not any(isinstance(event, ev.ExecutionPausing | ev.ExecutionCancelled) for event in history)


async def test_a_detached_child_that_cannot_start_does_not_affect_its_parent(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(child("a", "nowhere", detached=True), form()))
        started = await engine.executions.start("flow", wait="rest")
        await until(engine, started.id, lambda head: head.status == "paused")
        while await engine.instance.store.outbox.list_undelivered(started.id):
            pass  # it is on its way
        assert await engine.instance.store.commands.list_after(started.id, 0) == []
        assert (await engine.queries.get(started.id)).status not in CLOSED


# Durable by the leg, and limits


async def test_children_of_workflows_that_are_durable_by_the_leg(tmp_path: Path) -> None:
    leg = {"durability": "leg"}
    async with engine_at(tmp_path, Scripted("done")) as engine:
        await engine.workflows.register(flow(call("a"), call("b"), name="works", settings=leg))
        await engine.workflows.register(
            flow(call("a"), child("b", "works"), call("c"), end("${nodes.b}"), settings=leg)
        )
        assert (await engine.executions.start("flow", wait="end")).output == "done"


async def test_a_child_waits_for_its_limit(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(
            flow(call("a"), end("${input}"), name="narrow", settings={"concurrency": {"limit": 1}})
        )
        await engine.workflows.register(flow(fan_out(child("a", "narrow", input="${item}"))))
        started = await engine.executions.start("flow", [1, 2], wait="rest")
        inner = {child_id(started.id, f"a:each.{n}", 1) for n in range(2)}
        first = await work.begun()
        (waiting,) = inner - {first.context.execution_id}
        await until_child(engine, waiting, "pending")
        first.returns()
        second = await work.begun()
        assert second.context.execution_id == waiting
        second.returns()
        assert await engine.executions.result(started.id) == [1, 2]


async def test_a_workflow_that_starts_itself_for_ever_comes_to_an_end(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(child("a", "flow")))
        started = await engine.executions.start("flow", wait="end")
        assert (started.status, started.error and started.error.code) == ("failed", "too_deep")
        assert await engine.lists.counts() == {"failed": 101}


async def test_a_child_has_the_priority_and_the_user_of_its_parent(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form(), name="asks"))
        await engine.workflows.register(
            flow(delay(duration="1ms"), child("a", "asks"))
        )  # it is taken up again before it starts
        started = await engine.executions.start("flow", options=Options(priority=7, user="ann"))
        inner = await until_child(engine, child_id(started.id, "a", 1), "paused")
        found = await engine.queries.get(inner)
        assert (found.priority, found.user) == (7, "ann")
