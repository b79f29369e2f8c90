"""Migrations of a file.

The `application_id` of the file says that it is ours. A file of another program, of a newer release, or with a
migration that reads differently now is refused unchanged. No migration is compatible, since one release uses a file at
a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.errors import StoreUnusable
from layover.stores.migrations import check_complete, compare, read_migrations
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    from pathlib import Path

    import apsw

    from layover.stores.migrations import MigrationFile

APPLICATION_ID = 0x4C41594F


def migrations() -> list[MigrationFile]:
    """Return the migrations of this release."""
    return read_migrations("layover.stores.sqlite")


def migrate(db: apsw.Connection, path: Path, now: int, to: int | None = None) -> list[int]:
    """Migrate a file to a number (the newest by default), up or down; return the migrations that were taken.

    Several processes may try at once: one does the work, the others find it done.
    """
    known = migrations()
    target = known[-1].number if to is None else to
    db.execute("BEGIN IMMEDIATE")
    try:
        taken = _applied_migrations(db, path, known)
        done: list[int] = []
        for step in known:
            if step.number not in taken and step.number <= target:
                db.execute(step.up)
                db.execute(SQL["record_migration"], (step.number, step.name, step.checksum, now))
                done.append(step.number)
        for step in reversed(known):
            if step.number in taken and step.number > target:
                db.execute(step.down)
                db.execute(SQL["delete_migration"], (step.number,))
                done.append(step.number)
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
    return done


def check(db: apsw.Connection, path: Path) -> None:
    """Refuse a file that is not ours, or has not taken all migrations."""
    known = migrations()
    if db.pragma("application_id") != APPLICATION_ID:
        raise _foreign(path)
    check_complete(path, known, _recorded(db, path, known))


def _applied_migrations(db: apsw.Connection, path: Path, known: list[MigrationFile]) -> set[int]:
    """Return the migrations that a file has taken; a new file becomes ours."""
    tables = db.execute(SQL["count_tables"]).get
    if db.pragma("application_id") != APPLICATION_ID:
        if tables:
            raise _foreign(path)
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(SQL["create_migrations_table"])
        return set()
    return _recorded(db, path, known)


def _recorded(db: apsw.Connection, path: Path, known: list[MigrationFile]) -> set[int]:
    taken: dict[int, str] = dict(db.execute(SQL["recorded_migrations"]))
    compare(path, known, taken)
    return set(taken)


def _foreign(path: Path) -> StoreUnusable:
    return StoreUnusable(f"{path} is a database of another program; Layover needs a file of its own.", code="foreign")
