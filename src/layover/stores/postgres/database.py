"""Runs statements by name on a free connection, and translates the errors of the driver.

A statement that failed because of others at the same moment (a deadlock, a serialization failure) has written nothing
and is tried again. A statement that was not answered may have been written: the caller gets an error and has to look.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import asyncpg

from layover.ports.errors import StoreError
from layover.stores.postgres.connections import Connections
from layover.stores.postgres.errors import OF_DRIVER, REPEATABLE, store_error
from layover.stores.postgres.statements import statements

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover.stores.postgres.address import Address

T = TypeVar("T")
Row: TypeAlias = asyncpg.Record

_TRIES = 5


class StatementRunner(Protocol):
    """Runs statements, each in a transaction of its own or several in one."""

    async def fetch(self, name: str, *values: object) -> list[Row]:
        """Run a statement; return its rows."""

    async def fetch_text(self, statement: str, *values: object) -> list[Row]:
        """Run a statement that is not in the family files; return its rows."""

    async def fetchrow(self, name: str, *values: object) -> Row | None:
        """Run a statement; return its first row, if there is one."""

    async def fetchval(self, name: str, *values: object) -> Any:
        """Run a statement; return the first value of its first row, if there is one."""


class Transaction:
    """Runs statements of one transaction, on its connection."""

    def __init__(self, connection: asyncpg.Connection, sql: dict[str, str]) -> None:
        self._connection = connection
        self._sql = sql

    async def fetch(self, name: str, *values: object) -> list[Row]:
        """Run a statement; return its rows."""
        return await self.fetch_text(self._sql[name], *values)

    async def fetch_text(self, statement: str, *values: object) -> list[Row]:
        """Run a statement that is not in the family files; return its rows."""
        return await self._connection.fetch(statement, *values)

    async def fetchrow(self, name: str, *values: object) -> Row | None:
        """Run a statement; return its first row, if there is one."""
        return await self._connection.fetchrow(self._sql[name], *values)

    async def fetchval(self, name: str, *values: object) -> Any:
        """Run a statement; return the first value of its first row, if there is one."""
        return await self._connection.fetchval(self._sql[name], *values)


class PostgresSchema:
    """The statements and connections of a schema."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.sql = statements(address.schema)
        self._connections = Connections(address)
        self.statements = 0

    async def close(self) -> None:
        """Close all connections."""
        await self._connections.close()

    async def fetch(self, name: str, *values: object) -> list[Row]:
        """Run a statement in a transaction of its own; return its rows."""
        return await self.fetch_text(self.sql[name], *values)

    async def fetch_text(self, statement: str, *values: object) -> list[Row]:
        """Run a statement that is not in the family files, in a transaction of its own; return its rows."""
        return await self._with(lambda connection: connection.fetch(statement, *values))

    async def fetchrow(self, name: str, *values: object) -> Row | None:
        """Run a statement; return its first row, if there is one."""
        rows = await self.fetch(name, *values)
        return rows[0] if rows else None

    async def fetchval(self, name: str, *values: object) -> Any:
        """Run a statement; return the first value of its first row, if there is one."""
        rows = await self.fetch(name, *values)
        return rows[0][0] if rows else None

    async def transact(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Run `work` in one transaction; it may run more than once."""

        async def transaction(connection: asyncpg.Connection) -> T:
            # A decision under a lock reads rows after the lock, whatever the default of the server.
            async with connection.transaction(isolation="read_committed"):
                return await work(Transaction(connection, self.sql))

        return await self._with(transaction)

    async def _with(self, use: Callable[[asyncpg.Connection], Awaitable[T]]) -> T:
        for tries_left in reversed(range(_TRIES)):
            self.statements += 1
            try:
                connection = await self._connections.take()
                leave = self._connections.give
                try:
                    return await use(connection)
                except (TimeoutError, asyncio.CancelledError, asyncpg.InternalClientError):
                    # The server is silent, and the next statement would wait as long again; or it has closed the
                    # connection. A caller that gives up has not heard from the server either.
                    leave = self._connections.end
                    raise
                finally:
                    leave(connection)
            except (StoreError, asyncio.CancelledError):
                raise
            except REPEATABLE as error:
                if not tries_left:
                    raise store_error(error, self.address.shown) from error
            except Exception as error:
                if isinstance(error, (*OF_DRIVER, UnicodeEncodeError)):
                    raise store_error(error, self.address.shown) from error
                raise
        raise AssertionError("there is a last try")
