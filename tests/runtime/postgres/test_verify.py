"""The history checker on PostgreSQL: it finds nothing where all is sound, and the same damage as on SQLite by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.bootstrap import inspectable_store
from layover.core.engine.codec import decode_events, encode_events
from layover.runtime.maintenance.verify import violations
from tests.runtime.maintenance.test_verify import LOGS, PAUSED_SINCE, ROWS
from tests.runtime.maintenance.verify_scene import build
from tests.servers.postgres import connect, schema_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    import asyncpg

    from tests.runtime.maintenance.verify_scene import Entries

# What other databases say in other words.
_OF_SQLITE = ("json_", "x'", "->>", "user =", "VALUES")
PORTABLE = [case for case in ROWS if not any(word in case[2] for word in _OF_SQLITE)]
TABLES = ("versions", "heads", "executions", "events", "snapshots", "pause_points", "commands")
_LOG = "SELECT seq, at, era, body FROM events WHERE execution_id = $1 ORDER BY seq"
_ENTRY = "INSERT INTO events (execution_id, seq, count, at, era, body) VALUES ($1, $2, $3, $4, $5, $6)"


class Scene:
    """A sound database, which can be damaged and is sound again afterwards."""

    def __init__(self, address: str, db: asyncpg.Connection) -> None:
        self._address = address
        self._db = db
        self._saved: dict[str, list[asyncpg.Record]] = {}

    async def save(self) -> None:
        await self._db.execute(f"SET search_path TO {schema_of(self._address)}")
        for table in TABLES:
            self._saved[table] = await self._db.fetch(f"SELECT * FROM {table}")  # noqa: S608 - names of ours

    async def mend(self) -> None:
        async with self._db.transaction():
            for table in TABLES:
                await self._db.execute(f"DELETE FROM {table}")  # noqa: S608 - as above
            for table, rows in self._saved.items():
                schema = schema_of(self._address)
                await self._db.copy_records_to_table(table, schema_name=schema, records=[tuple(row) for row in rows])

    async def damage(self, statement: str, of: str) -> None:
        """Run a statement; `:id` is the execution."""
        values = (of,) if ":id" in statement else ()
        changed = await self._db.execute(statement.replace(":id", "$1"), *values)
        assert not changed.endswith(" 0"), f"nothing was damaged by {statement}"

    async def edit(self, of: str, change: Callable[[Entries], None]) -> None:
        """Change the events of a log, and keep everything right that counts them."""
        rows = await self._db.fetch(_LOG, of)
        entries: Entries = [(row["at"], decode_events(row["body"])) for row in rows]
        change(entries)
        await self._db.execute("DELETE FROM events WHERE execution_id = $1", of)
        seq = 0
        for at, events in entries:
            await self._db.execute(_ENTRY, of, seq, len(events), at, rows[0]["era"], encode_events(events))
            seq += len(events)
        await self._db.execute("UPDATE heads SET last_seq = $2 WHERE execution_id = $1", of, seq - 1)

    async def found(self) -> list[tuple[str, str]]:
        store = inspectable_store(self._address)
        await store.open_to_read()
        try:
            return [(one.code, one.execution_id) for one in await violations(store)]
        finally:
            await store.close()


@pytest.fixture
async def scene(on_postgres: str) -> AsyncIterator[Scene]:
    await build(on_postgres)
    db = await connect(on_postgres)
    scene = Scene(on_postgres, db)
    await scene.save()
    yield scene
    await db.close()


async def test_damaged_rows_are_named(scene: Scene) -> None:
    assert await scene.found() == []
    assert len(PORTABLE) > 35
    for code, of, statement in PORTABLE:
        await scene.damage(statement, of)
        assert await scene.found() == [(code, of)], statement
        await scene.mend()
    assert await scene.found() == []


async def test_logs_that_cannot_have_happened_are_named(scene: Scene) -> None:
    for number, (code, of, change) in enumerate(LOGS):
        await scene.edit(of, change)
        assert await scene.found() == [(code, of)], number
        await scene.mend()
    assert await scene.found() == []


async def test_what_another_release_left_of_pauses_is_no_violation(scene: Scene) -> None:
    for of, statement in PAUSED_SINCE:
        await scene.damage(statement, of)
    assert await scene.found() == []
