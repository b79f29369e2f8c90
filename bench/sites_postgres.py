"""PostgreSQL to measure on."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from floor_postgres import PostgresFloor
from servers import server
from sites import FOLDER, Counts, told_by

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractAsyncContextManager

    from engines import Engine
    from servers import Server
    from sites import AnyFloor


class PostgresSite:
    """Schemas on a server of our own."""

    name = "PostgreSQL"

    def __init__(self, found: Server) -> None:
        self.server = found

    def empty(self) -> AbstractAsyncContextManager[str]:
        """Give the address of a schema that is not there yet."""
        return self.server.schema()

    def floor(self, address: str) -> AbstractAsyncContextManager[AnyFloor]:
        """Give the floor on a schema."""
        return PostgresFloor(address)

    async def counts(self, doer: Engine | AnyFloor) -> Counts:
        """Return what the server has done, and how many statements it was sent."""
        commits, wal_bytes, cpu = await self.server.written()
        return Counts(commits, told_by(doer, "statements"), wal_bytes, cpu)

    async def hot(self, address: str) -> float:
        """Return which part of the updates of heads touched no index."""
        return await self.server.hot(address)

    async def settle(self) -> None:
        """Clear what is dead, and count rows, by which statements are planned."""
        async with self.server.connection() as db:
            await db.execute("VACUUM ANALYZE")


@contextmanager
def postgres_site(*, settles_itself: bool = True) -> Iterator[PostgresSite]:
    """Give schemas on a server that runs for as long; one that does not settle by itself does so when it is told."""
    with server(FOLDER, {"autovacuum": "on" if settles_itself else "off"}) as found:
        yield PostgresSite(found)
