"""The lock under which tables are changed while instances use them.

A schema is changed by one process at a time, in one transaction on a connection of its own, so that a change is done
entirely or not at all. The lock ends with the transaction, which a pooler keeps on one connection. A change of a table
waits for the statements that use it, and later statements wait behind the change: so it waits only for a moment.
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

PATIENCE = 500  # milliseconds for which other statements may be held up
FOR_LONG = 86_400.0  # seconds: a migration that copies a table takes as long as it takes


@asynccontextmanager
async def own_connection(address: Address) -> AsyncIterator[asyncpg.Connection]:
    """Open a connection for a while; translate the errors of the driver."""
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
    """Hold the lock for changes of a schema, in one transaction.

    A change waits at most `patience` milliseconds for tables in use, and `turn` milliseconds for the lock.
    """
    # Changes of others must be visible after the lock, whatever the default of the server.
    async with connection.transaction(isolation="read_committed"):
        waiting = patience if turn is None else turn
        await connection.execute(f"SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = {waiting}")
        try:
            await connection.execute(
                f"SELECT pg_advisory_xact_lock({migration_lock_key(address.schema)})", timeout=FOR_LONG
            )
        except asyncpg.LockNotAvailableError as error:
            text = f"Another process is migrating {address.shown}, for too long; nothing was done. Try again later."
            raise StoreUnavailable(text, code="locked") from error
        await connection.execute(f"SET LOCAL lock_timeout = {patience}")
        yield


async def _close(connection: asyncpg.Connection) -> None:
    try:
        await connection.close(timeout=1)
    except OF_DRIVER:
        connection.terminate()  # its work is over, however the connection ends


def migration_lock_key(schema: str) -> int:
    """Return the key of the lock for changes of a schema."""
    digest = hashlib.sha256(f"the shape of {schema}".encode()).digest()
    return int.from_bytes(digest[:8], signed=True)
