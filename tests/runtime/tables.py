"""The tables of a database, for somebody who is not the engine: to look into them, or to damage them.

Statements are the same for every database: tables have no schema, values are `$1`, `$2` …, and ids pass through `id`.
They wait for the database, also where a loop is running: who uses them wants nothing else to happen meanwhile.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeAlias

import apsw

from layover.bootstrap import file_of
from tests.servers.postgres import connect, schema_of

if TYPE_CHECKING:
    from pathlib import Path

Row: TypeAlias = "tuple[Any, ...]"

_IN_FILE = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
_ON_SERVER = """
    SELECT relname::text FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
    ORDER BY relname
"""


class Tables:
    """What is in the tables at an address."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._path: Path | None = file_of(address)

    def id(self, execution_id: str) -> object:
        """Return an id as the database has it."""
        return execution_id if self._path is None else bytes.fromhex(execution_id.replace("-", ""))

    def rows(self, statement: str, *values: object) -> list[Row]:
        """Run a statement and return what it gives."""
        if self._path is None:
            return _beside(self._address, statement, values)
        with closing(apsw.Connection(str(self._path))) as db:
            return list(db.execute(statement, values))

    def change(self, statement: str, *values: object) -> None:
        """Run a statement that has to change something."""
        assert self.rows(f"{statement} RETURNING 1", *values), f"nothing was changed by {statement}"

    def names(self) -> list[str]:
        """Return the names of all tables."""
        return [name for (name,) in self.rows(_ON_SERVER if self._path is None else _IN_FILE)]

    def count(self, table: str) -> int:
        """Return how many rows a table has."""
        ((count,),) = self.rows(f"SELECT count(*) FROM {table}")  # noqa: S608 - a name of ours
        return int(count)


def _beside(address: str, statement: str, values: Row) -> list[Row]:
    """Run a statement on the server from what is not asynchronous, though a loop may be running."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, _on_server(address, statement, values)).result()


async def _on_server(address: str, statement: str, values: Row) -> list[Row]:
    connection = await connect(address)
    try:
        await connection.execute(f"SET search_path TO {schema_of(address)}")
        return [tuple(row.values()) for row in await connection.fetch(statement, *values)]
    finally:
        await connection.close()
