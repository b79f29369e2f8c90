"""Administration of a schema: its living instances, its migrations, and the version of its server.

These functions do not open the store, so they also work on a schema that this release cannot use.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from layover.ports.errors import StoreUnusable
from layover.ports.vitals import Vitals
from layover.stores.migrations import Shape
from layover.stores.postgres.database import PostgresSchema
from layover.stores.postgres.migrations import applied_migrations, check_known, migrate, migrations

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from layover.stores.postgres.address import Address

SILENT_FOR = 30_000  # milliseconds without a heartbeat after which an instance counts as dead
_COMMANDS = ("purge-", "migrate-")  # commands, which open the schema for a while and drive nothing


async def living_instances(address: Address) -> list[str]:
    """Return the instances that drive executions and sent a heartbeat within half a minute."""
    async with _opened(address) as db:
        try:
            return await living(db)
        except StoreUnusable as error:
            if error.code != "foreign":
                raise
            return []  # there are no tables yet


async def living(db: PostgresSchema) -> list[str]:
    """Return the same for an open database."""
    names = [name for (name,) in await db.fetch("living_instances", SILENT_FOR)]
    return [name for name in names if not name.startswith(_COMMANDS)]


async def shape_of(address: Address) -> Shape:
    """Return the last migration of a schema."""
    async with _opened(address) as db:
        had = await applied_migrations(db)
    return Shape(max(had.checksums, default=0) if had is not None else None, migrations()[-1].number)


async def migrate_to(address: Address, number: int) -> None:
    """Migrate an existing schema to a number, up or down."""
    async with _opened(address) as db:
        await check_known(db)
        now = await db.fetchval("server_time")
    await migrate(address, now, number)


async def library(address: Address) -> str:
    """Return the version of the server; raise an error if it is too old or cannot be reached."""
    async with _opened(address) as db:
        return str(await db.fetchval("server_version"))


async def vitals_of(address: Address) -> Vitals:
    """Return how carefully a server keeps what is written, as it is set for our connections."""
    async with _opened(address) as db:
        return await vitals(db)


async def vitals(db: PostgresSchema) -> Vitals:
    """Return the same of an open database."""
    ((fsync, full_page_writes, synchronous_commit, jit, read_only),) = await db.fetch("server_settings")
    return Vitals(
        fsync=fsync,
        full_page_writes=full_page_writes,
        synchronous_commit=synchronous_commit,
        read_only=read_only,
        jit=jit,
        pooled=db.address.pooled,
    )


@asynccontextmanager
async def _opened(address: Address) -> AsyncIterator[PostgresSchema]:
    db = PostgresSchema(address)
    try:
        yield db
    finally:
        await db.close()
