"""The port at which a worker tells monitoring how it is: /healthz, /readyz and /metrics, and nothing else."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.cli.listening import check_can_serve, hosts_of, listen_at, url_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from layover import Engine
    from layover.config.configuration import Configuration

_LOOPBACK = "127.0.0.1"


class HealthPort:
    """Listens from the start, so that a port that is taken is told before anything is driven."""

    def __init__(self, configuration: Configuration) -> None:
        check_can_serve("layover worker --health")
        host, _, port = (configuration.command.health or "").rpartition(":")
        host = host.removeprefix("[").removesuffix("]") or _LOOPBACK
        other = "--health 9091, or --health 0 for any that is free"
        self._listening = listen_at(host, int(port), other)
        self.url = url_of(self._listening)
        api = configuration.api
        self._api = replace(api, hosts=hosts_of(host, self.url, "", *(api.hosts or ())))
        self._access = configuration.access
        logging.getLogger("uvicorn.error").setLevel(logging.WARNING)

    @asynccontextmanager
    async def answering(self, engine: Engine) -> AsyncIterator[None]:
        """Answer while a block lasts; an engine that is stopping is told as not ready."""
        from layover.asgi import health_application, serve, stop  # noqa: PLC0415 - only there with the extra

        app = health_application(engine, access=self._access, settings=self._api)
        serving = asyncio.get_running_loop().create_task(serve(app, [self._listening]))
        try:
            yield
        finally:
            stop(app)
            await serving
