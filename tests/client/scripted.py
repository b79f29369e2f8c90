"""A server that answers what a test says, one answer after the other, and remembers what it was asked."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple, Self

import msgspec
from aiohttp import web

from layover import Client, ExecutionHandle, RequestPolicy
from layover.model.executions import Execution
from layover.model.shared import decode

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

KEY = "a-key-that-nobody-may-see"
EXECUTION = {
    "id": "0195f2a6-7c00-7000-8000-5d1e0f3a9b42",
    "workflow": "order",
    "status": "running",
    "created_at": "2026-03-01T09:30:00.000Z",
    "last_seq": 3,
}


class Asked(NamedTuple):
    """One request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Says(NamedTuple):
    """One answer; with `hangs_up` there is none."""

    status: int = 200
    body: object = EXECUTION
    headers: tuple[tuple[str, str], ...] = ()
    hangs_up: bool = False


def problem(status: int, code: str, *headers: tuple[str, str], **more: object) -> Says:
    """Return an answer that says why not."""
    said = {"type": "t", "title": "T", "status": status, "detail": f"It is {code}.", "code": code, "request_id": "r1"}
    return Says(status, {**said, **more}, headers)


class Scripted:
    """The server: `asked` is what it was asked so far."""

    def __init__(self, says: tuple[Says, ...]) -> None:
        self._says = list(says)
        self.asked: list[Asked] = []
        self.url = ""

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.asked.append(Asked(request.method, request.raw_path, headers, await request.read()))
        says = self._says.pop(0)
        if says.hangs_up:
            assert request.transport is not None
            request.transport.close()
            return web.Response()
        body = says.body if isinstance(says.body, bytes) else msgspec.json.encode(says.body)
        return web.Response(status=says.status, body=body, headers=dict(says.headers))


@asynccontextmanager
async def scripted(*says: Says) -> AsyncIterator[Scripted]:
    """Serve answers while the block lasts."""
    server = Scripted(says)
    runner = web.ServerRunner(web.Server(server.answer, access_log=None))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    (address,) = runner.addresses
    server.url = f"http://127.0.0.1:{address[1]}"
    try:
        yield server
    finally:
        await runner.cleanup()


class Hurried:
    """A client that writes down for how long it would wait, and does not; and an execution that it knows."""

    def __init__(self, url: str, policy: RequestPolicy | None = None) -> None:
        self.waited: list[float] = []
        self.client = Client(url, api_key=KEY, policy=policy)
        self.client._transport.sleep = self._sleep  # noqa: SLF001 - time is the test's own
        known = decode(msgspec.json.encode(EXECUTION), Execution)
        self.execution = ExecutionHandle(self.client._backend, known)  # noqa: SLF001 - nothing was asked for it

    async def _sleep(self, seconds: float) -> None:
        self.waited.append(seconds)

    async def __aenter__(self) -> Self:
        await self.client.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.client.close()
