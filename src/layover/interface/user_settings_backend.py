"""What the door needs of a backend for the settings of a user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from layover.model.user_settings import UserSettings, UserSettingsBody


class UserSettingsBackend(Protocol):
    """Settings of the user."""

    async def get(self) -> UserSettings:
        """Return the settings of the user."""

    async def save(self, body: UserSettingsBody) -> UserSettings:
        """Replace the settings of the user."""
