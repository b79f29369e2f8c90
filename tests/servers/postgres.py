"""Empty databases on PostgreSQL for tests, and the fixtures that give them.

A test run starts a server when it is first needed, unless LAYOVER_TEST_POSTGRES names another; each process of the run
has its own. For a person,

    python -m tests.servers.postgres [--fsync] [--debian]

prints the address of a server and serves until Ctrl-C.
"""

# ruff: noqa: T201 - printing the address is what the command is for

from __future__ import annotations

import argparse
import asyncio
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from secrets import token_hex
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit

import asyncpg
import pytest

from tests.servers.server import PATIENCE, PostgresServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Iterator

__all__ = [
    "Databases",
    "PostgresServer",
    "ask",
    "connect",
    "databases",
    "fresh_schema",
    "postgres",
    "postgres_address",
    "postgres_closed",
    "run",
    "schema_of",
]

_OPTIONS_OF_OURS = ("schema", "connections", "statement_timeout", "pooler")


class Databases:
    """Addresses of empty databases: schemas on this process's server.

    Emptying a schema is much faster than migrating, so the schemas of a test that has ended are emptied and used
    again. A test that changes tables takes a fresh one.
    """

    def __init__(self) -> None:
        self._server: PostgresServer | None = None
        self._run = f"{os.getpid()}_{token_hex(3)}"  # others may use the same server
        self._named: list[str] = []
        self._taken: list[str] = []
        self._free: list[str] = []

    def server_address(self) -> str:
        """Return the address of the server, started if need be."""
        if found := os.environ.get("LAYOVER_TEST_POSTGRES"):
            return found
        if self._server is None:
            self._server = PostgresServer()
            self._server.start()
        return self._server.address()

    def fresh(self) -> str:
        """Return an address with a schema that is not there yet, for this once."""
        schema = f"layover_test_{self._run}_{len(self._named)}"
        self._named.append(schema)
        parts = urlsplit(self.server_address())
        return parts._replace(query=urlencode([*parse_qsl(parts.query), ("schema", schema)])).geturl()

    def address(self) -> str:
        """Return an address with a schema that has no rows, or is not there yet."""
        if self._free:
            address = self._free.pop(0)
            _run_beside(_empty(address))
        else:
            address = self.fresh()
        self._taken.append(address)
        return address

    def give_back(self) -> None:
        """Say that the test has ended that the addresses were for."""
        self._free = self._taken + self._free
        self._taken = []

    def close(self) -> None:
        """Leave nothing behind, on whichever server."""
        if self._server is not None:
            self._server.close()
            self._server = None
        elif self._named:
            _run_beside(_drop(self.server_address(), self._named))
        self._named, self._taken, self._free = [], [], []


databases = Databases()


def postgres_address() -> str:
    """Return the address of this process's server, without a schema."""
    return databases.server_address()


def fresh_schema() -> str:
    """Return an address with a schema that is not there yet: for tests of migrations, or of broken tables."""
    return databases.fresh()


@pytest.fixture
def postgres() -> Iterator[Databases]:
    """Give empty databases on PostgreSQL: `postgres.address()`, as often as the test needs one."""
    yield databases
    databases.give_back()


@pytest.fixture(scope="session", autouse=True)
def postgres_closed() -> Iterator[None]:
    """Leave nothing behind at the end of the run."""
    yield
    databases.close()


def _run_beside(work: Coroutine[object, object, None]) -> None:
    """Run what is asynchronous from what is not, though a loop may be running."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, work).result()


async def connect(address: str) -> asyncpg.Connection:
    """Connect to the server of an address as the driver does, without what only our store understands."""
    parts = urlsplit(address)
    options = [(name, value) for name, value in parse_qsl(parts.query) if name not in _OPTIONS_OF_OURS]
    server = parts._replace(query=urlencode(options)).geturl()
    return await asyncpg.connect(server, command_timeout=PATIENCE, statement_cache_size=0)


@asynccontextmanager
async def _connected(address: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await connect(address)
    try:
        yield connection
    finally:
        await connection.close()


async def ask(address: str, statement: str) -> object:
    """Return the one value that a statement gives."""
    async with _connected(address) as connection:
        return await connection.fetchval(statement)


async def run(address: str, script: str) -> None:
    """Run statements that give nothing."""
    async with _connected(address) as connection:
        await connection.execute(script)


def schema_of(address: str) -> str:
    """Return the schema that an address names."""
    return dict(parse_qsl(urlsplit(address).query))["schema"]


# Partitions stay: whoever opens a store makes them, and they are emptied with their table.
_TABLES = """
    SELECT format('%I.%I', n.nspname, c.relname)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> 'migrations'
"""


async def _empty(address: str) -> None:
    """Delete all rows, in one statement, since rows that refer to each other may only go together."""
    async with _connected(address) as connection:
        tables = [row[0] for row in await connection.fetch(_TABLES, schema_of(address))]
        if tables:
            parts = (f"t{n} AS (DELETE FROM {table})" for n, table in enumerate(tables))  # noqa: S608 - quoted above
            await connection.execute(f"WITH {', '.join(parts)} SELECT")


async def _drop(server: str, schemas: list[str]) -> None:
    for schema in schemas:  # all at once could take more locks than the server has
        await run(server, f"DROP SCHEMA IF EXISTS {schema} CASCADE")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fsync", action="store_true", help="survive a crash of the machine")
    parser.add_argument("--debian", action="store_true", help="the newest of Debian's packages, not the wheel")
    options = parser.parse_args()
    ends = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    with PostgresServer(fsync=options.fsync, which="debian" if options.debian else None) as server:
        print(server.address(), flush=True)
        signal.sigwait(ends)


if __name__ == "__main__":
    main()
