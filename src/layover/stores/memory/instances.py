"""The instances that have a database in memory open: all of them are in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.records import Liveness

if TYPE_CHECKING:
    from layover.stores.memory.session import MemorySession


class MemoryInstances:
    """Instances in memory."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def check_liveness(self, instance: str) -> Liveness:
        """Return whether an instance is alive: all of them are in this process."""
        return Liveness(alive=bool(instance))

    async def list_others(self) -> list[str]:
        """Return the other instances that have the database open."""
        return sorted((await self._session.turn()).instances - {self._session.instance})
