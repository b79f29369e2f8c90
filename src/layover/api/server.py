"""Serving an application on sockets until it is told to stop: what is being answered is answered first."""

from __future__ import annotations

import asyncio
import math
import socket
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import uvicorn

from layover.api.acceptor import Acceptor
from layover.api.connection_limits import ConnectionSlots, limits_of
from layover.api.connections import Connection

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from starlette.applications import Starlette

    from layover.api.connection_limits import Slot
    from layover.api.services import Services

_GRACE = 15  # seconds for what is being answered when the server stops
_BACKLOG = 2048
_BETWEEN_DATES = 1  # seconds, which is as exact as the header is
_BETWEEN_LOOKS = 0.02  # seconds, for what is still being answered


class _Server(uvicorn.Server):
    """A server that leaves signals to its owner, and stops when it is told to: it does not poll for that."""

    def __init__(self, config: uvicorn.Config, services: Services) -> None:
        super().__init__(config)
        self._services = services
        self._told = asyncio.Event()
        self._acceptors: list[Acceptor] = []

    def stop(self) -> None:
        """Take no more requests, and answer those that have come."""
        self.should_exit = True
        self._told.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections, as many as there is room for."""
        settings = self._services.settings
        slots = ConnectionSlots(limits_of(settings), self._services.proxies)

        def connection(slot: Slot) -> Connection:
            made_with = {"config": self.config, "server_state": self.server_state, "app_state": {}}
            return Connection(slot, slots, settings, **made_with)

        self._acceptors = [Acceptor(listening, slots, connection) for listening in sockets or ()]
        self.started = True

    async def main_loop(self) -> None:
        """Keep the date right that all answers have, until it is told to stop."""
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(_BETWEEN_DATES):
                    await self._told.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close idle connections, and wait for the rest, but not for ever."""
        for acceptor in self._acceptors:
            await acceptor.close()
        for listening in sockets or ():
            listening.close()
        try:
            async with asyncio.timeout(self.config.timeout_graceful_shutdown):
                await self._answered()
        except TimeoutError:
            for task in self.server_state.tasks:
                task.cancel()

    async def _answered(self) -> None:
        between = 0.0  # what is idle is gone by then
        while (self.server_state.connections or self.server_state.tasks) and not self.force_exit:
            for connection in list(self.server_state.connections):
                connection.shutdown()  # also one that was on its way in when we stopped to take more
            await asyncio.sleep(between)
            between = _BETWEEN_LOOKS


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that takes connections at an address; with port 0, any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named, else asyncio does not take it for TCP, and each answer waits for one more packet.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(_BACKLOG)
    except BaseException:
        listening.close()
        raise
    listening.settimeout(0)
    return listening


async def serve(app: Starlette, sockets: Sequence[socket.socket]) -> None:
    """Answer requests until the services are told to stop; then take no more, and answer those that have come."""
    services: Services = app.state.services
    config = uvicorn.Config(
        app,
        http="httptools",
        lifespan="off",
        log_config=None,
        access_log=False,  # a path may hold a token
        server_header=False,
        date_header=True,
        proxy_headers=False,
        ws="none",
        timeout_keep_alive=math.ceil(services.settings.idle_timeout),
        timeout_graceful_shutdown=_GRACE,
    )
    server = _Server(config, services)
    serving = asyncio.get_running_loop().create_task(server.serve(list(sockets)))
    stop = asyncio.get_running_loop().create_task(services.stopping.wait())
    try:
        await asyncio.wait({serving, stop}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stop.cancel()
        server.stop()
        try:
            await asyncio.shield(serving)
        except asyncio.CancelledError:  # its owner will not wait
            server.force_exit = True
            await serving
            raise
