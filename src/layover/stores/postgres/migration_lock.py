"""Changing the shape of tables beside those who use them.

One at a time for each schema, in one transaction on a connection of its own, so that it is done entirely or not at all.
The lock ends with the transaction, which a pooler keeps on one connection. A change of shape waits for whoever uses the
table, and whoever comes later waits behind it: so it waits for a moment only.
"""

from __future__ import annotations

import hashlib
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import asyncpg

from layover.ports.errors import StoreError, StoreUnavailable
from layover.stores.postgres.connections import connect
from layover.stores.postgres.errors import OF_DRIVER, store_error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from layover.stores.postgres.address import Address

PATIENCE = 500  # milliseconds for which others may be held up
FOR_LONG = 86_400.0  # seconds: a step that copies a table takes as long as it takes


@asynccontextmanager
async def own_connection(address: Address) -> AsyncIterator[asyncpg.Connection]:
    """Give a connection to be used for a while; errors of the driver become ours."""
    try:
        connection = await connect(address)
        try:
            yield connection
        finally:
            await _close(connection)
    except StoreError:
        raise
    except OF_DRIVER as error:
        raise store_error(error, address.shown) from error


@asynccontextmanager
async def migration_lock(
    connection: asyncpg.Connection, address: Address, patience: int = PATIENCE, *, turn: int | None = None
) -> AsyncIterator[None]:
    """Be the only one who changes the shape of a schema, in one transaction.

    It waits so many milliseconds for tables that others use, and for its turn.
    """
    # What others did before us must be seen after the lock, whatever the server takes for its default.
    async with connection.transaction(isolation="read_committed"):
        waiting = patience if turn is None else turn
        await connection.execute(f"SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = {waiting}")
        try:
            await connection.execute(
                f"SELECT pg_advisory_xact_lock({migration_lock_key(address.schema)})", timeout=FOR_LONG
            )
        except asyncpg.LockNotAvailableError as error:
            text = f"Somebody else has been changing the tables of {address.shown} for long; nothing was done."
            raise StoreUnavailable(text, code="locked") from error
        await connection.execute(f"SET LOCAL lock_timeout = {patience}")
        yield


async def _close(connection: asyncpg.Connection) -> None:
    try:
        await connection.close(timeout=1)
    except OF_DRIVER:
        connection.terminate()  # what it was used for is over, however it ends


def migration_lock_key(schema: str) -> int:
    """Return the lock of whoever changes the shape of a schema."""
    digest = hashlib.sha256(f"the shape of {schema}".encode()).digest()
    return int.from_bytes(digest[:8], signed=True)
