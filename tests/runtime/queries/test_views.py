"""What readers see: executions, nodes, logs, points and lists."""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003 - read by pytest
from datetime import timedelta
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import msgspec
import pytest

from layover.core.engine import events as ev
from layover.model.executions import NodeExecution  # noqa: TC001 - read by pytest
from layover.model.shared import encode
from layover.runtime.operations.start_options import Options
from tests.runtime.harness import (
    HOUR,
    HandWound,
    Held,
    Refused,
    Scripted,
    a_moment_later,
    call,
    delay,
    end,
    engine_at,
    engine_on,
    fan_out,
    flow,
    form,
    until_status,
)

if TYPE_CHECKING:
    from layover.runtime.queries.history import HistoryEntry


def by_id(nodes: Sequence[NodeExecution]) -> dict[str, NodeExecution]:
    return {one.context_id: one for one in nodes}


async def test_an_execution_says_what_it_is_and_how_it_came_to_be_so(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        version = await engine.workflows.register(
            flow(form(deadline="1h", on_deadline="fail"), end("${nodes.ask}"), variables={"paid": False})
        )
        resting = await engine.executions.start("flow", {"a": 1}, wait="rest")
        assert resting == await engine.queries.get(resting.id)
        assert (resting.workflow, resting.hash, resting.status) == ("flow", version.hash, "paused")
        assert (resting.input, resting.output, resting.variables) == ({"a": 1}, None, {"paid": False})
        assert resting.created_at == resting.started_at
        assert (resting.finished_at, resting.closed) == (None, False)
        (waiting,) = resting.waiting_on
        (row,) = await engine.points.list(resting.id)
        assert (waiting.context_id, waiting.kind, waiting.point) == ("ask", "form", row.point.id)
        assert waiting.since is not None
        assert waiting.until == waiting.since + timedelta(milliseconds=HOUR)
        await engine.answers.answer(row.point.id, {"b": 2}, by="ann")
        done = await engine.executions.wait(resting.id)
        assert (done.status, done.outcome, done.output) == ("completed", "executed", {"b": 2})
        assert done.waiting_on == ()
        assert done.finished_at is not None
        assert done.finished_at >= done.created_at


async def test_a_start_that_waits_tells_the_same_as_a_later_look(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted(1)) as engine:
        await engine.workflows.register(flow(call("a"), end("${nodes.a}")))
        done = await engine.executions.start("flow", wait="end", options=Options(tags=("x",), user="ann"))
        assert await engine.queries.get(done.id) == done


async def test_the_log_has_no_gaps_and_can_be_read_in_parts(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted(1)) as engine:
        await engine.workflows.register(flow(fan_out(call("a")), end("${nodes.each}")))
        done = await engine.executions.start("flow", list(range(20)), wait="end")
        whole = await engine.queries.history(done.id)
        assert [one.seq for one in whole] == list(range(done.last_seq + 1))
        assert isinstance(whole[0].event, ev.ExecutionCreated)
        assert isinstance(whole[-1].event, ev.ExecutionCompleted)
        assert [one.at for one in whole] == sorted(one.at for one in whole)
        parts: list[HistoryEntry] = []
        since = 0
        while part := await engine.queries.history(done.id, since, 7):
            parts += part
            since = part[-1].seq + 1
        assert parts == whole
        assert await engine.queries.history(done.id, done.last_seq + 1) == []


async def test_every_node_that_was_reached_is_listed(tmp_path: Path) -> None:
    clock, work = HandWound(), Scripted(Refused("once"), {"n": 1})
    retry = {"max_attempts": 2, "delay": "1h"}
    nodes: tuple[dict[str, object], ...] = (
        {"id": "big", "type": "condition", "if": "true", "next": {"true": "a", "false": "never"}},
        call("a", input={"x": "${input}"}, retry=retry),
        {"id": "put", "type": "set", "values": {"v": 1}},
        {"id": "loop", "type": "loop", "times": 2, "body": [call("b", "other")]},
        form("ask", next=None),
        call("never", "other"),
    )
    async with engine_on(clock.store(tmp_path), work, Scripted("o", name="other")) as engine:
        await engine.workflows.register(flow(*nodes))
        started = await engine.executions.start("flow", 5, wait="rest")
        found = by_id(await engine.queries.nodes(started.id))
        assert [(one.context_id, one.status) for one in found.values()] == [("big", "completed"), ("a", "backoff")]
        assert found["a"].finished_at is not None
        assert found["a"].error is not None
        assert found["a"].error.message == "once"
        clock.skip(engine, 2 * HOUR)
        await until_status(engine, started.id, "paused")
        found = by_id(await engine.queries.nodes(started.id))
    assert {name: (one.type, one.status) for name, one in found.items()} == {
        "big": ("condition", "completed"),
        "a": ("work", "completed"),
        "put": ("set", "completed"),
        "loop": ("loop", "completed"),
        "b:loop.0": ("other", "completed"),
        "b:loop.1": ("other", "completed"),
        "ask": ("form", "waiting"),
    }
    a = found["a"]
    assert (a.node, a.attempt, a.input, a.output, a.port, a.error) == ("a", 2, {"x": 5}, {"n": 1}, "done", None)
    assert [one.attempt for one in a.attempts] == [1, 2]
    first, second = a.attempts
    assert first.error is not None
    assert first.retry_at is not None
    assert first.started_at is not None
    assert second.started_at is not None
    assert second.started_at >= first.retry_at
    assert a.started_at == first.started_at
    assert a.finished_at == second.finished_at
    assert a.finished_at is not None
    assert a.duration_ms == a.finished_at.milliseconds - a.started_at.milliseconds >= HOUR
    assert (found["big"].port, found["big"].output) == ("true", True)
    assert found["loop"].output == ["o", "o"]
    assert found["ask"].started_at is not None
    assert (found["ask"].finished_at, found["ask"].duration_ms) == (None, None)


async def test_a_node_that_is_tried_again_has_not_finished(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a", retry={"max_attempts": 2, "delay": "1ms"})))
        started = await engine.executions.start("flow")
        (await work.begun()).raises(Refused("no"))
        second = await work.begun()
        (node,) = await engine.queries.nodes(started.id)
        assert (node.status, node.attempt, node.finished_at, node.duration_ms) == ("running", 2, None, None)
        second.returns()
        await engine.executions.wait(started.id)


@pytest.mark.parametrize("how", ["cancel", "fail", "time"])
async def test_nodes_that_ran_when_an_execution_ended_are_not_shown_as_running(tmp_path: Path, how: str) -> None:
    work, other = Held(), Held("other")
    branches = [
        {"id": "one", "body": [call("a")]},
        {"id": "two", "body": [call("b", "other")]},
        {"id": "three", "body": [form()]},
    ]
    settings = {"timeout": "100ms"} if how == "time" else {}
    async with engine_at(tmp_path, work, other) as engine:
        await engine.workflows.register(
            flow({"id": "all", "type": "parallel", "branches": branches}, settings=settings)
        )
        started = await engine.executions.start("flow")
        await work.begun()
        second = await other.begun()
        if how == "cancel":
            await engine.control.cancel(started.id)
        elif how == "fail":
            second.raises(Refused("no"))
        await engine.executions.wait(started.id)
        found = {name: one.status for name, one in by_id(await engine.queries.nodes(started.id)).items()}
        assert found["a:all.one"] == "stopped"
        assert found["b:all.two"] == ("failed" if how == "fail" else "stopped")
        assert found["ask:all.three"] == "cancelled"


async def test_rewound_nodes_show_their_new_attempt(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted(1, 2)) as engine:
        await engine.workflows.register(flow(call("a"), form()))
        started = await engine.executions.start("flow", wait="rest")
        await engine.control.rewind(started.id, "a")
        await engine.executions.wait(started.id, "rest")
        found = by_id(await engine.queries.nodes(started.id))
        assert (found["a"].output, found["a"].attempt, found["ask"].status) == (2, 2, "waiting")


async def test_nodes_after_the_target_of_a_rewind_are_no_longer_listed(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work, Scripted(1, name="other")) as engine:
        loop = {"id": "loop", "type": "loop", "times": 2, "body": [call("b", "other")]}
        await engine.workflows.register(flow(call("a"), loop, form()))
        started = await engine.executions.start("flow")
        (await work.begun()).returns()
        await engine.executions.wait(started.id, "rest")
        assert list(by_id(await engine.queries.nodes(started.id))) == ["a", "loop", "b:loop.0", "b:loop.1", "ask"]
        await engine.control.rewind(started.id, "a")
        await work.begun()
        assert list(by_id(await engine.queries.nodes(started.id))) == ["a"]


async def test_what_the_end_of_an_execution_stopped_is_at_work_again_when_it_is_reopened(tmp_path: Path) -> None:
    work, other = Held(), Held("other")
    branches = [{"id": "one", "body": [call("a")]}, {"id": "two", "body": [call("b", "other")]}]
    async with engine_at(tmp_path, work, other) as engine:
        await engine.workflows.register(flow({"id": "all", "type": "parallel", "branches": branches}))
        started = await engine.executions.start("flow")
        await work.begun()
        (await other.begun()).raises(Refused("no"))
        await engine.executions.wait(started.id)
        await engine.control.retry(started.id)
        await work.begun()
        await other.begun()
        found = {name: one.status for name, one in by_id(await engine.queries.nodes(started.id)).items()}
        assert found == {"all": "entered", "a:all.one": "running", "b:all.two": "running"}


async def test_executions_are_found_by_workflow_status_and_tag_the_newest_first(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(end(1)))
        await engine.workflows.register(flow(delay(), name="later"))
        ids = []
        for n in range(5):
            clock.now += 1_000
            engine.instance.clock.set(clock.now)
            tags = ("even",) if n % 2 == 0 else ()
            workflow = "flow" if n < 3 else "later"
            ids.append((await engine.executions.start(workflow, wait="rest", options=Options(tags=tags))).id)
        newest = ids[::-1]
        assert [one.head.execution_id for one in await engine.lists.list()] == newest
        assert [one.head.execution_id for one in await engine.lists.list(workflow="later")] == newest[:2]
        assert [one.head.execution_id for one in await engine.lists.list(status=["completed"])] == newest[2:]
        assert [one.head.execution_id for one in await engine.lists.list(tag="even")] == [ids[4], ids[2], ids[0]]
        assert await engine.lists.list(workflow="nothing") == []
        page = await engine.lists.list(limit=2)
        rest = await engine.lists.list(after=(page[-1].info.created_at, page[-1].head.execution_id))
        assert [one.head.execution_id for one in (*page, *rest)] == newest
        assert await engine.lists.counts() == {"completed": 3, "waiting": 2}


async def test_points_are_listed_with_their_question_and_approvers(tmp_path: Path) -> None:
    asked = form(
        schema={"type": "object", "required": ["n"]}, title="How many, ${input}?", approvers={"roles": ["boss"]}
    )
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(asked))
        first = await engine.executions.start("flow", "ann", wait="rest")
        a_moment_later(engine)
        second = await engine.executions.start("flow", "bob", wait="rest")
        rows = await engine.points.list()
        assert [row.execution_id for row in rows] == [first.id, second.id]
        (row,) = await engine.points.list(second.id)
        assert (row.workflow, row.point.kind, row.status) == ("flow", "form", "open")
        assert row.point.details["title"] == "How many, bob?"
        assert row.schema == {"type": "object", "required": ["n"]}
        assert row.point.rules is not None
        assert row.point.rules.roles == ("boss",)


async def test_what_readers_see_can_be_written_as_json(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted(Refused("no"))) as engine:
        await engine.workflows.register(flow(call("a", next={"error": "ask"}), form()))
        started = await engine.executions.start("flow", wait="rest")
        seen = [
            await engine.queries.get(started.id),
            await engine.queries.nodes(started.id),
            await engine.queries.history(started.id),
            await engine.points.list(),
            await engine.queries.why(started.id),
            await engine.lists.list(),
        ]
        assert msgspec.json.decode(encode(seen))
