"""Numbered steps from one shape of the tables to the next, each with its way back.

The file says of itself that it is ours (`application_id`), and a table says which steps it has taken, with the checksum
of each. A file of another program, of a newer release, or with a step that reads differently now is refused unchanged.
"""

from __future__ import annotations

import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from layover.ports.errors import StoreUnusable

if TYPE_CHECKING:
    from pathlib import Path

    import apsw

APPLICATION_ID = 0x4C41594F


class Migration(NamedTuple):
    """One step: the statements that take it, and those that take it back."""

    number: int
    name: str
    up: str
    down: str

    @property
    def checksum(self) -> str:
        """What tells whether the step is still the one that was taken."""
        return hashlib.sha256(f"{self.up}\0{self.down}".encode()).hexdigest()


def migrations() -> list[Migration]:
    """Return all steps that this release knows."""
    folder = files("layover.stores.sqlite") / "migrations"
    texts = {file.name: file.read_text() for file in folder.iterdir() if file.name.endswith(".sql")}
    names = sorted({name.partition(".")[0] for name in texts})
    return [Migration(int(n[:4]), n[5:], texts[f"{n}.up.sql"], texts[f"{n}.down.sql"]) for n in names]


def migrate(db: apsw.Connection, path: Path, now: int, to: int | None = None) -> list[int]:
    """Bring a file to a number (the newest by default), up or down; return the steps that were taken.

    Several processes may try at once: one does the work, the others find it done.
    """
    known = migrations()
    target = known[-1].number if to is None else to
    db.execute("BEGIN IMMEDIATE")
    try:
        taken = _taken(db, path, known)
        done: list[int] = []
        for step in known:
            if step.number not in taken and step.number <= target:
                db.execute(step.up)
                db.execute(
                    "INSERT INTO migrations (number, name, checksum, taken_at) VALUES (?, ?, ?, ?)",
                    (step.number, step.name, step.checksum, now),
                )
                done.append(step.number)
        for step in reversed(known):
            if step.number in taken and step.number > target:
                db.execute(step.down)
                db.execute("DELETE FROM migrations WHERE number = ?", (step.number,))
                done.append(step.number)
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
    return done


def check(db: apsw.Connection, path: Path) -> None:
    """Refuse a file that is not ours, or not entirely in the shape that this release needs."""
    known = migrations()
    if db.pragma("application_id") != APPLICATION_ID:
        raise _foreign(path)
    missing = [step.number for step in known if step.number not in _recorded(db, path, known)]
    if missing:
        raise StoreUnusable(f"{path} needs the migrations {missing}.", code="old_database")


def _taken(db: apsw.Connection, path: Path, known: list[Migration]) -> set[int]:
    """Return the steps that a file has taken; a new file becomes ours."""
    tables = db.execute("SELECT count(*) FROM sqlite_schema").get
    if db.pragma("application_id") != APPLICATION_ID:
        if tables:
            raise _foreign(path)
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(
            "CREATE TABLE migrations ("
            "number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, taken_at INTEGER NOT NULL)"
        )
        return set()
    return _recorded(db, path, known)


def _recorded(db: apsw.Connection, path: Path, known: list[Migration]) -> set[int]:
    checksums = {step.number: step.checksum for step in known}
    taken: dict[int, str] = dict(db.execute("SELECT number, checksum FROM migrations"))
    newer = sorted(taken.keys() - checksums.keys())
    if newer:
        raise StoreUnusable(
            f"{path} was written by a newer release of Layover (migration {newer[-1]}; this one knows "
            f"{max(checksums)}). Use that release.",
            code="newer_database",
        )
    for number, checksum in sorted(taken.items()):
        if checksum != checksums[number]:
            raise StoreUnusable(
                f"{path} took another migration {number} than this release has.", code="other_migration"
            )
    return set(taken)


def _foreign(path: Path) -> StoreUnusable:
    return StoreUnusable(f"{path} is a database of another program; Layover needs a file of its own.", code="foreign")
