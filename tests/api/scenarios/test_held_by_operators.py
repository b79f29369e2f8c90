"""An operator holds an execution and lets it go on."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from unittest.mock import ANY

import pytest

from tests.api.harness import listening, served
from tests.api.scenarios.scene import (
    BEN,
    MIA,
    REVIEW,
    answer,
    audited,
    branches,
    execution,
    get,
    history,
    output,
    points,
    resume,
    save,
    settled,
    start,
)
from tests.runtime.harness import (
    HOUR,
    HandWound,
    Held,
    call,
    delay,
    end,
    engine_on,
    flow,
    form,
    until_status,
)

pytestmark = pytest.mark.usefixtures("each_database")

DAY = 24 * HOUR
THREE = flow(call("one"), call("two"), call("three"), end({"three": "${nodes.three}", "said": "${vars}"}))


async def test_a_pause_during_the_first_of_three_nodes_keeps_the_second_from_starting(tmp_path: Path) -> None:
    work = Held()
    async with served(tmp_path, work) as api:
        await save(api, THREE)
        id_ = (await start(api, wait=False))["id"]
        first = await work.begun()
        path = f"/executions/{id_}"
        held = await api.post(f"{path}/pause", {"reason": "Stock check"}, as_=MIA)
        assert (held.status, held.json["status"], held.json["paused_reason"]) == (200, "pausing", "Stock check")
        first.returns(1)
        await until_status(api.engine, id_, "paused")

        at_rest = await execution(api, id_)
        assert (at_rest["status"], at_rest["paused_reason"], at_rest["resume_count"]) == ("paused", "Stock check", 0)
        assert at_rest["paused_at"] is not None
        assert (at_rest["next_nodes"], at_rest["nodes_executed"]) == (["two"], 1)
        (listed,) = (await get(api, "/executions/paused"))["executions"]
        assert listed == {**at_rest, "notifications_sent": None}  # which is counted where a single one is read
        happened = await history(api, id_)
        assert ("NodeStarted", "two") not in happened
        assert ("NodeScheduled", "two") not in happened
        assert len(work.calls) == 1
        why = await get(api, f"{path}/why")
        assert [reason["kind"] for reason in why["reasons"]] == ["operator"]
        assert "Stock check" in why["summary"]

        gone_on = await api.post(f"{path}/resume", {"resume_data": {"checked": True}}, as_=BEN)
        told = gone_on.json
        assert (gone_on.status, told["status"], told["resume_count"]) == (200, "running", 1)
        assert (told["paused_at"], told["paused_reason"], told["paused_node"]) == (None, None, None)
        assert told["last_resumed_at"] is not None
        for result in (2, 3):
            (await work.begun()).returns(result)
        assert await output(api, id_) == {"three": 3, "said": {"checked": True}}
        assert (await get(api, "/executions/paused")) == {"executions": [], "count": 0, "next": None}
        assert [(one.context.context_id, one.context.attempt) for one in work.calls] == [
            ("one", 1),
            ("two", 1),
            ("three", 1),
        ]
        assert await audited(api, id_) == [
            ("mia", "execution.start"),
            ("mia", "execution.pause"),
            ("ben", "execution.resume"),
        ]


async def test_three_times_held_and_three_times_gone_on_with_more_data(tmp_path: Path) -> None:
    work = Held()
    brought: list[dict[str, object]] = [{"a": 1, "b": {"x": 1}}, {"b": {"y": 2}, "c": [1]}, {"a": None, "d": "four"}]
    async with served(tmp_path, work) as api:
        await save(api, flow(*(call(name) for name in "abcd"), end("${vars}"), variables={"a": 0, "kept": True}))
        id_ = (await start(api, wait=False))["id"]
        path = f"/executions/{id_}"
        for number, data in enumerate(brought, start=1):
            begun = await work.begun()
            assert (await api.post(f"{path}/pause", {"reason": f"Reason {number}"}, as_=MIA)).status == 200
            begun.returns()
            await until_status(api.engine, id_, "paused")
            assert (await execution(api, id_))["paused_reason"] == f"Reason {number}"
            gone_on = await api.post(f"{path}/resume", {"resume_data": data}, as_=MIA)
            assert (gone_on.status, gone_on.json["resume_count"]) == (200, number)
            assert gone_on.json["resume_data"] == data
        (await work.begun()).returns()

        expected = {"kept": True, "a": None, "b": {"y": 2}, "c": [1], "d": "four"}
        assert await output(api, id_) == expected
        assert (await execution(api, id_))["variables"] == expected
        happened = [type_ for type_, _ in await history(api, id_)]
        assert (happened.count("ExecutionPaused"), happened.count("ExecutionResumed")) == (3, 3)
        assert len(work.calls) == 4


async def test_all_that_runs_side_by_side_comes_to_its_end_and_nothing_follows(tmp_path: Path) -> None:
    work = Held()
    sides = {name: [call(f"{name}_one", next=f"{name}_two"), call(f"{name}_two")] for name in ("left", "right")}
    async with served(tmp_path, work) as api:
        await save(api, flow(branches(**sides), end("${nodes.all}")))
        id_ = (await start(api, wait=False))["id"]
        left, right = await work.all_begun(2)
        await api.post(f"/executions/{id_}/pause", as_=MIA)
        left.returns("left")
        assert (await execution(api, id_))["status"] == "pausing"
        right.returns("right")
        held = await settled(api, id_)
        assert (held["status"], len(work.calls)) == ("paused", 2)

        await api.post(f"/executions/{id_}/resume", as_=MIA)
        for one in await work.all_begun(2):
            one.returns(one.context.context_id)
        assert await output(api, id_) == {"left": "left_two:all.left", "right": "right_two:all.right"}


async def test_nothing_said_lets_an_operators_pause_go_and_never_approves(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await save(api, REVIEW)
        started = await start(api)
        path, (point,) = f"/executions/{started['id']}", started["pause_points"]
        empty: tuple[dict[str, object], ...] = (
            {},
            {"resume_data": {}},
            {"resume_data": None},
            {"reason": "Go on"},
            {"resume_data": {"a": True}},
        )
        for body in empty:
            refused = await api.post(f"{path}/resume", body, as_=MIA)
            assert (refused.status, refused.code) == (409, "decision_required"), body
            assert refused.json["current_status"] == "paused"
        without = await api.post(f"{path}/resume", raw=b"", as_=MIA)
        there = await resume(api, started["id"], "review")
        undecided = await answer(api, point["id"], {"approved": True})
        assert {(one.status, one.code) for one in (without, there, undecided)} == {(409, "decision_required")}

        for body in empty:
            assert (await api.post(f"{path}/pause", as_=MIA)).status == 200
            gone_on = await api.post(f"{path}/resume", body, as_=MIA)
            assert (gone_on.status, gone_on.json["status"]) == (200, "paused"), body  # it still waits for a decision
        assert await points(api, started["id"]) == {
            "review": {**point, "may": ANY}
        }  # a start does not say what its caller may
        assert (await execution(api, started["id"]))["resume_count"] == len(empty)

        assert (await api.post(f"/approvals/{point['id']}/approve", as_=BEN)).status == 201
        assert await output(api, started["id"]) == "approved"


async def test_what_is_answered_while_it_is_held_counts_when_it_goes_on(tmp_path: Path) -> None:
    work = Held()
    async with served(tmp_path, work) as api:
        await save(api, flow(form(schema={}), call("after"), end("${nodes.ask}")))
        started = await start(api)
        id_, (point,) = started["id"], started["pause_points"]
        await api.post(f"/executions/{id_}/pause", {"reason": "Stop"}, as_=MIA)
        answered = await answer(api, point["id"], {"size": "L"})
        assert (answered.status, answered.json["status"]) == (201, "answered")
        assert (answered.json["queue_position"], answered.json["applied_at"]) == (1, None)
        held = await settled(api, id_)
        assert (held["status"], held["paused_reason"], work.calls) == ("paused", "Stop", [])
        other = await answer(api, point["id"], {"size": "M"}, BEN)
        assert (other.status, other.json["winner"]["by"]) == (409, "mia")

        await api.post(f"/executions/{id_}/resume", as_=MIA)
        (await work.begun()).returns()
        assert await output(api, id_) == {"size": "L"}
        assert (await execution(api, id_))["resume_count"] == 2  # the operator's, and the answer


async def test_what_came_due_while_it_was_held_acts_when_it_goes_on(tmp_path: Path) -> None:
    clock = HandWound()
    nodes = [
        form(schema={}, deadline="1h", on_deadline="expired", next={"done": "in_time", "expired": "late"}),
        end("in time", "in_time"),
        end("late", "late"),
    ]
    async with engine_on(clock.store(tmp_path)) as engine, listening(engine) as api:
        await save(api, {"name": "flow", "nodes": nodes})
        started = await start(api)
        await api.post(f"/executions/{started['id']}/pause", as_=MIA)
        clock.skip(engine, 2 * HOUR)
        held = await settled(api, started["id"])
        assert (held["status"], list(await points(api, started["id"]))) == ("paused", ["ask"])
        await api.post(f"/executions/{started['id']}/resume", as_=MIA)
        assert await output(api, started["id"]) == "late"


async def test_a_timer_does_not_run_out_under_an_operators_hand(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work) as engine, listening(engine) as api:
        await save(api, flow(delay(duration="1h"), call("after")))
        id_ = (await start(api, wait=False))["id"]
        await until_status(engine, id_, "waiting")
        held = await api.post(f"/executions/{id_}/pause", as_=MIA)
        assert held.json["status"] == "paused"
        clock.skip(engine, 2 * HOUR)
        assert (await settled(api, id_))["status"] == "paused"
        assert work.calls == []
        await api.post(f"/executions/{id_}/resume", as_=MIA)
        (await work.begun()).returns()
        assert await output(api, id_) is None


async def test_what_is_held_too_long_fails_and_cannot_go_on(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), Held()) as engine, listening(engine) as api:
        await save(api, flow(delay(duration="1h"), call("after"), settings={"max_pause": "7d"}))
        id_ = (await start(api, wait=False))["id"]
        await until_status(engine, id_, "waiting")
        await api.post(f"/executions/{id_}/pause", as_=MIA)
        clock.skip(engine, 8 * DAY)
        await until_status(engine, id_, "failed")
        failed = await execution(api, id_)
        assert failed["error"]["code"] == "pause_expired"
        refused = await api.post(f"/executions/{id_}/resume", as_=MIA)
        assert (refused.status, refused.code) == (410, "expired")
