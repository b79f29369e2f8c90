"""People: the table of the directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.stores.checks import at_most, check_texts
from layover.stores.memory.audit import write_audit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.delivery_records import PersonRow
    from layover.ports.records import AuditRow
    from layover.stores.memory.session import MemorySession


class MemoryPeople:
    """People in memory."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def find_people(self, users: Sequence[str], roles: Sequence[str]) -> list[PersonRow]:
        """Find people by name or role."""
        people = (await self._session.turn()).people
        return [row for name, row in sorted(people.items()) if name in users or not set(roles).isdisjoint(row.roles)]

    async def list_people(self, after: str = "", limit: int = 100) -> list[PersonRow]:
        """List people by name."""
        people = (await self._session.turn()).people
        return [people[name] for name in sorted(people) if name > after][: at_most(limit)]

    async def save_person(self, row: PersonRow, audit: AuditRow | None = None) -> None:
        """Create or replace a person."""
        check_texts(row.user, *row.roles)
        db = await self._session.turn()
        db.people[row.user] = row
        write_audit(db, audit)

    async def delete_person(self, user: str, audit: AuditRow | None = None) -> bool:
        """Delete a person."""
        db = await self._session.turn()
        if db.people.pop(user, None) is None:
            return False
        write_audit(db, audit)
        return True
