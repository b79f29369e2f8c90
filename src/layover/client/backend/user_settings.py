"""Settings of the user over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.client.requests import get, path_of, put
from layover.model.user_settings import UserSettings

if TYPE_CHECKING:
    from layover.client.transport import Transport
    from layover.model.user_settings import UserSettingsBody


class HttpUserSettings:
    """Settings of the user."""

    __slots__ = ("_transport",)

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def get(self) -> UserSettings:
        """Return the settings of the user."""
        return await self._transport.ask(get(path_of("me", "settings")), UserSettings)

    async def save(self, body: UserSettingsBody) -> UserSettings:
        """Replace the settings of the user."""
        return await self._transport.ask(put(path_of("me", "settings"), body), UserSettings)
