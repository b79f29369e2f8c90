"""Named locks, each with an expiry."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from layover.stores.postgres.session import PostgresSession


class PostgresLocks:
    """Named locks of a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    async def acquire(self, name: str, holder: str, now: int, until: int) -> bool:
        """Take a lock that is free or has expired, or renew our own."""
        return await self._session.db.fetchrow("take_lock", name, holder, now, until) is not None

    async def release(self, name: str, holder: str) -> None:
        """Release a lock."""
        await self._session.db.fetch("release_lock", name, holder)
