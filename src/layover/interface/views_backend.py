"""What the door needs of a backend for saved views."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from layover.model.shared import Page
    from layover.model.views import SavedView, ViewBody


class ViewsBackend(Protocol):
    """Saved views of the user."""

    async def list(self) -> Page[SavedView]:
        """Return the views of the user, by name."""

    async def get(self, name: str) -> SavedView:
        """Return a view of the user."""

    async def save(self, name: str, body: ViewBody) -> SavedView:
        """Create or replace a view of the user."""

    async def delete(self, name: str) -> None:
        """Delete a view of the user."""
