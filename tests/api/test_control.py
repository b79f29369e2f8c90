"""What operators do over HTTP."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import Any

import pytest

from tests.api.acting import acts, ended, points_of, resting, served_forgetfully
from tests.api.harness import served
from tests.runtime.harness import (
    Held,
    Refused,
    Scripted,
    approval,
    call,
    end,
    flow,
    form,
    until_status,
)

pytestmark = pytest.mark.usefixtures("each_database")


UNKNOWN = "0195f2a6-7c00-7000-8000-5d1e0f3a9b42"


REVIEW = {
    "name": "flow",
    "nodes": [
        approval(next={"approved": "yes", "rejected": "no"}),
        end("approved", "yes"),
        end("rejected", "no"),
    ],
}


ACTS = ("pause", "resume", "cancel", "retry", "rewind")


def body_of(act: str) -> dict[str, Any]:
    return {"to": "a"} if act == "rewind" else {}


async def test_a_pause_during_the_first_of_three_keeps_the_second_from_starting(tmp_path: Path) -> None:
    work = Held()
    async with served(tmp_path, work) as api:
        await api.engine.workflows.register(flow(call("a"), call("b"), call("c"), end([1, "${nodes.c}"])))
        started = await api.engine.executions.start("flow")
        first = await work.begun()
        path = f"/executions/{started.id}"
        paused = await api.post(f"{path}/pause", {"reason": "Stock check"}, as_="mia:operator")
        assert (paused.status, paused.json["status"]) == (200, "pausing")
        first.returns(1)
        await until_status(api.engine, started.id, "paused")
        assert len(work.calls) == 1

        again = await api.post(f"{path}/pause", {"reason": "Another reason"}, as_="ben:operator")
        assert (again.status, again.json["paused_reason"]) == (200, "Stock check")
        resumed = await api.post(f"{path}/resume", {"resume_data": {"checked": True}}, as_="ben:operator")
        assert (resumed.status, resumed.json["resume_count"]) == (200, 1)
        assert resumed.json["variables"] == {"checked": True}
        assert resumed.json["paused_at"] is None
        for _ in range(2):
            (await work.begun()).returns(2)
        assert await ended(api, started.id) == [1, 2]
        assert await acts(api, started.id) == [
            ("mia", "execution.pause", started.id),
            ("ben", "execution.resume", started.id),
        ]


async def test_what_three_resumes_bring_adds_up(tmp_path: Path) -> None:
    work = Held()
    async with served(tmp_path, work) as api:
        await api.engine.workflows.register(flow(*(call(name) for name in "abcd"), end("${vars}")))
        started = await api.engine.executions.start("flow")
        path = f"/executions/{started.id}"
        for number, data in enumerate(({"a": 1, "b": {"x": 1}}, {"b": {"y": 2}}, {"c": 3})):
            begun = await work.begun()
            assert (await api.post(f"{path}/pause")).status == 200
            begun.returns()
            await until_status(api.engine, started.id, "paused")
            resumed = await api.post(f"{path}/resume", {"resume_data": data})
            assert (resumed.json["resume_count"], resumed.json["resume_data"]) == (number + 1, data)
        (await work.begun()).returns()
        assert await ended(api, started.id) == {"a": 1, "b": {"y": 2}, "c": 3}
        assert len(work.calls) == 4


async def test_a_pause_without_a_reason_names_the_user(tmp_path: Path) -> None:
    async with served(tmp_path, Held()) as api:
        await api.engine.workflows.register(flow(call("a")))
        started = await api.engine.executions.start("flow")
        paused = await api.post(f"/executions/{started.id}/pause", as_="mia:operator")

    assert paused.json["paused_reason"] == "Paused by mia"


async def test_bodies_may_be_left_out(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(form()))
        path = f"/executions/{execution['id']}"
        for act in ("pause", "resume", "cancel"):
            answered = await api.post(f"{path}/{act}", raw=b"")
            assert answered.status == 200, answered.body
        assert (await api.post(f"{path}/rewind", raw=b"")).status == 422


async def test_a_cancelled_execution_is_over_at_once(tmp_path: Path) -> None:
    work = Held()
    async with served(tmp_path, work) as api:
        await api.engine.workflows.register(flow(call("a")))
        started = await api.engine.executions.start("flow")
        await work.begun()
        path = f"/executions/{started.id}"
        cancelled = await api.post(f"{path}/cancel", {"reason": "Sold out"}, as_="mia:operator")
        refused = {act: await api.post(f"{path}/{act}") for act in ("pause", "resume", "cancel", "retry")}

        assert (cancelled.status, cancelled.json["status"]) == (200, "cancelled")
        assert cancelled.json["outcome_reason"] == "Sold out"
        for act, one in refused.items():
            assert (act, one.status, one.code, one.json["current_status"]) == (act, 409, "wrong_state", "cancelled")
        assert await acts(api, started.id) == [("mia", "execution.cancel", started.id)]


async def test_a_failed_execution_is_tried_again_and_one_can_go_back(tmp_path: Path) -> None:
    work = Scripted(Refused("no"), "one", "two")
    async with served(tmp_path, work) as api:
        await api.engine.workflows.register(flow(call("a"), end("${nodes.a}")))
        failed = await api.engine.executions.start("flow", wait="end")
        path = f"/executions/{failed.id}"
        retried = await api.post(f"{path}/retry", as_="mia:operator")
        assert (retried.status, await ended(api, failed.id)) == (200, "one")
        again = await api.post(f"{path}/retry")
        assert (again.status, again.code, again.json["current_status"]) == (409, "wrong_state", "completed")
        rewound = await api.post(f"{path}/rewind", {"to": "a", "reason": "Wrong price"}, as_="mia:operator")
        assert rewound.status == 200
        await until_status(api.engine, failed.id, "completed")
        assert await ended(api, failed.id) == "two"
        for name in ("nothing", "a:b.0", "a/key", ":"):
            nowhere = await api.post(f"{path}/rewind", {"to": name})
            assert (nowhere.status, nowhere.code) == (404, "unknown_node")
            assert nowhere.json["detail"] == f"The workflow `flow` has no node `{name}`."
        assert [act for _, act, _ in await acts(api, failed.id)] == ["execution.retry", "execution.rewind"]


async def test_an_incident_is_released_by_retry_and_by_resume(tmp_path: Path) -> None:
    work = Scripted(Refused("no"), Refused("no"), "at last")
    retry = {"max_attempts": 1, "on_exhausted": "pause"}
    async with served(tmp_path, work) as api:
        await api.engine.workflows.register(flow(call("a", retry=retry), end("${nodes.a}")))
        started = await api.engine.executions.start("flow", wait="rest")
        assert (await api.post(f"/executions/{started.id}/retry")).status == 200
        await api.engine.executions.wait(started.id, "rest")
        assert (await api.post(f"/executions/{started.id}/resume")).status == 200
        assert await ended(api, started.id) == "at last"


async def test_one_cannot_go_back_to_what_was_not_reached_or_is_done(tmp_path: Path) -> None:
    rounds: dict[str, Any] = {"id": "l", "type": "loop", "times": 2, "body": [call("c")]}
    async with served(tmp_path, Scripted(1)) as api:
        execution = await resting(api, flow(rounds, form(), call("b")))
        path = f"/executions/{execution['id']}/rewind"
        ahead, inside = await api.post(path, {"to": "b"}), await api.post(path, {"to": "c:l.1"})
    assert {(one.status, one.code) for one in (ahead, inside)} == {(409, "wrong_state")}
    assert ahead.json["detail"] == "`b` has not been reached, so there is nothing to go back to."
    assert inside.json["detail"] == "`c:l.1` is in a round or branch that is done or has not begun."


async def test_the_audit_log_has_the_reasons_that_people_gave(tmp_path: Path) -> None:
    async with served(tmp_path, Scripted(1)) as api:
        execution = await resting(api, flow(call("a"), form()))
        path = f"/executions/{execution['id']}"
        await api.post(f"{path}/pause", {"reason": "Stock check"})
        await api.post(f"{path}/resume", {"reason": "All there"})
        await api.post(f"{path}/rewind", {"to": "a", "reason": "Wrong price"})
        await api.engine.executions.wait(execution["id"], "rest")
        await api.post(f"{path}/cancel", {"reason": "Sold out"})
        entries = (await api.get(f"/audit?execution_id={execution['id']}")).json["items"]
    told = {entry["act"]: entry["details"] for entry in entries if entry["act"] != "execution.start"}
    assert told == {
        "execution.pause": {"reason": "Stock check"},
        "execution.resume": {"reason": "All there"},
        "execution.rewind": {"to": "a", "reason": "Wrong price"},
        "execution.cancel": {"reason": "Sold out"},
    }


async def test_the_audit_log_has_the_comment_of_a_decision_and_the_reason_of_a_cancelled_wait(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, REVIEW)
        [point] = (await points_of(api, execution["id"])).values()
        await api.post(f"/approvals/{point}/approve", {"comment": "Fine by me"})
        other = await resting(api, flow(form(), name="other"))
        [asked] = (await points_of(api, other["id"])).values()
        await api.post(f"/pause-points/{asked}/cancel", {"reason": "Too late"})
        entries = (await api.get("/audit")).json["items"]
    told = {entry["act"]: entry["details"] for entry in entries}
    assert told["approval.approve"] == {"context_id": "review", "comment": "Fine by me"}
    assert told["point.cancel"] == {"context_id": "ask", "reason": "Too late"}


async def test_a_decision_in_the_wrong_field_is_refused_with_the_right_one(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, REVIEW)
        body = {"input": {"approved": True}}
        by_execution = await api.post(f"/executions/{execution['id']}/resume", body)
        by_place = await api.post(f"/api/resume/flow/{execution['id']}/review", body)
    assert (by_execution.status, by_execution.code) == (422, "invalid_body")
    [fault] = by_execution.json["errors"]
    assert "`approved` at the top of the body" in fault["message"]
    assert (by_place.status, by_place.code) == (409, "decision_required")
    assert "`approved` belongs at the top of the body" in by_place.json["detail"]


@pytest.mark.parametrize("act", ACTS)
async def test_what_is_not_there_cannot_be_acted_upon(tmp_path: Path, act: str) -> None:
    async with served(tmp_path) as api:
        unknown = await api.post(f"/executions/{UNKNOWN}/{act}", body_of(act))
        malformed = await api.post(f"/executions/order-7/{act}", body_of(act))
        viewer = await api.post(f"/executions/{UNKNOWN}/{act}", body_of(act), as_="viewer")
        approver = await api.post(f"/executions/{UNKNOWN}/{act}", body_of(act), as_="approver")
        nobody = await api.post(f"/executions/{UNKNOWN}/{act}", body_of(act), as_="")

    assert (unknown.status, unknown.code) == (404, "unknown_execution")
    assert (malformed.status, malformed.code) == (400, "malformed_id")
    assert {(one.status, one.code) for one in (viewer, approver)} == {(403, "forbidden")}
    assert (nobody.status, nobody.code) == (401, "unauthenticated")


@pytest.mark.parametrize("act", ["pause", "resume", "cancel", "rewind"])
async def test_a_reason_is_short(tmp_path: Path, act: str) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(form()))
        path = f"/executions/{execution['id']}/{act}"
        long = await api.post(path, {**body_of(act), "reason": "x" * 256})
        strange = await api.post(path, {**body_of(act), "reason": "\0", "by": "mia"})

        assert (long.status, long.code) == (422, "invalid_body")
        assert (strange.status, strange.code) == (422, "invalid_body")
        assert await acts(api, execution["id"]) == []


@pytest.mark.parametrize("act", ["pause", "cancel"])
async def test_a_reason_may_have_any_character(tmp_path: Path, act: str) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(form()))
        answered = await api.post(f"/executions/{execution['id']}/{act}", {"reason": "a\tb \U0001f600"})
        assert answered.status == 200, answered.body


@pytest.mark.parametrize("act", ["pause", "resume", "cancel", "retry", "rewind"])
async def test_an_act_whose_answer_was_lost_is_known_by_its_key(tmp_path: Path, act: str) -> None:
    async with served_forgetfully(tmp_path, Scripted(Refused("no"), "one")) as api:
        await api.engine.workflows.register(
            flow(call("a"), form(), name="flow") if act in ("retry", "rewind") else flow(form())
        )
        started = await api.engine.executions.start("flow", wait="rest")
        if act == "resume":
            await api.engine.control.pause(started.id)
        path = f"/executions/{started.id}/{act}"
        first = await api.post(path, body_of(act), key="k")
        await api.engine.executions.wait(started.id, "rest")
        again = await api.post(path, body_of(act), key="k")

        assert (first.status, again.status) == (200, 200), again.body
        assert len(await acts(api, started.id)) == 1


# Resuming what waits for a decision


async def test_nothing_is_approved_by_saying_nothing(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        review = await resting(api, REVIEW)
        asking = await resting(api, flow(form(), name="other"))
        empty = await api.post(f"/executions/{review['id']}/resume")
        other = await api.post(f"/executions/{asking['id']}/resume", {"resume_data": {"a": 1}})
        decided = await api.post(f"/executions/{asking['id']}/resume", {"approved": True})

    assert (empty.status, empty.code, empty.json["current_status"]) == (409, "decision_required", "paused")
    assert (other.status, other.code) == (409, "wrong_state")
    assert (decided.status, decided.code, decided.json["current_status"]) == (409, "wrong_state", "paused")


@pytest.mark.parametrize(
    ("body", "output"),
    [
        ({"approved": True}, "approved"),
        ({"approved": False, "reason": "Too dear"}, "rejected"),
        ({"resume_data": {"approved": True, "approver": "john@example.com"}}, "approved"),
        ({"resume_data": {"approved": False}}, "rejected"),
    ],
)
async def test_a_resume_may_decide_the_only_approval(tmp_path: Path, body: dict[str, Any], output: str) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, REVIEW)
        resumed = await api.post(f"/executions/{execution['id']}/resume", body, as_="mia:operator,approver")

        assert resumed.status == 200
        assert (resumed.json["waiting_on"], resumed.json["resume_count"]) == ([], 1)
        assert await ended(api, execution["id"]) == output
        act = "approval.approve" if output == "approved" else "approval.reject"
        assert await acts(api, execution["id"]) == [("mia", act, execution["points"]["review"])]
        row = await api.engine.instance.store.queries.find_point(execution["points"]["review"])
        assert row is not None
        assert row.point.decisions[0].comment == body.get("reason", "")
        rest = {"approver": "john@example.com"} if "approver" in str(body) else None
        assert row.point.decisions[0].data == rest


async def test_what_a_deciding_resume_brings_becomes_variables(tmp_path: Path) -> None:
    tells = end("${vars.approved} by ${vars.approver}: ${vars.comments}", "yes")
    reviewed = {"name": "flow", "nodes": [approval(next={"approved": "yes"}), tells]}
    brought = {"approved": True, "approver": "john@example.com", "comments": "Looks good"}
    async with served(tmp_path) as api:
        execution = await resting(api, reviewed)
        path = f"/executions/{execution['id']}/resume"
        resumed = await api.post(path, {"resume_data": brought}, as_="mia:operator,approver")
        assert (resumed.status, resumed.json["variables"], resumed.json["resume_data"]) == (200, brought, brought)
        assert await ended(api, execution["id"]) == "true by john@example.com: Looks good"


async def test_variables_of_an_answer_are_set_in_python_too(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(approval(next={"approved": "finish"}), end("${vars.approver}")))
        point = execution["points"]["review"]
        await api.engine.answers.answer(point, by="mia", approved=True, variables={"approver": "mia"})
        assert await ended(api, execution["id"]) == "mia"


async def test_a_resume_decides_only_what_its_user_may_decide(tmp_path: Path) -> None:
    asked = flow(approval(approvers={"users": ["mia"]}))
    async with served(tmp_path) as api:
        execution = await resting(api, asked)
        path, body = f"/executions/{execution['id']}/resume", {"approved": True}
        operator = await api.post(path, body, as_="mia:operator")
        admin = await api.post(path, body)
        approver = await api.post(path, body, as_="mia:approver")

        assert (operator.status, operator.code) == (403, "forbidden")
        assert (admin.status, admin.code) == (403, "not_allowed")
        assert (approver.status, approver.code) == (403, "forbidden")
        assert await points_of(api, execution["id"]) == execution["points"]
        assert (await api.post(path, body, as_="mia:operator,approver")).status == 200


@pytest.mark.parametrize(
    "body",
    [{"approved": "yes"}, {"approved": 1}, {"resume_data": {"approved": "true"}}, {"resume_data": [1]}],
)
async def test_a_decision_that_is_no_boolean_changes_nothing(tmp_path: Path, body: dict[str, Any]) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, REVIEW)
        refused = await api.post(f"/executions/{execution['id']}/resume", body)

        assert (refused.status, refused.code) == (422, "invalid_body")
        assert len(refused.json["errors"]) == 1
        assert await points_of(api, execution["id"]) == execution["points"]


async def test_of_several_approvals_none_is_guessed(tmp_path: Path) -> None:
    branches = [{"id": name, "body": [approval(f"review_{name}")]} for name in ("a", "b")]
    async with served(tmp_path) as api:
        execution = await resting(api, flow({"id": "both", "type": "parallel", "branches": branches}))
        refused = await api.post(f"/executions/{execution['id']}/resume", {"approved": True})

        assert (refused.status, refused.code) == (409, "ambiguous_point")
        assert len(await points_of(api, execution["id"])) == 2


async def test_with_an_operators_pause_what_is_said_becomes_variables(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, REVIEW)
        path = f"/executions/{execution['id']}"
        await api.post(f"{path}/pause")
        resumed = await api.post(f"{path}/resume", {"resume_data": {"approved": True, "note": "x"}})

        assert (resumed.status, resumed.json["variables"]) == (200, {"approved": True, "note": "x"})
        assert await points_of(api, execution["id"]) == execution["points"]


async def test_both_at_once_decide_and_go_on(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, REVIEW)
        path = f"/executions/{execution['id']}"
        await api.post(f"{path}/pause")
        resumed = await api.post(f"{path}/resume", {"approved": False, "resume_data": {"note": "x"}})

        assert (resumed.status, resumed.json["variables"]) == (200, {"note": "x"})
        assert await ended(api, execution["id"]) == "rejected"


async def test_a_decision_whose_answer_was_lost_does_not_reach_the_next_pause(tmp_path: Path) -> None:
    async with served_forgetfully(tmp_path) as api:
        execution = await resting(api, flow(approval("one"), approval("two"), end("done")))
        path = f"/executions/{execution['id']}/resume"
        first = await api.post(path, {"approved": True}, key="k")
        await api.engine.executions.wait(execution["id"], "rest")
        again = await api.post(path, {"approved": True}, key="k")

        assert (first.status, again.status) == (200, 200)
        assert list(await points_of(api, execution["id"])) == ["two"]
        assert len(await acts(api, execution["id"])) == 1
