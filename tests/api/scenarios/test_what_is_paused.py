"""What those outside see of a pause: the caller who started it, the lists, and what looking at it never does."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import Any
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
    paused,
    points,
    resume,
    save,
    settled,
    start,
)
from tests.runtime.harness import HOUR, HandWound, Held, Scripted, approval, call, end, engine_on, flow, form, until

pytestmark = pytest.mark.usefixtures("each_database")


# The response


async def test_a_start_gets_the_response_of_the_first_pause(tmp_path: Path) -> None:
    nodes = [
        call("first"),
        approval(response={"message": "Order ${input.id} is under review", "total": "${nodes.first}"}),
        form("later", response={"message": "not yet"}),
    ]
    async with served(tmp_path, Scripted(12)) as api:
        await save(api, flow(*nodes))
        started = await api.post("/executions", {"workflow": "flow", "input": {"id": 7}, "wait": "60s"}, as_=MIA)
        told = started.json
        assert (started.status, told["status"]) == (202, "paused")
        assert told["response"] == {"message": "Order 7 is under review", "total": 12}
        (point,) = told["pause_points"]
        assert (point["context_id"], point["response"]) == ("review", told["response"])
        assert (told["paused_node"], told["waiting_on"][0]["context_id"]) == ("review", "review")
        (listed,) = await paused(api)
        assert listed["pausePoints"][0]["response"] == told["response"]


async def test_of_several_pauses_the_first_that_has_a_response_gives_it(tmp_path: Path) -> None:
    sides = branches(
        a=[form("one", schema={})], b=[form("two", schema={}, response="of two")], c=[approval(response="of c")]
    )
    async with served(tmp_path) as api:
        await save(api, flow(sides))
        for _ in range(5):  # whatever the ids are
            told = await start(api)
            assert [one["context_id"] for one in told["pause_points"]] == ["one:all.a", "two:all.b", "review:all.c"]
            assert told["response"] == "of two"


async def test_a_repeated_start_with_the_same_key_gets_the_same_response(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await save(api, flow(approval(response="soon"), end("done")))
        body = {"workflow": "flow", "wait": "60s"}
        first = await api.post("/executions", body, as_=MIA, key="order-7")
        (point,) = first.json["pause_points"]
        await api.post(f"/approvals/{point['id']}/approve", as_=BEN)
        assert await output(api, first.json["id"]) == "done"
        again = await api.post("/executions", body, as_=MIA, key="order-7")
        assert (again.status, again.body) == (202, first.body)
        assert len((await get(api, "/executions"))["items"]) == 1


# What is not reached yet


async def test_a_pause_that_is_planned_is_pending_until_it_is_reached(tmp_path: Path) -> None:
    work = Held()
    async with served(tmp_path, work) as api:
        await save(api, flow(call("first"), approval(), form("later", schema={}), end("done")))
        id_ = (await start(api, wait=False))["id"]
        begun = await work.begun()
        for context in ("review", "later"):
            for refused in (
                await api.post(f"/api/resume/flow/{id_}/{context}", {"approved": True}, as_=MIA),
                await api.delete(f"/api/resume/flow/{id_}/{context}", as_=MIA),
            ):
                assert (refused.status, refused.code) == (409, "snapshot_pending")
        assert await paused(api) == []
        begun.returns()
        assert (await settled(api, id_))["status"] == "paused"
        assert (await resume(api, id_, "later")).code == "snapshot_pending"
        assert (await api.post(f"/api/resume/flow/{id_}/review", {"approved": True}, as_=MIA)).status == 202
        await settled(api, id_)
        assert (await resume(api, id_, "later")).status == 202
        assert await output(api, id_) == "done"
        assert (await resume(api, id_, "later", "another", BEN)).code == "already_answered"


# The list


async def test_the_list_tells_how_far_an_execution_has_been_resumed(tmp_path: Path) -> None:
    work = Held()
    sides = branches(a=[form("one", schema={})], b=[form("two", schema={})])
    async with served(tmp_path, work) as api:
        await save(api, flow(sides, call("after"), form("last", schema={}), end("done")))
        id_ = (await start(api))["id"]

        async def told() -> tuple[str, str, int, int]:
            (one,) = await paused(api)
            assert one["executionId"] == id_
            return one["status"], one["pauseScope"], one["totalPauseCount"], one["resumedCount"]

        assert await told() == ("paused", "branch", 2, 0)
        await resume(api, id_, "two:all.b")
        await settled(api, id_)
        assert await told() == ("partially_resumed", "branch", 2, 1)
        await resume(api, id_, "one:all.a")
        begun = await work.begun()
        assert await paused(api) == []  # all are resumed: it runs
        begun.returns()
        await settled(api, id_)
        (listed,) = await paused(api)  # it is paused once more
        assert (listed["status"], listed["totalPauseCount"], listed["resumedCount"]) == ("partially_resumed", 3, 2)
        assert [one["resumeStatus"] for one in listed["pausePoints"]] == ["resumed", "resumed", "paused"]
        assert all(
            (one["resumedAt"] is not None) == (one["resumeStatus"] == "resumed") for one in listed["pausePoints"]
        )
        await resume(api, id_, "last")
        assert await output(api, id_) == "done"
        assert await paused(api) == []


async def test_what_has_expired_leaves_the_list_with_its_execution(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine, listening(engine) as api:
        await save(api, flow(form(schema={}, deadline="1h", on_deadline="continue"), end("late")))
        short = await start(api)
        await save(api, flow(form(schema={}, deadline="9h", on_deadline="continue"), end("late")))
        long = await start(api)
        assert {one["executionId"] for one in await paused(api)} == {short["id"], long["id"]}
        clock.skip(engine, 2 * HOUR)
        assert await output(api, short["id"]) == "late"
        assert [one["executionId"] for one in await paused(api)] == [long["id"]]
        gone = await resume(api, short["id"], "ask")
        assert (gone.status, gone.code) == (410, "expired")


@pytest.mark.parametrize("act", ["cancel", "fail"])
async def test_what_is_closed_leaves_the_list(tmp_path: Path, act: str) -> None:
    work = Held()
    async with served(tmp_path, work) as api:
        await save(api, flow(branches(a=[form(schema={})], b=[call("slow")])))
        id_ = (await start(api, wait=False))["id"]
        slow = await work.begun()
        assert len(await paused(api)) == 1
        if act == "cancel":
            await api.post(f"/executions/{id_}/cancel", as_=MIA)
        else:
            slow.raises(ValueError("no"))
        told = await settled(api, id_)
        assert told["status"] == ("cancelled" if act == "cancel" else "failed")
        assert await paused(api) == []
        assert (await resume(api, id_, "ask:all.a")).status == 409


# Looking


async def test_looking_never_decides_anything(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await save(api, REVIEW)
        started = await start(api)
        id_, (point,) = started["id"], started["pause_points"]
        before, happened = await execution(api, id_), await history(api, id_)
        looked = [
            f"/approvals/{point['id']}",
            f"/approvals/{point['id']}?approved=true",
            f"/approvals/{point['id']}/approve",
            f"/approvals/{point['id']}/reject",
            f"/pause-points/{point['id']}",
            f"/pause-points/{point['id']}/answer?approved=true",
            f"/pause-points/{point['id']}/cancel",
            f"/executions/{id_}/resume?approved=true",
            f"/executions/{id_}/cancel",
            f"/executions/{id_}/pause",
            f"/api/resume/flow/{id_}/review",
            f"/api/resume/flow/{id_}/review?approved=true",
            "/api/workflows/flow/paused",
            "/approvals?for=me",
            "/pause-points",
            *(f"/executions/{id_}/{what}" for what in ("history", "nodes", "legs", "graph", "why")),
        ]
        for path in looked:
            for method in ("GET", "HEAD"):
                answered = await api.ask(method, path, as_=MIA)
                assert answered.status in (200, 400, 404, 405), (method, path, answered.status)
                acting = path.rpartition("/")[2].partition("?")[0] in (
                    "approve",
                    "reject",
                    "answer",
                    "cancel",
                    "pause",
                    "resume",
                )
                assert not acting or answered.status == 405, (method, path)
        assert await execution(api, id_) == before
        assert await history(api, id_) == happened
        assert await points(api, id_) == {"review": {**point, "may": ANY}}  # a start does not say what its caller may
        assert await audited(api, id_) == [("mia", "execution.start")]


# Giving up


@pytest.mark.parametrize("wired", [True, False])
async def test_a_pause_that_is_given_up_fails_its_node(tmp_path: Path, wired: bool) -> None:
    way: dict[str, Any] = {"next": {"done": "well", **({"error": "badly"} if wired else {})}}
    nodes = [form(schema={}, **way), end("well", "well")]
    nodes += [end("${errors.ask.code}", "badly")] if wired else []
    async with served(tmp_path) as api:
        await save(api, {"name": "flow", "nodes": nodes})
        started = await start(api)
        id_, (point,) = started["id"], started["pause_points"]
        gone = await api.delete(f"/api/resume/flow/{id_}/ask", as_=BEN)
        assert (gone.status, gone.json["id"], gone.json["status"]) == (200, point["id"], "cancelled")
        told = await settled(api, id_)
        assert (told["status"], told["output"] if wired else told["error"]["code"]) == (
            "completed" if wired else "failed",
            "pause_cancelled",
        )
        for late in (await api.delete(f"/api/resume/flow/{id_}/ask", as_=BEN), await resume(api, id_, "ask")):
            assert (late.status, late.code) == (409, "point_closed")
        assert await audited(api, id_) == [("mia", "execution.start"), ("ben", "point.cancel")]


async def test_of_a_pause_that_is_given_up_the_siblings_stay(tmp_path: Path) -> None:
    sides = branches(a=[form("one", schema={}, next={"error": "sorry"}), call("sorry")], b=[form("two", schema={})])
    async with served(tmp_path, Scripted("sorry")) as api:
        await save(api, flow(sides, end("${nodes.all}")))
        id_ = (await start(api))["id"]
        assert (await api.delete(f"/api/resume/flow/{id_}/one:all.a", as_=MIA)).status == 200
        await settled(api, id_)
        (listed,) = await paused(api)
        states = {one["contextId"]: one["resumeStatus"] for one in listed["pausePoints"]}
        assert states == {"one:all.a": "cancelled", "two:all.b": "paused"}
        assert (await resume(api, id_, "two:all.b", 2)).status == 202
        assert await output(api, id_) == {"a": "sorry", "b": 2}


@pytest.mark.parametrize("port", ["answered", "cancelled"])
async def test_the_error_port_is_taken_only_by_what_went_wrong(tmp_path: Path, port: str) -> None:
    """The node after the pause fails: that is not the pause's own failure."""
    nodes = [
        form(schema={}, next={"done": "work", "error": "badly"}),
        call("work", next={"done": "well", "error": "after"}),
        end("well", "well"),
        end("of the pause", "badly"),
        end("of the work", "after"),
    ]
    async with served(tmp_path, Scripted(ValueError("no"))) as api:
        await save(api, {"name": "flow", "nodes": nodes})
        started = await start(api)
        id_, (point,) = started["id"], started["pause_points"]
        if port == "answered":
            assert (await answer(api, point["id"], 1)).status == 201
        else:
            assert (await api.post(f"/pause-points/{point['id']}/cancel", as_=MIA)).status == 200
        assert await output(api, id_) == ("of the work" if port == "answered" else "of the pause")
        taken = {
            (edge["source"], edge["port"])
            for edge in (await get(api, f"/executions/{id_}/graph"))["edges"]
            if edge["taken"]
        }
        assert taken == ({("ask", "done"), ("work", "error")} if port == "answered" else {("ask", "error")})


