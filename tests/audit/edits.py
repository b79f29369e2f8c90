"""Edits of the audit tables that someone with the database makes, each by chance; on SQLite and on PostgreSQL."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

import apsw
import asyncpg

from layover.core.audit_proofs import head_of, merkle_root, signed_by_seal
from layover.ports.audit_entries import audit_row
from layover.runtime.audit.signing import signing_key
from layover.stores.postgres import PostgresStore
from layover.stores.postgres.address import read_address
from layover.stores.sqlite import SqliteStore
from tests.audit.signing import OLD

if TYPE_CHECKING:
    import random
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from layover.ports.records import AuditRow
    from layover.ports.store import Store

SEALS: Final = 8  # of the chain that is edited
_TABLES: Final = ("audit", "audit_seals", "audit_keys", "audit_documents")


class Tables(Protocol):
    """The tables of a chain, which can be edited and be as they were."""

    async def execute(self, statement: str, values: Sequence[object] = ()) -> Sequence[Any]:
        """Run a statement whose parameters are question marks; return its rows."""

    async def restore(self) -> Store:
        """Undo all edits; return a store that reads the tables."""

    async def close(self) -> None:
        """End what it holds."""


class SqliteTables:
    """A file, which is copied anew for each edit."""

    def __init__(self, source: Path) -> None:
        self._source, self._edited = source, source
        self._copies = 0
        self._store: SqliteStore | None = None

    async def execute(self, statement: str, values: Sequence[object] = ()) -> Sequence[Any]:
        db = apsw.Connection(str(self._edited))
        try:
            return db.execute(statement, tuple(values)).fetchall()
        finally:
            db.close()

    async def restore(self) -> Store:
        await self.close()
        self._copies += 1  # each has a name of its own: a store that only reads leaves the files beside it
        self._edited = self._source.with_name(f"edited-{self._copies}.db")
        shutil.copyfile(self._source, self._edited)
        self._store = SqliteStore(self._edited)
        await self._store.open_to_read()
        return self._store

    async def close(self) -> None:
        if self._store is not None:
            await self._store.close()
            self._store = None


class PostgresTables:
    """Tables of a schema, which are filled anew from copies of them for each edit."""

    def __init__(self, connection: asyncpg.Connection, store: Store) -> None:
        self._connection = connection
        self._store = store

    @classmethod
    async def at(cls, address: str) -> Self:
        """Copy the tables of a database, and open it to read."""
        parsed = read_address(address)
        connection = await asyncpg.connect(parsed.dsn, statement_cache_size=0)
        await connection.execute(f"SET search_path TO {parsed.schema}")
        for table in _TABLES:
            await connection.execute(f"CREATE TEMPORARY TABLE copy_of_{table} AS TABLE {table}")
        store = PostgresStore(address)
        await store.open_to_read()
        return cls(connection, store)

    async def execute(self, statement: str, values: Sequence[object] = ()) -> Sequence[Any]:
        parts = statement.split("?")
        text = "".join(f"{part}${n}" for n, part in enumerate(parts[:-1], 1)) + parts[-1]
        return [tuple(row) for row in await self._connection.fetch(text, *values)]

    async def restore(self) -> Store:
        await self._connection.execute(f"TRUNCATE {', '.join(_TABLES)}")
        for table in _TABLES:
            await self._connection.execute(f"INSERT INTO {table} SELECT * FROM copy_of_{table}")  # noqa: S608 - ours
        return self._store

    async def close(self) -> None:
        await self._store.close()
        await self._connection.close()


async def _change(db: Tables, dice: random.Random) -> None:
    column = dice.choice(["user", "act", "target", "credential", "details", "entry", "salt", "leaf", "at", "document"])
    value: object = dice.randbytes(32) if column in ("entry", "salt", "leaf", "document", "details") else "mallory"
    value = dice.randrange(10**12) if column == "at" else value
    one = await _any_id(db, dice)
    await db.execute(f'UPDATE audit SET "{column}" = ? WHERE id = ?', (value, one))  # noqa: S608 - a name of ours


async def _change_seal(db: Tables, dice: random.Random) -> None:
    column = dice.choice(["at", "first", "count", "leaves", "root", "prev", "head", "signature", "key_id"])
    value: object = dice.randrange(10**6) if column in ("at", "first", "count") else dice.randbytes(32)
    value = "nobody" if column == "key_id" else value
    n = dice.randint(1, SEALS)
    await db.execute(f'UPDATE audit_seals SET "{column}" = ? WHERE n = ?', (value, n))  # noqa: S608 - a name of ours


async def _change_key(db: Tables, dice: random.Random) -> None:
    await db.execute("UPDATE audit_keys SET public = ? WHERE first_seal = ?", (dice.randbytes(32), dice.choice([1, 5])))


async def _change_document(db: Tables, dice: random.Random) -> None:
    await db.execute("UPDATE audit_documents SET body = ?", (dice.randbytes(9),))


async def _delete(db: Tables, dice: random.Random) -> None:
    await db.execute("DELETE FROM audit WHERE id = ?", (await _any_id(db, dice),))


async def _delete_seal(db: Tables, dice: random.Random) -> None:
    await db.execute("DELETE FROM audit_seals WHERE n = ?", (dice.randint(1, SEALS),))


async def _insert(db: Tables, dice: random.Random) -> None:
    row = audit_row(id="0" * 8, at=dice.randrange(10**12), user="mallory", act="key.add", salt=dice.randbytes(16))
    await db.execute(*inserting(row, dice.randint(-1, SEALS + 1)))


def inserting(row: AuditRow, seal: int | None) -> tuple[str, tuple[Any, ...]]:
    """Return the statement that adds an entry, with its values."""
    return (
        (
            'INSERT INTO audit (id, at, "user", act, target, credential, request_id, details, entry, salt, leaf, seal)'
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        ),
        (row.id, row.at, row.user, row.act, "", "", "", row.details, row.entry, row.salt, row.leaf, seal),
    )


async def _reorder(db: Tables, dice: random.Random) -> None:
    one, other = dice.sample(range(1, SEALS + 1), 2)
    await db.execute(
        "UPDATE audit SET seal = CASE seal WHEN ? THEN CAST(? AS bigint) ELSE CAST(? AS bigint) END"
        " WHERE seal IN (?, ?)",
        (one, other, one, one, other),
    )


async def _reseal(db: Tables, dice: random.Random) -> None:
    """Change an entry, and make the whole chain behind it anew with the stolen old key."""
    n = dice.randint(1, SEALS)
    (at, id_) = dice.choice(await db.execute("SELECT at, id FROM audit WHERE seal = ?", (n,)))
    row = audit_row(id=str(id_), at=int(at), user="mallory", act="workflow.pause", salt=dice.randbytes(16))
    values = (row.user, row.entry, row.salt, row.leaf, row.id)
    await db.execute(
        "UPDATE audit SET \"user\" = ?, target = '', credential = '', details = '{}', document = NULL,"
        " entry = ?, salt = ?, leaf = ? WHERE id = ?",
        values,
    )
    stolen, prev = signing_key(OLD), bytes(32)
    for k in range(1, SEALS + 1):
        rows = await db.execute("SELECT leaf FROM audit WHERE seal = ? ORDER BY at, id", (k,))
        leaves = [bytes(leaf) for (leaf,) in rows]
        ((first, count, made_at),) = await db.execute("SELECT first, count, at FROM audit_seals WHERE n = ?", (k,))
        root = merkle_root(leaves)
        head = head_of(prev, k, root, first, count, made_at)
        signature = stolen.sign(signed_by_seal(head))
        await db.execute(
            "UPDATE audit_seals SET leaves = ?, root = ?, prev = ?, head = ?, key_id = ?, signature = ? WHERE n = ?",
            (b"".join(leaves), root, prev, head, stolen.id, signature, k),
        )
        prev = head
    if dice.random() < 0.5:
        await db.execute("DELETE FROM audit_keys WHERE first_seal > 1")  # as if there had never been another


async def cut(db: Tables, dice: random.Random) -> None:
    """Cut off the end of the chain, with its entries: the limit for which there are witnesses."""
    n = dice.randint(SEALS // 2 + 1, SEALS)
    await db.execute("DELETE FROM audit_seals WHERE n >= ?", (n,))
    await db.execute("DELETE FROM audit WHERE seal >= ?", (n,))
    await db.execute("DELETE FROM audit_keys WHERE first_seal >= ?", (n,))


async def _any_id(db: Tables, dice: random.Random) -> str:
    return str(dice.choice(await db.execute("SELECT id FROM audit ORDER BY at, id"))[0])


WAYS: Final[tuple[Callable[[Tables, random.Random], Awaitable[None]], ...]] = (
    *(_change, _change_seal, _change_key, _change_document, _delete, _delete_seal, _insert, _reorder, _reseal, cut),
)
