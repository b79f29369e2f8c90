"""A database whose statements tell how many blocks they touch, by plans that may have been made long before.

The functions of the store are called with it in place of theirs, so statements get the values that they really get.
Whatever they write is taken back.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeVar

from layover.stores.postgres.statements import statements
from tests.stores.postgres_plans import texts

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import asyncpg

    from layover.stores.postgres.address import Address
    from tests.stores.postgres_plans import Plan

T = TypeVar("T")


class BlockCounter:
    """In place of a `Database`: one connection, on which each statement is planned once."""

    def __init__(self, address: Address, connection: asyncpg.Connection) -> None:
        self.address = address
        self.blocks: Counter[str] = Counter()
        self._connection = connection
        self._sql = statements(address.schema)
        self._names = {text: name for name, text in texts(address.schema).items()}
        self._planned: dict[str, str] = {}

    async def plan_all(self) -> None:
        """Plan every statement for any values, with what the server knows of the tables at this moment."""
        for text in self._names:
            await self._plan(text)

    async def watch(self, deed: Callable[[BlockCounter], Awaitable[T]]) -> T:
        """Do something that runs statements, and take it back."""
        transaction = self._connection.transaction()
        await transaction.start()
        try:
            return await deed(self)
        finally:
            await transaction.rollback()

    # What the functions of the store use

    async def fetch(self, name: str, *values: object) -> list[asyncpg.Record]:
        return await self.fetch_text(self._sql[name], *values)

    async def fetchrow(self, name: str, *values: object) -> asyncpg.Record | None:
        rows = await self.fetch(name, *values)
        return rows[0] if rows else None

    async def fetchval(self, name: str, *values: object) -> Any:
        rows = await self.fetch(name, *values)
        return rows[0][0] if rows else None

    async def transact(self, work: Callable[[BlockCounter], Awaitable[T]]) -> T:
        return await work(self)

    async def fetch_text(self, statement: str, *values: object) -> list[asyncpg.Record]:
        """Run a statement twice: to see what it touches, and, as if that had not been, for what it gives."""
        planned = await self._plan(statement)
        given = f"({', '.join(map(_literal, values))})" if values else ""
        tried = self._connection.transaction()
        await tried.start()
        how = "ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON"
        plan = json.loads(await self._connection.fetchval(f"EXPLAIN ({how}) EXECUTE {planned}{given}"))[0]["Plan"]
        await tried.rollback()
        self.blocks[self._names[statement]] += _blocks(plan)
        return await self._connection.fetch(statement, *values)

    async def _plan(self, text: str) -> str:
        if text not in self._planned:
            name = f"planned_{len(self._planned)}"
            await self._connection.execute(f"PREPARE {name} AS {text}")
            count = max((int(number) for number in re.findall(r"\$(\d+)", text)), default=0)
            given = f"({', '.join(['NULL'] * count)})" if count else ""
            await self._connection.execute(f"EXPLAIN EXECUTE {name}{given}")  # which makes the plan that is kept
            self._planned[text] = name
        return self._planned[text]


def _blocks(plan: Plan) -> int:
    """Return how many blocks all parts of a plan touch; what a part touches counts for those above it as well."""
    parts = plan.get("Plans", ())
    below = sum(map(_own, parts))
    return max(0, _own(plan) - below) + sum(map(_blocks, parts))


def _own(plan: Plan) -> int:
    hit, read = plan["Shared Hit Blocks"], plan["Shared Read Blocks"]
    assert isinstance(hit, int)
    assert isinstance(read, int)
    return hit + read


def _literal(value: object) -> str:
    """Return a value as it reads in SQL, whichever type it is to have."""
    if value is None:
        return "NULL"
    text = f"{{{','.join(map(_element, value))}}}" if isinstance(value, list | tuple) else _text(value)
    return "'" + text.replace("'", "''") + "'"


def _element(value: object) -> str:
    if value is None:
        return "NULL"
    return '"' + _text(value).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _text(value: object) -> str:
    return f"\\x{value.hex()}" if isinstance(value, bytes) else str(value)
