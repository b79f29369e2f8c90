"""Following an execution over a connection that may be lost: it is made again, and goes on behind what was seen."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

import aiohttp
import msgspec
from yarl import URL

from layover.client.refusals import refusal_of
from layover.client.requests import get, path_of
from layover.client.transport import PASSING, Answered, closed_meanwhile, retry_after_of
from layover.errors import LayoverError, Unavailable
from layover.model.executions import Event, LogLine, Progress

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from layover.client.transport import Transport

_LONGEST_LINE = 64_000_000
_END = "end"
# By the names that events of a log do not have.
_KINDS: dict[str, type[Event | Progress | LogLine]] = {"progress": Progress, "log": LogLine}


class EventStream:
    """One execution, followed from a number on."""

    def __init__(self, transport: Transport, execution_id: str, since: int) -> None:
        self._transport = transport
        self._id = execution_id
        self._since = since
        self._failed = 0  # tries since the last event

    async def events(self) -> AsyncGenerator[Event]:
        """Return its events until its end."""
        async with aclosing(self.watch()) as everything:
            async for one in everything:
                if isinstance(one, Event):
                    yield one

    async def watch(self) -> AsyncGenerator[Event | Progress | LogLine]:
        """Return its events, and what its nodes report, until its end."""
        transport, limits = self._transport, self._transport.limits
        while True:
            lost = _Lost(_unreachable(f"{transport.address.host} ends the stream again and again."))
            try:
                async for one in self._connected():
                    if isinstance(one, Event):
                        self._since = one.seq + 1
                    self._failed = 0
                    yield one
            except _Ended:
                return
            except _Lost as error:
                lost = error
            if not transport.is_open:
                raise closed_meanwhile()
            self._failed += 1
            if self._failed >= limits.tries:
                raise lost.why from lost.__cause__
            await transport.sleep(limits.wait_after(self._failed, lost.after))

    async def _connected(self) -> AsyncGenerator[Event | Progress | LogLine]:
        """Return events until the connection ends."""
        transport = self._transport
        request = get(path_of("executions", self._id, "stream", since=self._since))
        headers = {**transport.headers(request), "Accept": "text/event-stream"}
        host, limits = transport.address.host, transport.limits
        try:
            async with asyncio.timeout(limits.total):
                url = URL(transport.address.url_of(request.path), encoded=True)
                response = await transport.session().get(url, headers=headers, allow_redirects=False)
                if response.status != 200:
                    refused = refusal_of(response.status, await transport.body(response), host)
                    raise _Lost(refused, retry_after_of(response)) if response.status in PASSING else refused
            try:
                async for message in _messages(response.content, limits.silence):
                    if message.name == _END:
                        raise _Ended
                    kind = _KINDS.get(message.name, Event)
                    yield transport.read(Answered(200, message.data), kind)
            finally:
                response.close()
        except TimeoutError as error:
            silent = Unavailable(f"{host} has not been heard of for too long.", code="timed_out")
            raise _Lost(silent) from error
        except (aiohttp.ClientError, OSError) as error:
            raise _Lost(_unreachable(f"{host} cannot be reached: {type(error).__name__}.")) from error


def _unreachable(message: str) -> Unavailable:
    return Unavailable(message, code="unreachable")


class _Ended(Exception):  # noqa: N818 - it says what the execution has done
    """Nothing more will come."""


class _Lost(Exception):  # noqa: N818 - it says what happened to the connection
    """A connection that may be made again."""

    def __init__(self, why: LayoverError, after: float | None = None) -> None:
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
            raise LayoverError(f"An event has more than {_LONGEST_LINE:,} bytes.", code="answer_too_large")
