"""Named locks, each with an expiry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    import apsw

    from layover.stores.sqlite.session import SqliteSession


class SqliteLocks:
    """Named locks of a file."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session

    async def acquire(self, name: str, holder: str, now: int, until: int) -> bool:
        """Take or renew a named lock."""
        return await self._session.write(lambda db: take(db, name, holder, now, until))

    async def release(self, name: str, holder: str) -> None:
        """Release a named lock."""
        await self._session.write(lambda db: release(db, name, holder))


def take(db: apsw.Connection, name: str, holder: str, now: int, until: int) -> bool:
    """Take a lock that is free or has expired, or renew our own."""
    db.execute(SQL["take_lock"], {"name": name, "holder": holder, "now": now, "until": until})
    return db.changes() == 1


def release(db: apsw.Connection, name: str, holder: str) -> None:
    """Release a lock."""
    db.execute(SQL["release_lock"], {"name": name, "holder": holder})
