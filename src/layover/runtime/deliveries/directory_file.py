"""The directory as a YAML file: a person for each name.

    ada: {roles: [finance], addresses: {mail: ada@example.org}, language: de, zone: Europe/Berlin}

The file is read in a thread, because a file system may hang, and again when it has changed.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from layover.core.definitions.limits import DEFAULT_LIMITS
from layover.core.definitions.problems import Problems
from layover.errors import LayoverError
from layover.model.people import Person
from layover.model.shared import decode

if TYPE_CHECKING:
    from collections.abc import Sequence

_LARGEST: Final = 4_000_000  # bytes


class DirectoryFailed(LayoverError):  # noqa: N818 - it says what the directory has done
    """A directory raised an exception, did not answer in time, or has something else than people."""

    code = "directory_failed"
    retryable = True


class DirectoryFile:
    """People in a file."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._seen: tuple[int, int] | None = None  # when it was changed, and its size
        self._people: dict[str, Person] = {}

    async def people(self, users: Sequence[str], roles: Sequence[str]) -> list[Person]:
        """Return the people with some names or roles."""
        known = await asyncio.to_thread(self._read)
        wanted = set(roles)
        return [one for one in known.values() if one.user in users or not wanted.isdisjoint(one.roles)]

    def _read(self) -> dict[str, Person]:
        try:
            found = self._path.stat()
            seen = found.st_mtime_ns, found.st_size
            if seen != self._seen:
                if found.st_size > _LARGEST:
                    raise DirectoryFailed(f"The directory `{self._path}` has more than {_LARGEST:,} bytes.")
                self._people = _people_in(self._path.read_text(encoding="utf-8"), self._path)
                self._seen = seen
        except (OSError, UnicodeError) as error:
            raise DirectoryFailed(f"The directory `{self._path}` cannot be read: {type(error).__name__}.") from error
        return self._people


def _people_in(text: str, path: Path) -> dict[str, Person]:
    from layover.core.definitions.yaml_text import read_yaml  # noqa: PLC0415 - programs without such a file need no YAML

    problems = Problems()
    tree = read_yaml(text, problems, DEFAULT_LIMITS)
    listed = problems.listed()
    if tree is None or listed:
        where = f": {listed[0].message}" if listed else "."
        raise DirectoryFailed(f"The directory `{path}` is not YAML that can be read{where}")
    data = tree.plain()
    if not isinstance(data, dict):
        raise DirectoryFailed(f"The directory `{path}` is not a mapping of names to people.")
    return {user: _person(user, fields, path) for user, fields in data.items()}


def _person(user: str, fields: object, path: Path) -> Person:
    given = fields if isinstance(fields, dict) else {}
    if given.keys() - {"roles", "addresses", "language", "zone", "away", "mute"} or not isinstance(fields, dict):
        raise DirectoryFailed(f"The directory `{path}` has something else than a person at `{user[:50]}`.")
    try:
        return decode(msgspec.json.encode(given | {"user": user}), Person)
    except (msgspec.ValidationError, ValueError) as error:
        raise DirectoryFailed(f"The directory `{path}` has a fault at `{user[:50]}`: {error}.") from error
