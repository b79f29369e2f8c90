"""Serving an application on sockets until it is told to stop: what is being answered is answered first."""

from __future__ import annotations

import asyncio
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

import uvicorn

from layover.api.connections import Connection

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from starlette.applications import Starlette

    from layover.api.services import Services

_GRACE = 15  # seconds for what is being answered when the server stops
_BACKLOG = 2048
_KEEP_ALIVE = 30  # seconds that a connection may be idle


class _Server(uvicorn.Server):
    """A server that leaves signals to whoever runs it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


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
        http=Connection,
        lifespan="off",
        log_config=None,
        access_log=False,  # a path may hold a token
        server_header=False,
        date_header=True,
        proxy_headers=False,
        ws="none",
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_GRACE,
    )
    server = _Server(config)
    serving = asyncio.get_running_loop().create_task(server.serve(list(sockets)))
    stop = asyncio.get_running_loop().create_task(services.stopping.wait())
    try:
        await asyncio.wait({serving, stop}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stop.cancel()
        server.should_exit = True
        try:
            await asyncio.shield(serving)
        except asyncio.CancelledError:  # whoever runs it will not wait
            server.force_exit = True
            await serving
            raise
