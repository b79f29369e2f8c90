"""Connections: the head of a request is bounded in size and in time, before anybody knows who sends it.

What is no request is told like everything else that is not done. A connection can be dropped by whoever answers on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from layover.api.endpoint import ABORT, SECURITY_HEADERS, request_id_of
from layover.api.problems import Refusal

if TYPE_CHECKING:
    import asyncio

    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle


class Connection(HttpToolsProtocol):
    """Closes a connection on which a head is too large, or does not come to its end."""

    largest_head: ClassVar[int] = 65_536  # bytes, and what comes with the last of them
    head_timeout: ClassVar[float] = 30.0  # seconds

    _is_in_head = True
    _size = 0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as it is declared
        """Wait for the first head."""
        super().connection_made(transport)
        self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._end()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what comes while a head has not come to its end."""
        super().data_received(data)
        if not self._is_in_head or self.transport.is_closing():
            return
        self._size += len(data)
        if self._size <= self.largest_head:
            return
        answering: RequestResponseCycle | None = self.cycle
        if answering is None or answering.response_complete:
            self.send_400_response("The head of the request is too large.")
        else:
            self.transport.abort()  # something else is being answered

    def on_message_begin(self) -> None:
        """Count from here."""
        super().on_message_begin()
        self.scope["extensions"] = {ABORT: {"abort": self.transport.abort}}
        self._begin()

    def on_headers_complete(self) -> None:
        """Count no longer."""
        self._end()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Say that this is no request, and close the connection."""
        request_id = request_id_of({})
        body = msgspec.json.encode(Refusal("malformed", msg).problem(request_id))
        headers = {
            **SECURITY_HEADERS,
            "content-type": "application/problem+json",
            "content-length": str(len(body)),
            "connection": "close",
            "x-request-id": request_id,
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.transport.write(b"HTTP/1.1 400 Bad Request\r\n%s\r\n%s" % (lines.encode("latin-1"), body))
        self.transport.close()

    def _begin(self) -> None:
        self._end()
        self._is_in_head, self._size = True, 0
        self._timer = self.loop.call_later(self.head_timeout, self.transport.close)

    def _end(self) -> None:
        self._is_in_head = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
