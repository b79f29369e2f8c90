"""The HTTP surface as an ASGI application, to mount in an application of yours or to serve by any ASGI server.

`layover serve` does the same with a server of its own.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from layover.api import application as api
from layover.api.access import first_key as first_keys
from layover.api.access import listen_address
from layover.api.access.config import AccessSettings
from layover.api.metrics import process_numbers
from layover.api.routes import health
from layover.api.settings import ApiSettings
from layover.api.sibling_metrics import SiblingMetrics
from layover.engine import runtime_of

if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence
    from pathlib import Path

    from starlette.applications import Starlette

    from layover.engine import Engine

__all__ = [
    "AccessSettings",
    "ApiSettings",
    "application",
    "create_first_key",
    "health_application",
    "is_loopback",
    "listen",
    "serve",
    "share_metrics",
    "stop",
]


def application(
    engine: Engine, *, access: AccessSettings | None = None, settings: ApiSettings | None = None
) -> Starlette:
    """Return an application that serves an engine, which you open and close.

    `access` says who may use it, `settings` are the limits.
    """
    return api.application(runtime_of(engine), access=access, settings=settings)


def health_application(
    engine: Engine, *, access: AccessSettings | None = None, settings: ApiSettings | None = None
) -> Starlette:
    """Return an application with `/healthz`, `/readyz` and `/metrics` only, for an engine that serves no API."""
    return api.application(runtime_of(engine), access=access, settings=settings, routes=health.routes.routes)


async def create_first_key(engine: Engine) -> str | None:
    """Create an API key of the user `admin` and return it, to be shown once; None if there was a key before."""
    instance = runtime_of(engine).instance
    return await first_keys.first_key(instance.store, instance.clock.now())


def is_loopback(host: str) -> bool:
    """Return whether an address is only of this machine: elsewhere, a server without keys must not listen."""
    return listen_address.is_loopback(host)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket for `serve` that takes connections at an address; with port 0, any that is free."""
    from layover.api import server  # noqa: PLC0415 - an application that is mounted needs no server of ours

    return server.listen(host, port)


async def serve(app: Starlette, sockets: Sequence[socket.socket]) -> None:
    """Answer requests to an application until it is stopped, by the server of `layover serve`."""
    from layover.api import server  # noqa: PLC0415 - as above

    await server.serve(app, sockets)


def stop(app: Starlette) -> None:
    """Have an application take no more requests, and `serve` return when those that have come are answered."""
    app.state.services.stopping.set()


def share_metrics(app: Starlette, slot: Path) -> asyncio.Task[None]:
    """Write the metrics of this process to a file where others that serve the same port find them; cancel to end it."""
    services = app.state.services
    services.siblings = SiblingMetrics(slot, lambda: process_numbers(services))
    return asyncio.get_running_loop().create_task(services.siblings.keep_written())
