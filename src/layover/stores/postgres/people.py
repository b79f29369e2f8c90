"""People: the table of the directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import astuple

from layover.ports.delivery_records import PersonRow
from layover.stores.checks import at_most, check_texts
from layover.stores.postgres.audit import write_audit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import AuditRow
    from layover.stores.postgres.database import Row, StatementRunner
    from layover.stores.postgres.session import PostgresSession


class PostgresPeople:
    """People of a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    async def find_people(self, users: Sequence[str], roles: Sequence[str]) -> list[PersonRow]:
        """Find people by their names, and all who have one of some roles; each once, by name."""
        rows = await self._session.db.fetch("find_people", list(users), list(roles))
        return [person_of(row) for row in rows]

    async def list_people(self, after: str = "", limit: int = 100) -> list[PersonRow]:
        """List people by name, beginning after one."""
        return [person_of(row) for row in await self._session.db.fetch("list_people", after, at_most(limit))]

    async def save_person(self, row: PersonRow, audit: AuditRow | None = None) -> None:
        """Create or replace a person."""
        check_texts(row.user, *row.roles)

        async def save(tx: StatementRunner) -> None:
            await write_person(tx, row)
            await write_audit(tx, audit)

        await self._session.db.transact(save)

    async def delete_person(self, user: str, audit: AuditRow | None = None) -> bool:
        """Delete a person; false if there is none of that name."""

        async def delete(tx: StatementRunner) -> bool:
            if await tx.fetchrow("delete_person", user) is None:
                return False
            await write_audit(tx, audit)
            return True

        return await self._session.db.transact(delete)


async def write_person(db: StatementRunner, row: PersonRow) -> None:
    """Create or replace a person."""
    await db.fetch("save_people", *astuple(row))


def person_of(row: Row) -> PersonRow:
    """Return a person."""
    user, roles, body, changed_at = row
    return PersonRow(user=user, roles=tuple(roles), body=body, changed_at=changed_at)
