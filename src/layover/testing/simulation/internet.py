"""What `http` nodes reach in a simulated run: servers that answer, and servers that fail in every way.

The library that makes requests is the real one; only the connection under it is none. Bytes go to a server that is no
process, and come back after a while, in parts, or never.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import aiohttp

from layover.core.payloads import MAX_INLINE

if TYPE_CHECKING:
    from aiohttp.client_proto import ResponseHandler

    from layover.testing.simulation.lives import Life

_PER_SECOND = 5.0  # an answer takes 200 ms, more or less
_A_BODY = b'{"said": "well"}'
_FAULTS = ("unreachable", "broken", "hangs", "status_500", "status_429", "garbage", "half", "large", "binary")


class Internet(aiohttp.BaseConnector):
    """Connects one life to servers that the seed makes up."""

    def __init__(self, life: Life) -> None:
        # No connection is used twice: the library tells by a real clock for how long one may be kept.
        super().__init__(force_close=True, limit=0, loop=life.loop)
        self._life = life

    async def _create_connection(self, req: aiohttp.ClientRequest, *_: object) -> ResponseHandler:
        """Connect to a server, if there is one."""
        world = self._life.world
        fault = ""
        if world.loop.time() < world.heals_at and world.chance.random() < world.mixture.http_faults:
            fault = world.counted("http_faults", world.chance.choice(_FAULTS))
        await asyncio.sleep(world.chance.expovariate(_PER_SECOND))
        if fault == "unreachable":
            raise aiohttp.ClientConnectorError(req.connection_key, OSError(111, "Connection refused"))
        handler = self._factory()
        handler.connection_made(_Server(self._life, handler, fault))
        return handler


class _Server(asyncio.Transport):
    """One connection with the server at its other end, which answers once, in the way of its fault."""

    def __init__(self, life: Life, handler: ResponseHandler, fault: str) -> None:
        super().__init__()
        self._life = life
        self._handler = handler
        self._fault = fault
        self._closed = self._asked = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Take a part of a request; the answer begins with the end of its headers."""
        if not self._asked and b"\r\n\r\n" in bytes(data):
            self._asked = True
            self._later(self._answer)

    def writelines(self, list_of_data: Any) -> None:
        """Take several parts of a request."""
        self.write(b"".join(list_of_data))

    def is_closing(self) -> bool:
        """Return whether the connection is over."""
        return self._closed

    def close(self) -> None:
        """Hang up."""
        self._lose(None)

    abort = close

    def pause_reading(self) -> None:
        """Send on: what comes is small enough."""

    resume_reading = pause_reading

    def get_extra_info(self, name: str, default: Any = None) -> Any:  # noqa: ARG002 - all are the same
        """Tell nothing about a socket that is none."""
        return default

    # The server

    def _later(self, act: Any) -> None:
        self._life.loop.call_later(self._life.world.chance.expovariate(_PER_SECOND), act)

    def _answer(self) -> None:
        match self._fault:
            case "hangs":
                return
            case "broken":
                self._lose(ConnectionResetError("Connection reset by peer"))
            case "garbage":
                self._send(b"\0\1\2 this is no HTTP\r\n\r\n")
            case "half":
                self._send(_written(200, _A_BODY)[:-5])
                self._later(self.close)
            case "large":
                self._send(_written(200, b'"' + b"x" * MAX_INLINE + b'"'))
            case "binary":
                self._send(_written(200, b"\0", "application/octet-stream"))
            case "status_500" | "status_429":
                self._send(_written(int(self._fault[-3:]), b""))
            case _:
                answer = _written(200, _A_BODY)
                at = self._life.world.chance.randrange(len(answer))
                self._send(answer[:at])
                self._later(lambda: self._send(answer[at:]))

    def _send(self, data: bytes) -> None:
        if not self._closed and data:
            self._handler.data_received(data)

    def _lose(self, error: Exception | None) -> None:
        if not self._closed:
            self._closed = True
            self._life.loop.call_soon(self._handler.connection_lost, error)


def _written(status: int, body: bytes, kind: str = "application/json") -> bytes:
    head = f"HTTP/1.1 {status} It\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nRetry-After: 1\r\n\r\n"
    return head.encode() + body
