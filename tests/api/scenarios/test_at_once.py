"""Several people at once: whoever comes first is taken, and all others learn what came before them."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any

import pytest

from layover.ports.records import CLOSED
from tests.api.harness import served
from tests.api.scenarios.scene import (
    BEN,
    EVE,
    MIA,
    REVIEW,
    answer,
    audited,
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
from tests.runtime.harness import approval, end, flow, form, until

if TYPE_CHECKING:
    from tests.api.harness import Answered, Api

pytestmark = pytest.mark.usefixtures("each_database")

ROUNDS = 15
ASK = flow(form(schema={}), end("${nodes.ask}"))


async def deciding(api: Api, way: str, started: dict[str, Any], approved: bool, as_: str) -> Answered:
    """Decide the approval of an execution in one of the ways that there are."""
    id_, point, act = started["id"], started["pause_points"][0]["id"], "approve" if approved else "reject"
    path, body = {
        "approval": (f"/approvals/{point}/{act}", {}),
        "point": (f"/pause-points/{point}/answer", {"approved": approved}),
        "execution": (f"/executions/{id_}/resume", {"approved": approved}),
        "place": (f"/api/resume/flow/{id_}/review", {"approved": approved}),
    }[way]
    return await api.post(path, body, as_=as_)


@pytest.mark.parametrize("second", ["approval", "point", "place"])
@pytest.mark.parametrize("first", ["approval", "execution"])
async def test_of_two_decisions_at_once_one_counts(tmp_path: Path, first: str, second: str) -> None:
    async with served(tmp_path) as api:
        await save(api, REVIEW)
        for round_ in range(ROUNDS):
            started = await start(api)
            acting = [deciding(api, first, started, True, MIA), deciding(api, second, started, False, BEN)]
            one, other = await asyncio.gather(*(acting if round_ % 2 else reversed(acting)))
            won, lost = (one, other) if one.status < 300 else (other, one)
            assert (won.status in (200, 201, 202), lost.status) == (True, 409), (one.body, other.body)
            assert lost.code in ("already_answered", "wrong_state")  # by the execution it may be over when it looks
            decision = await output(api, started["id"])
            decided = ("mia", "approval.approve") if decision == "approved" else ("ben", "approval.reject")
            assert sorted(await audited(api, started["id"])) == sorted([("mia", "execution.start"), decided])
            if lost.code == "already_answered":
                assert lost.json["winner"]["by"] == decided[0]
                assert lost.json["winner"]["answer"]["approved"] == (decision == "approved")
            (shown,) = (await points(api, started["id"], "applied")).values()
            assert [(one["by"], one["approved"]) for one in shown["decisions"]] == [
                (decided[0], decision == "approved")
            ]


async def test_of_two_answers_at_once_one_counts(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await save(api, ASK)
        for _ in range(ROUNDS):
            started = await start(api)
            id_, (point,) = started["id"], started["pause_points"]
            mia, ben, eve = await asyncio.gather(
                answer(api, point["id"], {"by": "mia"}, MIA),
                answer(api, point["id"], {"by": "ben"}, BEN),
                resume(api, id_, "ask", {"by": "eve"}, EVE),
            )
            assert sorted((mia.status, ben.status, eve.status))[1:] == [409, 409]
            winner = "mia" if mia.status == 201 else "ben" if ben.status == 201 else "eve"
            assert winner != "eve" or eve.status == 202
            for lost in (one for one in (mia, ben, eve) if one.status == 409):
                assert lost.code == "already_answered"
                assert (lost.json["winner"]["by"], lost.json["winner"]["answer"]) == (winner, {"by": winner})
            assert await output(api, id_) == {"by": winner}
            assert sorted(await audited(api, id_)) == sorted([("mia", "execution.start"), (winner, "point.answer")])


async def test_the_same_answer_by_another_is_not_the_same(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await save(api, ASK)
        started = await start(api)
        (point,) = started["pause_points"]
        both = await asyncio.gather(answer(api, point["id"], "yes", MIA), answer(api, point["id"], "yes", BEN))
        assert sorted(one.status for one in both) == [201, 409]


async def test_the_same_person_twice_at_once_has_answered_once(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await save(api, ASK)
        for _ in range(ROUNDS):
            started = await start(api)
            (point,) = started["pause_points"]
            both = await asyncio.gather(*(answer(api, point["id"], "yes") for _ in range(3)))
            assert sorted(one.status for one in both) == [200, 200, 201]
            assert await output(api, started["id"]) == "yes"
            assert len(await audited(api, started["id"])) == 2


@pytest.mark.parametrize("cancelling", ["execution", "point", "place"])
async def test_what_is_cancelled_while_it_is_answered_is_one_or_the_other(tmp_path: Path, cancelling: str) -> None:
    nodes = [form(schema={}, next={"done": "well", "error": "given_up"}), end("answered", "well")]
    nodes.append(end("${errors.ask.code}", "given_up"))
    async with served(tmp_path) as api:
        await save(api, {"name": "flow", "nodes": nodes})
        for round_ in range(ROUNDS):
            started = await start(api)
            id_, (point,) = started["id"], started["pause_points"]
            method, path = {
                "execution": ("POST", f"/executions/{id_}/cancel"),
                "point": ("POST", f"/pause-points/{point['id']}/cancel"),
                "place": ("DELETE", f"/api/resume/flow/{id_}/ask"),
            }[cancelling]
            acts = [answer(api, point["id"], 1), api.ask(method, path, as_=BEN)]
            results = await asyncio.gather(*(acts if round_ % 2 else reversed(acts)))
            answered, cancelled = results if round_ % 2 else reversed(results)
            await until(api.engine, id_, lambda head: head.status in CLOSED)
            told, shown = await execution(api, id_), await get(api, f"/pause-points/{point['id']}")
            happened = [type_ for type_, _ in await history(api, id_)]
            assert happened.count("PausePointApplied") + happened.count("PausePointCancelled") <= 1
            match told["status"], told["output"]:
                case "completed", "answered":
                    assert (answered.status, cancelled.status) == (201, 409), (answered.body, cancelled.body)
                    assert shown["status"] == "applied"
                    assert cancelled.code in ("already_answered", "wrong_state")
                case "completed", "pause_cancelled":
                    assert cancelled.status == 200
                    assert shown["status"] == "cancelled"
                    # An answer that was taken, and that nothing had come of, goes with its point.
                    assert answered.status == 201 or answered.code == "point_closed"
                case state:
                    assert (state[0], cancelled.status, shown["status"]) == ("cancelled", 200, "cancelled")
                    assert answered.status == 201 or answered.code == "point_closed", answered.body


async def test_one_of_two_resumes_at_once_wins_and_the_other_gets_409(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await save(api, flow(form(schema={}), end("${vars}")))
        for _ in range(ROUNDS):
            started = await start(api)
            path = f"/executions/{started['id']}"
            assert (await api.post(f"{path}/pause", as_=MIA)).status == 200
            mia, ben = await asyncio.gather(
                api.post(f"{path}/resume", {"resume_data": {"by": "mia"}}, as_=MIA),
                api.post(f"{path}/resume", {"resume_data": {"by": "ben"}}, as_=BEN),
            )
            assert sorted((mia.status, ben.status)) == [200, 409], (mia.body, ben.body)
            told = await settled(api, started["id"])
            assert (told["resume_count"], told["variables"]) == (1, {"by": "mia" if mia.status == 200 else "ben"})


async def test_sixty_older_undecided_ones_do_not_block_one_that_is_decided(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await save(api, REVIEW)
        older = [await start(api) for _ in range(60)]
        decided = await start(api)
        (point,) = decided["pause_points"]
        assert (await api.post(f"/approvals/{point['id']}/approve", as_=MIA)).status == 201
        assert await output(api, decided["id"]) == "approved"

        waiting = (await get(api, "/executions/paused?limit=100"))["executions"]
        assert {one["id"] for one in waiting} == {one["id"] for one in older}
        moments = [one["paused_at"] for one in waiting]
        assert moments == sorted(moments), "some may have come to rest in the same millisecond"
        assert {one["resume_count"] for one in waiting} == {0}
        youngest = older[-1]
        assert (await api.post(f"/approvals/{youngest['pause_points'][0]['id']}/reject", as_=BEN)).status == 201
        assert await output(api, youngest["id"]) == "rejected"
        assert (await get(api, "/executions/paused?limit=100"))["count"] == 59


async def test_of_many_decisions_at_once_as_many_count_as_are_needed(tmp_path: Path) -> None:
    people = [f"person{number}:approver" for number in range(6)]
    async with served(tmp_path) as api:
        await save(api, flow(approval(need=3), end("${nodes.review.decisions}")))
        for _ in range(5):
            started = await start(api)
            path = f"/approvals/{started['pause_points'][0]['id']}/approve"
            decided = await asyncio.gather(*(api.post(path, as_=one) for one in people))
            assert sorted(one.status for one in decided) == [201] * 3 + [409] * 3
            counted: Any = await output(api, started["id"])
            assert {one["by"] for one in counted} == {
                person.partition(":")[0] for person, one in zip(people, decided, strict=True) if one.status == 201
            }
            assert (await settled(api, started["id"]))["resume_count"] == 1
