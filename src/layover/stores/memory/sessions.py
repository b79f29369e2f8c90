"""Sessions and sign-in links, stored as hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.errors import StoreError
from layover.stores.checks import at_most, session_exists
from layover.stores.memory.audit import write_audit

if TYPE_CHECKING:
    from layover.ports.access import SessionKind, SessionRow
    from layover.ports.records import AuditRow
    from layover.stores.memory.database import MemoryDatabase
    from layover.stores.memory.session import MemorySession


class MemorySessions:
    """Sessions in memory."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def open_session(self, row: SessionRow, most: int, audit: AuditRow | None = None) -> None:
        """Store a session, or a link."""
        db = await self._session.turn()
        _add(db, row, most)
        write_audit(db, audit)

    async def use_link(self, link: bytes, row: SessionRow, now: int, most: int, audit: AuditRow) -> bool:
        """Store a session in the place of a link."""
        db = await self._session.turn()
        found = find(db, link, now)
        if found is None or found.kind != "link":
            return False
        del db.sessions[found.id]
        try:
            _add(db, row, most)
        except StoreError:
            db.sessions[found.id] = found
            raise
        write_audit(db, audit)
        return True

    async def find_session(self, hash_: bytes, now: int) -> SessionRow | None:
        """Find a session, or a link, that has not ended."""
        return find(await self._session.turn(), hash_, now)

    async def end_session(self, hash_: bytes, audit: AuditRow) -> bool:
        """Delete a session."""
        db = await self._session.turn()
        found = _by_hash(db, hash_)
        if found is None or found.kind != "session":
            return False
        del db.sessions[found.id]
        write_audit(db, audit)
        return True

    async def note_refused(self, audit: AuditRow) -> None:
        """Write down that a sign-in was refused."""
        write_audit(await self._session.turn(), audit)

    async def list_sessions(self, kind: SessionKind, after: str, limit: int) -> list[SessionRow]:
        """List sessions, or links, in the order of their ids."""
        rows = (await self._session.turn()).sessions
        return [rows[id_] for id_ in sorted(rows) if id_ > after and rows[id_].kind == kind][: at_most(limit)]

    async def list_open_sessions(self, now: int, after: str, limit: int) -> list[SessionRow]:
        """List sessions that have not ended, in the order of their ids."""
        return _open(await self._session.turn(), now, after)[: at_most(limit)]

    async def list_sessions_of_user(self, user: str, now: int, after: str, limit: int) -> list[SessionRow]:
        """List the sessions of one user that have not ended, in the order of their ids."""
        found = _open(await self._session.turn(), now, after)
        return [row for row in found if row.user == user][: at_most(limit)]

    async def delete_expired(self, now: int, most: int) -> int:
        """Delete sessions and links whose time is over, oldest first."""
        rows = (await self._session.turn()).sessions
        over = sorted((row.expires_at, id_) for id_, row in rows.items() if row.expires_at <= now)[: at_most(most)]
        for _, id_ in over:
            del rows[id_]
        return len(over)


def is_there(db: MemoryDatabase, row: SessionRow) -> bool:
    """Return whether there is a session with this id or this hash."""
    return row.id in db.sessions or _by_hash(db, row.hash) is not None


def find(db: MemoryDatabase, hash_: bytes, now: int) -> SessionRow | None:
    """Find a session, or a link, that has not ended, and whose key has not."""
    row = _by_hash(db, hash_)
    return row if row is not None and _lasts(db, row, now) else None


def _lasts(db: MemoryDatabase, row: SessionRow, now: int) -> bool:
    if row.expires_at <= now or not row.key_id:
        return row.expires_at > now
    key = db.keys.get(row.key_id)
    return key is not None and all(end is None or end > now for end in (key.expires_at, key.ended_at))


def _open(db: MemoryDatabase, now: int, after: str) -> list[SessionRow]:
    rows = [row for id_, row in db.sessions.items() if id_ > after and row.kind == "session" and _lasts(db, row, now)]
    return sorted(rows, key=lambda row: row.id)


def _add(db: MemoryDatabase, row: SessionRow, most: int) -> None:
    """Store a session; the oldest ones of its user go, if there are too many."""
    if is_there(db, row):
        raise session_exists(row)
    db.sessions[row.id] = row
    theirs = [one for one in db.sessions.values() if (one.user, one.kind) == (row.user, row.kind)]
    for one in sorted(theirs, key=lambda one: (one.created_at, one.id), reverse=True)[at_most(most) :]:
        del db.sessions[one.id]


def _by_hash(db: MemoryDatabase, hash_: bytes) -> SessionRow | None:
    return next((row for row in db.sessions.values() if row.hash == hash_), None)
