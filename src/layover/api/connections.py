"""Connections: the head of a request is bounded in size and in time, before its sender is known.

What is no request is told like everything else that is not done. A handler can drop the connection that it answers on.
A client that does not read its answer is let go: until then all of it is kept here, for as long as the client likes.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from layover.api.answering import CONNECTION
from layover.api.connection_log import ConnectionLog
from layover.api.endpoint import RESERVED
from layover.api.problems import Refusal
from layover.api.raw_answers import raw_answer

if TYPE_CHECKING:
    import asyncio

    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

    from layover.api.connection_limits import ConnectionSlots, Slot
    from layover.api.settings import ApiSettings

_log = logging.getLogger("layover.api")
_LOG = ConnectionLog()


class Connection(HttpToolsProtocol):
    """Closes a connection on which a head is too large, or does not come to its end, or an answer is not read."""

    largest_head: ClassVar[int] = 65_536  # bytes, and what comes with the last of them

    _is_in_head = True
    _size = 0
    _timer: asyncio.TimerHandle | None = None
    _watch: asyncio.TimerHandle | None = None

    def __init__(self, slot: Slot, slots: ConnectionSlots, settings: ApiSettings, **made_with: Any) -> None:
        super().__init__(**made_with)
        self.logger = _LOG  # type: ignore[assignment]  # it is used like the logger in whose place it is
        self._slot = slot
        self._slots = slots
        self._settings = settings

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as it is declared
        """Wait for the first head."""
        super().connection_made(transport)
        self._slots.rest(self._slot, transport.abort)
        self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._end()
        self._end_watch()
        self._slots.free(self._slot)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Wait until what was sent is read, but not for ever."""
        super().pause_writing()
        self._watch_reader()

    def resume_writing(self) -> None:
        """Go on: most of it is read."""
        super().resume_writing()
        self._watch_reader()

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
        transport = self.transport
        self.scope["extensions"] = {CONNECTION: {"abort": transport.abort, "is_closing": transport.is_closing}}
        if self._slot.is_reserved and self._slots.is_full:
            self.scope["extensions"][RESERVED] = {}
        self._begin()

    def on_headers_complete(self) -> None:
        """Count no longer."""
        self._end()
        self._slots.work(self._slot)
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Be idle again, unless another request has come meanwhile."""
        super().on_response_complete()
        self._watch_reader()
        if self.cycle.response_complete:
            self._slots.rest(self._slot, self.transport.abort)

    def send_400_response(self, msg: str) -> None:
        """Say that this is no request, and close the connection."""
        self.transport.write(raw_answer(Refusal("malformed", msg)))
        self.transport.close()
        self._watch_reader()

    def _unsupported_upgrade_warning(self) -> None:
        """Say nothing: the request is answered as if it had not asked to speak another protocol."""

    def _watch_reader(self) -> None:
        """Look after a while at whether the client has read enough of what waits for it now."""
        self._end_watch()
        left = self._left()
        if left:
            self._watch = self.loop.call_later(self._settings.stalled_after, self._check_reader, left)

    def _check_reader(self, before: int) -> None:
        left = self._left()
        if left > max(0, before - self._settings.least_read):
            _log.info("reader_let_go address=%s unread=%d", self._slot.address, left)
            self.transport.abort()
        else:
            self._watch_reader()

    def _end_watch(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

    def _left(self) -> int:
        return self.transport.get_write_buffer_size()

    def _begin(self) -> None:
        self._end()
        self._is_in_head, self._size = True, 0
        self._timer = self.loop.call_later(self._settings.head_timeout, self.transport.close)

    def _end(self) -> None:
        self._is_in_head = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
