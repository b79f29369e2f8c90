"""A pool of connections.

The pool of the driver creates a task and resets the session each time that a connection is released. Our sessions have
nothing to reset, and every step of every execution passes here. After a failure, the next attempt waits a little, and
longer each time, so that a server that comes back is not overrun.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from typing import TYPE_CHECKING

import asyncpg

from layover.ports.errors import StoreUnavailable, StoreUnusable
from layover.stores.ids import key, text
from layover.stores.postgres.address import MalformedAddress
from layover.stores.postgres.errors import OF_DRIVER

if TYPE_CHECKING:
    from layover.stores.postgres.address import Address

_CONNECT_WITHIN = 10.0  # seconds
_CLOSE_WITHIN = 1.0
_BEYOND_STATEMENT = 5.0  # seconds beyond the statement timeout of the server, after which it counts as gone
FIRST_PAUSE = 0.02
_LONGEST_PAUSE = 2.0

# Statements are planned once, for any values, often while tables are still small. Tables grow: so plans always use an
# index, row by row, and never scan a table because it happens to be small.
_SETTINGS = {
    "jit": "off",
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "default_transaction_isolation": "read committed",  # a decision under a lock reads rows after the lock
}
_OLDEST_SERVER = 14
# The errors of the server for an unknown option in the address.
_NO_SUCH_OPTION = (
    asyncpg.UndefinedObjectError,
    asyncpg.InvalidParameterValueError,
    asyncpg.CantChangeRuntimeParamError,
)


async def connect(address: Address, name: str = "layover") -> asyncpg.Connection:
    """Open a connection. Behind a pooler it has neither settings nor prepared statements."""
    seconds = address.statement_timeout / 1000
    settings = {"application_name": name}
    if not address.pooled:
        idle = f"{address.statement_timeout}ms"
        settings |= {**_SETTINGS, "statement_timeout": idle, "idle_in_transaction_session_timeout": idle}
    try:
        connection: asyncpg.Connection = await asyncpg.connect(
            address.dsn,
            timeout=_CONNECT_WITHIN,
            command_timeout=seconds + _BEYOND_STATEMENT,
            statement_cache_size=0 if address.pooled else 300,
            max_cached_statement_lifetime=0,
            server_settings=settings,
        )
    except (ValueError, *_NO_SUCH_OPTION) as error:
        raise MalformedAddress(f"{address.shown}: {error}.") from error
    try:
        check_version(address, connection.get_server_version().major)
        check_encoding(address, connection.get_settings().server_encoding)
        await connection.set_type_codec("uuid", schema="pg_catalog", encoder=key, decoder=text, format="binary")
    except BaseException:
        connection.terminate()
        raise
    return connection


def check_version(address: Address, major: int) -> None:
    """Refuse a server that is older than those that we test."""
    if major < _OLDEST_SERVER:
        text = f"{address.shown} is PostgreSQL {major}; Layover needs {_OLDEST_SERVER} or newer."
        raise StoreUnusable(text, code="old_server")


def check_encoding(address: Address, encoding: str) -> None:
    """Refuse a database that cannot store every text."""
    if encoding.upper() not in ("UTF8", "UTF-8"):
        text = f"{address.shown} keeps texts in {encoding}; Layover needs a database that was made with UTF8."
        raise StoreUnusable(text, code="foreign_encoding")


class Connections:
    """A limited number of connections; callers wait for one that is free."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._free: list[asyncpg.Connection] = []
        self._count = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._ending: set[asyncio.Task[None]] = set()
        self.pause = 0.0  # before the next attempt after a failure
        self._failed_at = 0.0
        self._not_before = 0.0
        self._closed = False

    async def take(self) -> asyncpg.Connection:
        """Return a connection that is free."""
        while True:
            while self._free:
                connection = self._free.pop()
                if not connection.is_closed():
                    return connection
                self._count -= 1
            if self._closed:
                raise StoreUnavailable("The store is closed.", code="closed")
            if self._count < self._address.connections:
                return await self._another()
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except BaseException:
                if turn.done() and not turn.cancelled():
                    self._next()  # pass on the turn that we do not use
                raise

    def give(self, connection: asyncpg.Connection) -> None:
        """Release a connection."""
        if connection.is_closed() or self._closed:
            self._count -= 1
            connection.terminate()
        else:
            self._free.append(connection)
        self._next()

    def end(self, connection: asyncpg.Connection) -> None:
        """Close a connection whose statement was not answered, and ask the server to cancel the statement.

        Behind a pooler nothing else would end it: the statement could wait there forever. After `close` the server is
        not asked, since the event loop may be about to end.
        """
        self._count -= 1
        if self._closed:
            connection.terminate()
            self._next()
            return
        ending = asyncio.get_running_loop().create_task(_close(connection))
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)
        self._next()

    async def close(self) -> None:
        """Close all connections; those in use are closed when they are released."""
        self._closed = True
        free, self._free = self._free, []
        await asyncio.gather(*(_close(connection) for connection in free))
        if self._ending:
            await asyncio.wait(self._ending)
        while self._waiting:
            self._next()

    async def _another(self) -> asyncpg.Connection:
        loop = asyncio.get_running_loop()
        began = loop.time()
        if began < self._not_before:
            self._next()  # callers that wait for a connection fail as well, instead of waiting forever
            raise StoreUnavailable(f"{self._address.shown} could not be reached just now.", code="unreachable")
        self._count += 1
        try:
            connection = await connect(self._address)
        except BaseException as error:
            self._count -= 1
            # Attempts at the same time see the same failure: it counts once.
            if isinstance(error, Exception) and began >= self._failed_at:
                self._failed_at = loop.time()
                self.pause = min(max(self.pause * 2, FIRST_PAUSE), _LONGEST_PAUSE)
                # Not all instances at the same moment.
                self._not_before = self._failed_at + self.pause * random.uniform(0.5, 1)  # noqa: S311 - no secret
            self._next()
            raise
        self.pause = self._not_before = 0.0
        return connection

    def _next(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return


async def _close(connection: asyncpg.Connection) -> None:
    try:
        await connection.close(timeout=_CLOSE_WITHIN)
    except OF_DRIVER:
        connection.terminate()
