"""Two servers on one database: whichever is asked, it is one execution, one answer, one line."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from tests.api.harness import listening
from tests.api.scenarios.scene import (
    BEN,
    MIA,
    answer,
    audited,
    branches,
    execution,
    output,
    paused,
    points,
    resume,
    save,
    settled,
    start,
)
from tests.runtime.harness import Held, call, end, engine_at, flow, form, until_status

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from layover.nodes.registry import AnyFunction
    from tests.api.harness import Api

pytestmark = pytest.mark.usefixtures("each_database")


@asynccontextmanager
async def two_servers(folder: Path, *nodes: AnyFunction) -> AsyncIterator[tuple[Api, Api]]:
    """Serve a database twice: by one that drives executions, and by one that only answers requests."""
    async with (
        engine_at(folder, *nodes) as driving,
        engine_at(folder, *nodes, executions=0) as answering,
        listening(driving) as one,
        listening(answering) as other,
    ):
        yield one, other


async def test_a_request_to_one_server_is_carried_out_by_the_other(tmp_path: Path) -> None:
    work = Held()
    async with two_servers(tmp_path, work) as (driving, other):
        await save(other, flow(call("one"), form(schema={}), call("two"), end("${nodes.ask}")))
        id_ = (await start(other, wait=False))["id"]
        first = await work.begun()
        held = await other.post(f"/executions/{id_}/pause", {"reason": "Stop"}, as_=MIA)
        assert (held.status, held.json["status"]) == (200, "pausing")
        first.returns()
        await until_status(other.engine, id_, "paused")
        assert (await execution(driving, id_))["paused_reason"] == "Stop"
        gone_on = await other.post(f"/executions/{id_}/resume", {"resume_data": {"a": 1}}, as_=MIA)
        assert (gone_on.status, gone_on.json["variables"]) == (200, {"a": 1})
        await settled(other, id_)
        (point,) = (await points(driving, id_)).values()
        answered = await answer(other, point["id"], "said")
        assert answered.status == 201
        await work.begun()
        cancelled = await other.post(f"/executions/{id_}/cancel", {"reason": "Enough"}, as_=MIA)
        assert (cancelled.status, cancelled.json["status"]) == (200, "cancelled")
        assert (await execution(driving, id_))["outcome_reason"] == "Enough"


async def test_the_line_is_one_whichever_server_is_asked(tmp_path: Path) -> None:
    work = Held()
    bodies = {name: [form(f"ask_{name}", schema={}, next=f"use_{name}"), call(f"use_{name}")] for name in "abc"}
    async with two_servers(tmp_path, work) as (driving, other):
        await save(driving, flow(branches(**bodies), end("${nodes.all}")))
        id_ = (await start(driving))["id"]
        assert (await resume(driving, id_, "ask_a:all.a")).json["status"] == "started"
        of_a = await work.begun()
        second, third = await resume(other, id_, "ask_c:all.c"), await resume(driving, id_, "ask_b:all.b")
        told = [(one.json["status"], one.json["queuePosition"]) for one in (second, third)]
        assert told == [("queued", 1), ("queued", 2)]
        assert await paused(other) == await paused(driving)
        of_a.returns("a")
        (await work.begun()).returns("c")
        (await work.begun()).returns("b")
        assert await output(other, id_) == {"a": "a", "b": "b", "c": "c"}


async def test_of_two_people_at_two_servers_one_is_heard(tmp_path: Path) -> None:
    async with two_servers(tmp_path) as (one, other):
        await save(one, flow(form(schema={}), end("${nodes.ask}")))
        for _ in range(10):
            started = await start(one)
            (point,) = started["pause_points"]
            mia, ben = await asyncio.gather(
                answer(one, point["id"], "mia", MIA), answer(other, point["id"], "ben", BEN)
            )
            assert sorted((mia.status, ben.status)) == [201, 409]
            winner, lost = ("mia", ben) if mia.status == 201 else ("ben", mia)
            assert (lost.json["winner"]["by"], lost.json["winner"]["answer"]) == (winner, winner)
            assert await output(other, started["id"]) == winner
            acts = {("mia", "execution.start"), (winner, "point.answer")}  # the servers' clocks differ by milliseconds
            assert set(await audited(other, started["id"])) == acts


async def test_a_key_is_known_at_both_servers(tmp_path: Path) -> None:
    async with two_servers(tmp_path) as (one, other):
        await save(one, flow(form(schema={}), end("${nodes.ask}")))
        body = {"workflow": "flow", "input": 1}
        both = await asyncio.gather(*(api.post("/executions", body, as_=MIA, key="k") for api in (one, other)))
        assert {answered.status for answered in both} <= {202, 409}
        assert all(answered.code == "in_progress" for answered in both if answered.status == 409)
        again = await other.post("/executions", body, as_=MIA, key="k")
        assert again.status == 202
        listed = (await one.get("/executions")).json["items"]
        assert [item["id"] for item in listed] == [again.json["id"]]
