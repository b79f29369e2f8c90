"""Saved views."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import astuple

from layover.ports.access import ViewRow
from layover.stores.checks import at_most, check_texts
from layover.stores.postgres.audit import write_audit

if TYPE_CHECKING:
    from layover.ports.records import AuditRow
    from layover.stores.postgres.database import Row, StatementRunner
    from layover.stores.postgres.session import PostgresSession


class PostgresViews:
    """Saved views of a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    async def list_views(self, user: str) -> list[ViewRow]:
        """List the views of a user by name."""
        return [view_of(row) for row in await self._session.db.fetch("list_views", user)]

    async def read_views(self, after: tuple[str, str], limit: int) -> list[ViewRow]:
        """Read the views of all users by user and name, beginning after one of them."""
        return [view_of(row) for row in await self._session.db.fetch("read_views", *after, at_most(limit))]

    async def save_view(self, row: ViewRow, most: int, audit: AuditRow | None = None) -> bool:
        """Create or replace a view; false if it would be new, and the user has `most` of them already."""
        check_texts(row.user, row.name)

        async def save(tx: StatementRunner) -> bool:
            await tx.fetch("lock_views", row.user)
            if await tx.fetchrow("save_view", *astuple(row), most) is None:
                return False
            await write_audit(tx, audit)
            return True

        return await self._session.db.transact(save)

    async def delete_view(self, user: str, name: str, audit: AuditRow | None = None) -> bool:
        """Delete a view; false if there is none of that name."""

        async def delete(tx: StatementRunner) -> bool:
            if await tx.fetchrow("delete_view", user, name) is None:
                return False
            await write_audit(tx, audit)
            return True

        return await self._session.db.transact(delete)


def view_of(row: Row) -> ViewRow:
    """Return a view."""
    user, name, body, changed_at = row
    return ViewRow(user=user, name=name, body=body, changed_at=changed_at)
