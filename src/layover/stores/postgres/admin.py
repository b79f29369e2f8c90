"""What can be seen of a schema from beside it: who drives executions in it, the shape of its tables, and its server.

It is asked without opening the store, also of a schema that this release cannot use.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from layover.ports.errors import StoreUnusable
from layover.stores.migrations import Shape
from layover.stores.postgres.database import Database
from layover.stores.postgres.migrations import check_known, migrate, migrations, taken

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from layover.stores.postgres.address import Address

SILENT_FOR = 30_000  # milliseconds without a word, and an instance counts as gone
_COMMANDS = ("purge-", "migrate-")  # they have the schema open for a while, and drive nothing


async def living_instances(address: Address) -> list[str]:
    """Return the instances that have said within half a minute that they drive executions."""
    async with _opened(address) as db:
        try:
            return await living(db)
        except StoreUnusable as error:
            if error.code != "foreign":
                raise
            return []  # there are no tables yet


async def living(db: Database) -> list[str]:
    """Return the same from a database that is open."""
    names = [name for (name,) in await db.fetch("living_instances", SILENT_FOR)]
    return [name for name in names if not name.startswith(_COMMANDS)]


async def shape_of(address: Address) -> Shape:
    """Return how far the tables of a schema are."""
    async with _opened(address) as db:
        had = await taken(db)
    return Shape(max(had.checksums, default=0) if had is not None else None, migrations()[-1].number)


async def migrate_to(address: Address, number: int) -> None:
    """Bring the tables of a schema that is there to the shape after a migration, up or down."""
    async with _opened(address) as db:
        await check_known(db)
        now = await db.fetchval("server_time")
    await migrate(address, now, number)


async def library(address: Address) -> str:
    """Return the version of the server; one that is too old is an error, and so is one that cannot be reached."""
    async with _opened(address) as db:
        return str(await db.fetchval("server_version"))


@asynccontextmanager
async def _opened(address: Address) -> AsyncIterator[Database]:
    db = Database(address)
    try:
        yield db
    finally:
        await db.close()
