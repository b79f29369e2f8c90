"""The plans that PostgreSQL makes for our statements, for any values, and what can be seen in them."""

from __future__ import annotations

import json
import re
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from layover.stores.postgres.address import read_address
from layover.stores.postgres.commit_statements import (
    BELONGINGS,
    LEASED,
    MOVES,
    NEW,
    RESTING_MOVES,
    STARTED_INPUTS,
    commit_statement,
)
from layover.stores.postgres.connections import connect
from layover.stores.postgres.migrations import migrate
from layover.stores.postgres.statements import in_schema, statements
from tests.servers.postgres import fresh_schema

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    import asyncpg

    from layover.stores.postgres.address import Address

Plan: TypeAlias = "dict[str, Any]"

# Enough rows for the server to see what an index is worth. Their executions began in the weeks 0 to 9.
_ROWS = Path(__file__).with_name("postgres_rows.sql")
_WEEKS_WITH_PARTITION = range(8)
_GROUPS = {
    "commit of moves": {MOVES},
    "commit of resting moves": {RESTING_MOVES},
    "commit of new ones": {NEW},
    "commit of leased ones": {NEW, LEASED},
    "commit of started inputs": {NEW, STARTED_INPUTS},
    "commit of everything": {NEW, RESTING_MOVES, *BELONGINGS},
}
_TABLE_IS_MADE = "CREATE TABLE"
_NEVER_COUNTED = "".join(
    f"ALTER TABLE layover.{table} SET (autovacuum_enabled = FALSE);"
    for table in ("heads", "executions", "pause_points")
)


def texts(schema: str = "layover") -> dict[str, str]:
    """Return all statements that have plans, by their names; groups of appends as well."""
    groups = {name: commit_statement(schema, frozenset(parts)).text for name, parts in _GROUPS.items()}
    return {name: text for name, text in {**statements(schema), **groups}.items() if _TABLE_IS_MADE not in text}


@asynccontextmanager
async def schema_with(*, rows: bool, counted: bool = True) -> AsyncIterator[tuple[asyncpg.Connection, dict[str, str]]]:
    """Give a connection as a store has it, and the statements as they read in a schema of their own."""
    address = read_address(fresh_schema())
    connection = await make_tables(address)
    try:
        if rows:
            script = _ROWS.read_text()
            if not counted:
                script = _NEVER_COUNTED + script.partition("ANALYZE")[0]
            await connection.execute(in_schema(script, address.schema))
        yield connection, texts(address.schema)
    finally:
        await connection.close()


async def make_tables(address: Address) -> asyncpg.Connection:
    """Make empty tables, with partitions for the first weeks of all; return a connection as a store has it."""
    await migrate(address, 0)
    connection = await connect(address)
    weeks = "CREATE TABLE IF NOT EXISTS layover.events_{0} PARTITION OF layover.events FOR VALUES IN ({0});"
    script = "".join(weeks.format(week) for week in _WEEKS_WITH_PARTITION)
    await connection.execute(in_schema(script, address.schema))
    return connection


async def plans(*, rows: bool, counted: bool = True) -> dict[str, Plan]:
    """Return the plans of all statements, by their names."""
    async with schema_with(rows=rows, counted=counted) as (connection, known):
        return {name: await plan_of(connection, text) for name, text in known.items()}


async def plan_of(connection: asyncpg.Connection, text: str) -> Plan:
    """Return the plan of a statement for any values."""
    count = max((int(number) for number in re.findall(r"\$(\d+)", text)), default=0)
    return await _explain(connection, "FORMAT JSON", text, ["NULL"] * count)


async def plan_as_run(connection: asyncpg.Connection, text: str, *values: str) -> Plan:
    """Run a statement, with values as they read in SQL; return its plan with what was done of it.

    Nothing that it wrote stays.
    """
    transaction = connection.transaction()
    await transaction.start()
    try:
        return await _explain(connection, "ANALYZE, FORMAT JSON", text, values)
    finally:
        await transaction.rollback()


async def _explain(connection: asyncpg.Connection, how: str, text: str, values: Sequence[str]) -> Plan:
    given = f"({', '.join(values)})" if values else ""
    await connection.execute(f"PREPARE planned AS {text}")
    try:
        plan: Plan = json.loads(await connection.fetchval(f"EXPLAIN ({how}) EXECUTE planned{given}"))[0]["Plan"]
    finally:
        await connection.execute("DEALLOCATE planned")
    return plan


def nodes(plan: Plan) -> Iterator[Plan]:
    """Go through all parts of a plan."""
    yield plan
    for part in plan.get("Plans", ()):
        yield from nodes(part)


def is_sorted(plan: Plan) -> bool:
    """Return whether rows are sorted, because they are not found in order."""
    return any("Sort" in node["Node Type"] for node in nodes(plan))


def scans(plan: Plan) -> list[str]:
    """Return what is read from its beginning to its end; with `enable_seqscan=off` that may well be an index."""
    found: list[str] = []
    for node in nodes(plan):
        kind = node["Node Type"]
        if kind == "Seq Scan" or (kind in _INDEX_SCANS and "Index Cond" not in node):
            found.append(f"{kind} {_shared(node.get('Relation Name') or node['Index Name'])}")
    return found


def seeks(plan: Plan) -> set[str]:
    """Return the indexes in which rows are sought, with the columns by which they are."""
    found: set[str] = set()
    for node in nodes(plan):
        if node["Node Type"] in _INDEX_SCANS and "Index Cond" in node:
            compared = _TEXT.sub(r"\1", node["Index Cond"].replace('"', ""))
            some = ", ".join(_COMPARED.findall(compared))
            columns = dict.fromkeys(_COLUMN.findall(some))
            found.add(f"{_shared(node['Index Name'])} ({', '.join(columns)})")
    return found


_INDEX_SCANS = frozenset({"Index Scan", "Index Only Scan", "Bitmap Index Scan"})
_TEXT = re.compile(r"\((\w+)\)::text(?: COLLATE C)?")
_COLUMN = re.compile(r"COALESCE\(\w+, \w+\)|\w+")
_COMPARED = re.compile(rf"\((?:ROW\()?((?:{_COLUMN.pattern})(?:, (?:{_COLUMN.pattern}))*)\)? (?:=|<=|>=|<|>|@>|&&) ")
_PARTITION = re.compile(r"^events_(?:\d+|rest)(?=_|$)")


def _shared(name: str) -> str:
    """Return the name that the partitions of a table have in common."""
    return _PARTITION.sub("events", name)
