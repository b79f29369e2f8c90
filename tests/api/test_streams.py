"""Following executions over HTTP: from any event on, to the end, by many at once, and by those who do not listen."""

from __future__ import annotations

import asyncio
import socket
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec
import pytest
from msgspec.structs import replace

from layover.api.event_stream import Follower
from layover.api.settings import ApiSettings
from layover.service.permissions import caller_of
from tests.api.harness import UNLIMITED, listening, served
from tests.runtime.harness import Scripted, call, end, flow

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from tests.api.harness import Api

pytestmark = pytest.mark.usefixtures("each_database")

ASKING = """
name: asking
nodes:
  - {id: first, type: form, schema: {type: object}, next: second}
  - {id: second, type: form, schema: {type: object}}
"""
LONG = """
name: long
variables: {n: 0}
nodes:
  - id: rounds
    type: loop
    times: 100
    body: [{id: one, type: set, values: {n: "${index}"}}]
"""


class Told:
    """One event of a stream."""

    def __init__(self, text: str) -> None:
        fields = dict(line.split(": ", 1) for line in text.splitlines() if not line.startswith(":"))
        self.kind = fields.get("event", "")
        self.id = int(fields["id"]) if "id" in fields else None
        self.data: Any = msgspec.json.decode(fields["data"]) if "data" in fields else None


async def followed(api: Api, path: str, **headers: str) -> AsyncIterator[Told]:
    """Give what a stream tells, until its end."""
    sent = {"authorization": f"Bearer {await api.key_of('viewer')}", **headers}
    async with api.session.get(f"{api.url}/api/v1{path}", headers=sent) as response:
        assert response.status == 200
        assert response.headers["content-type"] == "text/event-stream"
        text = ""
        async for piece in response.content.iter_any():
            text += piece.decode()
            *whole, text = text.split("\n\n")
            for one in whole:
                yield Told(one)


async def waiting(api: Api, workflow: str = ASKING) -> str:
    version = await api.engine.workflows.register(workflow)
    return (await api.engine.executions.start(version.workflow, wait="rest")).id


async def answer(api: Api, id_: str) -> None:
    (point,) = await api.engine.points.list(id_)
    await api.engine.answers.answer(point.point.id, {})


