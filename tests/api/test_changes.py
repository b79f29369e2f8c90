"""Following all executions over HTTP: what begins, waits and ends is told, to those who may read it, and to no end."""

from __future__ import annotations

import asyncio
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from msgspec.structs import replace

from layover.api.change_stream import Changed
from layover.api.settings import ApiSettings
from layover.core.moments import Moment
from layover.model.executions import ExecutionSummary
from tests.api.harness import served
from tests.runtime.harness import address_in, approval, engine_at, flow

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from tests.api.harness import Api

pytestmark = pytest.mark.usefixtures("each_database")


async def _told(response: Any) -> AsyncGenerator[tuple[str, Any]]:
    text = ""
    async for piece in response.content.iter_any():
        text += piece.decode()
        *whole, text = text.split("\n\n")
        for one in whole:
            lines = dict(line.split(": ", 1) for line in one.splitlines() if not line.startswith(":"))
            if "event" in lines:
                yield lines["event"], msgspec.json.decode(lines["data"])


@asynccontextmanager
async def following(api: Api, as_: str = "viewer") -> AsyncIterator[AsyncGenerator[tuple[str, Any]]]:
    sent = {"authorization": f"Bearer {await api.key_of(as_)}"}
    async with api.session.get(f"{api.url}/api/v1/changes", headers=sent) as response:
        assert (response.status, response.headers["content-type"]) == (200, "text/event-stream")
        await response.content.readuntil(b"\n\n")  # it has begun
        yield _told(response)


async def until(told: AsyncGenerator[tuple[str, Any]], id_: str, status: str) -> dict[str, Any]:
    """Return how an execution is told of once it has a status."""
    async for kind, data in told:
        if kind == "execution" and (data["id"], data["status"]) == (id_, status):
            return dict(data)
    raise AssertionError("the stream ended")


async def test_an_execution_is_told_of_when_it_waits_and_when_it_ends(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(approval(), name="asking"))
        async with following(api) as told, following(api) as other:
            started = await api.post("/executions", {"workflow": "asking", "input": {}}, as_="operator")
            id_ = started.json["id"]
            waits = await until(told, id_, "paused")
            listed = (await api.get("/executions")).json["items"]
            (point,) = (await api.get("/pause-points?status=open")).json["items"]
            await api.post(f"/approvals/{point['id']}/approve", {})
            ends = await until(told, id_, "completed")
            await until(other, id_, "completed")
        while api.services.streams.count:  # noqa: ASYNC110 - a server tells of a stream only by counting it
            await asyncio.sleep(0)
        assert not api.engine.instance.listeners.watchers

    assert waits["waiting_summary"]["kind"] == "person"
    assert listed == [waits]  # as a list shows it
    assert ends["finished_at"]


async def test_older_executions_are_told_of_as_well(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(approval(), name="asking"))
        old = (await api.post("/executions", {"workflow": "asking", "input": {}, "wait": "10s"})).json["id"]
        for _ in range(101):
            await api.engine.executions.start("asking")
        async with following(api) as told:
            (point,) = (await api.get(f"/pause-points?execution_id={old}")).json["items"]
            await api.post(f"/approvals/{point['id']}/approve", {})
            assert (await until(told, old, "completed"))["workflow"] == "asking"


async def test_older_executions_that_another_process_drives_are_told_of(tmp_path: Path) -> None:
    async with served(tmp_path, executions=0) as api:  # this server drives nothing
        await api.engine.workflows.register(flow(approval(), name="asking"))
        async with engine_at(tmp_path) as driving:
            old = (await driving.executions.start("asking", wait="rest")).id
            for _ in range(101):
                await driving.executions.start("asking")
        async with following(api) as told:
            words = [sys.executable, "-m", "tests.api.approving", address_in(tmp_path), old]
            other = await asyncio.create_subprocess_exec(*words, cwd=Path(__file__).parents[2])
            assert await other.wait() == 0
            assert (await until(told, old, "completed"))["workflow"] == "asking"


async def test_a_stream_of_changes_ends_with_its_key(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        key = (await api.post("/keys", {"name": "k", "user": "ada", "roles": ["viewer"]})).json
        sent = {"authorization": f"Bearer {key['key']}"}
        async with api.session.get(f"{api.url}/api/v1/changes", headers=sent) as response:
            await response.content.readline()
            await api.delete(f"/keys/{key['id']}")
            await response.content.read()  # to its end


async def test_a_silent_stream_gives_signs_of_life(tmp_path: Path) -> None:
    async with served(tmp_path, settings=ApiSettings(rate_limit=None, heartbeat=0.01)) as api:
        sent = {"authorization": f"Bearer {await api.key_of('viewer')}"}
        async with api.session.get(f"{api.url}/api/v1/changes", headers=sent) as response:
            text = b""
            while text.count(b": alive\n\n") < 2:
                text += await response.content.readany()


def test_a_slow_follower_is_sent_the_newest_of_each_execution_and_told_what_it_missed() -> None:
    at = Moment.of(0)
    one = ExecutionSummary(id="a", workflow="w", status="running", last_seq=3, created_at=at, updated_at=at)
    changed = Changed()
    changed.add(one)
    changed.add(replace(one, last_seq=4))
    taken = changed.take()
    assert taken.count(b"event: execution") == 1
    assert b'"last_seq":4' in taken
    assert changed.take() == b""
    for n in range(1_001):
        changed.add(replace(one, id=f"{n}"))
    assert changed.take() == b"event: lost\ndata: {}\n\n"
