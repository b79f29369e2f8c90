"""What an execution tells of its pauses, its resumes, its driver, its legs, its graph and its queue of answers."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from layover.core.ids import uuid8
from layover.core.moments import Moment
from layover.model.executions import Position
from layover.runtime.maintenance.verify import violations
from layover.runtime.operations.start_options import Options
from tests.runtime.harness import (
    HOUR,
    HandWound,
    Held,
    Refused,
    Scripted,
    approval,
    call,
    delay,
    end,
    engine_at,
    engine_on,
    fan_out,
    flow,
    form,
    until,
    until_status,
)

if TYPE_CHECKING:
    from layover.runtime.runtime import Runtime

pytestmark = pytest.mark.usefixtures("each_database")


async def answered(engine: Runtime, execution_id: str, data: object = None) -> None:
    """Answer the only open form of an execution."""
    (row,) = await engine.points.list(execution_id)
    await engine.answers.answer(row.point.id, data if data is not None else {}, by="ann")


async def test_what_waits_for_a_person_is_paused_there_since_then(tmp_path: Path) -> None:
    clock = HandWound()
    nodes = (
        approval(approvers={"roles": ["boss"]}, next={"approved": ["a", "b"], "rejected": "c"}),
        {"id": "a", "type": "compute", "output": 1, "next": None},
        {"id": "b", "type": "compute", "output": 1, "next": None},
        {"id": "c", "type": "compute", "output": 1},
    )
    async with engine_on(clock.store(tmp_path)) as engine:
        version = await engine.workflows.register(flow(*nodes))
        resting = await engine.executions.start("flow", wait="rest", options=Options(trigger={"by": "hook"}))
        assert resting.status == "paused"
        assert resting.paused_at is not None
        assert resting.waiting_on[0].since is not None
        assert resting.paused_at >= resting.waiting_on[0].since
        assert resting.paused_reason == "`review` waits for a decision by role boss."
        assert (resting.paused_node, resting.next_nodes) == ("review", ("a", "b"))
        assert (resting.version, resting.trigger) == (version.number, {"by": "hook"})
        assert (resting.resume_count, resting.last_resumed_at, resting.nodes_executed) == (0, None, 0)
        clock.skip(engine, 1_000)
        engine.instance.clock.set(clock.now)
        (row,) = await engine.points.list(resting.id)
        await engine.answers.answer(row.point.id, approved=True, by="ann", roles=("boss",))
        done = await engine.executions.wait(resting.id)
        assert (done.paused_at, done.paused_reason, done.paused_node, done.next_nodes) == (None, None, None, ())
        assert (done.resume_count, done.nodes_executed) == (1, 3)
        assert done.last_resumed_at is not None
        assert done.last_resumed_at >= Moment.of(clock.now)


async def test_an_operators_pause_tells_what_it_caught_and_what_comes_next(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("one"), call("two"), call("three")))
        started = await engine.executions.start("flow")
        first = await work.begun()
        pausing = await engine.control.pause(started.id, "stock-taking")
        assert (pausing.status, pausing.paused_node, pausing.paused_reason) == ("pausing", "one", "stock-taking")
        first.returns()
        await until_status(engine, started.id, "paused")
        paused = await engine.queries.get(started.id)
        assert (paused.paused_node, paused.next_nodes, paused.nodes_executed) == ("one", ("two",), 1)
        assert paused.paused_at is not None
        assert len(work.calls) == 1
        resumed = await engine.control.resume(started.id, {"n": 2})
        assert (resumed.resume_count, resumed.resume_data) == (1, {"n": 2})
        assert resumed.last_resumed_at is not None
        assert (resumed.paused_at, resumed.paused_node) == (None, None)


async def test_an_operators_pause_of_what_rests_is_where_it_would_go_on(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form(), end(1)))
        started = await engine.executions.start("flow", wait="rest")
        await engine.control.pause(started.id, "later")
        await until_status(engine, started.id, "paused")
        paused = await engine.queries.get(started.id)
        assert (paused.paused_reason, paused.paused_node, paused.next_nodes) == ("later", "ask", ("finish",))


async def test_what_has_not_begun_begins_with_its_first_nodes(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form(), end(1)))
        later = await engine.executions.start("flow", options=Options(delay="1h"))
        assert (later.status, later.next_nodes, later.paused_node) == ("pending", ("ask",), None)


async def test_what_only_waits_for_time_is_not_paused(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(delay()))
        waiting = await engine.executions.start("flow", wait="rest")
        assert (waiting.status, waiting.paused_at, waiting.paused_reason) == ("waiting", None, None)


async def test_an_incident_waits_for_a_person(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted(Refused("no"))) as engine:
        await engine.workflows.register(flow(call("a", retry={"max_attempts": 1, "on_exhausted": "pause"})))
        stuck = await engine.executions.start("flow", wait="rest")
        assert (stuck.status, stuck.paused_node) == ("paused", "a")
        assert stuck.paused_reason == "`a` failed for good and waits for an operator: no"
        assert stuck.paused_at is not None


async def test_the_view_names_the_owner_while_an_instance_drives_it(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), form()))
        started = await engine.executions.start("flow")
        begun = await work.begun()
        lease = (await engine.queries.get(started.id)).lease
        assert lease is not None
        assert lease.instance == engine.instance.id
        assert lease.expires_at is not None
        begun.returns()
        await until_status(engine, started.id, "paused")
        assert (await engine.queries.get(started.id)).lease is None


async def test_legs_follow_one_another_without_gaps(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form("a"), form("b"), end(1)))
        started = await engine.executions.start("flow", wait="rest")
        await answered(engine, started.id)
        await engine.executions.wait(started.id, "rest")
        await answered(engine, started.id)
        done = await engine.executions.wait(started.id)
        first, second, third = await engine.queries.legs(started.id)
        assert [one.depth for one in (first, second, third)] == [0, 1, 2]
        assert (first.parent, second.parent, third.parent) == (None, first.id, second.id)
        assert first.id == uuid8(f"{started.id}\0leg\x001")
        assert first.from_seq == 1  # it was created before
        assert (second.from_seq, third.from_seq) == (first.to_seq + 1, second.to_seq + 1)
        assert third.to_seq == done.last_seq
        assert {one.instance for one in (first, second, third)} == {engine.instance.id}
        assert (first.cause, second.cause) == ("created", "commands")


async def test_a_graph_shows_what_became_of_nodes_in_all_scopes(tmp_path: Path) -> None:
    branch = {"id": "one", "body": [{"id": "x", "type": "compute", "output": 1}]}
    other = {"id": "two", "body": [form("x")]}
    nodes: tuple[dict[str, object], ...] = (
        {"id": "big", "type": "condition", "if": "true", "next": {"true": "rounds", "false": "never"}},
        {"id": "rounds", "type": "loop", "times": 3, "body": [{"id": "x", "type": "compute", "output": 1}]},
        {"id": "both", "type": "parallel", "branches": [branch, other], "next": "last"},
        {"id": "last", "type": "compute", "output": 1, "next": None},
        {"id": "never", "type": "compute", "output": 1, "label": "Not here", "position": {"x": 1, "y": 2}},
    )
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(*nodes))
        started = await engine.executions.start("flow", wait="rest")
        graph = await engine.queries.graph(started.id)
    found = {one.id: one for one in graph.nodes}
    assert {name: (one.status, one.runs) for name, one in found.items()} == {
        "big": ("completed", {"completed": 1}),
        "rounds": ("completed", {"completed": 1}),
        "x:rounds": ("completed", {"completed": 3}),
        "both": ("entered", {"entered": 1}),
        "x:both.one": ("completed", {"completed": 1}),
        "x:both.two": ("waiting", {"waiting": 1}),
        "last": (None, {}),
        "never": ("skipped", {"skipped": 1}),
    }
    assert (found["x:both.two"].node, found["x:both.two"].parent, found["x:both.two"].branch) == ("x", "both", "two")
    assert (found["x:rounds"].parent, found["x:rounds"].branch) == ("rounds", None)
    assert (found["never"].label, found["never"].position) == ("Not here", Position(x=1, y=2))
    edges = {(one.source, one.port, one.target): one.taken for one in graph.edges}
    assert edges == {
        ("big", "true", "rounds"): 1,
        ("big", "false", "never"): 0,
        ("rounds", "done", "both"): 1,
        ("both", "done", "last"): 0,
    }


async def test_answers_wait_in_the_order_in_which_they_were_given(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(fan_out(form()), end(1)))
        started = await engine.executions.start("flow", [1, 2, 3], wait="rest")
        await engine.control.pause(started.id)
        await until_status(engine, started.id, "paused")
        rows = await engine.points.list(started.id)
        assert await engine.points.queue(started.id) == {}
        for row in reversed(rows):
            await engine.answers.answer(row.point.id, {}, by="ann")
        assert await engine.points.queue(started.id) == {row.point.id: 3 - place for place, row in enumerate(rows)}
        await engine.control.resume(started.id)
        await engine.executions.wait(started.id)
        assert await engine.points.queue(started.id) == {}
        assert await violations(engine.instance.store) == []


async def test_the_newest_point_of_a_place_is_found_be_it_closed(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(form(), form("other")))
        started = await engine.executions.start("flow", wait="rest")
        (first,) = await engine.points.list(started.id)
        await answered(engine, started.id)
        await engine.executions.wait(started.id, "rest")
        closed = await engine.points.find(started.id, "ask")
        assert closed is not None
        assert (closed.point.id, closed.status) == (first.point.id, "applied")
        clock.now += 1_000
        engine.instance.clock.set(clock.now)
        await engine.control.rewind(started.id, "ask")
        await engine.executions.wait(started.id, "rest")
        again = await engine.points.find(started.id, "ask")
        assert again is not None
        assert again.status == "open"
        assert again.point.id != first.point.id
        assert await engine.points.find(started.id, "nowhere") is None


async def test_what_is_paused_is_listed_the_longest_first(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(form()))
        await engine.workflows.register(flow(delay(), name="naps"))
        ids = []
        for workflow in ("flow", "naps", "flow", "naps"):
            clock.now += 1_000
            engine.instance.clock.set(clock.now)
            ids.append((await engine.executions.start(workflow, wait="rest")).id)
        assert [one.id for one in await engine.lists.paused()] == [ids[0], ids[2]]
        clock.now += 1_000
        engine.instance.clock.set(clock.now)
        await engine.control.pause(ids[1])
        await until_status(engine, ids[1], "paused")
        found = await engine.lists.paused()
        assert [one.id for one in found] == [ids[0], ids[2], ids[1]]
        assert [one.paused_at for one in found] == sorted(one.paused_at or Moment.of(0) for one in found)
        assert [one.id for one in await engine.lists.paused("naps")] == [ids[1]]
        assert [one.id for one in await engine.lists.paused(limit=1)] == [ids[0]]
        seen = found[0]
        assert seen.paused_at is not None
        assert [one.id for one in await engine.lists.paused(after=(seen.paused_at.milliseconds, seen.id))] == [
            ids[2],
            ids[1],
        ]
        assert found == [await engine.queries.get(one.id) for one in found]


async def test_a_point_that_was_answered_keeps_when_after_it_is_applied(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(form(), end(1)))
        started = await engine.executions.start("flow", wait="rest")
        await engine.control.pause(started.id)
        await until_status(engine, started.id, "paused")
        clock.skip(engine, HOUR)
        engine.instance.clock.set(clock.now)
        at = clock.now
        await answered(engine, started.id)
        await until(engine, started.id, lambda head: head.commands_done == head.commands_seq)
        clock.skip(engine, HOUR)
        engine.instance.clock.set(clock.now)
        await engine.control.resume(started.id)
        await engine.executions.wait(started.id)
        row = await engine.points.find(started.id, "ask")
        assert row is not None
        assert row.point.answered_at is not None
        assert row.closed_at is not None
        assert row.status == "applied"
        assert at <= row.point.answered_at < at + HOUR <= row.closed_at
