"""The schema of a database: how far it is, and how far this release brings it."""

from __future__ import annotations

import os

import msgspec

from layover.admin.instances import check_unused
from layover.bootstrap import inspectable_store, migrate_to, shape_of
from layover.errors import InvalidInput


class Schema(msgspec.Struct, frozen=True, kw_only=True):
    """The schema that a database has (None if it is not there, or not ours), and the newest that this release knows."""

    current: int | None
    newest: int


class MigrationReport(msgspec.Struct, frozen=True, kw_only=True):
    """The schema of a database before and after a migration, and the newest that this release knows."""

    before: int | None
    after: int | None
    newest: int


async def schema_of(db: str) -> Schema:
    """Return the schema of a database; nothing is changed."""
    shape = await shape_of(db)
    return Schema(current=shape.taken, newest=shape.newest)


async def migrate(db: str, *, to: int | None = None) -> MigrationReport:
    """Make a database, or bring it to the newest schema, or to the schema `to`.

    With `to`, no instance may have it open (WrongState, `in_use`). An older schema loses what only newer ones hold.
    """
    before = await schema_of(db)
    if to is None:
        store = inspectable_store(db)
        await store.open(f"migrate-{os.getpid()}")  # opening to write migrates
        await store.close()
    elif not 0 <= to <= before.newest:
        fault = f"there is no schema {to}; this release knows 0 to {before.newest}"
        raise InvalidInput(f"`to`: {fault}.", (("to", fault),), code="invalid_parameter")
    else:
        await check_unused(db)
        await migrate_to(db, to)
    return MigrationReport(before=before.current, after=(await schema_of(db)).current, newest=before.newest)
