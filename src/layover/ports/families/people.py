"""People: a small table of the directory, for those who have no other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.delivery_records import PersonRow
    from layover.ports.records import AuditRow


class PeopleStore(Protocol):
    """Who can be reached, and where."""

    async def find_people(self, users: Sequence[str], roles: Sequence[str]) -> list[PersonRow]:
        """Find people by their names, and all who have one of some roles; each once, by name."""

    async def list_people(self, after: str = "", limit: int = 100) -> list[PersonRow]:
        """List people by name, beginning after one."""

    async def save_person(self, row: PersonRow, audit: AuditRow | None = None) -> None:
        """Create or replace a person."""

    async def delete_person(self, user: str, audit: AuditRow | None = None) -> bool:
        """Delete a person; false if there is none of that name."""
