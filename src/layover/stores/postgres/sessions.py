"""Sessions and sign-in links, stored as hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.stores.checks import at_most
from layover.stores.postgres.audit import write_audit
from layover.stores.rows import session_of, session_values

if TYPE_CHECKING:
    from layover.ports.access import SessionKind, SessionRow
    from layover.ports.records import AuditRow
    from layover.stores.postgres.database import Transaction
    from layover.stores.postgres.session import PostgresSession


class PostgresSessions:
    """Sessions of a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    async def open_session(self, row: SessionRow, most: int, audit: AuditRow | None = None) -> None:
        """Store a session, or a link; the oldest ones of its user go, if there are too many."""
        await self._session.db.transact(lambda tx: _open(tx, row, most, audit))

    async def use_link(self, link: bytes, row: SessionRow, now: int, most: int, audit: AuditRow) -> bool:
        """Store a session in the place of a link, unless that was used or has ended."""

        async def work(tx: Transaction) -> bool:
            found = await tx.fetchrow("session_by_hash", link, now)
            if found is None or session_of(found).kind != "link":
                return False
            # Of several at once, one deletes it: the others wait for that, and find nothing to delete.
            if await tx.fetchval("end_session", link, "link") is None:
                return False
            await _open(tx, row, most, audit)
            return True

        return await self._session.db.transact(work)

    async def find_session(self, hash_: bytes, now: int) -> SessionRow | None:
        """Find a session, or a link, that has not ended, and whose key has not."""
        row = await self._session.db.fetchrow("session_by_hash", hash_, now)
        return session_of(row) if row is not None else None

    async def end_session(self, hash_: bytes, audit: AuditRow) -> bool:
        """Delete a session."""

        async def work(tx: Transaction) -> bool:
            if await tx.fetchval("end_session", hash_, "session") is None:
                return False
            await write_audit(tx, audit)
            return True

        return await self._session.db.transact(work)

    async def note_refused(self, audit: AuditRow) -> None:
        """Write down that a sign-in was refused."""
        await write_audit(self._session.db, audit)

    async def list_sessions(self, kind: SessionKind, after: str, limit: int) -> list[SessionRow]:
        """List sessions, or links, in the order of their ids."""
        rows = await self._session.db.fetch("list_sessions", kind, after, at_most(limit))
        return [session_of(row) for row in rows]

    async def list_open_sessions(self, now: int, after: str, limit: int) -> list[SessionRow]:
        """List sessions that have not ended, in the order of their ids."""
        rows = await self._session.db.fetch("list_open_sessions", now, after, at_most(limit))
        return [session_of(row) for row in rows]

    async def list_sessions_of_user(self, user: str, now: int, after: str, limit: int) -> list[SessionRow]:
        """List the sessions of one user that have not ended, in the order of their ids."""
        rows = await self._session.db.fetch("list_sessions_of_user", user, now, after, at_most(limit))
        return [session_of(row) for row in rows]

    async def delete_expired(self, now: int, most: int) -> int:
        """Delete sessions and links whose time is over; those that another instance deletes are not counted."""
        count: int = await self._session.db.fetchval("delete_expired_sessions", now, at_most(most))
        return count


async def _open(tx: Transaction, row: SessionRow, most: int, audit: AuditRow | None) -> None:
    await tx.fetch("insert_sessions", *([value] for value in session_values(row).values()))
    await tx.fetch("delete_surplus_sessions", row.user, row.kind, at_most(most))
    await write_audit(tx, audit)
