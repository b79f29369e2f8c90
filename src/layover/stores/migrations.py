"""Numbered migrations of the tables, each with a way back.

The table `migrations` records those that a database has taken, with the checksum of each. A database of a newer
release, or with a migration that reads differently now, is refused unchanged; unless the newer migrations say that
older releases can go on.
"""

from __future__ import annotations

import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from layover.ports.errors import StoreUnusable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

_COMPATIBLE = "-- compatible"  # the first line of a migration that older releases can live with


class MigrationFile(NamedTuple):
    """One migration: the statements that take it, and those that take it back."""

    number: int
    name: str
    up: str
    down: str

    @property
    def checksum(self) -> str:
        """The checksum, which changes if the migration does."""
        return hashlib.sha256(f"{self.up}\0{self.down}".encode()).hexdigest()

    @property
    def is_compatible(self) -> bool:
        """Whether older releases can go on after this migration."""
        return self.up.partition("\n")[0].strip() == _COMPATIBLE


class Shape(NamedTuple):
    """The last migration that a database has taken (None if it is not ours), and the last that this release knows."""

    taken: int | None
    newest: int


def read_migrations(package: str) -> list[MigrationFile]:
    """Return the migrations in the folder `migrations` of a package."""
    folder = files(package) / "migrations"
    texts = {file.name: file.read_text() for file in folder.iterdir() if file.name.endswith(".sql")}
    names = sorted({name.partition(".")[0] for name in texts})
    return [MigrationFile(int(n[:4]), n[5:], texts[f"{n}.up.sql"], texts[f"{n}.down.sql"]) for n in names]


def compare(
    place: object, known: Sequence[MigrationFile], taken: Mapping[int, str], compatible: Collection[int] = ()
) -> None:
    """Refuse a database with migrations that this release does not know, or knows differently.

    `taken` holds their checksums. Those in `compatible` need not be known.
    """
    checksums = {step.number: step.checksum for step in known}
    newer = sorted(taken.keys() - checksums.keys())
    if not set(newer) <= set(compatible):
        raise StoreUnusable(
            f"{place} was written by a newer release of Layover (migration {newer[-1]}; this one knows "
            f"{max(checksums)}). Use that release.",
            code="newer_database",
        )
    for number, checksum in sorted(taken.items()):
        if checksum != checksums.get(number, checksum):
            raise StoreUnusable(
                f"{place} took another migration {number} than this release has.", code="other_migration"
            )


def check_complete(place: object, known: Sequence[MigrationFile], taken: Collection[int]) -> None:
    """Refuse a database that has not taken all migrations."""
    missing = [step.number for step in known if step.number not in taken]
    if missing:
        raise StoreUnusable(f"{place} needs the migrations {missing}.", code="old_database")
