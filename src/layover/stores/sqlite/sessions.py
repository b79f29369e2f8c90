"""Sessions and sign-in links, stored as hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.stores.checks import at_most, session_exists
from layover.stores.rows import session_of, session_values
from layover.stores.sqlite.audit import write_audit
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    import apsw

    from layover.ports.access import SessionKind, SessionRow
    from layover.ports.records import AuditRow
    from layover.stores.sqlite.session import SqliteSession


class SqliteSessions:
    """Sessions of a file."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session

    async def open_session(self, row: SessionRow, most: int, audit: AuditRow | None = None) -> None:
        """Store a session, or a link."""
        await self._session.write(lambda db: open_session(db, row, most, audit))

    async def use_link(self, link: bytes, row: SessionRow, now: int, most: int, audit: AuditRow) -> bool:
        """Store a session in the place of a link."""
        return await self._session.write(lambda db: use_link(db, link, row, now, most, audit))

    async def find_session(self, hash_: bytes, now: int) -> SessionRow | None:
        """Find a session, or a link, that has not ended."""
        return await self._session.glance(lambda db: find(db, hash_, now))

    async def end_session(self, hash_: bytes, audit: AuditRow) -> bool:
        """Delete a session."""
        return await self._session.write(lambda db: end_session(db, hash_, audit))

    async def note_refused(self, audit: AuditRow) -> None:
        """Write down that a sign-in was refused."""
        await self._session.write(lambda db: write_audit(db, audit))

    async def list_sessions(self, kind: SessionKind, after: str, limit: int) -> list[SessionRow]:
        """List sessions, or links, in the order of their ids."""
        values = {"kind": kind, "after": after, "most": at_most(limit)}
        return await self._session.read(
            lambda db: [session_of(row) for row in db.execute(SQL["list_sessions"], values)]
        )

    async def list_open_sessions(self, now: int, after: str, limit: int) -> list[SessionRow]:
        """List sessions that have not ended, in the order of their ids."""
        values = {"now": now, "after": after, "most": at_most(limit)}
        return await self._session.read(
            lambda db: [session_of(row) for row in db.execute(SQL["list_open_sessions"], values)]
        )

    async def list_sessions_of_user(self, user: str, now: int, after: str, limit: int) -> list[SessionRow]:
        """List the sessions of one user that have not ended, in the order of their ids."""
        values = {"user": user, "now": now, "after": after, "most": at_most(limit)}
        return await self._session.read(
            lambda db: [session_of(row) for row in db.execute(SQL["list_sessions_of_user"], values)]
        )

    async def delete_expired(self, now: int, most: int) -> int:
        """Delete sessions and links whose time is over, oldest first."""
        return await self._session.write(lambda db: delete_expired(db, now, most))


def open_session(db: apsw.Connection, row: SessionRow, most: int, audit: AuditRow | None) -> None:
    """Store a session; the oldest ones of its user go, if there are too many."""
    insert(db, row)
    db.execute(SQL["delete_surplus_sessions"], {"user": row.user, "kind": row.kind, "most": at_most(most)})
    write_audit(db, audit)


def insert(db: apsw.Connection, row: SessionRow) -> None:
    """Write a session."""
    db.execute(SQL["insert_sessions"], session_values(row))
    if db.changes() != 1:
        raise session_exists(row)


def use_link(db: apsw.Connection, link: bytes, row: SessionRow, now: int, most: int, audit: AuditRow) -> bool:
    """Store a session in the place of a link, unless that was used or has ended."""
    found = find(db, link, now)
    if found is None or found.kind != "link":
        return False
    db.execute(SQL["end_session"], {"hash": link, "kind": "link"})
    open_session(db, row, most, audit)
    return True


def find(db: apsw.Connection, hash_: bytes, now: int) -> SessionRow | None:
    """Find a session, or a link, that has not ended, and whose key has not."""
    row = db.execute(SQL["session_by_hash"], {"hash": hash_, "now": now}).fetchone()
    return session_of(row) if row is not None else None


def end_session(db: apsw.Connection, hash_: bytes, audit: AuditRow) -> bool:
    """Delete a session."""
    db.execute(SQL["end_session"], {"hash": hash_, "kind": "session"})
    if db.changes() != 1:
        return False
    write_audit(db, audit)
    return True


def delete_expired(db: apsw.Connection, now: int, most: int) -> int:
    """Delete sessions and links whose time is over, oldest first."""
    db.execute(SQL["delete_expired_sessions"], {"now": now, "most": at_most(most)})
    return db.changes()
