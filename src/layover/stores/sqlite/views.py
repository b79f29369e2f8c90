"""Saved views."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import asdict

from layover.ports.access import ViewRow
from layover.stores.checks import at_most, check_texts
from layover.stores.sqlite.audit import write_audit
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    import apsw

    from layover.ports.records import AuditRow
    from layover.stores.sqlite.rows import Row
    from layover.stores.sqlite.session import SqliteSession


class SqliteViews:
    """Saved views of a file."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session

    async def list_views(self, user: str) -> list[ViewRow]:
        """List the views of a user by name."""
        return await self._session.read(
            lambda db: [view_of(row) for row in db.execute(SQL["list_views"], {"user": user})]
        )

    async def read_views(self, after: tuple[str, str], limit: int) -> list[ViewRow]:
        """Read the views of all users."""
        values = {"user": after[0], "name": after[1], "limit": at_most(limit)}
        return await self._session.read(lambda db: [view_of(row) for row in db.execute(SQL["read_views"], values)])

    async def save_view(self, row: ViewRow, most: int, audit: AuditRow | None = None) -> bool:
        """Create or replace a view."""
        check_texts(row.user, row.name)

        def save(db: apsw.Connection) -> bool:
            db.execute(SQL["save_view"], {**asdict(row), "most": most})
            if db.changes() != 1:
                return False
            write_audit(db, audit)
            return True

        return await self._session.write(save)

    async def delete_view(self, user: str, name: str, audit: AuditRow | None = None) -> bool:
        """Delete a view."""

        def delete(db: apsw.Connection) -> bool:
            db.execute(SQL["delete_view"], {"user": user, "name": name})
            if db.changes() != 1:
                return False
            write_audit(db, audit)
            return True

        return await self._session.write(delete)


def insert_views(db: apsw.Connection, rows: tuple[ViewRow, ...]) -> int:
    """Insert views that are not there; return how many."""
    before = db.total_changes()
    db.executemany(SQL["copy_view"], [asdict(row) for row in rows])
    return db.total_changes() - before


def view_of(row: Row) -> ViewRow:
    """Return a view."""
    user, name, body, changed_at = row
    return ViewRow(user=user, name=name, body=body, changed_at=changed_at)
