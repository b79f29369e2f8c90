"""Weekly partitions: executions that began in the same week have their logs in one partition.

When none of them is needed any more, the partition is dropped: that costs the same however much was logged. Partitions
for this week and the next ones are created ahead of time. Without one, rows are in the default partition and are
deleted one by one.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import asyncpg

from layover.ports.errors import StoreUnavailable
from layover.stores.postgres.database import Transaction
from layover.stores.postgres.migration_lock import FOR_LONG, PATIENCE, migration_lock, own_connection
from layover.stores.postgres.statements import in_schema

if TYPE_CHECKING:
    from layover.stores.postgres.database import PostgresSchema

WEEK = 604_800_000  # milliseconds
_AHEAD = 2
_BETWEEN_TRIES = 3_600_000  # milliseconds
_LONGEST_LOOK = 2_000  # milliseconds for which the server may search the default partition for rows of a week

# The tables are in use, another instance was first, the default partition has rows of the week, or we lack the right.
_CAN_WAIT = (
    StoreUnavailable,
    asyncpg.LockNotAvailableError,
    asyncpg.DeadlockDetectedError,
    asyncpg.QueryCanceledError,
    asyncpg.DuplicateTableError,
    asyncpg.CheckViolationError,
    asyncpg.InsufficientPrivilegeError,
    asyncpg.ReadOnlySQLTransactionError,
)

_log = logging.getLogger("layover.postgres")
_not_before: WeakKeyDictionary[PostgresSchema, int] = WeakKeyDictionary()


def week_of(created_at: int) -> int:
    """Return the week of a time, counted from 1970."""
    return created_at // WEEK


async def prepare(db: PostgresSchema, now: int, patience: int = PATIENCE) -> None:
    """Create the partitions for this week and the next ones.

    If they exist, this is one read. If one cannot be created, that is tried later: its rows go to the default
    partition.
    """
    this = week_of(now)
    wanted = [era for era in range(this, this + _AHEAD + 1) if era >= 0]
    missing = [era for (era,) in await db.fetch("weeks_without_partition", wanted)] if wanted else []
    if not missing or now < _not_before.get(db, now):
        return
    async with own_connection(db.address) as connection:
        for era in missing:
            try:
                async with migration_lock(connection, db.address, patience):
                    await _make(connection, db, era)
            except _CAN_WAIT as error:
                _log.warning("partition_not_made era=%d error=%s", era, error)
                _not_before[db] = now + _BETWEEN_TRIES


async def drop_empty(db: PostgresSchema, before: int, patience: int = PATIENCE) -> list[int]:
    """Drop the partitions of weeks that ended before a time and have no executions left; return the weeks."""
    found: list[int] = []
    for era in await _ended(db, before):
        if await db.fetchval("has_executions_between", *_bounds(era)) or await db.fetchval(
            "has_heads_between", *_bounds(era)
        ):
            continue
        async with own_connection(db.address) as connection:
            try:
                async with migration_lock(connection, db.address, patience):
                    await _drop(connection, db, era)
            except _CAN_WAIT as error:
                _log.info("partition_kept era=%d error=%s", era, error)
            else:
                found.append(era)
    return found


async def purgeable_weeks(db: PostgresSchema, before: int) -> list[int]:
    """Return the weeks whose executions all closed before a time and have, like their parents, no messages left."""
    found: list[int] = []
    for era in await _ended(db, before):
        moments = _bounds(era)
        if await db.fetchval("has_executions_between", *moments) and not await db.fetchval(
            "has_needed_executions_between", *moments, before
        ):
            found.append(era)
    return found


async def purge_weeks(db: PostgresSchema, before: int, patience: int = PATIENCE) -> int:
    """Purge weeks whose executions all may be purged; return how many executions that were.

    Each week is one transaction that locks the heads of all its executions. If one of them is in use or is needed
    again, the week stays as it is.
    """
    count = 0
    for era in await purgeable_weeks(db, before):
        async with own_connection(db.address) as connection:
            try:
                async with migration_lock(connection, db.address, patience):
                    purged = await connection.fetchval(db.sql["purge_between"], *_bounds(era), before, timeout=FOR_LONG)
                    if purged:
                        await _drop(connection, db, era)
                        count += purged
            except _CAN_WAIT as error:
                _log.info("week_kept era=%d error=%s", era, error)
    return count


async def _ended(db: PostgresSchema, before: int) -> list[int]:
    """Return the weeks with a partition that ended before a time."""
    return [era for (era,) in await db.fetch("ended_partitions", week_of(before))]


def _bounds(era: int) -> tuple[int, int]:
    return era * WEEK, (era + 1) * WEEK


async def _make(connection: asyncpg.Connection, db: PostgresSchema, era: int) -> None:
    tables = Transaction(connection, db.sql)
    if not await tables.fetch("weeks_without_partition", [era]):
        return  # another instance has just created it
    if await tables.fetchval("default_partition_has_week", era):
        raise StoreUnavailable("Rows of this week are in the default partition.", code="in_default")
    await connection.execute(f"SET LOCAL statement_timeout = {_LONGEST_LOOK}")
    # A table that is attached afterwards does not block inserts into the other partitions.
    make = f"CREATE TABLE layover.events_{era} (LIKE layover.events INCLUDING ALL)"
    attach = f"ALTER TABLE layover.events ATTACH PARTITION layover.events_{era} FOR VALUES IN ({era})"
    await connection.execute(in_schema(make, db.address.schema))
    await connection.execute(in_schema(attach, db.address.schema))


async def _drop(connection: asyncpg.Connection, db: PostgresSchema, era: int) -> None:
    """Drop a partition, unless its week has got an execution; appends wait meanwhile."""
    lock = in_schema("LOCK TABLE ONLY layover.events IN ACCESS EXCLUSIVE MODE", db.address.schema)
    await connection.execute(lock)
    if await connection.fetchval(db.sql["has_executions_between"], *_bounds(era)):
        raise StoreUnavailable("An execution of this week has come.", code="in_use")
    await connection.execute(in_schema(f"DROP TABLE layover.events_{era}", db.address.schema))
