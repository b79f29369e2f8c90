"""What users have set for themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.stores.checks import at_most, check_texts

if TYPE_CHECKING:
    from layover.ports.access import UserSettingsRow
    from layover.stores.memory.session import MemorySession


class MemoryUserSettings:
    """Settings of users in memory."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def find_settings(self, user: str) -> UserSettingsRow | None:
        """Find the settings of a user."""
        return (await self._session.turn()).user_settings.get(user)

    async def read_settings(self, after: str, limit: int) -> list[UserSettingsRow]:
        """Read the settings of all users by name, beginning after one of them."""
        rows = (await self._session.turn()).user_settings
        return [rows[user] for user in sorted(rows) if user > after][: at_most(limit)]

    async def save_settings(self, row: UserSettingsRow) -> None:
        """Create or replace the settings of a user."""
        check_texts(row.user)
        (await self._session.turn()).user_settings[row.user] = row
