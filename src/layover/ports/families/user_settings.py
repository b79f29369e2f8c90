"""What users have set for themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from layover.ports.access import UserSettingsRow


class UserSettingsStore(Protocol):
    """Settings of users."""

    async def find_settings(self, user: str) -> UserSettingsRow | None:
        """Find the settings of a user."""

    async def read_settings(self, after: str, limit: int) -> list[UserSettingsRow]:
        """Read the settings of all users by name, beginning after one of them."""

    async def save_settings(self, row: UserSettingsRow) -> None:
        """Create or replace the settings of a user."""
