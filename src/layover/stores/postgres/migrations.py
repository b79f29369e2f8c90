"""Migrations of a schema.

A schema with tables of another program is refused unchanged, and so is one of a newer release. But in a rolling update
older instances go on beside newer ones: a migration whose first line is `-- compatible` is one that older releases can
live with, and the table `migrations` says so to those that do not know it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import asyncpg

from layover.ports.errors import StoreUnavailable, StoreUnusable
from layover.stores.migrations import check_complete, compare, read_migrations
from layover.stores.postgres.database import Transaction
from layover.stores.postgres.migration_lock import FOR_LONG, migration_lock, own_connection
from layover.stores.postgres.statements import in_schema, statements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.stores.migrations import MigrationFile
    from layover.stores.postgres.address import Address
    from layover.stores.postgres.database import PostgresSchema, StatementRunner

_LONGEST_WAIT = 5_000  # milliseconds for a table in use; later statements wait behind us


class AppliedMigrations(NamedTuple):
    """The migrations that a schema has taken: the checksum of each, and those that are compatible."""

    checksums: dict[int, str]
    compatible: frozenset[int]


def migrations() -> list[MigrationFile]:
    """Return the migrations of this release."""
    return read_migrations("layover.stores.postgres")


async def migrate(
    address: Address, now: int, to: int | None = None, known: Sequence[MigrationFile] | None = None
) -> list[int]:
    """Migrate a schema to a number (the newest by default), up or down; return the migrations that were taken.

    Several processes may try at once: one does the work, the others find it done. When there is nothing to do it only
    reads, and takes no lock. A release that does not know all migrations of the schema takes none of them back.
    """
    known = migrations() if known is None else known
    async with own_connection(address) as connection:
        tables = Transaction(connection, statements(address.schema))
        had = await applied_migrations(tables)
        if had is not None and not _to_do(address, known, had, to):
            return []
        try:
            patience = min(address.statement_timeout, _LONGEST_WAIT)
            async with migration_lock(connection, address, patience, turn=address.statement_timeout):
                return await _take(connection, tables, address, _Wanted(known, to, now))
        except asyncpg.LockNotAvailableError as error:
            text = f"The tables of {address.shown} are in use by a transaction that takes long; nothing was done."
            raise StoreUnavailable(text, code="locked") from error


async def check(db: PostgresSchema, known: Sequence[MigrationFile] | None = None) -> None:
    """Refuse a schema that does not exist, is not ours, or has not taken all migrations."""
    known = migrations() if known is None else known
    had = await check_known(db, known)
    check_complete(_place(db.address), known, had.checksums)


async def check_known(db: PostgresSchema, known: Sequence[MigrationFile] | None = None) -> AppliedMigrations:
    """Refuse a schema that does not exist, is not ours, or is of a newer release; return its migrations."""
    known = migrations() if known is None else known
    had = await applied_migrations(db)
    if had is None:
        _, tables = await _tables(db, db.address)
        if tables:
            raise _foreign(db.address)
        text = f"There is no database of Layover at {db.address.shown} (schema `{db.address.schema}`)."
        raise StoreUnavailable(text, code="missing")
    compare(_place(db.address), known, had.checksums, had.compatible)
    return had


async def applied_migrations(db: StatementRunner) -> AppliedMigrations | None:
    """Return the migrations that a schema has taken; None if it does not exist or is not ours."""
    try:
        rows = await db.fetch("recorded_migrations")
    except (asyncpg.UndefinedTableError, asyncpg.UndefinedColumnError):
        return None
    except StoreUnusable as error:
        if error.code != "foreign":
            raise
        return None
    return AppliedMigrations(
        {number: checksum for number, checksum, _ in rows},
        frozenset(number for number, _, compatible in rows if compatible),
    )


class _Wanted(NamedTuple):
    """The migrations of a release, the number to migrate to, and the time."""

    known: Sequence[MigrationFile]
    to: int | None
    now: int


async def _take(connection: asyncpg.Connection, tables: Transaction, address: Address, wanted: _Wanted) -> list[int]:
    """Take the migrations that are needed, up or down."""
    had = await _prepared(tables, connection, address)
    steps = _to_do(address, wanted.known, had, wanted.to)
    for step in steps:
        is_down = step.number in had.checksums
        text = in_schema(step.down if is_down else step.up, address.schema)
        await connection.execute(text, timeout=FOR_LONG)
        if is_down:
            await tables.fetch("delete_migration", step.number)
        else:
            row = (step.number, step.name, step.checksum, wanted.now, step.is_compatible)
            await tables.fetch("record_migration", *row)
    return [step.number for step in steps]


async def _prepared(tables: Transaction, connection: asyncpg.Connection, address: Address) -> AppliedMigrations:
    """Return the migrations that a schema has taken; a missing or empty schema becomes ours."""
    has_schema, names = await _tables(tables, address)
    if names and "migrations" not in names:
        raise _foreign(address)
    if not has_schema:  # a user without the right to create a schema can be given one
        await connection.execute(f'CREATE SCHEMA "{address.schema}"')
    if "migrations" not in names:
        await tables.fetch("create_migrations_table")
    had = await applied_migrations(tables)
    if had is None:
        raise _foreign(address)
    return had


def _to_do(
    address: Address, known: Sequence[MigrationFile], had: AppliedMigrations, to: int | None
) -> list[MigrationFile]:
    """Return the migrations to take, or those to take back, last one first."""
    place = _place(address)
    target = known[-1].number if to is None else to
    # A migration that we do not know may depend on one that we would take back.
    is_back = any(step.number > target for step in known if step.number in had.checksums)
    compare(place, known, had.checksums, () if is_back else had.compatible)
    if is_back:
        return [step for step in reversed(known) if step.number in had.checksums and step.number > target]
    return [step for step in known if step.number not in had.checksums and step.number <= target]


async def _tables(db: StatementRunner, address: Address) -> tuple[bool, list[str]]:
    ((has_schema, names),) = await db.fetch("tables_of_schema", address.schema)
    return has_schema, names


def _place(address: Address) -> str:
    return f"The schema `{address.schema}` of {address.shown}"


def _foreign(address: Address) -> StoreUnusable:
    text = f"The schema `{address.schema}` of {address.shown} has tables of another program; Layover needs its own."
    return StoreUnusable(text, code="foreign")
