"""The part of the door that is about what users keep for themselves: views and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from layover.errors import InvalidInput
from layover.interface.bodies import body_of
from layover.interface.bounds import check_text
from layover.model.user_settings import UserSettingsBody
from layover.model.views import VIEW_NAME, ViewBody, ViewFilter, is_view_name

if TYPE_CHECKING:
    from layover.interface.backend import Backend
    from layover.model.user_settings import UserSettings
    from layover.model.views import SavedView


class ViewsDoor:
    """What a program can ask about saved views and settings of its user."""

    _backend: Backend

    async def views(self) -> tuple[SavedView, ...]:
        """Return my saved views by name; there are 100 at most."""
        return (await self._backend.views.list()).items

    async def view(self, name: str) -> SavedView:
        """Return one of my saved views; `executions(**view.arguments())` lists what it shows."""
        _check_name(name)
        return await self._backend.views.get(name)

    async def save_view(self, name: str, **filter: Any) -> SavedView:  # noqa: A002 - as everywhere
        """Save a filter of `executions` under a name, in the place of what I have under it.

        `since` and `until` are moments in ISO 8601, or how long ago: `save_view("new", status=["failed"], since="2d")`.
        """
        _check_name(name)
        body = ViewBody(filter=body_of(filter, ViewFilter, "{'status': ['failed'], 'since': '2d'}"))
        return await self._backend.views.save(name, body)

    async def delete_view(self, name: str) -> None:
        """Delete one of my saved views."""
        _check_name(name)
        await self._backend.views.delete(name)

    async def my_settings(self) -> UserSettings:
        """Return what I have set for myself in the console; as by default where I have set nothing."""
        return await self._backend.user_settings.get()

    async def save_my_settings(self, **settings: Any) -> UserSettings:
        """Replace my settings: `save_my_settings(theme="dark", zone="utc")`; those not given are as by default."""
        return await self._backend.user_settings.save(body_of(settings, UserSettingsBody, "{'theme': 'dark'}"))


def _check_name(name: str) -> None:
    check_text("name", name, VIEW_NAME, 1)
    if not is_view_name(name):
        fault = "it is printable and without `/`"
        raise InvalidInput(f"`name`: {fault}.", (("name", fault),), code="invalid_parameter")
