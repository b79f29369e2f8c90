"""Saved views."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.stores.checks import at_most, check_texts
from layover.stores.memory.audit import write_audit

if TYPE_CHECKING:
    from layover.ports.access import ViewRow
    from layover.ports.records import AuditRow
    from layover.stores.memory.session import MemorySession


class MemoryViews:
    """Saved views in memory."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def list_views(self, user: str) -> list[ViewRow]:
        """List the views of a user by name."""
        views = (await self._session.turn()).saved_views
        return [row for key, row in sorted(views.items()) if key[0] == user]

    async def read_views(self, after: tuple[str, str], limit: int) -> list[ViewRow]:
        """Read the views of all users."""
        views = (await self._session.turn()).saved_views
        return [views[key] for key in sorted(views) if key > after][: at_most(limit)]

    async def save_view(self, row: ViewRow, most: int, audit: AuditRow | None = None) -> bool:
        """Create or replace a view."""
        check_texts(row.user, row.name)
        db = await self._session.turn()
        key = row.user, row.name
        if key not in db.saved_views and sum(user == row.user for user, _ in db.saved_views) >= most:
            return False
        db.saved_views[key] = row
        write_audit(db, audit)
        return True

    async def delete_view(self, user: str, name: str, audit: AuditRow | None = None) -> bool:
        """Delete a view."""
        db = await self._session.turn()
        if db.saved_views.pop((user, name), None) is None:
            return False
        write_audit(db, audit)
        return True
