"""Executions go on by another version: one by one, as a batch with a canary, and whenever the engine dies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from layover import InvalidInput, NotAllowed, WrongState, node
from layover.errors import InvalidDefinition, NotFound
from layover.testing import CommitPoint
from tests.runtime.harness import call, end, flow, form

if TYPE_CHECKING:
    from layover import DeployPlan, ExecutionHandle
    from layover.testing import Layover

FIRST = flow(form("ask"), form("check"), end("${nodes.check}"), name="order")
SECOND = flow(
    form("ask", title="Asked anew"), {"id": "mark", "type": "set", "values": {"v": 2}}, form("review"),
    form("last"), end("${nodes.last}"), name="order",
)  # fmt: skip
RENAMED = {"check": "review"}


async def begun(layover: Layover, count: int = 3) -> list[ExecutionHandle]:
    """Return executions of which the first waits at `check`, and the others at `ask`."""
    await layover.register(FIRST)
    found = []
    for _ in range(count):
        await layover.skip("1s")
        found.append(await layover.start("order", {}))
    await found[0].answer("ask", {})
    return found


def told(plan: DeployPlan) -> list[tuple[str, bool, str | None, tuple[str, ...], int]]:
    return [(one.kind, one.can_move, one.code, one.nodes, one.count) for one in plan.groups]


async def test_a_plan_says_what_a_version_would_mean_and_changes_nothing(layover: Layover) -> None:
    started = await begun(layover)
    plan = await layover.plan(SECOND)
    assert (plan.workflow, plan.version, plan.total, plan.can_move, plan.more) == ("order", None, 3, 2, False)
    assert told(plan) == [
        ("gone", False, "node_gone", ("check",), 1),
        ("changed", True, None, ("ask",), 2),
    ]
    assert plan.groups[0].sample == (started[0].id,)
    assert plan.groups[1].asked_again == ("ask",)
    mapped = await layover.plan(SECOND, map=RENAMED)
    assert told(mapped) == [("moved", True, None, ("check",), 1), ("changed", True, None, ("ask",), 2)]
    assert mapped.groups[0].passed == ("mark",)
    for _ in range(210):  # more than a page of them
        await layover.start("order", {})
    assert told(await layover.plan(SECOND, map=RENAMED))[1] == ("changed", True, None, ("ask",), 212)
    assert [one.version async for one in layover.workflows()] == [1]
    assert [(await one.refresh()).version for one in started] == [1, 1, 1]


async def test_an_execution_goes_on_by_the_version_that_it_is_moved_to(layover: Layover) -> None:
    (started, *_) = await begun(layover)
    await layover.register(SECOND)
    await started.move(2, map=RENAMED, reason="The form was wrong.")
    assert started.version == 2
    assert [point.node async for point in started.points()] == ["review"]
    moved = [event async for event in started.history() if event.type == "ExecutionMoved"]
    assert [event.data["reason"] for event in moved] == ["The form was wrong."]
    assert {one.node: one.status async for one in started.nodes()}["ask"] == "completed"
    assert [step.nodes async for step in started.replay()][-1] == {
        "ask": "completed",
        "mark": "skipped",
        "review": "waiting",
    }
    await started.answer("review", {})
    await started.answer("last", {"n": 1})
    assert (await started.refresh()).output == {"n": 1}


async def test_what_has_no_place_is_refused_and_stays_where_it_is(layover: Layover) -> None:
    started = await begun(layover)
    await layover.register(SECOND)
    with pytest.raises(WrongState, match="no such node") as caught:
        await started[0].move(2)
    assert caught.value.code == "cannot_move"
    with pytest.raises(WrongState, match="already"):
        await started[0].move(1)
    with pytest.raises(NotFound):
        await started[0].move(3)
    with pytest.raises(NotFound, match="nothing"):
        await started[0].move(2, map={"check": "nothing"})
    for names in ({"check": "review", "ask": "review"}, {"": "review"}):
        with pytest.raises(InvalidInput):
            await started[0].move(2, map=names)
    with pytest.raises(InvalidDefinition):
        await layover.plan({"name": "order", "nodes": []})
    with pytest.raises(NotAllowed):
        await layover.as_user("eve", ["viewer"]).batch("move", {"workflow": "order"}, version=2)
    assert (await started[0].refresh()).version == 1
    await started[0].answer("check", {})
    with pytest.raises(WrongState, match="completed"):
        await started[0].move(2)


async def test_a_move_under_the_same_key_is_made_once(layover: Layover) -> None:
    (started, *_) = await begun(layover)
    await layover.register(SECOND)
    for _ in range(2):
        await started.move(2, map=RENAMED, idempotency_key="k")
    assert [event.type async for event in started.history()].count("ExecutionMoved") == 1
    assert len([one async for one in layover.audit(act="execution.move")]) == 1


async def test_a_batch_moves_those_that_can_be_moved_and_skips_the_others(layover: Layover) -> None:
    started = await begun(layover)
    await layover.register(SECOND)
    batch = await layover.batch("move", {"workflow": "order"}, version=2)
    assert (batch.options, (await batch.refresh()).status) == ({"version": 2}, "completed")
    assert [(one.target, one.code) async for one in batch.items(status="failed")] == [(started[0].id, "cannot_move")]
    assert [(await one.refresh()).version for one in started] == [1, 2, 2]
    assert {one.request_id async for one in layover.audit(act="execution.move")} == {batch.id}


async def test_a_batch_of_moves_stops_when_its_canary_fails_afterwards(layover: Layover) -> None:
    @node
    def work() -> None:
        raise ValueError("broken")

    layover.nodes(work)
    await layover.register(flow({"id": "rest", "type": "delay", "duration": "5m"}, end("${1}"), name="resting"))
    for _ in range(10):
        await layover.start("resting", {})
    await layover.register(flow({"id": "rest", "type": "delay", "duration": "5m"}, call("work"), name="resting"))
    batch = await layover.batch("move", {"workflow": "resting"}, version=2, canary={"share": "20%", "watch": "10m"})
    assert ((await batch.refresh()).status, batch.done) == ("watching", 2)
    await layover.skip("1h")
    assert ((await batch.refresh()).status, batch.code, batch.done) == ("stopped", "canary_failed", 2)
    assert sorted([one.status async for one in layover.executions()]) == ["completed"] * 8 + ["failed"] * 2


@pytest.mark.parametrize(
    "more", [{}, {"version": 0}, {"version": 2, "to": "ask"}, {"version": 2, "map": {"a b": "c"}}, {"version": "x"}]
)
async def test_a_batch_of_moves_that_cannot_be_meant_is_refused(layover: Layover, more: dict[str, Any]) -> None:
    await begun(layover, 1)
    with pytest.raises(InvalidInput):
        await layover.batch("move", {"workflow": "order"}, **more)
    with pytest.raises(InvalidInput):
        await layover.batch("move", {"tag": "x"}, version=2)


@pytest.mark.parametrize("dry_run", [True, False])
@pytest.mark.parametrize(
    ("version", "names", "code"), [(9, {}, "unknown_version"), (1, {"ask": "nowhere"}, "unknown_node")]
)
async def test_a_batch_of_moves_to_what_is_not_there_is_refused_and_not_skipped_item_by_item(
    layover: Layover, version: int, names: dict[str, str], code: str, *, dry_run: bool
) -> None:
    await begun(layover, 1)
    with pytest.raises(NotFound) as refused:
        await layover.batch("move", {"workflow": "order"}, version=version, map=names, dry_run=dry_run)
    assert refused.value.code == code
    assert [one async for one in layover.batches()] == []


@pytest.mark.parametrize(
    ("point", "nth"),
    [
        (CommitPoint.APPEND_DECIDED, 1),
        (CommitPoint.REST_TOLD, 1),
        (CommitPoint.BATCH_ITEM_DONE, 2),
        (CommitPoint.BATCH_ITEMS_DONE, 1),
    ],
)
async def test_each_is_moved_once_whenever_the_engine_dies(layover: Layover, point: CommitPoint, nth: int) -> None:
    started = await begun(layover)
    await layover.register(SECOND)
    ann = layover.as_user("ann", ["operator"])
    layover.crash_at(point, nth)
    batch = await ann.batch("move", {"workflow": "order"}, version=2, map=RENAMED)
    await batch.wait()
    assert layover.crashes == 1
    assert (batch.status, batch.done, batch.failed) == ("completed", 3, 0)
    for one in started:
        assert [event.type async for event in one.history()].count("ExecutionMoved") == 1
    assert sorted([one.target async for one in layover.audit(act="execution.move")]) == sorted(
        one.id for one in started
    )
