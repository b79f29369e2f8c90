"""Heads of requests: bounded in size and in time, before anybody knows who sends them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    import asyncio

    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle


class BoundedHeads(HttpToolsProtocol):
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
        self._begin()

    def on_headers_complete(self) -> None:
        """Count no longer."""
        self._end()
        super().on_headers_complete()

    def _begin(self) -> None:
        self._end()
        self._is_in_head, self._size = True, 0
        self._timer = self.loop.call_later(self.head_timeout, self.transport.close)

    def _end(self) -> None:
        self._is_in_head = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
