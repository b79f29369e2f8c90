"""The directory as one user reads and changes it: that needs `admin`, since it has addresses of people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.model.shared import Page
from layover.service.cursors import cursor_of_name, parsed_name
from layover.service.pages import MOST

if TYPE_CHECKING:
    from layover.model.people import Person, PersonBody
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
        return await self._actor.runtime.people.save(user, body, self._actor.entry("person.save", user))

    async def delete(self, user: str) -> None:
        """Delete a person from the table."""
        self._actor.require("admin")
        await self._actor.runtime.people.delete(user, self._actor.entry("person.delete", user))
