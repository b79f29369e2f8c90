"""An open database in memory: what all families of its store share."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from layover.ports.errors import StoreUnavailable

if TYPE_CHECKING:
    from layover.stores.memory.database import MemoryDatabase


class MemorySession:
    """The database, and the instance that has it open, if one has."""

    def __init__(self, database: MemoryDatabase) -> None:
        self.database = database
        self.instance: str | None = None

    async def turn(self) -> MemoryDatabase:
        """Let other tasks run first, as waiting for a disk would; what follows runs without a break."""
        if self.instance is None:
            raise StoreUnavailable("The store is not open.", code="closed")
        await asyncio.sleep(0)
        return self.database
