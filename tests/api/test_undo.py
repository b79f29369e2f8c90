"""Taking an answer back over HTTP, on every database: races with becoming final, quorums, replays."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import Any

import pytest

from layover.runtime.maintenance.verify import violations
from tests.api.acting import acts, ended, resting
from tests.api.harness import listening, served
from tests.runtime.harness import HOUR, HandWound, approval, end, engine_on, flow, form

pytestmark = pytest.mark.usefixtures("each_database")

PORTS = ("approved", "rejected")
MIA, BEN = "mia:approver", "ben:approver"


def review(undo: str, **rules: Any) -> dict[str, object]:
    return flow(approval(undo=undo, **rules), end("${nodes.review.decisions.map(d, d.by)}"))


async def test_an_answer_is_taken_back_and_the_point_asks_again(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(form(undo="1h"), end("${nodes.ask.n}")))
        point = execution["points"]["ask"]
        path = f"/pause-points/{point}"
        answered = await api.post(f"{path}/answer", {"data": {"n": 1}}, as_=MIA)
        assert (answered.status, answered.json["status"], answered.json["queue_position"]) == (201, "answered", None)
        assert answered.json["final_at"] is not None
        back = await api.post(f"{path}/take-back", {"reason": "a typo"}, as_=MIA)
        assert (back.status, back.json["status"], back.json["answer"], back.json["final_at"]) == (
            200,
            "open",
            None,
            None,
        )
        assert back.json["taken_back_by"] == ["mia"]
        again = await api.post(f"{path}/take-back", as_=MIA)
        assert (again.status, again.code) == (403, "not_allowed")
        inbox = (await api.get("/pause-points?for=me", as_=MIA)).json["items"]
        assert [one["id"] for one in inbox] == [point]
        assert await acts(api, execution["id"]) == [("mia", "point.answer", point), ("mia", "point.take_back", point)]
        anew = await api.post(f"{path}/answer", {"data": {"n": 1}}, as_=MIA)
        assert (anew.status, anew.json["taken_back_by"]) == (201, [])


async def test_an_answer_whose_window_is_over_is_applied_and_stays(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, review("1ms"))
        path = f"/pause-points/{execution['points']['review']}"
        assert (await api.post(f"{path}/answer", {"approved": True}, as_=MIA)).status == 201
        assert await ended(api, execution["id"]) == ["mia"]
        late = await api.post(f"{path}/take-back", as_=MIA)
        assert (late.status, late.code) == (409, "already_applied")
        told = (await api.get(path, as_="viewer")).json
        assert (told["status"], told["decisions"][0]["final_at"]) == ("applied", told["final_at"])


async def test_two_deciders_of_a_quorum_take_back_each_their_own(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, review("1h", approvers={"users": ["mia", "ben"]}, need=2))
        path = f"/pause-points/{execution['points']['review']}"
        for as_ in (MIA, BEN):
            assert (await api.post(f"{path}/answer", {"approved": True}, as_=as_)).status == 201
        assert (await api.get(path, as_="viewer")).json["status"] == "answered"
        both = await asyncio.gather(*(api.post(f"{path}/take-back", as_=as_) for as_ in (MIA, BEN)))
        assert [one.status for one in both] == [200, 200]
        told = (await api.get(path, as_="viewer")).json
        assert (told["status"], told["decisions"]) == ("open", [])
        why = (await api.get(f"/executions/{execution['id']}/why", as_="viewer")).json
        assert "waits for a decision" in why["summary"]


@pytest.mark.parametrize("ends", ["before", "meanwhile", "after"])
async def test_a_take_back_races_with_becoming_final_and_one_of_them_wins(tmp_path: Path, ends: str) -> None:
    """What callers are told is what the log says, whichever came first."""
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine, listening(engine) as api:
        await engine.workflows.register(review("1h"))
        told = set()
        for _ in range(4):
            execution = await resting(api)
            path = f"/pause-points/{execution['points']['review']}"
            await api.post(f"{path}/answer", {"approved": True}, as_=MIA)
            if ends == "before":
                clock.skip(engine, HOUR)
                await ended(api, execution["id"])
            taking_back = asyncio.create_task(api.post(f"{path}/take-back", as_=MIA))
            if ends == "after":
                await taking_back
            if ends != "before":
                clock.skip(engine, HOUR)
            back = await taking_back
            told.add(back.status)
            if back.status == 200:
                assert back.json["status"] == "open"
                assert (await api.get(path, as_="viewer")).json["status"] == "open"
            else:
                assert (back.status, back.code) == (409, "already_applied")
                assert await ended(api, execution["id"]) == ["mia"]
        assert told <= {"before": {409}, "meanwhile": {200, 409}, "after": {200}}[ends]
        assert await violations(engine.instance.store) == []


RIVALS: dict[str, tuple[str, dict[str, str]] | None] = {
    "cancel": ("/executions/{id}/cancel", {}),
    "cancel the point": ("/pause-points/{point}/cancel", {}),
    "rewind": ("/executions/{id}/rewind", {"to": "review"}),
    "pause": ("/executions/{id}/pause", {}),
    "deadline": None,
}


@pytest.mark.parametrize("rival", RIVALS)
async def test_a_take_back_races_with_what_else_may_happen_and_the_log_says_what_was_told(
    tmp_path: Path, rival: str
) -> None:
    """Each comes first once, and then both at once: an answer is never both taken back and counted."""
    clock = HandWound()

    async def happens(begun: dict[str, Any]) -> None:
        act = RIVALS[rival]
        if act is None:
            clock.skip(engine, HOUR)  # the deadline; the window ends an hour later
            return
        path, body = act
        done = await api.post(path.format(id=begun["id"], point=begun["points"]["review"]), body)
        assert done.status in (200, 409), done.body

    async with engine_on(clock.store(tmp_path)) as engine, listening(engine) as api:
        await engine.workflows.register(
            flow(approval(undo="2h", deadline="1h", on_deadline="reject", next=dict.fromkeys(PORTS, "finish")), end(1))
        )
        for order in ("take back", "rival", "both", "both"):
            begun = await resting(api)
            path = f"/pause-points/{begun['points']['review']}"
            assert (await api.post(f"{path}/answer", {"approved": True}, as_=MIA)).status == 201
            if order == "rival":
                await happens(begun)
            taking_back = asyncio.create_task(api.post(f"{path}/take-back", as_=MIA))
            if order == "take back":
                await taking_back
            if order != "rival":
                await happens(begun)
            back = await taking_back
            shown = (await api.get(path, as_="viewer")).json
            log = (await api.get(f"/executions/{begun['id']}/history?limit=100")).json["items"]
            types = [one["type"] for one in log if one["data"].get("point") == begun["points"]["review"]]
            assert back.status in (200, 409), back.body
            is_over = shown["status"] in ("cancelled", "superseded")  # an act that came first may have ended it
            assert ("PausePointTakenBack" in types) == (back.status == 200) or is_over, types
            assert "PausePointApplied" not in types
            if back.status == 200:
                assert (shown["decisions"], shown["answer"]) == ([], None)
                assert back.json["status"] in ("open", shown["status"])
            if order == "take back" or rival in ("pause", "deadline"):
                assert back.status == 200, "nothing of it ends a window"
        assert await violations(engine.instance.store) == []


async def test_a_restarted_server_applies_what_became_final_meanwhile(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, review("200ms"))
        path = f"/pause-points/{execution['points']['review']}"
        await api.post(f"{path}/answer", {"approved": True}, as_=MIA)
    async with served(tmp_path) as api:
        assert await ended(api, execution["id"]) == ["mia"]
