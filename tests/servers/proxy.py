"""A line between a store and its server that breaks where a test wants it to.

What was cut is told apart from what the server made of it: the server keeps its end of the line until it has done all
that it was asked, and `quiet` waits for that.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, NamedTuple, Self
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from types import TracebackType

Way = Literal["request", "reply"]

_AT_ONCE = 65_536
_DEFAULT_PORT = 5432


class _Cut(NamedTuple):
    """Where the line is to be cut: after so many bytes one way, counted once a text has been asked, if there is one."""

    way: Way
    after: int
    text: bytes = b""


class _Link:
    """One connection of a client, and ours to the server."""

    def __init__(self, client: asyncio.StreamWriter, server: asyncio.StreamWriter) -> None:
        self.client = client
        self.server = server
        self.is_cut = False
        self.is_awaited = True
        self.is_silent = False
        self.is_over = asyncio.Event()  # the server has let go of it

    def cut(self) -> None:
        """End it for both: each has what was passed on before."""
        if not self.is_cut:
            self.is_cut = True
            self.client.close()
            _end(self.server)


class Proxy:
    """Passes on what comes, until told otherwise; `passed` is how many bytes that were since `count`."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        assert parts.hostname is not None, "a server that is reached by TCP"
        self._target = (parts.hostname, parts.port or _DEFAULT_PORT)
        self._listener: asyncio.Server | None = None
        self._links: list[_Link] = []
        self._pumps: set[asyncio.Task[None]] = set()
        self._going = asyncio.Event()
        self._going.set()
        self._cut: _Cut | None = None
        self._has_cut = asyncio.Event()
        self._left = 0
        self._asked = b""
        self.attempts = 0
        self.is_refusing = False
        self.passed: dict[Way, int] = {"request": 0, "reply": 0}

    async def __aenter__(self) -> Self:
        self._listener = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._listener is not None
        self._listener.close()
        self.go_on()
        self.cut()
        while self._pumps:
            await asyncio.wait(self._pumps)
        await self._listener.wait_closed()

    def address(self, address: str) -> str:
        """Return the same address by way of this line."""
        assert self._listener is not None
        port = self._listener.sockets[0].getsockname()[1]
        parts = urlsplit(address)
        user, separator, _ = parts.netloc.rpartition("@")
        return parts._replace(netloc=f"{user}{separator}127.0.0.1:{port}").geturl()

    def count(self) -> None:
        """Begin to count."""
        self.passed = {"request": 0, "reply": 0}

    def cut(self, *, is_noticed: bool = True) -> None:
        """Cut all connections that there are; who connects anew waits until the server has noticed, or does not."""
        for link in self._links:
            link.cut()
            link.is_awaited = is_noticed

    def cut_after(self, way: Way, count: int) -> None:
        """Cut whichever connection the so-manieth byte passes on, right after it; with 0, when the first one comes."""
        self._cut, self._left = _Cut(way, count), count
        self._has_cut.clear()

    def cut_reply_to(self, text: bytes, after: int = 0) -> None:
        """Cut after so many bytes of the reply to whatever has a text in it; with 0, when the reply begins."""
        self._cut, self._left, self._asked = _Cut("reply", after, text), after, b""
        self._has_cut.clear()

    @property
    def is_armed(self) -> bool:
        """Whether a cut is still to come."""
        return self._cut is not None

    async def until_cut(self) -> None:
        """Wait until the cut that was asked for has come."""
        await self._has_cut.wait()

    async def quiet(self) -> None:
        """Wait until the server has noticed every cut, and so has done or dropped all that it was asked."""
        for link in list(self._links):
            if link.is_cut and link.is_awaited:
                await link.is_over.wait()

    def say(self, data: bytes) -> None:
        """Say something to all who are connected, as if it came from the server."""
        for link in self._links:
            link.client.write(data)

    def silence(self) -> None:
        """Pass on nothing more on the connections that there are, and leave them open; new ones are passed on."""
        for link in self._links:
            link.is_silent = True

    def stall(self) -> None:
        """Pass on nothing, for as long as it takes."""
        self._going.clear()

    def go_on(self) -> None:
        """Pass on again, what was held up first."""
        self._going.set()

    async def _serve(self, client_reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        self.attempts += 1
        if self.is_refusing:
            client.transport.abort()
            return
        # Who connects anew finds the server done with what was cut: what it made of that is seen.
        await self.quiet()
        try:
            server_reader, server = await asyncio.open_connection(*self._target)
        except OSError:
            client.transport.abort()
            return
        link = _Link(client, server)
        self._links.append(link)
        for pump in (self._ask(client_reader, link), self._reply(server_reader, link)):
            task = asyncio.create_task(pump)
            self._pumps.add(task)
            task.add_done_callback(self._pumps.discard)

    async def _ask(self, reader: asyncio.StreamReader, link: _Link) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(_AT_ONCE):
                await self._pass_on("request", data, link)
        _end(link.server)

    async def _reply(self, reader: asyncio.StreamReader, link: _Link) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(_AT_ONCE):
                await self._pass_on("reply", data, link)
        self._links.remove(link)
        link.is_over.set()
        link.client.close()
        link.server.close()

    async def _pass_on(self, way: Way, data: bytes, link: _Link) -> None:
        await self._going.wait()
        if link.is_cut or link.is_silent:
            return
        allowed, is_last = self._allowed(way, data)
        self.passed[way] += len(allowed)
        writer = link.server if way == "request" else link.client
        if not writer.is_closing():
            writer.write(allowed)
        if is_last:
            link.cut()

    def _allowed(self, way: Way, data: bytes) -> tuple[bytes, bool]:
        """Return how much of this may pass, and whether it is the last that does."""
        cut = self._cut
        if cut is None:
            return data, False
        if cut.text and cut.text not in self._asked:
            if way == "request":
                self._asked += data
            return data, False
        if way != cut.way:
            return data, False
        allowed = data[: self._left]
        self._left -= len(allowed)
        if self._left:
            return allowed, False
        self._cut = None
        self._has_cut.set()
        return allowed, True


def _end(writer: asyncio.StreamWriter) -> None:
    """Say that nothing more comes; what the other side has to say is still heard."""
    with suppress(OSError):  # it is gone already
        if not writer.is_closing():
            writer.write_eof()
