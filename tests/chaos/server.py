"""A program of a user: an engine with a short lease and fewer threads than calls, served over HTTP until SIGTERM."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys

from layover.api.access.config import AccessSettings
from layover.api.application import application
from layover.api.server import listen, serve
from layover.api.settings import ApiSettings
from layover.bootstrap import open_runtime
from layover.runtime.settings import RuntimeSettings
from tests.chaos.nodes import block, charge, flaky, poison, ship

# A request whose server died is worked at anew after a while; two minutes, by default.
_API = ApiSettings(rate_limit=None, reply_worked_at=5)


async def main(db: str, port: int, lease: int) -> None:
    """Serve until told to stop."""
    settings = RuntimeSettings(lease_ttl=lease, threads=3, calls=24, grace=lease)
    access = AccessSettings(admin_key=os.environ["CHAOS_KEY"])
    async with open_runtime(db, nodes=[block, charge, flaky, poison, ship], settings=settings) as engine:
        app = application(engine, settings=_API, access=access)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, app.state.services.stopping.set)
        await serve(app, [listen("127.0.0.1", port)])


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