async def test_a_stream_sends_every_event_once_in_order_until_the_end(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        id_ = await waiting(api)
        told = []
        async for one in followed(api, f"/executions/{id_}/stream"):
            told.append(one)
            if one.kind == "PausePointOpened":
                await answer(api, id_)
        log = await api.engine.queries.history(id_)

    events = [one for one in told if one.id is not None]
    assert [one.id for one in events] == [one.seq for one in log]
    assert [one.kind for one in events] == [type(one.event).__name__ for one in log]
    assert [one.data["seq"] for one in events] == [one.id for one in events]
    assert (told[-1].kind, told[-1].data) == ("end", {"status": "completed"})


async def test_a_reconnecting_client_goes_on_behind_what_it_has_seen(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        id_ = (await api.engine.executions.start((await api.engine.workflows.register(LONG)).workflow, wait="end")).id
        log = [one.seq for one in await api.engine.queries.history(id_)]
        since = [one.id async for one in followed(api, f"/executions/{id_}/stream?since=7") if one.id is not None]
        last = {"Last-Event-ID": "150"}
        after = [one.id async for one in followed(api, f"/executions/{id_}/stream", **last) if one.id is not None]
        beyond = {"Last-Event-ID": str(log[-1])}
        nothing = [one.kind async for one in followed(api, f"/executions/{id_}/stream", **beyond) if one.kind]

    assert len(log) > 200  # more than two pages
    assert since == log[7:]
    assert after == log[151:]
    assert nothing == ["end"]


async def test_large_values_are_left_out_for_those_who_show_what_happens(tmp_path: Path) -> None:
    rows = list(range(1_000))
    given = {"text": "y" * 900_000, "rows": rows, "small": 1}
    async with served(tmp_path, Scripted({"text": "x" * 900_000})) as api:
        await api.engine.workflows.register(flow(call("a"), end("${nodes.a}")))
        id_ = (await api.engine.executions.start("flow", given, wait="end")).id
        path = f"/executions/{id_}/stream"
        whole = [one.data async for one in followed(api, path) if one.id is not None]
        brief = [one.data async for one in followed(api, f"{path}?largest=1000") if one.id is not None]
        refused = await api.get(f"{path}?largest=1")

    assert [one["type"] for one in brief] == [one["type"] for one in whole]
    assert max(len(msgspec.json.encode(one)) for one in brief) < 4_000
    (created,) = (one for one in brief if one["type"] == "ExecutionCreated")
    assert created["data"]["input"]["small"] == 1
    assert created["data"]["input"]["rows"] == {"$omitted": len(msgspec.json.encode(rows))}
    assert set(created["data"]["input"]["text"]) == {"y"}
    assert refused.code == "invalid_parameter"


async def test_a_silent_execution_gives_signs_of_life(tmp_path: Path) -> None:
    async with served(tmp_path, settings=ApiSettings(rate_limit=None, heartbeat=0.01)) as api:
        id_ = await waiting(api)
        sent = {"authorization": f"Bearer {await api.key_of('viewer')}"}
        async with api.session.get(f"{api.url}/api/v1/executions/{id_}/stream", headers=sent) as response:
            text = b""
            while b": alive\n\n: alive\n\n" not in text:
                text += await response.content.readany()


async def test_what_cannot_be_followed_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path, settings=ApiSettings(rate_limit=None, streams_by_caller=1)) as api:
        id_ = await waiting(api)
        path = f"/executions/{id_}/stream"
        unknown = await api.get("/executions/0195f2a6-7c00-7000-8000-5d1e0f3a9b42/stream")
        malformed = await api.get("/executions/some/stream")
        negative = await api.get(f"{path}?since=-1")
        wrong = [await api.get(path, headers={"last-event-id": text}) for text in ("x", "-1", "9" * 40, "1.5")]
        nobody = await api.get(path, as_="")
        one = followed(api, path)
        await anext(one)
        second = await api.get(path, as_="viewer")
        await one.aclose()  # type: ignore[attr-defined]

    assert (unknown.status, unknown.code) == (404, "unknown_execution")
    assert (malformed.status, malformed.code) == (400, "malformed_id")
    assert (negative.status, negative.code) == (400, "invalid_parameter")
    assert {(one.status, one.code) for one in wrong} == {(400, "invalid_parameter")}
    assert nobody.status == 401
    assert (second.status, second.code, second.headers["retry-after"]) == (503, "too_many_streams", "5")


async def test_a_client_that_goes_leaves_nothing_behind(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        id_ = await waiting(api)
        streams = [followed(api, f"/executions/{id_}/stream") for _ in range(20)]
        for one in streams:
            await anext(one)
        open_ = await _streams_of(api, 20)
        for one in streams:
            await one.aclose()  # type: ignore[attr-defined]
        left = await _streams_of(api, 0)

    assert (open_, left) == (20, 0)


async def test_a_client_that_reads_nothing_is_disconnected_and_blocks_no_other(tmp_path: Path) -> None:
    async def talk() -> str:
        return "x" * 200_000

    talking = "name: talking\nnodes:\n" + "\n".join(
        f"  - {{id: n{number}, type: talk, next: {f'n{number + 1}' if number < 29 else 'ask'}}}" for number in range(30)
    )
    talking += "\n  - {id: ask, type: form, schema: {type: object}}\n"
    settings = ApiSettings(rate_limit=None, stalled_after=0.2)
    async with served(tmp_path, talk, settings=settings) as api:
        id_ = await waiting(api, talking)
        address = urlsplit(api.url)
        with socket.socket() as stalled:
            stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            stalled.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(stalled, (address.hostname, address.port))
            request = f"GET /api/v1/executions/{id_}/stream HTTP/1.1\r\nhost: x\r\n"
            request += f"authorization: Bearer {await api.key_of('viewer')}\r\n\r\n"
            await loop.sock_sendall(stalled, request.encode())
            began = await _streams_of(api, 1)
            seen = [one.id async for one in _until(api, id_, "PausePointOpened")]
            left = await _streams_of(api, 0)

    assert (began, left) == (1, 0)
    assert seen == list(range(len(seen)))


async def _until(api: Api, id_: str, kind: str) -> AsyncIterator[Told]:
    async for one in followed(api, f"/executions/{id_}/stream"):
        if one.id is not None:
            yield one
        if one.kind == kind:
            return


async def _streams_of(api: Api, wanted: int) -> int:
    """Return how many streams are open, once there are as many as wanted."""
    while api.services.streams.count != wanted:  # noqa: ASYNC110 - nobody else wants to know
        await asyncio.sleep(0.005)
    return int(api.services.streams.count)


async def made_key(api: Api) -> tuple[str, str]:
    """Return the id of a key of a viewer, and the key."""
    made = (await api.post("/keys", {"name": "n", "user": "vera", "roles": ["viewer"]})).json
    return made["id"], made["key"]


async def rest_of(api: Api, path: str, key: str, then: Callable[[], Awaitable[object]]) -> bytes:
    """Follow with a key, do something, and return what the stream says from then on until its end."""
    headers = {"authorization": f"Bearer {key}"}
    async with api.session.get(f"{api.url}/api/v1{path}", headers=headers) as response:
        assert response.status == 200
        await response.content.readuntil(b"event: ExecutionStarted")
        await then()
        return await response.content.read()


@pytest.mark.parametrize("rotated", [False, True])
async def test_a_stream_ends_with_its_key(tmp_path: Path, *, rotated: bool) -> None:
    async with served(tmp_path) as api:  # whose signs of life come far too late for this
        path = f"/executions/{await waiting(api)}/stream"
        id_, key = await made_key(api)
        end = api.post(f"/keys/{id_}/rotate") if rotated else api.delete(f"/keys/{id_}")
        rest = await rest_of(api, path, key, lambda: end)
        again = await api.get(path, as_="", headers={"authorization": f"Bearer {key}"})

        assert b"event: end" not in rest  # the execution has not
        assert (again.status, api.services.streams.count) == (401, 0)


async def test_a_stream_ends_with_a_key_that_ends_elsewhere(tmp_path: Path) -> None:
    settings = replace(UNLIMITED, heartbeat=0.01)
    async with served(tmp_path, settings=settings) as api, listening(api.engine, settings=settings) as other:
        path = f"/executions/{await waiting(api)}/stream"
        id_, key = await made_key(api)
        rest = await rest_of(api, path, key, lambda: other.delete(f"/keys/{id_}"))

        assert b"event: end" not in rest


async def test_a_busy_stream_ends_with_its_key_too(tmp_path: Path) -> None:
    asked: list[bool] = []

    async def may_follow() -> bool:
        asked.append(True)
        return len(asked) < 3

    async with served(tmp_path, settings=replace(UNLIMITED, heartbeat=0.0)) as api:
        id_ = await waiting(api, LONG)
        follower = Follower(caller_of("vera", (), ""), may_follow)
        pieces = [piece async for piece in api.services.streams.follow(api.engine, id_, 0, follower)]

    assert len(asked) == 3
    assert b"event: end" not in b"".join(pieces)


async def test_the_user_with_most_streams_makes_room_for_users_with_fewer(tmp_path: Path) -> None:
    settings = replace(UNLIMITED, streams=6, streams_by_caller=4)
    async with served(tmp_path, settings=settings) as api, AsyncExitStack() as opened:
        url = f"{api.url}/api/v1/executions/{await waiting(api)}/stream"

        async def open_as(user: str) -> int:
            headers = {"authorization": f"Bearer {await api.key_of(f'{user}:viewer')}"}
            response = await opened.enter_async_context(api.session.get(url, headers=headers))
            if response.status == 200:
                await response.content.readuntil(b"event: PausePointOpened")
            return response.status

        first = [await open_as(user) for user in ("ada", "ada", "ada", "ada", "bob", "bob")]
        third = [await open_as("eve") for _ in range(2)]
        while api.services.streams.count > 6:  # noqa: ASYNC110 - those that make room are ending
            await asyncio.sleep(0.01)
        again = [await open_as(user) for user in ("ada", "bob", "eve")]

    assert (first, third, again) == ([200] * 6, [200] * 2, [503] * 3)
