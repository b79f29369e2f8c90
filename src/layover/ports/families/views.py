"""Saved views: filters of lists that users keep under a name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from layover.ports.access import ViewRow
    from layover.ports.records import AuditRow


class ViewStore(Protocol):
    """Views of users."""

    async def list_views(self, user: str) -> list[ViewRow]:
        """List the views of a user by name."""

    async def read_views(self, after: tuple[str, str], limit: int) -> list[ViewRow]:
        """Read the views of all users by user and name, beginning after one of them."""

    async def save_view(self, row: ViewRow, most: int, audit: AuditRow | None = None) -> bool:
        """Create or replace a view; false if it would be new, and the user has `most` of them already."""

    async def delete_view(self, user: str, name: str, audit: AuditRow | None = None) -> bool:
        """Delete a view; false if there is none of that name."""
