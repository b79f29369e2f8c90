"""A pooler in transaction mode: many clients, few connections to the server, another one for each transaction.

It knows as little as PgBouncer before 1.21: nothing of prepared statements, of settings, or of whoever listens. Like
PgBouncer it refuses a client that wants settings for its session. The server has to trust us.
"""

from __future__ import annotations

import asyncio
import struct
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, Self
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from types import TracebackType

_PROTOCOL, _CANCEL, _TLS, _GSS = 196_608, 80_877_102, 80_877_103, 80_877_104
_KNOWN = {"user", "database", "client_encoding", "datestyle", "timezone", "application_name", "options"}
_ASK_FOR_READY = b"SQF"  # sync, query, function call: the server answers each with ReadyForQuery
_LOST = (ConnectionError, asyncio.IncompleteReadError)


class NotTrustedError(Exception):
    """The server wants a proof of who we are, and this pooler gives none."""


class _Message(NamedTuple):
    kind: bytes
    body: bytes

    def encoded(self) -> bytes:
        return self.kind + struct.pack("!I", len(self.body) + 4) + self.body


async def _read(reader: asyncio.StreamReader) -> _Message:
    kind = await reader.readexactly(1)
    (length,) = struct.unpack("!I", await reader.readexactly(4))
    return _Message(kind, await reader.readexactly(length - 4))


class _Client:
    """Somebody who believes to be alone with the server."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self.server: _Server | None = None
        self.awaited = 0  # how often the server still has to say that it is ready

    def send(self, message: _Message) -> None:
        if not self.writer.is_closing():
            self.writer.write(message.encoded())


class _Server:
    """A connection to the server, which serves one client until its transaction is over."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.key = b""
        self.greeting: list[_Message] = []
        self.client: _Client | None = None


class Pooler:
    """Serves clients with so many connections, handed out in turn."""

    def __init__(self, address: str, connections: int, *, refuses_settings: bool = True) -> None:
        parts = urlsplit(address)
        assert parts.hostname is not None, "a server that is reached by TCP"
        self._target = (parts.hostname, parts.port or 5432)
        self._user, self._database = parts.username or "postgres", parts.path.lstrip("/") or "postgres"
        self._connections = connections
        self._refuses_settings = refuses_settings
        self._free: asyncio.Queue[_Server] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()
        self._clients: dict[bytes, _Client] = {}
        self._listener: asyncio.Server | None = None
        self.handed_out = 0

    async def __aenter__(self) -> Self:
        for _ in range(self._connections):
            await self._connect()
        self._listener = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._listener is not None
        self._listener.close()
        while self._tasks:  # a client that goes away in a transaction has another connection made
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._listener.wait_closed()

    def address(self, address: str) -> str:
        """Return the same address by way of this pooler."""
        assert self._listener is not None
        port = self._listener.sockets[0].getsockname()[1]
        parts = urlsplit(address)
        user, separator, _ = parts.netloc.rpartition("@")
        return parts._replace(netloc=f"{user}{separator}127.0.0.1:{port}").geturl()

    # The server's side

    async def _connect(self) -> None:
        reader, writer = await asyncio.open_connection(*self._target)
        words = ("user", self._user, "database", self._database, "client_encoding", "UTF8")
        body = struct.pack("!I", _PROTOCOL) + b"".join(word.encode() + b"\0" for word in words) + b"\0"
        writer.write(struct.pack("!I", len(body) + 4) + body)
        server = _Server(reader, writer)
        try:
            await self._hear_greeting(server)
        except BaseException:
            writer.close()
            raise
        self._keep(self._pass_back(server))
        self._free.put_nowait(server)

    async def _hear_greeting(self, server: _Server) -> None:
        """Read all that a server says before it is ready."""
        while (message := await _read(server.reader)).kind != b"Z":
            if message.kind == b"E" or (message.kind == b"R" and any(message.body)):
                raise NotTrustedError(message.body)
            if message.kind == b"K":
                server.key = message.body
            elif message.kind == b"S":
                server.greeting.append(message)

    async def _pass_back(self, server: _Server) -> None:
        """Give each reply to who asked; when the transaction is over, the connection is for the next one."""
        try:
            while True:
                message = await _read(server.reader)
                client = server.client
                if client is None:
                    continue  # it is for nobody
                client.send(message)
                if message.kind == b"Z":
                    client.awaited -= 1
                    if message.body == b"I" and not client.awaited:
                        client.server = server.client = None
                        self._free.put_nowait(server)
        except _LOST:
            if server.client is not None:
                server.client.writer.close()
        finally:
            server.writer.close()

    # The clients' side

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._keep(self._serve(reader, writer))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = _Client(writer)
        key = struct.pack("!II", id(client) & 0xFFFF_FFFF, id(client) >> 32)
        try:
            if await self._greet(reader, client, key):
                self._clients[key] = client
                while (message := await _read(reader)).kind != b"X":
                    await self._pass_on(client, message)
        except _LOST:
            pass
        finally:
            self._clients.pop(key, None)
            writer.close()
            if client.server is not None:  # who goes away in a transaction leaves a connection that nobody can use
                client.server.client = None
                client.server.writer.close()
                self._keep(self._connect())

    async def _greet(self, reader: asyncio.StreamReader, client: _Client, key: bytes) -> bool:
        """Begin as a server does; return whether somebody is to be served."""
        while True:
            (length,) = struct.unpack("!I", await reader.readexactly(4))
            body = await reader.readexactly(length - 4)
            (code,) = struct.unpack("!I", body[:4])
            if code in (_TLS, _GSS):
                client.writer.write(b"N")
                continue
            if code == _CANCEL:
                await self._cancel(body[4:])
                return False
            break
        words = body[4:].rstrip(b"\0").split(b"\0")
        unknown = [name.decode() for name in words[::2] if name.decode() not in _KNOWN]
        if unknown and self._refuses_settings:
            text = f"SFATAL\0VFATAL\0C08P01\0Munsupported startup parameter: {unknown[0]}\0\0"
            client.send(_Message(b"E", text.encode()))
            return False
        server = await self._free.get()
        self._free.put_nowait(server)
        for message in (_Message(b"R", bytes(4)), *server.greeting, _Message(b"K", key), _Message(b"Z", b"I")):
            client.send(message)
        return True

    async def _pass_on(self, client: _Client, message: _Message) -> None:
        if client.server is None:
            server = await self._free.get()
            while server.writer.is_closing():
                await self._connect()
                server = await self._free.get()
            client.server, server.client = server, client
            self.handed_out += 1
        if message.kind in _ASK_FOR_READY:
            client.awaited += 1
        client.server.writer.write(message.encoded())

    async def _cancel(self, key: bytes) -> None:
        """Have the server cancel what a client has asked, if it has."""
        client = self._clients.get(key)
        if client is None or client.server is None:
            return
        _, writer = await asyncio.open_connection(*self._target)
        writer.write(struct.pack("!II", 16, _CANCEL) + client.server.key)
        with suppress(ConnectionError):
            await writer.drain()
        writer.close()

    def _keep(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
