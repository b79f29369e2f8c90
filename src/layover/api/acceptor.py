"""Accepting connections one by one: each has a slot before it is more than a socket.

The event loop's own server accepts all that wait before it reports the first, and by then the files may be
used up.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from layover.api.log_limits import LogLimit
from layover.api.problems import Refusal
from layover.api.raw_answers import raw_answer

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from layover.api.connection_limits import ConnectionSlots, Slot

_log = logging.getLogger("layover.api")

_AT_ONCE: Final = 32  # connections accepted before anything else has its turn
_BETWEEN_LINES: Final = 10.0  # seconds
_PAUSE: Final = 0.5  # seconds after an error, such as no more files


class Acceptor:
    """Makes connections of what comes to a listening socket."""

    def __init__(
        self, listening: socket.socket, slots: ConnectionSlots, connection: Callable[[Slot], asyncio.Protocol]
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._listening = listening
        self._slots = slots
        self._connection = connection
        self._refusals = LogLimit(1, _BETWEEN_LINES)
        self._making: set[asyncio.Task[None]] = set()
        self._held: tuple[socket.socket, str] | None = None  # waits until the others are made
        self._is_closing = False
        self._pause: asyncio.TimerHandle | None = None
        self._loop.add_reader(listening, self._accept)

    async def close(self) -> None:
        """Accept no more; what was accepted is a connection when this returns."""
        self._is_closing = True
        self._loop.remove_reader(self._listening)
        if self._pause is not None:
            self._pause.cancel()
        if self._making:
            await asyncio.wait(self._making)

    def _accept(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                connected, (host, *_) = self._listening.accept()
            except (BlockingIOError, InterruptedError):
                return
            except ConnectionAbortedError:
                continue
            except OSError as error:
                _log.error("accept_failed open=%d error=%s", self._slots.count, error)
                self._rest()
                return
            connected.settimeout(0)
            slot = self._slots.take(host)
            if slot is not None:
                self._start(connected, slot)
            elif self._making:  # one of them may be idle as soon as it is made
                self._held = connected, host
                self._loop.remove_reader(self._listening)
                return
            else:
                self._refuse(connected, host)

    def _start(self, connected: socket.socket, slot: Slot) -> None:
        task = self._loop.create_task(self._make(connected, slot))
        self._making.add(task)
        task.add_done_callback(self._on_connection_made)

    def _on_connection_made(self, task: asyncio.Task[None]) -> None:
        self._making.discard(task)
        if self._held is None or self._making:
            return
        (connected, host), self._held = self._held, None
        slot = None if self._is_closing else self._slots.take(host)
        if slot is not None:
            self._start(connected, slot)
        else:
            self._refuse(connected, host)
        if not self._is_closing:
            self._loop.add_reader(self._listening, self._accept)

    async def _make(self, connected: socket.socket, slot: Slot) -> None:
        try:
            await self._loop.connect_accepted_socket(lambda: self._connection(slot), connected)
        except OSError:  # it has gone already
            connected.close()
            self._slots.free(slot)

    def _rest(self) -> None:
        """Accept nothing for a while: the socket stays readable, and the loop would do nothing else."""
        self._loop.remove_reader(self._listening)
        self._pause = self._loop.call_later(_PAUSE, self._loop.add_reader, self._listening, self._accept)

    def _refuse(self, connected: socket.socket, host: str) -> None:
        left_out = self._refusals.take()
        if left_out is not None:
            _log.warning("connection_refused host=%s open=%d left_out=%d", host, self._slots.count, left_out)
        message = "As many connections are open as may be; try again later."
        with connected, suppress(OSError):
            connected.send(raw_answer(Refusal("too_many_connections", message, headers={"retry-after": "5"})))