async def test_work_that_fails_after_an_answer_opens_its_pause_again_where_that_is_wanted(tmp_path: Path) -> None:
    async with served(tmp_path, Scripted(ValueError("no"), "well")) as api:
        nodes = (form(schema={}), call("after"), end(["${nodes.ask}", "${nodes.after}"]))
        await save(api, flow(*nodes, settings={"on_resume_failure": "reopen"}))
        started = await start(api)
        id_, (old,) = started["id"], started["pause_points"]
        assert (await resume(api, id_, "ask", "first")).status == 202
        await until(api.engine, id_, lambda head: head.status == "paused" and head.last_seq > started["last_seq"])
        ((context, opened),) = (await points(api, id_)).items()
        assert (context, opened["id"] != old["id"]) == ("ask", True)
        assert (old["failure"], opened["failure"]["context_id"], opened["failure"]["message"]) == (None, "after", "no")
        execution, told = await get(api, f"/executions/{id_}"), await get(api, f"/executions/{id_}/why")
        assert execution["waiting_on"][0]["failure"] == opened["failure"]
        text = "`ask` waits for an answer by anybody, once more: after the last answer `after` failed (failed: no)."
        assert (execution["paused_reason"], told["summary"]) == (text, text)
        assert (await answer(api, old["id"], "first")).status in (200, 409)
        assert await points(api, id_) == {"ask": opened}
        assert (await resume(api, id_, "ask", "second")).status == 202
        assert await output(api, id_) == ["second", "well"]


async def test_a_question_that_a_move_asks_anew_counts_once(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await save(api, flow(form("ask", schema={}), end("done")))
        id_ = (await start(api))["id"]
        await save(api, flow(form("ask", schema={}, title="Which one?"), end("done")))
        moved = await api.post(f"/executions/{id_}/move", {"version": 2}, as_="mia:operator")
        assert moved.status == 200, moved.body
        await settled(api, id_)
        (listed,) = await paused(api)
        every = await history(api, id_)
    assert [kind for kind, _ in every].count("PausePointOpened") == 2
    assert (listed["totalPauseCount"], listed["resumedCount"]) == (1, 0)
    assert [one["resumeStatus"] for one in listed["pausePoints"]] == ["paused"]
