"""A light client: one connection that is kept, one request at a time, and no more parsing than an answer needs."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast
from urllib.parse import urlsplit

import msgspec

if TYPE_CHECKING:
    from types import TracebackType

_END_OF_HEAD = b"\r\n\r\n"
_LENGTH = b"\r\ncontent-length:"
_IDLE = 20  # seconds: a server may close a connection that is not used for longer, just when it is used again


class Heard(NamedTuple):
    """What a server answered."""

    status: int
    head: bytes
    body: bytes

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)

    @property
    def code(self) -> str:
        """The code of a problem; an answer that is none has none."""
        found = self.json
        return str(found.get("code", "")) if isinstance(found, dict) else ""

    def header(self, name: str) -> str | None:
        for line in self.head.decode("latin-1").split("\r\n")[1:]:
            key, _, value = line.partition(":")
            if key.lower() == name:
                return value.strip()
        return None


class _Line(asyncio.Protocol):
    """One connection, while it lasts."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[Heard] | None = None
        self._received = bytearray()
        self._body_at = self._whole = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(exc or ConnectionResetError("The server has closed the connection."))

    def send(self, request: bytes) -> asyncio.Future[Heard]:
        assert self.transport is not None, "it is lost"
        self._answer = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return self._answer

    def data_received(self, data: bytes) -> None:
        received = self._received
        received += data
        if not self._whole:
            end = received.find(_END_OF_HEAD)
            if end < 0:
                return
            self._body_at = end + len(_END_OF_HEAD)
            self._whole = self._body_at + _length_of(received, end)
        if len(received) < self._whole:
            return
        heard = Heard(
            int(received[9:12]), bytes(received[: self._body_at]), bytes(received[self._body_at : self._whole])
        )
        del received[: self._whole]
        self._whole = 0
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(heard)


class Wire:
    """A caller with a key; the connection is made when it is first needed, and again if the server has closed it."""

    def __init__(self, url: str, key: str) -> None:
        place = urlsplit(url)
        self._host, self._port = place.hostname or "", place.port or 80
        self._head = f"host: {place.netloc}\r\nauthorization: Bearer {key}\r\n" if key else f"host: {place.netloc}\r\n"
        self._line: _Line | None = None
        self._used = 0.0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._drop()

    def _drop(self) -> None:
        if self._line is not None and self._line.transport is not None:
            self._line.transport.close()
        self._line = None

    async def ask(self, method: str, path: str, body: object = None, **headers: str) -> Heard:
        """Send a request and return its answer; `idempotency_key=` is the header of that name. Bytes go as they are."""
        more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        data = body if isinstance(body, bytes) else msgspec.json.encode(body) if body is not None else b""
        if data and "content_type" not in headers:
            more += "content-type: application/json\r\n"
        sized = f"content-length: {len(data)}\r\n" if data or method != "GET" else ""
        return await self.send(f"{method} {path} HTTP/1.1\r\n{self._head}{more}{sized}\r\n".encode() + data)

    async def send(self, request: bytes) -> Heard:
        """Send a request that is made already."""
        if self._line is None or self._line.transport is None or monotonic() - self._used > _IDLE:
            self._drop()
            loop = asyncio.get_running_loop()
            _, self._line = await loop.create_connection(_Line, self._host, self._port)
        try:
            return await self._line.send(request)
        except BaseException:
            self._drop()  # else the answer that is still to come would be taken for that of another request
            raise
        finally:
            self._used = monotonic()

    def request(self, method: str, path: str, body: object = None) -> bytes:
        """Return a request as it is sent, for whoever sends it often."""
        data = msgspec.json.encode(body) if body is not None else b""
        said = f"content-type: application/json\r\ncontent-length: {len(data)}\r\n" if body is not None else ""
        return f"{method} {path} HTTP/1.1\r\n{self._head}{said}\r\n".encode() + data


def _length_of(received: bytearray, end: int) -> int:
    """Return how long the body of an answer is; what has no length has no body."""
    head = bytes(received[:end]).lower()
    at = head.find(_LENGTH)
    return int(head[at + len(_LENGTH) :].split(b"\r\n", 1)[0]) if at >= 0 else 0
