"""Finds people: in the directory of the program or a file, and in the table of the database.

The first that knows a person counts. A directory that fails ends the search: a notification that would reach only some
of those whom it is for is put off instead.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from layover.model.people import Person
from layover.runtime.deliveries.directory_file import DirectoryFailed, DirectoryFile
from layover.runtime.results.deliveries import person_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.directory import Directory
    from layover.ports.families.people import PeopleStore

PATIENCE: Final = 10.0  # seconds that a directory has
MOST_PEOPLE: Final = 10_000  # that are looked at for one notification


class PeopleFinder:
    """Asks all directories of an engine."""

    def __init__(self, table: PeopleStore, directory: Directory | str | None) -> None:
        self._table = table
        self._directory = DirectoryFile(directory) if isinstance(directory, str) else directory

    async def people(self, users: Sequence[str], roles: Sequence[str]) -> list[Person]:
        """Return people by their names, and all who have one of some roles; each once, by name."""
        if not users and not roles:
            return []
        found: dict[str, Person] = {}
        if self._directory is not None:
            for person in await _ask(self._directory, users, roles):
                found.setdefault(person.user, person)
        for row in await self._table.find_people(users, roles):
            found.setdefault(row.user, person_of(row))
        return [found[user] for user in sorted(found)][:MOST_PEOPLE]


async def _ask(directory: Directory, users: Sequence[str], roles: Sequence[str]) -> list[Person]:
    """Ask a directory, which may be anybody's: it may hang, fail, or return anything."""
    try:
        async with asyncio.timeout(PATIENCE):
            people: object = await directory.people(users, roles)
    except TimeoutError as error:
        raise DirectoryFailed(f"The directory did not answer within {PATIENCE:g} s.") from error
    except DirectoryFailed:
        raise
    except Exception as error:
        # Its text may have anything in it: only its type is told.
        raise DirectoryFailed(f"The directory failed with {type(error).__name__}.") from error
    if not isinstance(people, list | tuple) or not all(isinstance(one, Person) for one in people):
        raise DirectoryFailed("The directory gave something else than a list of `Person`.")
    return list(people)
