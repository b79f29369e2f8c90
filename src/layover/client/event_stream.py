"""Following an execution over a connection that may be lost: it is made again, and goes on behind what was seen."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import aiohttp
import msgspec
from yarl import URL

from layover.api.resources.executions import Event
from layover.client.errors import ApiError, Unreachable
from layover.client.requests import ClientRequest, path_of
from layover.client.transport import Answered, refusal, retry_after_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from layover.client.transport import Transport

_LONGEST_LINE = 64_000_000
_END = "end"
_PASSING = frozenset({429, 502, 503, 504})


class EventStream:
    """One execution, followed from a number on."""

    def __init__(self, transport: Transport, execution_id: str, since: int) -> None:
        self._transport = transport
        self._id = execution_id
        self._since = since
        self._failed = 0  # tries since something was heard

    async def events(self) -> AsyncGenerator[Event]:
        """Return its events until its end."""
        patience = self._transport.patience
        while True:
            lost = _Lost(Unreachable(f"{self._transport.place.host} ends the stream again and again."))
            try:
                async for event in self._connected():
                    self._since, self._failed = event.seq + 1, 0
                    yield event
            except _Ended:
                return
            except _Lost as error:
                lost = error
            self._failed += 1
            if self._failed >= patience.tries:
                raise lost.why from lost.__cause__
            await self._transport.rest(patience.wait_after(self._failed, lost.after))

    async def _connected(self) -> AsyncGenerator[Event]:
        """Return events until the connection ends."""
        transport = self._transport
        ask = ClientRequest(method="GET", path=path_of("executions", self._id, "stream", since=self._since))
        headers = {**transport.headers(ask), "Accept": "text/event-stream"}
        silence = transport.patience.silence
        host = transport.place.host
        try:
            async with asyncio.timeout(transport.patience.total):
                url = URL(transport.place.url_of(ask.path), encoded=True)
                response = await transport.session().get(url, headers=headers, allow_redirects=False)
                if response.status != 200:
                    refused = refusal(Answered(response.status, await transport.body(response)), host)
                    raise _Lost(refused, retry_after_of(response)) if response.status in _PASSING else refused
            try:
                async for told in _messages(response.content, silence):
                    if told.name == _END:
                        raise _Ended
                    yield transport.read(Answered(200, told.data), Event)
            finally:
                response.close()
        except TimeoutError as error:
            raise _Lost(Unreachable(f"{host} has not been heard of for too long.", code="timed_out")) from error
        except (aiohttp.ClientError, OSError) as error:
            raise _Lost(Unreachable(f"{host} cannot be reached: {type(error).__name__}.")) from error


class _Ended(Exception):  # noqa: N818 - it says what the execution has done
    """Nothing more will come."""


class _Lost(Exception):  # noqa: N818 - it says what happened to the connection
    """A connection that may be made again."""

    def __init__(self, why: ApiError, after: float | None = None) -> None:
        super().__init__(why.message)
        self.why = why
        self.after = after


class _Message(msgspec.Struct, frozen=True):
    name: str
    data: bytes


async def _messages(content: aiohttp.StreamReader, silence: float) -> AsyncGenerator[_Message]:
    """Return what server-sent events say: lines up to an empty one, those with a colon in front say nothing."""
    name, data = "", bytearray()
    async for line in _lines(content, silence):
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if not line:
            if data:
                yield _Message(name, bytes(data))
            name, data = "", bytearray()
        elif field == b"event":
            name = value.decode(errors="replace")
        elif field == b"data":
            data += value


async def _lines(content: aiohttp.StreamReader, silence: float) -> AsyncGenerator[bytes]:
    rest = bytearray()
    while True:
        async with asyncio.timeout(silence):
            part = await content.readany()
        if not part:
            return
        rest += part
        *whole, last = rest.split(b"\n")
        for line in whole:
            yield bytes(line.removesuffix(b"\r"))
        rest = last
        if len(rest) > _LONGEST_LINE:
            raise ApiError(f"An event has more than {_LONGEST_LINE:,} bytes.", code="answer_too_large")
