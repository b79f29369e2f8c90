"""The instances that are registered in a schema: each sends heartbeats, and holds a lock on its machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.records import Liveness
from layover.stores.postgres.admin import SILENT_FOR, living
from layover.stores.postgres.liveness import is_dead_here

if TYPE_CHECKING:
    from layover.stores.postgres.session import PostgresSession


class PostgresInstances:
    """Instances of a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    async def check_liveness(self, instance: str) -> Liveness:
        """Return whether an instance is alive: it sends heartbeats, and on this machine it holds a lock."""
        db = self._session.db
        seen_at = await db.fetchval("heartbeat_of_instance", instance)
        silent = seen_at is None or seen_at <= self._session.now() - SILENT_FOR
        return Liveness(alive=not silent and not is_dead_here(db.address, instance), seen_at=seen_at)

    async def list_others(self) -> list[str]:
        """Return the other instances that drive executions and sent a heartbeat not long ago."""
        db, own = self._session.db, self._session.instance
        return [name for name in await living(db) if name != own and not is_dead_here(db.address, name)]
