"""Where a torture is played: a database that all processes share, and what is done to it besides what they do.

A file is left alone. A server has all its backends terminated, and is stopped and started again: in order, or as if it
had crashed; at once, or after longer than leases last.
"""

from __future__ import annotations

import asyncio
import shutil
from collections import Counter
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Literal

from tests.servers.postgres import PostgresServer, run

from .worker import LEASE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path
    from random import Random

    from tests.servers.server import Mode

Kind = Literal["sqlite", "postgres"]

_TERMINATE = """
    SELECT pg_terminate_backend(pid)
    FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
"""
_DOWN_FOR = (0, 0, 0, 0.3, 1.3)  # of a lease


class Stage:
    """A database in a file."""

    can_be_away = False

    def __init__(self, address: str) -> None:
        self.address = address
        self.done: Counter[str] = Counter()

    async def disturb(self) -> None:
        """Do something to the database."""

    async def keep(self, folder: Path) -> None:
        """Leave in a folder what somebody needs who looks for a fault."""


class ServerStage(Stage):
    """A database on a server of our own."""

    can_be_away = True

    def __init__(self, server: PostgresServer, chance: Random) -> None:
        super().__init__(f"{server.address()}?schema=torture")
        self._server = server
        self._chance = chance

    async def disturb(self) -> None:
        """Cut all off, or let there be no server for a while."""
        match self._chance.choice(("terminate", "terminate", "terminate", "fast", "immediate")):
            case "terminate":
                await run(self._server.address(), _TERMINATE)
                self.done["all backends terminated"] += 1
            case "fast":
                await self._restart("fast")
            case "immediate":
                await self._restart("immediate")

    async def _restart(self, mode: Mode) -> None:
        await asyncio.to_thread(self._server.stop, mode)
        await asyncio.sleep(self._chance.choice(_DOWN_FOR) * LEASE / 1000)
        await asyncio.to_thread(self._server.start)
        self.done[f"server stopped ({mode})"] += 1

    async def keep(self, folder: Path) -> None:
        """Leave the server's log and, as if it had been stopped in order, its data."""
        await asyncio.to_thread(self._server.stop, "fast")
        await asyncio.to_thread(shutil.copytree, self._server.folder / "data", folder / "data")
        (folder / "server.log").write_text(self._server.log_text())


@asynccontextmanager
async def stage(kind: Kind, folder: Path, chance: Random) -> AsyncIterator[Stage]:
    """Give an empty database."""
    if kind == "sqlite":
        yield Stage(f"sqlite:///{folder / 'torture.db'}")
        return
    server = PostgresServer()
    try:
        await asyncio.to_thread(server.start)
        yield ServerStage(server, chance)
    finally:
        await asyncio.to_thread(server.close)
