"""A PostgreSQL server to measure on, and what it tells about its work.

The server is the one that the tests bring along, with its data on a real disk and durable as people have it.
"""

from __future__ import annotations

import os
import sys
from contextlib import asynccontextmanager, contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import asyncpg

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

    from tests.servers.server import PostgresServer

ROOT = Path(__file__).parents[1]
_TICK = os.sysconf("SC_CLK_TCK")
_PARENT, _OF_ENDED = 1, slice(13, 15)  # in /proc/<pid>/stat, counted from behind the program's name

_WRITTEN = """
    SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint, pg_current_wal_insert_lsn() - '0/0'::pg_lsn
"""
_UPDATES = """
    SELECT coalesce(sum(n_tup_upd), 0), coalesce(sum(n_tup_hot_upd), 0)
    FROM pg_stat_user_tables WHERE schemaname = $1 AND relname = 'heads'
"""
_SIZES = """
    SELECT c.relname, pg_total_relation_size(c.oid)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relkind = 'r' ORDER BY 2 DESC
"""


class Written(NamedTuple):
    """How far a server is: transactions that have written something, bytes of its log, seconds of the processor."""

    commits: int
    wal_bytes: int
    cpu: float


class Server:
    """A running server: addresses of empty schemas, and counters."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self._numbers = count()

    @asynccontextmanager
    async def schema(self) -> AsyncIterator[str]:
        """Give the address of an empty schema, which is gone afterwards."""
        name = f"bench_{next(self._numbers)}"
        try:
            yield f"{self._server.address()}?schema={name}"
        finally:
            async with self.connection() as db:
                await db.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[asyncpg.Connection]:
        """Give a connection beside those that are measured."""
        db = await asyncpg.connect(self._server.address())
        try:
            yield db
        finally:
            await db.close()

    async def written(self) -> Written:
        """Return how far the server is."""
        async with self.connection() as db:
            ((commits, wal_bytes),) = await db.fetch(_WRITTEN)
        return Written(commits, int(wal_bytes), self.cpu())

    async def hot(self, address: str) -> float:
        """Return which part of all updates of heads touched no index; only those whose connections are closed count."""
        async with self.connection() as db:
            ((updates, hot),) = await db.fetch(_UPDATES, schema_of(address))
        return float(hot / updates) if updates else 0.0

    async def sizes(self, address: str) -> dict[str, int]:
        """Return the bytes that each table takes with its indexes, after what is dead has been cleared."""
        async with self.connection() as db:
            await db.execute("VACUUM")
            rows = await db.fetch(_SIZES, schema_of(address))
        return {row[0]: row[1] for row in rows}

    def cpu(self) -> float:
        """Return the time of the processor that all processes of the server have used so far, in seconds."""
        first = self._server.pid
        ended = sum(map(int, _fields(first)[_OF_ENDED])) / _TICK
        processes = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]
        return ended + sum(_used(pid) for pid in processes if pid == first or _parent(pid) == first)


@contextmanager
def server(parent: Path, settings: Mapping[str, str] | None = None) -> Iterator[Server]:
    """Give a server whose data is in a folder of its own under another; a commit has reached the disk."""
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    from tests.servers.server import PostgresServer  # noqa: PLC0415 - found since the line above

    with PostgresServer(fsync=True, parent=parent, settings=settings) as found:
        yield Server(found)


def schema_of(address: str) -> str:
    """Return the schema that an address of ours names."""
    return address.partition("?schema=")[2]


def _fields(pid: int) -> list[str]:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return []
    return text.rpartition(")")[2].split()


def _parent(pid: int) -> int:
    fields = _fields(pid)
    return int(fields[_PARENT]) if fields else 0


def _used(pid: int) -> float:
    """Return what a living process has used: to the nanosecond, where `stat` counts in hundredths of a second."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
