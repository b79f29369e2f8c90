"""The resume queue over HTTP, on every database: positions, what became of each answer, and the leg that applied it."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.acting import ended, resting
from tests.api.harness import served
from tests.api.test_resume import branches, path_of, paused
from tests.runtime.harness import Held, Scripted, call, end, flow, form, until, until_status

if TYPE_CHECKING:
    from tests.api.harness import Api

pytestmark = pytest.mark.usefixtures("each_database")


async def resumes(api: Api, execution: str) -> list[dict[str, Any]]:
    answered = await api.get(f"/executions/{execution}/resume-queue", as_="viewer")
    assert answered.status == 200, answered.body
    items: list[dict[str, Any]] = answered.json["items"]
    return items


def seen(entries: list[dict[str, Any]]) -> list[tuple[str, str, int | None]]:
    return [(one["context_id"], one["status"], one["position"]) for one in entries]


async def test_each_answer_has_its_turn_and_a_leg_of_its_own(tmp_path: Path) -> None:
    work = Held()
    one = [form("one", schema={}, next="work"), call("work")]
    all_ = branches(a=one, b=[form("two", schema={})], c=[call("slow")])
    async with served(tmp_path, work) as api:
        await api.engine.workflows.register(flow(all_, end(1)))
        started = await api.engine.executions.start("flow")
        slow = await work.begun()
        first = await api.post(path_of(started.id, "one:all.a"), {"input": 1}, as_="mia:operator")
        second = await api.post(path_of(started.id, "two:all.b"), {"input": 2}, as_="tom:operator")
        waiting = await resumes(api, started.id)
        slow.returns(3)
        working = await work.begun()
        applied = await resumes(api, started.id)
        working.returns(4)
        await ended(api, started.id)
        done = await resumes(api, started.id)
        legs = (await api.get(f"/executions/{started.id}/legs", as_="viewer")).json["items"]
        pages = await api.get(f"/executions/{started.id}/resume-queue?limit=1", as_="viewer")
        rest = await api.get(f"/executions/{started.id}/resume-queue?cursor={pages.json['next']}", as_="viewer")

    assert seen(waiting) == [("one:all.a", "pending", 1), ("two:all.b", "pending", 2)]
    assert [(one["answer"], one["answered_by"], one["depth"]) for one in waiting] == [
        (1, "mia", None),
        (2, "tom", None),
    ]
    assert seen(applied) == [("one:all.a", "claimed", None), ("two:all.b", "pending", 1)]
    assert seen(done) == [("one:all.a", "completed", None), ("two:all.b", "completed", None)]
    assert [one["leg_id"] for one in done] == [first.json["legId"], second.json["legId"]]
    assert all(one["queued_at"] <= one["claimed_at"] <= one["completed_at"] for one in done)
    assert [leg["point_id"] for leg in legs] == [None, *(one["point_id"] for one in done)]
    assert [(leg["id"], leg["parent"], leg["depth"]) for leg in legs[1:]] == [
        (one["leg_id"], one["parent_leg_id"], one["depth"]) for one in done
    ]
    assert [leg["parent"] for leg in legs[1:]] == [leg["id"] for leg in legs[:-1]]
    assert [leg["from_seq"] for leg in legs[1:]] == [leg["to_seq"] + 1 for leg in legs[:-1]]
    assert [*pages.json["items"], *rest.json["items"]] == done


async def test_a_failed_resume_says_why_and_its_point_can_be_answered_again(tmp_path: Path) -> None:
    work = Scripted(ValueError("out of paper"), 1)
    async with served(tmp_path, work) as api:
        definition = flow(form("ask", schema={}), call("work"), end(1))
        execution = await resting(api, definition)
        await api.post(path_of(execution["id"], "ask"), {"input": 1})
        await until_status(api.engine, execution["id"], "failed")
        (failed,) = await resumes(api, execution["id"])
        await api.post(f"/executions/{execution['id']}/rewind", {"to": "ask"})
        await until_status(api.engine, execution["id"], "paused")
        await api.post(path_of(execution["id"], "ask"), {"input": 2})
        await until_status(api.engine, execution["id"], "completed")
        both = await resumes(api, execution["id"])

    assert failed["status"] == "failed"
    assert "out of paper" in failed["failure_reason"]
    assert [(one["status"], one["answer"]) for one in both] == [("failed", 1), ("completed", 2)]
    assert both[0] == failed


async def test_a_resume_is_claimed_while_a_node_is_to_be_tried_again_and_fails_with_it(tmp_path: Path) -> None:
    work = Scripted(ValueError("out of paper"))
    async with served(tmp_path, work) as api:
        retry: dict[str, object] = {"max_attempts": 2, "delay": "1h"}
        execution = await resting(api, flow(form("ask", schema={}), call("work", retry=retry), end(1)))
        await api.post(path_of(execution["id"], "ask"), {"input": 1})
        await until_status(api.engine, execution["id"], "waiting")
        (waiting,) = await resumes(api, execution["id"])
        await api.post(f"/executions/{execution['id']}/run-now", {"context_id": "work"})
        await until_status(api.engine, execution["id"], "failed")
        (failed,) = await resumes(api, execution["id"])

    assert (waiting["status"], waiting["completed_at"], waiting["failure_reason"]) == ("claimed", None, None)
    assert failed["status"] == "failed"
    assert "out of paper" in failed["failure_reason"]


@pytest.mark.parametrize("failures", [1, 2])
async def test_a_resume_whose_question_is_asked_again_has_failed(tmp_path: Path, failures: int) -> None:
    work = Scripted(*[ValueError("out of paper")] * failures, 1)
    async with served(tmp_path, work) as api:
        retry: dict[str, object] = {"max_attempts": failures, "delay": "10ms"}
        asked = form("ask", schema={}), call("work", retry=retry), end(1)
        definition = flow(*asked, settings={"on_resume_failure": "reopen"})
        execution = await resting(api, definition)
        await api.post(path_of(execution["id"], "ask"), {"input": 1})
        await until(api.engine, execution["id"], lambda head: head.status == "paused" and head.last_seq > 7)
        (failed,) = await resumes(api, execution["id"])
        await api.post(path_of(execution["id"], "ask"), {"input": 2})
        await until_status(api.engine, execution["id"], "completed")
        both = await resumes(api, execution["id"])

    assert failed["status"] == "failed"
    assert "out of paper" in failed["failure_reason"]
    assert failed["completed_at"] is not None
    assert [(one["status"], one["answer"]) for one in both] == [("failed", 1), ("completed", 2)]
    assert both[0] == failed


async def test_what_came_to_rest_is_completed_and_what_was_held_is_dropped_with_the_execution(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(form("ask", schema={}), form("more", schema={}), end(1)))
        before = (await api.engine.queries.row(execution["id"])).head.last_seq
        await api.post(path_of(execution["id"], "ask"), {"input": 1})
        await until(api.engine, execution["id"], lambda head: head.status == "paused" and head.last_seq > before)
        (rested,) = await resumes(api, execution["id"])
        await api.post(f"/executions/{execution['id']}/pause", {})
        await api.post(path_of(execution["id"], "more"), {"input": 2})
        _, held = await resumes(api, execution["id"])
        await api.post(f"/executions/{execution['id']}/cancel", {})
        await until_status(api.engine, execution["id"], "cancelled")
        _, dropped = await resumes(api, execution["id"])

    assert (rested["status"], rested["failure_reason"]) == ("completed", None)
    assert (held["status"], held["position"]) == ("pending", 1)
    assert (dropped["status"], dropped["position"]) == ("failed", None)
    assert dropped["failure_reason"]


async def test_executions_that_were_paused_are_listed_by_how_that_ended(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        waiting = await resting(api, flow(form("ask", schema={}), end(1)))
        answered = await resting(api, flow(form("ask", schema={}), end(1)))
        given_up = await resting(api, flow(form("ask", schema={}), end(1)))
        await api.post(path_of(answered["id"], "ask"))
        await ended(api, answered["id"])
        await api.delete(path_of(given_up["id"], "ask"))
        await until_status(api.engine, given_up["id"], "failed")
        (one,) = await paused(api)
        assert (one["executionId"], one["status"]) == (waiting["id"], "paused")
        assert await paused(api, "?status=partially_resumed") == []
        (one,) = await paused(api, "?status=fully_resumed,expired")
        assert (one["executionId"], one["status"], one["resumedCount"]) == (answered["id"], "fully_resumed", 1)
        assert [point["resumeStatus"] for point in one["pausePoints"]] == ["resumed"]
        assert await paused(api, "?status=expired") == []
        mixed = await api.get("/api/workflows/flow/paused?status=paused,expired")
        wrong = await api.get("/api/workflows/flow/paused?status=expired&cursor=1.x")
        assert [(found.status, found.json["code"]) for found in (mixed, wrong)] == [
            (400, "invalid_parameter"),
            (400, "malformed_cursor"),
        ]
