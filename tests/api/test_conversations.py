"""Claims, questions and replies over HTTP, on every database; what a point says that the caller may do."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.acting import acts, ended, resting
from tests.api.harness import listening, served
from tests.runtime.harness import approval, end, engine_at, flow

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("each_database")

TWO: dict[str, Any] = {"approvers": {"users": ["mia", "ben"]}}
_TALK = ("PausePointAsked", "PausePointReplied")
MIA, BEN, EVE = "mia:approver", "ben:approver", "eve:approver"


async def test_a_claimed_point_is_answered_by_the_claimer_only(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(approval(**TWO), end("${nodes.review.by}")))
        point = f"/pause-points/{execution['points']['review']}"
        claimed = await api.post(f"{point}/claim", as_=MIA)
        assert (claimed.status, claimed.json["claimed_by"]) == (200, "mia")
        shown = (await api.get(point, as_=BEN)).json
        assert (shown["claimed_by"], shown["claimed_until"]) == ("mia", claimed.json["claimed_until"])
        assert shown["may"]["answer"] is False
        assert shown["may"]["why_not"]["code"] == "claimed"
        assert (await api.get(point, as_=MIA)).json["may"] == {"answer": True, "why_not": None, "reply": False}

        refused = await api.post(f"{point}/answer", {"approved": True}, as_=BEN)
        assert (refused.status, refused.code) == (409, "claimed")
        assert refused.json["claim"] == {"by": "mia", "until": claimed.json["claimed_until"]}
        assert (await api.post(f"{point}/claim", as_=EVE)).code == "not_allowed"
        assert (await api.post(f"{point}/answer", {"approved": True}, as_=MIA)).status == 201
        assert await ended(api, execution["id"]) == "mia"
        assert await acts(api, execution["id"]) == [
            ("mia", "point.claim", execution["points"]["review"]),
            ("mia", "approval.approve", execution["points"]["review"]),
        ]


async def test_a_claim_is_taken_over_and_given_back(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(approval(**TWO), end("${nodes.review.by}")))
        point = f"/pause-points/{execution['points']['review']}"
        await api.post(f"{point}/claim", as_=MIA)
        taken = await api.post(f"{point}/claim", {"take": True}, as_=BEN)
        assert (taken.status, taken.json["claimed_by"]) == (200, "ben")
        assert (await api.delete(f"{point}/claim", as_=MIA)).code == "claimed"
        released = await api.delete(f"{point}/claim", as_=BEN)
        assert (released.status, released.json["claimed_by"], released.json["claimed_until"]) == (200, None, None)
        assert (await api.delete(f"{point}/claim", as_=BEN)).status == 200
        assert (await api.post(f"{point}/answer", {"approved": True}, as_=MIA)).status == 201
        assert await ended(api, execution["id"]) == "mia"


async def test_of_two_who_claim_on_two_instances_one_wins(tmp_path: Path) -> None:
    async with (
        engine_at(tmp_path) as one,
        engine_at(tmp_path) as another,
        listening(one) as first,
        listening(another) as second,
    ):
        for _ in range(10):
            execution = await resting(first, flow(approval(**TWO), end("${nodes.review.by}")))
            path = f"/pause-points/{execution['points']['review']}/claim"
            both = await asyncio.gather(first.post(path, as_=MIA), second.post(path, as_=BEN))
            assert sorted(answered.status for answered in both) == [200, 409]
            (won,) = [answered.json["claimed_by"] for answered in both if answered.status == 200]
            (lost,) = [answered.json["claim"]["by"] for answered in both if answered.status == 409]
            assert won == lost == (await second.get(path.removesuffix("/claim"))).json["claimed_by"]


async def test_a_claim_and_the_answer_of_another_on_two_instances_come_in_one_order(tmp_path: Path) -> None:
    async with (
        engine_at(tmp_path) as one,
        engine_at(tmp_path) as another,
        listening(one) as first,
        listening(another) as second,
    ):
        for _ in range(10):
            execution = await resting(first, flow(approval(**TWO), end("${nodes.review.by}")))
            path = f"/pause-points/{execution['points']['review']}"
            claimed, answered = await asyncio.gather(
                first.post(f"{path}/claim", as_=MIA), second.post(f"{path}/answer", {"approved": True}, as_=BEN)
            )
            if claimed.status == 200:
                assert answered.code == "claimed"
                assert (await first.post(f"{path}/answer", {"approved": True}, as_=MIA)).status == 201
            else:
                assert (claimed.code, answered.status) == ("already_answered", 201)
            assert await ended(first, execution["id"]) == ("mia" if claimed.status == 200 else "ben")


async def test_a_question_goes_to_the_requester_and_the_point_shows_the_conversation(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(approval(**TWO), end("done")))
        started = await api.post("/executions", {"workflow": "flow", "wait": "60s"}, as_="zoe:operator")
        point = f"/pause-points/{started.json['pause_points'][0]['id']}"
        asked = await api.post(f"{point}/ask", {"question": "Which cost centre?"}, as_=MIA)
        (question,) = asked.json["questions"]
        assert (asked.json["status"], asked.json["requester"]) == ("open", "zoe")
        assert (question["by"], question["to"], question["question"], question["reply"]) == (
            *("mia", "zoe"),
            *("Which cost centre?", None),
        )
        assert (await api.get(point, as_="zoe:operator")).json["may"]["reply"] is True
        assert (await api.post(f"{point}/reply", {"text": "4711"}, as_=BEN)).code == "not_allowed"
        replied = await api.post(f"{point}/reply", {"text": "4711"}, as_="zoe:operator")
        (question,) = replied.json["questions"]
        assert (question["reply"], question["replied_by"]) == ("4711", "zoe")
        assert (await api.get(point, as_="zoe:operator")).json["may"]["reply"] is False
        await api.post(f"{point}/answer", {"approved": True}, as_=MIA)
        await ended(api, started.json["id"])
        history = (await api.get(f"/executions/{started.json['id']}/history?limit=100")).json["items"]
        kinds = [one["type"] for one in history]
        assert [kind for kind in kinds if kind in _TALK] == list(_TALK)
        audit = (await api.get(f"/audit?execution_id={started.json['id']}")).json["items"]
        said = {one["act"]: one["details"] for one in audit}
        assert (said["point.ask"]["question"], said["point.ask"].get("to")) == ("Which cost centre?", None)
        assert said["point.reply"]["reply"] == "4711"


async def test_the_same_key_asks_once(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(approval(**TWO), end("done")))
        path = f"/pause-points/{execution['points']['review']}/ask"
        body = {"question": "Why?", "to": "zoe"}
        first = await api.post(path, body, as_=MIA, key="once")
        again = await api.post(path, body, as_=MIA, key="once")
        other = await api.post(path, body | {"question": "How?"}, as_=MIA, key="once")
        assert (first.status, again.status, other.code) == (200, 200, "idempotency_mismatch")
        assert len((await api.get(path.removesuffix("/ask"))).json["questions"]) == 1


@pytest.mark.parametrize(
    ("as_", "code"),
    [("viewer", "forbidden"), (EVE, "not_allowed"), ("mia:approver", "requester_excluded"), (BEN, "not_your_turn")],
)
async def test_a_point_says_why_the_caller_may_not_answer(tmp_path: Path, as_: str, code: str) -> None:
    rules: dict[str, Any] = {"users": ["cho", "ben", "mia"]}
    node = approval(approvers=rules, need=2, order="sequence", exclude_requester=True)
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(node, end("done")))
        started = await api.post("/executions", {"workflow": "flow", "wait": "60s"}, as_="mia:operator")
        path = f"/pause-points/{started.json['pause_points'][0]['id']}"
        may = (await api.get(path, as_=as_)).json["may"]
        assert (may["answer"], may["why_not"]["code"]) == (False, code)
        tried = await api.post(f"{path}/answer", {"approved": True}, as_=as_)
        assert tried.code == code
        listed = (await api.get("/pause-points", as_="cho:approver")).json["items"]
        assert [one["may"]["answer"] for one in listed] == [True]
