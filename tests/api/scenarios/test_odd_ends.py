"""What lies at the edges: too much at once, acts that cross each other, and lists while things change."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import Any

import pytest

from layover.ports.records import CLOSED
from tests.api.harness import listening, served
from tests.api.scenarios.scene import (
    BEN,
    EVE,
    MIA,
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
from tests.runtime.harness import HOUR, HandWound, Scripted, approval, call, end, engine_on, flow, form, until

pytestmark = pytest.mark.usefixtures("each_database")

MUCH = "x" * 1_020_000
ROUNDS = 10


async def test_an_answer_that_is_too_large_changes_nothing(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await save(api, flow(branches(a=[form(schema={})], b=[approval()]), end("${nodes.all.a}")))
        started = await start(api)
        id_ = started["id"]
        opened = await points(api, id_)
        ask, review = opened["ask:all.a"]["id"], opened["review:all.b"]["id"]
        refused = [
            await answer(api, ask, MUCH),
            await resume(api, id_, "ask:all.a", {"deep": [MUCH]}),
            await api.post(f"/approvals/{review}/approve", {"data": MUCH}, as_=MIA),
            await api.post(f"/executions/{id_}/resume", {"approved": True, "resume_data": {"a": MUCH}}, as_=MIA),
        ]
        assert [(one.status, one.code) for one in refused] == [(413, "payload_too_large")] * 4
        assert await points(api, id_) == opened
        assert (await answer(api, ask, "x" * 900_000)).status == 201


async def test_data_that_is_too_large_does_not_let_an_execution_go_on(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await save(api, flow(form(schema={}), end("${vars}")))
        id_ = (await start(api))["id"]
        await api.post(f"/executions/{id_}/pause", as_=MIA)
        before = await execution(api, id_)
        refused = await api.post(f"/executions/{id_}/resume", {"resume_data": {"a": MUCH}}, as_=MIA)
        assert (refused.status, refused.code) == (413, "payload_too_large")
        assert await execution(api, id_) == before
        assert (await api.post(f"/executions/{id_}/resume", {"resume_data": {"a": 1}}, as_=MIA)).status == 200


async def test_an_input_that_is_too_large_starts_nothing(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await save(api, flow(form(schema={})))
        refused = await api.post("/executions", {"workflow": "flow", "input": MUCH}, as_=MIA)
        assert (refused.status, refused.code) == (413, "payload_too_large")
        assert (await get(api, "/executions"))["items"] == []


@pytest.mark.parametrize(
    "path",
    [
        "/api/workflows/flow/paused",
        "/executions/paused",
    ],
)
async def test_an_execution_paused_again_is_last_in_the_list(tmp_path: Path, path: str) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine, listening(engine) as api:
        await save(api, flow(form(schema={}), form("more", schema={})))

        async def an_hour_later() -> None:
            clock.skip(engine, HOUR)
            while engine.instance.clock.now() < clock.now:  # noqa: ASYNC110 - an engine looks by itself
                await asyncio.sleep(0)

        async def listed() -> list[str]:
            return [one.get("id") or one["executionId"] for one in (await get(api, path))["executions"]]

        first = await start(api)
        await an_hour_later()
        second = await start(api)
        await an_hour_later()
        assert await listed() == [first["id"], second["id"]]
        assert (await resume(api, first["id"], "ask")).status == 202
        told = await settled(api, first["id"])
        assert await listed() == [second["id"], first["id"]]
        assert told["paused_at"] > first["paused_at"] or path != "/executions/paused"


async def test_decisions_from_before_a_rewind_do_not_count_again(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await save(api, flow(form(schema={}), approval(need=2), end("${nodes.review.by}")))
        id_ = (await start(api))["id"]
        await resume(api, id_, "ask")
        await settled(api, id_)
        old = (await points(api, id_))["review"]["id"]
        assert (await api.post(f"/approvals/{old}/approve", as_=MIA)).status == 201
        assert (await api.post(f"/executions/{id_}/rewind", {"to": "review"}, as_=EVE)).status == 200
        await settled(api, id_)
        opened = (await points(api, id_))["review"]
        assert (opened["decisions"], opened["id"] != old) == ([], True)
        late = await api.post(f"/approvals/{old}/approve", as_=BEN)
        assert (late.status, late.code) == (409, "point_closed")
        for as_ in (MIA, BEN):
            assert (await execution(api, id_))["status"] == "paused"
            assert (await api.post(f"/approvals/{opened['id']}/approve", as_=as_)).status == 201
        assert await output(api, id_) == "ben"


async def test_an_answer_and_a_pause_at_once_are_both_right_or_one_is_too_late(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await save(api, flow(form(schema={}), end("${nodes.ask}")))
        for round_ in range(ROUNDS):
            started = await start(api)
            id_, (point,) = started["id"], started["pause_points"]
            acts = [answer(api, point["id"], "said"), api.post(f"/executions/{id_}/pause", as_=BEN)]
            results = await asyncio.gather(*(acts if round_ % 2 else reversed(acts)))
            answered, held = results if round_ % 2 else reversed(results)
            assert answered.status == 201
            if held.status == 409:
                assert (held.code, held.json["current_status"]) == ("wrong_state", "completed")
            else:
                assert held.json["status"] in ("paused", "pausing"), held.body
                await settled(api, id_)
                assert (await api.post(f"/executions/{id_}/resume", as_=MIA)).status == 200
            assert await output(api, id_) == "said"


async def test_one_of_two_retries_at_once_wins_and_the_other_gets_409(tmp_path: Path) -> None:
    async with served(tmp_path, Scripted(*([ValueError("no"), "well"] * ROUNDS))) as api:
        await save(api, flow(call("a"), end("${nodes.a}")))
        for _ in range(ROUNDS):
            id_ = (await start(api))["id"]
            both = await asyncio.gather(*(api.post(f"/executions/{id_}/retry", as_=as_) for as_ in (MIA, BEN)))
            assert sorted(one.status for one in both) == [200, 409], [one.body for one in both]
            assert await output(api, id_) == "well"
            assert (await history(api, id_)).count(("ExecutionReopened", None)) == 1
            assert sorted(act for _, act in await audited(api, id_)) == ["execution.retry", "execution.start"]


async def test_an_answer_and_a_rewind_at_once_leave_one_pause(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await save(api, flow(form(schema={}), form("more", schema={}), end(["${nodes.ask}", "${nodes.more}"])))
        for round_ in range(ROUNDS):
            id_ = (await start(api))["id"]
            await resume(api, id_, "ask", "old")
            await settled(api, id_)
            (more,) = (await points(api, id_)).values()
            acts = [answer(api, more["id"], 1), api.post(f"/executions/{id_}/rewind", {"to": "ask"}, as_=BEN)]
            answered, rewound = await asyncio.gather(*(acts if round_ % 2 else reversed(acts)))
            answered, rewound = (answered, rewound) if round_ % 2 else (rewound, answered)
            assert (answered.status in (201, 409), rewound.status) == (True, 200), (answered.body, rewound.body)
            await settled(api, id_)
            ((context, _),) = (await points(api, id_)).items()
            assert context == "ask"
            await resume(api, id_, "ask", "new")
            await settled(api, id_)
            assert (await resume(api, id_, "more", 2)).status == 202
            assert await output(api, id_) == ["new", 2]


async def test_a_workflow_is_held_and_let_go_while_people_answer(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await save(api, flow(form(schema={}), end("${nodes.ask}")))
        before = await start(api)
        moved = await api.post("/workflows/flow/pause", {"reason": "Stock check", "running": True})
        assert moved.status == 200, moved.body
        after = await start(api)
        assert (after["status"], "Stock check" in after["paused_reason"]) == ("paused", True)
        assert after.get("pause_points", []) == []
        answered = await answer(api, before["pause_points"][0]["id"], "said")
        assert (answered.status, answered.json["status"]) == (201, "answered")
        assert (await settled(api, before["id"]))["status"] == "paused"
        assert (await api.post("/workflows/flow/resume")).status == 200
        assert await output(api, before["id"]) == "said"
        await until(api.engine, after["id"], lambda head: head.last_seq > after["last_seq"] and head.owner is None)
        assert (await resume(api, after["id"], "ask", "also")).status == 202
        assert await output(api, after["id"]) == "also"


@pytest.mark.parametrize("acts", [("cancel", "cancel"), ("cancel", "pause"), ("cancel", "retry")])
async def test_acts_beside_a_cancel_lead_to_one_cancellation(tmp_path: Path, acts: tuple[str, str]) -> None:
    async with served(tmp_path) as api:
        await save(api, flow(form(schema={})))
        for _ in range(ROUNDS):
            id_ = (await start(api))["id"]
            results = await asyncio.gather(*(api.post(f"/executions/{id_}/{act}", as_=MIA) for act in acts))
            await until(api.engine, id_, lambda head: head.status in CLOSED)
            told: dict[str, Any] = await execution(api, id_)
            assert told["status"] == "cancelled"
            assert results[0].status == 200 or acts == ("cancel", "cancel")
            assert {one.status for one in results} <= {200, 409}
            assert 200 in {one.status for one in results}
            assert (await history(api, id_)).count(("ExecutionCancelled", None)) == 1
