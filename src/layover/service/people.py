"""The directory as one user reads and changes it: that needs `admin`, since it has addresses of people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.model.shared import Page
from layover.runtime.results.deliveries import person_of
from layover.service.cursors import cursor_of_name, parsed_name
from layover.service.pages import MOST

if TYPE_CHECKING:
    from layover.model.people import Person, PersonBody
    from layover.ports.delivery_records import PersonRow
    from layover.service.actor import Actor


class PeopleService:
    """The directory."""

    __slots__ = ("_actor",)

    def __init__(self, actor: Actor) -> None:
        self._actor = actor

    async def list(self, limit: int, cursor: str | None) -> Page[Person]:
        """Return a page of the people in the table of the directory, by name."""
        self._actor.require("admin")
        most, after = min(limit, MOST), parsed_name(cursor) if cursor is not None else ""
        found = await self._actor.runtime.people.list(after, most + 1)
        return Page(items=tuple(found[:most]), next=cursor_of_name(found[most - 1].user) if len(found) > most else None)

    async def get(self, user: str) -> Person:
        """Return a person as all parts of the directory know them."""
        self._actor.require("admin")
        return await self._actor.runtime.people.find(user)

    async def save(self, user: str, body: PersonBody) -> Person:
        """Create or replace a person in the table."""
        self._actor.require("admin")
        before, after = await self._noted(user), _noted(self._actor.runtime.people.row(user, body))
        return await self._actor.runtime.people.save(
            user, body, self._actor.entry("person.save", user, before=before, after=after)
        )

    async def delete(self, user: str) -> None:
        """Delete a person from the table."""
        self._actor.require("admin")
        entry = self._actor.entry("person.delete", user, before=await self._noted(user))
        await self._actor.runtime.people.delete(user, entry)

    async def _noted(self, user: str) -> dict[str, object] | None:
        """Return what the audit log says of a person who is in the table."""
        found = await self._actor.runtime.instance.store.people.find_people([user], [])
        return _noted(found[0]) if found else None


def _noted(row: PersonRow) -> dict[str, object]:
    """Return what the audit log says of a person: all that counts for decisions; of addresses only which there are."""
    person = person_of(row)
    away = person.away
    return {
        "roles": person.roles,
        "away": {"until": str(away.until), "substitute": away.substitute} if away is not None else None,
        "addresses": sorted(person.addresses),
        "mute": person.mute,
    }
