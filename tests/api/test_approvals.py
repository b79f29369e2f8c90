"""Approvals over HTTP: who may decide, what it does, and what it never does."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import Any

import pytest

from tests.api.acting import acts, ended, points_of, resting, served_forgetfully
from tests.api.harness import listening, served
from tests.runtime.harness import HOUR, HandWound, approval, end, engine_on, fan_out, flow, form, until_status

pytestmark = pytest.mark.usefixtures("each_database")

REVIEW = {
    "name": "flow",
    "nodes": [
        approval(next={"approved": "yes", "rejected": "no"}),
        end("approved", "yes"),
        end("rejected", "no"),
    ],
}


@pytest.mark.parametrize("decision", ["approve", "reject"])
async def test_a_decision_resumes_its_execution_at_once(tmp_path: Path, decision: str) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, REVIEW)
        point = execution["points"]["review"]
        said = {"comment": "As agreed", "data": {"by_mail": False}}
        answered = await api.post(f"/approvals/{point}/{decision}", said, as_="mia:approver")

        told = answered.json
        assert (answered.status, told["id"], told["kind"]) == (201, point, "approval")
        (decided,) = told["decisions"]
        assert (decided["by"], decided["approved"], decided["comment"]) == ("mia", decision == "approve", "As agreed")
        assert decided["data"] == {"by_mail": False}
        assert await ended(api, execution["id"]) == ("approved" if decision == "approve" else "rejected")
        assert await acts(api, execution["id"]) == [("mia", f"approval.{decision}", point)]


async def test_the_same_decision_again_is_one_and_the_other_one_is_too_late(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, REVIEW)
        path = f"/approvals/{execution['points']['review']}"
        first = await api.post(f"{path}/approve", as_="mia:approver")
        await ended(api, execution["id"])
        again = await api.post(f"{path}/approve", {"comment": "Yes!"}, as_="mia:approver")
        changed = await api.post(f"{path}/reject", as_="mia:approver")
        other = await api.post(f"{path}/approve", as_="ben:approver")

        assert [one.status for one in (first, again, changed, other)] == [201, 200, 409, 409]
        for refused in (changed, other):
            assert refused.code == "already_answered"
            assert (refused.json["winner"]["by"], refused.json["winner"]["answer"]["approved"]) == ("mia", True)
        assert len(await acts(api, execution["id"])) == 1


async def test_as_many_decide_as_are_needed(tmp_path: Path) -> None:
    rules: dict[str, Any] = {"approvers": {"users": ["mia", "ben", "eve"]}, "need": 2}
    async with served(tmp_path) as api:
        execution = await resting(api, flow(approval(**rules), end("${nodes.review.by}")))
        path = f"/approvals/{execution['points']['review']}"
        first = await api.post(f"{path}/approve", as_="mia:approver")
        again = await api.post(f"{path}/approve", as_="mia:approver")
        changed = await api.post(f"{path}/reject", as_="mia:approver")
        shown = (await api.get(path, as_="viewer")).json
        second = await api.post(f"{path}/approve", as_="ben:approver")

        assert (first.status, first.json["status"]) == (201, "open")
        assert again.status == 200
        assert (changed.status, changed.code) == (409, "already_decided")
        assert (shown["status"], shown["need"], len(shown["decisions"])) == ("open", 2, 1)
        assert second.status == 201
        assert await ended(api, execution["id"]) == "ben"


async def test_in_sequence_each_approver_has_their_turn(tmp_path: Path) -> None:
    rules: dict[str, Any] = {"approvers": {"users": ["mia", "ben"]}, "need": 2, "order": "sequence"}
    async with served(tmp_path) as api:
        execution = await resting(api, flow(approval(**rules), end("done")))
        path = f"/approvals/{execution['points']['review']}/approve"
        early = await api.post(path, as_="ben:approver")
        assert (early.status, early.code) == (409, "not_your_turn")
        assert (await api.post(path, as_="mia:approver")).status == 201
        assert (await api.post(path, as_="ben:approver")).status == 201
        assert await ended(api, execution["id"]) == "done"


async def test_only_approvers_decide_and_admin_is_no_exception(tmp_path: Path) -> None:
    rules: dict[str, Any] = {"approvers": {"users": ["mia"], "roles": ["boss"]}, "exclude_requester": True}
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(approval(**rules), end("done")))
        started = await api.post("/executions", {"workflow": "flow", "wait": "60s"}, as_="mia:operator,approver")
        path = f"/approvals/{started.json['pause_points'][0]['id']}/approve"
        refused = {
            as_: await api.post(path, as_=as_)
            for as_ in ("", "mia:operator", "viewer", "ben:approver", "admin", "mia:approver")
        }
        assert {as_: (one.status, one.code) for as_, one in refused.items()} == {
            "": (401, "unauthenticated"),
            "mia:operator": (403, "forbidden"),
            "viewer": (403, "forbidden"),
            "ben:approver": (403, "not_allowed"),
            "admin": (403, "not_allowed"),
            "mia:approver": (403, "requester_excluded"),
        }
        assert (await api.post(path, as_="eve:approver,boss")).status == 201
        late = await api.post(path, as_="ben:approver")
        assert (late.status, late.code) == (403, "not_allowed")


async def test_a_decision_is_made_by_the_user_of_the_credentials(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, REVIEW)
        path = f"/approvals/{execution['points']['review']}/approve"
        claimed = await api.post(path, {"by": "mia"}, as_="ben:approver")
        assert (claimed.status, claimed.code) == (422, "invalid_body")
        assert (await api.post(path, as_="ben:approver")).json["decisions"][0]["by"] == "ben"


async def test_a_decision_may_need_a_comment_and_a_form(tmp_path: Path) -> None:
    schema = {"type": "object", "required": ["budget"]}
    async with served(tmp_path) as api:
        execution = await resting(api, flow(approval(comment="required", schema=schema), end("done")))
        path = f"/approvals/{execution['points']['review']}/approve"
        silent = await api.post(path, {"data": {"budget": 1}})
        misfit = await api.post(path, {"comment": "ok", "data": {}})
        reserved = await api.post(path, {"comment": "ok", "data": {"budget": {"$secret": "A"}}})
        good = await api.post(path, {"comment": "ok", "data": {"budget": 1}})

    assert (silent.status, silent.code) == (422, "comment_required")
    assert (misfit.status, misfit.code) == (422, "invalid_answer")
    assert (reserved.status, reserved.code) == (422, "payload_reserved")
    assert good.status == 201


async def test_what_is_no_approval_is_not_found_there(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(form()))
        path = f"/approvals/{execution['points']['ask']}"
        found = [await api.get(path), await api.post(f"{path}/approve"), await api.post(f"{path}/reject")]
        missing = [await api.get("/approvals/x"), await api.post("/approvals/x/approve")]

        assert [(one.status, one.code) for one in [*found, *missing]] == [(404, "unknown_point")] * 5
        assert await points_of(api, execution["id"]) == execution["points"]


async def test_an_answer_to_an_approval_has_to_decide(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, REVIEW)
        path = f"/pause-points/{execution['points']['review']}/answer"
        undecided = await api.post(path, {"data": {"approved": True}})
        operator = await api.post(path, {"approved": True}, as_="operator")
        decided = await api.post(path, {"approved": True}, as_="mia:approver")

        assert (undecided.status, undecided.code) == (409, "decision_required")
        assert (operator.status, operator.code) == (403, "forbidden")
        assert decided.status == 201
        assert await acts(api, execution["id"]) == [("mia", "approval.approve", execution["points"]["review"])]


async def test_an_expired_approval_releases_its_execution(tmp_path: Path) -> None:
    clock = HandWound()
    late = approval(deadline="1h", on_deadline="expired", next={"approved": "yes", "expired": "late"})
    async with engine_on(clock.store(tmp_path)) as engine, listening(engine) as api:
        nodes = [late, end("approved", "yes"), end("expired", "late")]
        execution = await resting(api, {"name": "flow", "nodes": nodes})
        clock.skip(engine, 2 * HOUR)
        assert await ended(api, execution["id"]) == "expired"
        path = f"/approvals/{execution['points']['review']}"
        refused = [await api.post(f"{path}/approve"), await api.post(f"{path}/reject")]
        assert [(one.status, one.code) for one in refused] == [(410, "expired")] * 2


async def test_a_decision_on_what_was_cancelled_comes_too_late(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, REVIEW)
        await api.engine.control.cancel(execution["id"])
        path = f"/approvals/{execution['points']['review']}"
        refused = [await api.post(f"{path}/approve"), await api.post(f"{path}/reject")]

    assert [(one.status, one.code) for one in refused] == [(409, "point_closed")] * 2


async def test_a_decision_never_reaches_another_pause(tmp_path: Path) -> None:
    async with served_forgetfully(tmp_path) as api:
        two = flow(approval("one"), approval("two"), end("done"))
        execution = await resting(api, two)
        path = f"/approvals/{execution['points']['one']}/approve"
        first = await api.post(path, as_="mia:approver", key="k")
        await api.engine.executions.wait(execution["id"], "rest")
        again = await api.post(path, as_="mia:approver", key="k")
        once_more = await api.post(path, as_="mia:approver")

        assert [one.status for one in (first, again, once_more)] == [201, 200, 200]
        assert list(await points_of(api, execution["id"])) == ["two"]


async def test_of_two_deciders_at_once_one_wins(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(REVIEW)
        for _ in range(20):
            execution = await resting(api)
            path = f"/approvals/{execution['points']['review']}"
            mia, ben = await asyncio.gather(
                api.post(f"{path}/approve", as_="mia:approver"), api.post(f"{path}/reject", as_="ben:approver")
            )
            assert sorted([mia.status, ben.status]) == [201, 409]
            won, lost = (mia, ben) if mia.status == 201 else (ben, mia)
            assert lost.json["winner"]["by"] == won.json["decisions"][0]["by"]
            assert await ended(api, execution["id"]) == ("approved" if won is mia else "rejected")


async def test_many_undecided_do_not_hold_up_a_decided_one(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(REVIEW)
        older = [await resting(api) for _ in range(60)]
        execution = await resting(api)
        await api.post(f"/approvals/{execution['points']['review']}/approve")

        assert await ended(api, execution["id"]) == "approved"
        assert {(await api.engine.queries.get(one["id"])).status for one in older} == {"paused"}


async def test_the_list_has_the_open_ones_unless_others_are_asked_for(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(form(), name="other"))
        await api.engine.executions.start("other", wait="rest")
        await api.engine.workflows.register(REVIEW)
        one, two = await resting(api), await resting(api)
        await api.post(f"/approvals/{one['points']['review']}/approve", as_="mia:approver")
        await until_status(api.engine, one["id"], "completed")

        async def listed(query: str, as_: str = "viewer") -> list[str]:
            answered = await api.get(f"/approvals{query}", as_=as_)
            return [item["execution_id"] for item in answered.json["items"]]

        assert await listed("") == [two["id"]]
        assert await listed("?status=applied") == [one["id"]]
        assert await listed("?workflow=other") == []
        assert await listed("?for=me") == []
        assert await listed("?for=me", as_="approver") == [two["id"]]
        assert (await api.get("/approvals", as_="")).status == 401


async def test_each_of_many_approvals_is_decided_by_itself(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(fan_out(approval()), end("${size(nodes.each)}")), [1, 2, 3])
        for point in execution["points"].values():
            assert (await api.post(f"/approvals/{point}/approve")).status == 201
        assert await ended(api, execution["id"]) == 3


async def test_an_approver_may_delegate_to_another_user(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(approval(approvers={"users": ["mia"]}), end("fine")))
        path = f"/approvals/{execution['points']['review']}"
        stranger = await api.post(f"{path}/delegate", {"to": "ben"}, as_="eve:approver")
        viewer = await api.post(f"{path}/delegate", {"to": "ben"}, as_="mia:viewer")
        passed_on = await api.post(f"{path}/delegate", {"to": "ben"}, as_="mia:approver")
        decided = await api.post(f"{path}/approve", as_="ben:approver")
        late = await api.post(f"{path}/delegate", {"to": "ann"}, as_="mia:approver")

        assert (stranger.status, stranger.code) == (403, "not_allowed")
        assert (viewer.status, viewer.code) == (403, "forbidden")
        assert (passed_on.status, passed_on.json["status"]) == (200, "open")
        assert decided.status == 201
        assert decided.json["decisions"][0]["on_behalf_of"] == "mia"
        assert late.status == 409
        assert ("mia", "approval.delegate", execution["points"]["review"]) in await acts(api, execution["id"])


async def test_the_times_of_an_answer_are_written_as_all_others(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(approval(), end("fine")))
        path = f"/approvals/{execution['points']['review']}"
        decided = await api.post(f"{path}/approve", as_="mia:approver")
        await ended(api, execution["id"])
        later = await api.get(path)

        for told in (decided.json, later.json):
            assert told["answer"]["at"] == told["decisions"][0]["at"] == told["answered_at"]
            assert [one["at"] for one in told["answer"]["decisions"]] == [told["answered_at"]]
