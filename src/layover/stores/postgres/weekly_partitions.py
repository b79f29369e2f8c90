"""Weeks: what began in one week has its log in one partition, which goes as a whole when nothing of it is needed.

The partitions of this week and the next ones are made ahead of time; without one, rows lie in the default partition and
go one by one. A partition is dropped instead of its rows being deleted, so purging costs the same whatever was logged.
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
    from layover.stores.postgres.database import Database

WEEK = 604_800_000  # milliseconds
_AHEAD = 2
_BETWEEN_TRIES = 3_600_000  # milliseconds
_LONGEST_LOOK = 2_000  # milliseconds for which the server may look for rows of a week in the default partition

# Others use the tables, somebody else made it, rows of it lie in the default partition, or we may not: it can wait.
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
_not_before: WeakKeyDictionary[Database, int] = WeakKeyDictionary()


def week_of(created_at: int) -> int:
    """Return the week of a moment, counted from 1970."""
    return created_at // WEEK


async def prepare(db: Database, now: int, patience: int = PATIENCE) -> None:
    """See that there are partitions for this week and the next ones.

    When they are there it is one read. What cannot be made is left for later: its rows lie in the default partition.
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


async def drop_empty(db: Database, before: int, patience: int = PATIENCE) -> list[int]:
    """Drop the partitions of weeks that were over at a moment and of which no execution is left; return the weeks."""
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


async def purgeable_weeks(db: Database, before: int) -> list[int]:
    """Return weeks of which every execution was closed before a moment and has, like its parent, nothing to send."""
    found: list[int] = []
    for era in await _ended(db, before):
        moments = _bounds(era)
        if await db.fetchval("has_executions_between", *moments) and not await db.fetchval(
            "has_needed_executions_between", *moments, before
        ):
            found.append(era)
    return found


async def purge_weeks(db: Database, before: int, patience: int = PATIENCE) -> int:
    """Delete all there is of weeks that are expendable; return how many executions that were.

    Each week goes in one transaction that holds the heads of all its executions. If one of them is in use or is not
    expendable any more, the week stays as it is.
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


async def _ended(db: Database, before: int) -> list[int]:
    """Return the weeks with a partition that were over at a moment."""
    return [era for (era,) in await db.fetch("ended_partitions", week_of(before))]


def _bounds(era: int) -> tuple[int, int]:
    return era * WEEK, (era + 1) * WEEK


async def _make(connection: asyncpg.Connection, db: Database, era: int) -> None:
    tables = Transaction(connection, db.sql)
    if not await tables.fetch("weeks_without_partition", [era]):
        return  # somebody else has just made it
    if await tables.fetchval("default_partition_has_week", era):
        raise StoreUnavailable("Rows of this week are in the default partition.", code="in_default")
    await connection.execute(f"SET LOCAL statement_timeout = {_LONGEST_LOOK}")
    # A table of its own first: to be attached keeps nobody from inserting into the others.
    make = f"CREATE TABLE layover.events_{era} (LIKE layover.events INCLUDING ALL)"
    attach = f"ALTER TABLE layover.events ATTACH PARTITION layover.events_{era} FOR VALUES IN ({era})"
    await connection.execute(in_schema(make, db.address.schema))
    await connection.execute(in_schema(attach, db.address.schema))


async def _drop(connection: asyncpg.Connection, db: Database, era: int) -> None:
    """Drop a partition, unless an execution of its week has come; nobody appends meanwhile."""
    lock = in_schema("LOCK TABLE ONLY layover.events IN ACCESS EXCLUSIVE MODE", db.address.schema)
    await connection.execute(lock)
    if await connection.fetchval(db.sql["has_executions_between"], *_bounds(era)):
        raise StoreUnavailable("An execution of this week has come.", code="in_use")
    await connection.execute(in_schema(f"DROP TABLE layover.events_{era}", db.address.schema))
