"""Saved views over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.client.requests import delete, get, path_of, put
from layover.model.shared import Page
from layover.model.views import SavedView

if TYPE_CHECKING:
    from layover.client.transport import Transport
    from layover.model.views import ViewBody


class HttpViews:
    """Saved views of the user."""

    __slots__ = ("_transport",)

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self) -> Page[SavedView]:
        """Return the views of the user, by name."""
        return await self._transport.ask(get(path_of("me", "views")), Page[SavedView])

    async def get(self, name: str) -> SavedView:
        """Return a view of the user."""
        return await self._transport.ask(get(path_of("me", "views", name)), SavedView)

    async def save(self, name: str, body: ViewBody) -> SavedView:
        """Create or replace a view of the user."""
        return await self._transport.ask(put(path_of("me", "views", name), body), SavedView)

    async def delete(self, name: str) -> None:
        """Delete a view of the user."""
        await self._transport.send(delete(path_of("me", "views", name)))
