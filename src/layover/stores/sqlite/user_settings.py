"""What users have set for themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import asdict

from layover.ports.access import UserSettingsRow
from layover.stores.checks import at_most, check_texts
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    import apsw

    from layover.stores.sqlite.rows import Row
    from layover.stores.sqlite.session import SqliteSession


class SqliteUserSettings:
    """Settings of users in a file."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session

    async def find_settings(self, user: str) -> UserSettingsRow | None:
        """Find the settings of a user."""
        row = await self._session.read(lambda db: db.execute(SQL["find_user_settings"], {"user": user}).fetchone())
        return settings_of(row) if row is not None else None

    async def read_settings(self, after: str, limit: int) -> list[UserSettingsRow]:
        """Read the settings of all users by name, beginning after one of them."""
        values = {"after": after, "limit": at_most(limit)}
        return await self._session.read(
            lambda db: [settings_of(row) for row in db.execute(SQL["read_user_settings"], values)]
        )

    async def save_settings(self, row: UserSettingsRow) -> None:
        """Create or replace the settings of a user."""
        check_texts(row.user)

        def save(db: apsw.Connection) -> None:
            db.execute(SQL["save_user_settings"], asdict(row))

        await self._session.write(save)


def insert_user_settings(db: apsw.Connection, rows: tuple[UserSettingsRow, ...]) -> int:
    """Insert settings of users who have none; return how many."""
    before = db.total_changes()
    db.executemany(SQL["copy_user_settings"], [asdict(row) for row in rows])
    return db.total_changes() - before


def settings_of(row: Row) -> UserSettingsRow:
    """Return the settings of a user."""
    user, body, changed_at = row
    return UserSettingsRow(user=user, body=body, changed_at=changed_at)
