"""Pauses that nobody answers in time: their executions are released, and whoever comes later is told so."""

from __future__ import annotations

from contextlib import asynccontextmanager
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any

import pytest

from layover.ports.records import CLOSED
from tests.api.harness import listening
from tests.api.scenarios.scene import (
    BEN,
    MIA,
    answer,
    audited,
    branches,
    execution,
    history,
    output,
    paused,
    points,
    resume,
    save,
    settled,
    start,
)
from tests.runtime.harness import HOUR, HandWound, Held, approval, call, end, engine_on, flow, form, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from layover.nodes.registry import AnyFunction
    from tests.api.harness import Answered, Api

pytestmark = pytest.mark.usefixtures("each_database")

DAY = 24 * HOUR


@asynccontextmanager
async def served_by_hand(folder: Path, *nodes: AnyFunction) -> AsyncIterator[tuple[Api, HandWound]]:
    """Serve a database whose time passes when a test says so."""
    clock = HandWound()
    async with engine_on(clock.store(folder), *nodes) as engine, listening(engine) as api:
        yield api, clock


async def everything_late(api: Api, id_: str, point: str, context: str) -> list[Answered]:
    """Return what is answered to everybody who wants something of a point, whatever way they take."""
    approval_path = f"/approvals/{point}"
    found = [
        await answer(api, point, {"approved": True}),
        await api.post(f"/pause-points/{point}/answer", {"approved": True}, as_=BEN),
        await api.post(f"/pause-points/{point}/cancel", as_=MIA),
        await api.post(f"/api/resume/flow/{id_}/{context}", {"approved": True}, as_=MIA),
        await api.delete(f"/api/resume/flow/{id_}/{context}", as_=MIA),
    ]
    if (await api.get(approval_path)).status == 200:
        found += [await api.post(f"{approval_path}/{act}", as_=MIA) for act in ("approve", "reject")]
    return found


@pytest.mark.parametrize(
    ("on_deadline", "wired", "ends"),
    [
        ("approve", True, ("completed", "approved")),
        ("reject", True, ("completed", "rejected")),
        ("expired", True, ("completed", "expired")),
        ("fail", True, ("completed", "deadline_passed")),
        ("reject", False, ("failed", "rejected")),
        ("expired", False, ("failed", "pause_expired")),
        ("fail", False, ("failed", "deadline_passed")),
    ],
)
async def test_an_approval_that_expires_releases_its_execution(
    tmp_path: Path, on_deadline: str, wired: bool, ends: tuple[str, str]
) -> None:
    ports = ("approved", "rejected", "expired", "error") if wired else ("approved",)
    asks = approval(deadline="1h", on_deadline=on_deadline, next={port: f"to_{port}" for port in ports})
    nodes = [asks, *(end(port if port != "error" else "${errors.review.code}", f"to_{port}") for port in ports)]
    async with served_by_hand(tmp_path) as (api, clock):
        await save(api, {"name": "flow", "nodes": nodes})
        started = await start(api)
        id_, (point,) = started["id"], started["pause_points"]
        assert point["on_deadline"] == on_deadline
        (listed,) = await paused(api)
        assert listed["expiresAt"] == point["deadline"]
        clock.skip(api.engine, 2 * HOUR)
        await until(api.engine, id_, lambda head: head.status in CLOSED)

        told = await execution(api, id_)
        assert (told["status"], told["output"] if wired else told["error"]["code"]) == ends
        assert {(one.status, one.code) for one in await everything_late(api, id_, point["id"], "review")} == {
            (410, "expired")
        }
        shown = (await points(api, id_, "expired"))["review"]
        assert (shown["status"], shown["decisions"], shown["answered_by"]) == ("expired", [], None)
        assert await paused(api) == []
        in_their_stead = [("engine", f"approval.{on_deadline}")] if on_deadline in ("approve", "reject") else []
        assert await audited(api, id_) == [("mia", "execution.start"), *in_their_stead]


@pytest.mark.parametrize(
    ("on_deadline", "ends"),
    [("continue", None), ("expired", "expired"), ("fail", "deadline_passed")],
)
async def test_a_form_that_expires_takes_its_way_out(tmp_path: Path, on_deadline: str, ends: object) -> None:
    asks = form(
        schema={}, deadline="1h", on_deadline=on_deadline, next={"done": "well", "expired": "late", "error": "badly"}
    )
    nodes = [asks, end("${nodes.ask}", "well"), end("expired", "late"), end("${errors.ask.code}", "badly")]
    async with served_by_hand(tmp_path) as (api, clock):
        await save(api, {"name": "flow", "nodes": nodes})
        started = await start(api)
        id_, (point,) = started["id"], started["pause_points"]
        clock.skip(api.engine, 2 * HOUR)
        assert await output(api, id_) == ends
        assert {(one.status, one.code) for one in await everything_late(api, id_, point["id"], "ask")} == {
            (410, "expired")
        }


