"""What users have set for themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import astuple

from layover.ports.access import UserSettingsRow
from layover.stores.checks import at_most, check_texts

if TYPE_CHECKING:
    from layover.stores.postgres.database import Row
    from layover.stores.postgres.session import PostgresSession


class PostgresUserSettings:
    """Settings of users in a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    async def find_settings(self, user: str) -> UserSettingsRow | None:
        """Find the settings of a user."""
        row = await self._session.db.fetchrow("find_user_settings", user)
        return settings_of(row) if row is not None else None

    async def read_settings(self, after: str, limit: int) -> list[UserSettingsRow]:
        """Read the settings of all users by name, beginning after one of them."""
        return [settings_of(row) for row in await self._session.db.fetch("read_user_settings", after, at_most(limit))]

    async def save_settings(self, row: UserSettingsRow) -> None:
        """Create or replace the settings of a user."""
        check_texts(row.user)
        await self._session.db.fetch("save_user_settings", *astuple(row))


def settings_of(row: Row) -> UserSettingsRow:
    """Return the settings of a user."""
    user, body, changed_at = row
    return UserSettingsRow(user=user, body=body, changed_at=changed_at)
