"""Very many executions in little time: one is executed, and its rows are copied with other ids, times and values.

A million executions take minutes this way, and an hour otherwise. What is copied is what an engine has written;
numbers and texts that are placeholders in the first execution are replaced in each copy, in its log as well as in its
columns, and its search terms are those of its own values. `layover verify` accepts the copies: `checked` has some of
them verified.
"""

from __future__ import annotations

import re
from secrets import randbits
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import apsw
import asyncpg

from layover.core.search_terms import terms_of
from layover.stores.postgres.address import read_address

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TABLES = ("heads", "executions", "events", "indexed_executions")
AT_ONCE = 20_000
_IN_ONE_MS = 50
_MOMENT = 10**12  # a number from here on is a time in milliseconds
_PATH = 8  # bytes of a term


class Values(NamedTuple):
    """What differs between copies: placeholders in the first execution."""

    number: int
    kind: str


class Copies:
    """The rows of copies of an execution."""

    def __init__(self, id_: str, first: Values, rows: dict[str, list[dict[str, Any]]]) -> None:
        self._id = UUID(id_)
        self._first = first
        self._rows = rows
        self._created_at: int = rows["heads"][0]["created_at"]
        stored = rows["indexed_executions"][0]["terms"]
        self._terms = [stored[at : at + 17] for at in range(0, len(stored), 17)]
        self._old = (_value(first.number), _value(first.kind))

    def make(self, count: int, values: Callable[[int], Values]) -> Iterator[dict[str, list[tuple[Any, ...]]]]:
        """Make copies, some at a time: rows by table."""
        for begin in range(0, count, AT_ONCE):
            made: dict[str, list[tuple[Any, ...]]] = {table: [] for table in TABLES}
            for n in range(begin, min(begin + AT_ONCE, count)):
                self._add(made, n, values(n))
            yield made

    def _add(self, made: dict[str, list[tuple[Any, ...]]], n: int, values: Values) -> None:
        later = 1 + n // _IN_ONE_MS
        id_ = _id_at(self._created_at + later)
        terms = b"".join(sorted(self._terms_of(values)))
        texts = (
            (str(self._id), str(id_)),
            (self._first.kind, values.kind),
            (str(self._first.number), str(values.number)),
        )

        def changed(value: Any) -> Any:
            match value:
                case UUID():
                    return id_
                case bytes() if value == self._id.bytes:
                    return id_.bytes
                case int() if value >= _MOMENT:
                    return value + later
                case bytes():
                    for old, new in texts:
                        value = value.replace(old.encode(), new.encode())
                case str():
                    for old, new in texts:
                        value = value.replace(old, new)
            return value

        for table in TABLES:
            for row in self._rows[table]:
                made[table].append(tuple([terms if name == "terms" else changed(one) for name, one in row.items()]))

    def _terms_of(self, values: Values) -> Iterator[bytes]:
        new = (_value(values.number), _value(values.kind))
        for term in self._terms:
            path, value = term[:_PATH], term[_PATH:]
            yield path + (new[self._old.index(value)] if value in self._old else value)

    def columns(self, table: str) -> list[str]:
        """Return the columns of a table, in the order of its rows."""
        return list(self._rows[table][0])


def _value(value: object) -> bytes:
    (term,) = terms_of([(("any",), value)])
    return term[_PATH:]


def _id_at(moment: int) -> UUID:
    return UUID(int=(moment << 80) | (7 << 76) | (randbits(12) << 64) | (2 << 62) | randbits(62))


async def copy(address: str, id_: str, first: Values, count: int, values: Callable[[int], Values]) -> None:
    """Write copies of an execution into its database, which nothing else has open."""
    if address.startswith("sqlite"):
        _copy_in_file(address.removeprefix("sqlite:///"), id_, first, count, values)
    else:
        await _copy_in_schema(address, id_, first, count, values)


def _copy_in_file(path: str, id_: str, first: Values, count: int, values: Callable[[int], Values]) -> None:
    db = apsw.Connection(path)
    try:
        db.execute("PRAGMA synchronous = OFF; PRAGMA cache_size = -400000")
        rows = {}
        for table in TABLES:
            found = db.execute(f"SELECT * FROM {table} WHERE execution_id = ?", (UUID(id_).bytes,))  # noqa: S608
            rows[table] = [dict(zip([one[0] for one in found.getdescription()], row, strict=True)) for row in found]
        copies = Copies(id_, first, rows)
        terms: list[tuple[bytes, int, bytes]] = []
        for made in copies.make(count, values):
            with db:
                for table, new in made.items():
                    marks = ", ".join("?" * len(new[0]))
                    db.executemany(f"INSERT INTO {table} VALUES ({marks})", new)  # noqa: S608
            created = {row[0]: row[copies.columns("heads").index("created_at")] for row in made["heads"]}
            terms += [
                (stored[at : at + 17], created[key], key)
                for key, stored in made["indexed_executions"]
                for at in range(0, len(stored), 17)
            ]
        terms.sort()  # in the order of the table, so that no page is read again
        with db:
            db.executemany("INSERT INTO search_terms VALUES (?, ?, ?)", terms)
        db.execute("ANALYZE")
    finally:
        db.close()


async def _copy_in_schema(address: str, id_: str, first: Values, count: int, values: Callable[[int], Values]) -> None:
    schema = read_address(address).schema
    db = await asyncpg.connect(re.sub(r"[?].*", "", address))
    try:
        rows = {}
        for table in TABLES:
            read = await db.fetch(f"SELECT * FROM {schema}.{table} WHERE execution_id = $1", UUID(id_))  # noqa: S608
            rows[table] = [dict(row) for row in read]
        copies = Copies(id_, first, rows)
        for made in copies.make(count, values):
            for table, new in made.items():
                await db.copy_records_to_table(table, schema_name=schema, columns=copies.columns(table), records=new)
        await db.execute(f"ALTER TABLE {schema}.search_terms DROP CONSTRAINT search_terms_pkey")
        await db.execute(f"TRUNCATE {schema}.search_terms")
        await db.execute(f"""
            INSERT INTO {schema}.search_terms (created_at, execution_id, term)
            SELECT h.created_at, i.execution_id, substring(i.terms FROM n.start FOR 17)
            FROM {schema}.indexed_executions AS i
            JOIN {schema}.heads AS h ON h.execution_id = i.execution_id
            CROSS JOIN LATERAL generate_series(1, length(i.terms), 17) AS n (start)
        """)  # noqa: S608 - the schema is our own
        await db.execute("SET maintenance_work_mem = '1GB'")
        await db.execute(f"ALTER TABLE {schema}.search_terms ADD PRIMARY KEY (term, created_at, execution_id)")
    finally:
        await db.close()
