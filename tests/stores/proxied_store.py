"""A store on PostgreSQL behind a line that breaks, one beside it that sees what is there, and heads that are held."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from layover.stores.postgres import PostgresStore
from tests.servers.postgres import ask, connect, schema_of
from tests.servers.proxy import Proxy
from tests.stores.conformance import NEW, OTHER, Clock, uid

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator

    import asyncpg


class ProxiedStore(NamedTuple):
    """A store behind a line that can be cut, and one that sees what is there."""

    proxy: Proxy
    shaky: PostgresStore
    straight: PostgresStore
    address: str


@asynccontextmanager
async def line_to(address: str, options: str = "") -> AsyncIterator[ProxiedStore]:
    """Open both stores; `options` are more of the address of the one behind the line."""
    async with Proxy(address) as proxy:
        shaky = PostgresStore(proxy.address(address) + options, clock=Clock())
        straight = PostgresStore(address, clock=Clock())
        await straight.open(OTHER)
        await shaky.open_to_read()  # so that it says nothing of its own over the line
        await straight.definitions.save(NEW.workflow, NEW.hash, b"{}", 50)
        try:
            yield ProxiedStore(proxy, shaky, straight, address)
        finally:
            proxy.go_on()
            await shaky.close()
            await straight.close()


@asynccontextmanager
async def locked(address: str, *ns: int) -> AsyncIterator[asyncpg.Connection]:
    """Hold the heads of executions for a while."""
    connection = await connect(address)
    try:
        async with connection.transaction():
            await connection.execute(lock_heads(address, *ns))
            yield connection
    finally:
        await connection.close()


def lock_heads(address: str, *ns: int) -> str:
    """Return the statement that locks the heads of executions."""
    ids = ", ".join(f"'{uid(n)}'" for n in ns)
    return f"SELECT FROM {schema_of(address)}.heads WHERE execution_id IN ({ids}) FOR UPDATE"


async def until_waiting(address: str, count: int, *, unless: asyncio.Future[Any] | None = None) -> None:
    """Return when so many statements on this schema wait for a lock, or something has come to an end."""
    asked = f"""
        SELECT count(*) FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND (query LIKE '%{schema_of(address)}%' OR query LIKE 'WITH given_%')
    """  # noqa: S608 - our own names; of a long statement the server shows only the beginning
    while await ask(address, asked) != count and not (unless is not None and unless.done()):
        pass