async def test_a_pause_without_a_deadline_expires_when_it_has_been_paused_as_long_as_it_may(tmp_path: Path) -> None:
    async with served_by_hand(tmp_path) as (api, clock):
        await save(api, flow(approval(), end("done")))
        started = await start(api)
        id_, (point,) = started["id"], started["pause_points"]
        clock.skip(api.engine, 6 * DAY)
        assert (await settled(api, id_))["status"] == "paused"
        clock.skip(api.engine, 2 * DAY)
        await until(api.engine, id_, lambda head: head.status in CLOSED)
        told = await execution(api, id_)
        assert (told["status"], told["error"]["code"]) == ("failed", "pause_expired")
        late = await everything_late(api, id_, point["id"], "review")
        late += [
            await api.post(f"/executions/{id_}/resume", body, as_=MIA)
            for body in ({}, {"approved": True}, {"resume_data": {"approved": True}}, {"resume_data": {"a": 1}})
        ]
        assert {(one.status, one.code) for one in late} == {(410, "expired")}


async def test_one_that_expires_leaves_the_others_open_and_the_join_runs_once(tmp_path: Path) -> None:
    work = Held()
    late = form("late", schema={}, deadline="1h", on_deadline="continue")
    async with served_by_hand(tmp_path, work) as (api, clock):
        await save(api, flow(branches(a=[late], b=[form("other", schema={})]), call("join"), end("${nodes.all}")))
        id_ = (await start(api))["id"]
        before = await execution(api, id_)
        clock.skip(api.engine, 2 * HOUR)
        await until(api.engine, id_, lambda head: head.last_seq > before["last_seq"])
        assert (await settled(api, id_))["status"] == "paused"
        (listed,) = await paused(api)
        assert {one["contextId"]: one["resumeStatus"] for one in listed["pausePoints"]} == {
            "late:all.a": "expired",
            "other:all.b": "paused",
        }
        assert (listed["totalPauseCount"], listed["resumedCount"]) == (2, 0)
        gone = await resume(api, id_, "late:all.a")
        assert (gone.status, gone.code) == (410, "expired")
        assert work.calls == []
        assert (await resume(api, id_, "other:all.b", 1)).status == 202
        (await work.begun()).returns()
        assert await output(api, id_) == {"a": None, "b": 1}
        assert len(work.calls) == 1


async def test_an_answer_in_time_counts_however_late_it_is_applied(tmp_path: Path) -> None:
    work = Held()
    asks = form(schema={}, deadline="5s", on_deadline="fail")
    async with served_by_hand(tmp_path, work) as (api, clock):
        await save(api, flow(branches(a=[asks], b=[call("slow")]), end("${nodes.all}")))
        id_ = (await start(api, wait=False))["id"]
        slow = await work.begun()
        (point,) = (await points(api, id_)).values()
        answered = await answer(api, point["id"], "in time")
        assert (answered.status, answered.json["status"]) == (201, "answered")  # it waits in line
        clock.skip(api.engine, 10_000)  # less than a lease lasts
        slow.returns("slow")
        assert await output(api, id_) == {"a": "in time", "b": "slow"}
        assert ("PausePointExpired", "ask:all.a") not in await history(api, id_)


async def test_an_answer_that_was_taken_while_an_operator_held_it_is_not_lost(tmp_path: Path) -> None:
    asks = form(schema={}, deadline="1h", on_deadline="fail")
    async with served_by_hand(tmp_path) as (api, clock):
        await save(api, flow(asks, end("${nodes.ask}")))
        started = await start(api)
        id_, (point,) = started["id"], started["pause_points"]
        await api.post(f"/executions/{id_}/pause", as_=MIA)
        clock.skip(api.engine, 2 * HOUR)
        answered = await answer(api, point["id"], "late")
        await api.post(f"/executions/{id_}/resume", as_=MIA)
        await until(api.engine, id_, lambda head: head.status in CLOSED)
        told: dict[str, Any] = await execution(api, id_)
        if answered.status == 201:
            assert (told["status"], told["output"]) == ("completed", "late")
        else:
            assert (answered.status, answered.code) == (410, "expired")
            assert (told["status"], told["error"]["code"]) == ("failed", "deadline_passed")
