"""A web server on this machine that responds as a test wants, and helpers to call it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from layover.nodes.context import NodeContext
from layover.nodes.http_addresses import anywhere
from layover.nodes.http_errors import HttpError
from layover.nodes.http_node import HttpNode

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

CONTEXT = NodeContext(execution_id="é 1", context_id="call:each.3", attempt=2)
LONG = 60_000
HUSH = "hush"


class Seen:
    """A request that has arrived, with its body."""

    def __init__(self, request: web.BaseRequest, body: bytes) -> None:
        self.method = request.method
        self.path = request.path
        self.query = list(request.query.items())
        self.headers = request.headers
        self.body = body


class Site:
    """Responds to every request by a function, and remembers the requests."""

    def __init__(self, answer: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]) -> None:
        self._answer = answer
        self.seen: list[Seen] = []
        self.port = 0

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Site]:
        server = web.Server(self._take, handler_cancellation=True)
        runner = web.ServerRunner(server, shutdown_timeout=0)
        await runner.setup()
        place = web.TCPSite(runner, "127.0.0.1", 0)
        await place.start()
        self.port = runner.addresses[0][1]
        try:
            yield self
        finally:
            await runner.cleanup()

    async def _take(self, request: web.BaseRequest) -> web.StreamResponse:
        self.seen.append(Seen(request, await request.read()))
        return await self._answer(request)


@asynccontextmanager
async def site_of(answer: Callable[[web.BaseRequest], web.StreamResponse]) -> AsyncIterator[Site]:
    """Open a site that responds at once."""

    async def at_once(request: web.BaseRequest) -> web.StreamResponse:
        return answer(request)

    async with Site(at_once).open() as site:
        yield site


@asynccontextmanager
async def raw_site(*parts: bytes) -> AsyncIterator[str]:
    """Open a server that sends some bytes to every client and closes; yield its address."""

    async def send(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.writelines(parts)
        writer.close()

    server = await asyncio.start_server(send, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"


@asynccontextmanager
async def node(longest: int = LONG, may_reach: Callable[[str], bool] = anywhere) -> AsyncIterator[HttpNode]:
    made = HttpNode(longest, may_reach)
    try:
        yield made
    finally:
        await made.close()


async def ask(url: str, **given: object) -> dict[str, object]:
    async with node() as http:
        return await http(CONTEXT, url=url, **given)


async def failure_of(url: str, **given: object) -> HttpError:
    with pytest.raises(HttpError) as raised:
        await ask(url, **given)
    assert HUSH not in str(raised.value)
    return raised.value


def well(_request: web.BaseRequest) -> web.Response:
    return web.Response(text="well")
