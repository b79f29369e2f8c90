"""Links to pause points, by the hashes of their tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import asdict

from layover.ports.access import LinkRow
from layover.stores.checks import check_texts
from layover.stores.ids import text
from layover.stores.sqlite.audit import write_audit
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    import apsw

    from layover.ports.access import NewLink
    from layover.ports.records import AuditRow
    from layover.stores.sqlite.rows import Row
    from layover.stores.sqlite.session import SqliteSession


class SqliteLinks:
    """Links of a file."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session

    async def add(self, link: NewLink, audit: AuditRow | None = None) -> bool:
        """Store a link."""
        check_texts(link.user)

        def add(db: apsw.Connection) -> bool:
            db.execute(SQL["add_link"], {**asdict(link), "revoked_at": None})
            if db.changes() != 1 and find(db, link.hash) is None:
                return False
            write_audit(db, audit)
            return True

        return await self._session.write(add)

    async def find(self, hash_: bytes) -> LinkRow | None:
        """Find a link."""
        return await self._session.read(lambda db: find(db, hash_))

    async def revoke(self, point: str, user: str | None, now: int, audit: AuditRow | None = None) -> int:
        """Revoke links to a point."""

        def revoke(db: apsw.Connection) -> int:
            db.execute(SQL["revoke_links"], {"point": point, "user": user, "now": now})
            count = db.changes()
            write_audit(db, audit)
            return count

        return await self._session.write(revoke)


def find(db: apsw.Connection, hash_: bytes) -> LinkRow | None:
    """Find a link by its hash."""
    row = db.execute(SQL["link_by_hash"], {"hash": hash_}).fetchone()
    return link_of(row) if row is not None else None


def link_of(row: Row) -> LinkRow:
    """Return a link."""
    hash_, execution_id, point, user, made_at, expires_at, revoked_at = row
    return LinkRow(
        hash=hash_,
        execution_id=text(execution_id),
        point=point,
        user=user,
        made_at=made_at,
        expires_at=expires_at,
        revoked_at=revoked_at,
    )
