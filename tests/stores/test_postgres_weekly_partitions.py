"""Weeks: their partitions are made ahead of time, and go when nothing of them is needed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

import pytest

from layover.stores.postgres import PostgresStore, weekly_partitions
from layover.stores.postgres.address import read_address
from layover.stores.postgres.database import PostgresSchema
from layover.stores.postgres.migrations import migrate
from layover.stores.postgres.weekly_partitions import WEEK, drop_empty, prepare, purge_weeks, purgeable_weeks, week_of
from tests.servers.postgres import connect, fresh_schema
from tests.stores.conformance import commit, creation, uid

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import asyncpg

PARTITIONS = """
SELECT c.relname::text FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
WHERE i.inhparent = to_regclass($1) ORDER BY 1
"""
NOW = 2_900 * WEEK + 5
LATER = 2_950 * WEEK
TABLES = (
    "heads", "executions", "events", "snapshots", "pause_points", "waits", "commands", "tokens", "places", "outbox",
    "deliveries",
)  # fmt: skip

EXECUTION = """
INSERT INTO layover.heads (execution_id, created_at, priority, last_seq, last_epoch, epoch, commands_seq, commands_done,
    takeovers, workflow, status) VALUES ($1, $2, 0, 0, 1, 1, 0, 0, 0, 'order', $3);
INSERT INTO layover.executions (execution_id, created_at, finished_at, version_id, parent_id)
    VALUES ($1, $2, $4, 1, $5);
INSERT INTO layover.events (execution_id, at, seq, era, count, body) VALUES ($1, $2, 0, $6, 1, '[1]');
INSERT INTO layover.events (execution_id, at, seq, era, count, body) VALUES ($1, $2, 1, $6, 1, '[2]');
INSERT INTO layover.snapshots VALUES ($1, 0, 's');
INSERT INTO layover.pause_points (execution_id, opened_at, id, workflow, kind, status, body)
    VALUES ($1, $2, $7, 'order', 'form', 'applied', '{}');
INSERT INTO layover.waits VALUES ($1, 'paid', 'k', $7);
INSERT INTO layover.commands VALUES ($1, $2, 1, 0, 'Pause', 's', '{}');
INSERT INTO layover.tokens VALUES ($1, $8, $7);
INSERT INTO layover.places (execution_id, rank, admitted) VALUES ($1, 1, TRUE);
INSERT INTO layover.deliveries VALUES ($1, $1, 1, 1, 1, 2, 1, 1, FALSE, FALSE, 'order', '', 'mail', 'k', '', '', '',
    'sent', '', '', '[]');
"""


class Place(NamedTuple):
    """A schema of one's own, and a connection beside the store."""

    db: PostgresSchema
    beside: asyncpg.Connection

    @property
    def schema(self) -> str:
        return self.db.address.schema

    async def run(self, script: str) -> None:
        await self.beside.execute(script.replace("layover.", f"{self.schema}."))

    async def partitions(self) -> list[str]:
        rows = await self.beside.fetch(PARTITIONS, f"{self.schema}.events")
        return [name for (name,) in rows]

    async def execution(self, n: int, era: int, status: str = "completed", *, parent: int | None = None) -> str:
        """Write an execution that began in a week and, if it has, ended an hour later."""
        at = era * WEEK + n
        finished = at + 3_600_000 if status == "completed" else None
        values = {
            "$1": f"'{uid(n)}'",
            "$2": str(at),
            "$3": f"'{status}'",
            "$4": str(finished) if finished is not None else "NULL",
            "$5": f"'{uid(parent)}'" if parent is not None else "NULL",
            "$6": str(week_of(at)),
            "$7": f"'{n}:p'",
            "$8": f"'{n}'",
        }
        script = EXECUTION
        for name, value in values.items():
            script = script.replace(name, value)
        await self.run(script)
        return uid(n)

    async def rows(self) -> dict[str, list[str]]:
        """Return whose rows there are."""
        found: dict[str, list[str]] = {}
        for table in TABLES:
            column = "sender" if table == "outbox" else "execution_id"
            rows = await self.beside.fetch(f"SELECT {column}::text FROM {self.schema}.{table} ORDER BY 1")  # noqa: S608
            found[table] = [id_ for (id_,) in rows]
        return found


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    text = fresh_schema()
    address = read_address(text)
    await migrate(address, 1)
    beside, db = await connect(text), PostgresSchema(address)
    yield Place(db, beside)
    await db.close()
    await beside.close()


def names(*wanted: int) -> list[str]:
    return sorted(["events_rest", *(f"events_{era}" for era in wanted)])


@pytest.mark.parametrize(("at", "era"), [(0, 0), (WEEK - 1, 0), (WEEK, 1), (-1, -1), (-WEEK, -1), (NOW, 2_900)])
def test_weeks_are_counted_from_1970(at: int, era: int) -> None:
    assert week_of(at) == era


async def test_this_week_and_the_next_two_have_their_own_partitions(place: Place) -> None:
    assert await place.partitions() == names()
    await prepare(place.db, NOW)
    assert await place.partitions() == names(2_900, 2_901, 2_902)
    await prepare(place.db, NOW + WEEK)
    assert await place.partitions() == names(2_900, 2_901, 2_902, 2_903)


async def test_before_1970_there_are_none(place: Place) -> None:
    await prepare(place.db, -1)
    assert await place.partitions() == names(0, 1)
    await prepare(place.db, -10 * WEEK)
    assert await place.partitions() == names(0, 1)


async def test_rows_lie_in_the_partition_of_their_week_and_others_in_the_rest(place: Place) -> None:
    await prepare(place.db, NOW)
    await place.execution(1, 2_900)
    await place.execution(2, 2_901)
    await place.execution(3, 17)
    found = await place.beside.fetch(
        f"SELECT tableoid::regclass::text, execution_id::text FROM {place.schema}.events WHERE seq = 0"  # noqa: S608
    )
    assert {id_: table.rpartition(".")[2] for table, id_ in found} == {
        uid(1): "events_2900",
        uid(2): "events_2901",
        uid(3): "events_rest",
    }


async def test_partitions_that_are_there_cost_one_read(place: Place) -> None:
    await prepare(place.db, NOW)
    before = place.db.statements
    async with place.beside.transaction():
        await place.run("LOCK TABLE layover.events IN ACCESS EXCLUSIVE MODE")
        await prepare(place.db, NOW)
    assert place.db.statements == before + 1


async def test_many_at_once_make_them_once(place: Place) -> None:
    others = [PostgresSchema(place.db.address) for _ in range(8)]
    await asyncio.gather(*(prepare(db, NOW, patience=60_000) for db in others))
    for db in others:
        await db.close()
    assert await place.partitions() == names(2_900, 2_901, 2_902)


async def test_a_week_with_rows_in_the_default_partition_stays_there(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    await place.execution(1, 2_901)
    await prepare(place.db, NOW)
    assert await place.partitions() == names(2_900, 2_902)
    assert "partition_not_made era=2901" in caplog.text
    assert (await place.rows())["events"] == [uid(1)] * 2


async def test_what_could_not_be_made_is_tried_again_after_an_hour(place: Place) -> None:
    async with place.beside.transaction():
        await place.run("LOCK TABLE layover.events IN ACCESS EXCLUSIVE MODE")
        await prepare(place.db, NOW, patience=1)
        assert await place.partitions() == names()
    await prepare(place.db, NOW + 3_599_999)
    assert await place.partitions() == names()
    await prepare(place.db, NOW + 3_600_000)
    assert await place.partitions() == names(2_900, 2_901, 2_902)


async def test_a_table_of_that_name_that_is_none_of_its_partitions_is_left_alone(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    await place.run("CREATE TABLE layover.events_2900 (theirs int)")
    await prepare(place.db, NOW)
    assert await place.partitions() == names(2_901, 2_902)
    assert "partition_not_made era=2900" in caplog.text


async def test_a_role_that_cannot_create_tables_goes_on_without_partitions(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    schema = place.schema
    await place.run(
        f"CREATE ROLE {schema} LOGIN; GRANT USAGE ON SCHEMA {schema} TO {schema};"
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {schema}"
    )
    try:
        lesser = place.db.address.dsn.replace("//postgres@", f"//{schema}@")
        store = PostgresStore(f"{lesser}?schema={schema}", clock=lambda: NOW)
        await store.open("lesser")
        await store.definitions.save("order", "h1", b"{}", 1)
        assert (await commit(store, creation())).verdict == "passed"
        await store.close()
        assert await place.partitions() == names()
        assert "partition_not_made era=2900" in caplog.text
    finally:
        await place.run(f"DROP OWNED BY {schema}; DROP ROLE {schema}")


async def test_a_store_that_is_opened_has_a_partition_for_what_begins(place: Place) -> None:
    store = PostgresStore(f"{place.db.address.dsn}?schema={place.schema}", clock=lambda: NOW)
    await store.open("one")
    await store.close()
    assert "events_2900" in await place.partitions()


# Weeks that are gone


async def test_a_week_that_is_over_and_of_which_nothing_is_left_loses_its_partition(place: Place) -> None:
    await prepare(place.db, NOW)
    await place.execution(1, 2_901, "running")
    assert await drop_empty(place.db, 2_901 * WEEK - 1) == []  # it is not over
    assert await drop_empty(place.db, 2_901 * WEEK) == [2_900]
    assert await drop_empty(place.db, LATER) == [2_902]
    assert await place.partitions() == names(2_901)
    assert (await place.rows())["events"] == [uid(1)] * 2


@pytest.mark.parametrize("lost", ["heads", "executions"])
async def test_a_week_stays_while_anything_says_that_there_was_an_execution(place: Place, lost: str) -> None:
    await prepare(place.db, NOW)
    await place.execution(1, 2_900)
    await place.run(f"TRUNCATE layover.{lost}")
    assert 2_900 not in await drop_empty(place.db, LATER)


async def test_a_week_that_is_being_written_to_is_not_dropped(place: Place) -> None:
    await prepare(place.db, NOW)
    async with place.beside.transaction():
        await place.execution(1, 2_900, "running")
        assert await drop_empty(place.db, LATER, patience=1) == []
    assert await drop_empty(place.db, LATER) == [2_901, 2_902]
    assert (await place.rows())["events"] == [uid(1)] * 2


async def test_an_execution_that_comes_while_its_week_is_about_to_be_dropped_stays(place: Place) -> None:
    await prepare(place.db, NOW)
    async with place.beside.transaction():
        await place.execution(1, 2_900, "running")
        dropping = asyncio.create_task(drop_empty(place.db, 2_901 * WEEK, patience=60_000))
        await _waits_for_a_lock(place)
    assert await dropping == []
    assert await place.partitions() == names(2_900, 2_901, 2_902)


async def test_what_comes_after_its_partition_is_gone_lies_in_the_rest(place: Place) -> None:
    await prepare(place.db, NOW)
    await drop_empty(place.db, LATER)
    await place.execution(1, 2_900, "running")
    assert (await place.rows())["events"] == [uid(1)] * 2


# Purging whole weeks


async def test_a_week_in_which_everything_is_done_goes_as_a_whole(place: Place) -> None:
    await prepare(place.db, NOW)
    for n in range(1, 6):
        await place.execution(n, 2_900)
    await place.execution(6, 2_901)
    await place.execution(7, 2_902, "running")
    await place.execution(8, 17)
    kept = {table: [id_ for id_ in ids if id_ >= uid(7)] for table, ids in (await place.rows()).items()}
    assert await purgeable_weeks(place.db, LATER) == [2_900, 2_901]
    assert await purge_weeks(place.db, LATER) == 6
    assert await place.partitions() == names(2_902)
    assert await place.beside.fetchval("SELECT to_regclass($1)", f"{place.schema}.events_2900") is None
    assert await place.rows() == kept
    assert len(kept["heads"]) == 2
    plan = await place.beside.fetch(f"EXPLAIN SELECT * FROM {place.schema}.events")  # noqa: S608
    assert "events_2900" not in str(plan)
    assert "events_2902" in str(plan)
    assert await purge_weeks(place.db, LATER) == 0


async def test_a_week_in_which_one_ended_too_late_stays(place: Place) -> None:
    await prepare(place.db, NOW)
    await place.execution(1, 2_900)
    await place.run(f"UPDATE layover.executions SET finished_at = {LATER}")  # noqa: S608 - a number
    assert await purge_weeks(place.db, LATER) == 0
    assert await purge_weeks(place.db, LATER + 1) == 1


REASONS = {
    "it is open": "UPDATE layover.heads SET status = 'running' WHERE execution_id = '{id}'",
    "its end is not known": "UPDATE layover.executions SET finished_at = NULL WHERE execution_id = '{id}'",
    "it has something to send": "INSERT INTO layover.outbox VALUES ('{id}', 1, 1, 'there', 'Start', '{{}}')",
    "its parent has": "INSERT INTO layover.outbox VALUES ('{parent}', 1, 1, 'there', 'Start', '{{}}')",
    "it has a place": "UPDATE layover.places SET name = 'slots' WHERE execution_id = '{id}'",
    "something of it is not sent": "UPDATE layover.deliveries SET state = 'pending' WHERE execution_id = '{id}'",
    "it has no head": "DELETE FROM layover.heads WHERE execution_id = '{id}'",
}


@pytest.mark.parametrize("reason", REASONS)
async def test_a_week_with_one_execution_that_is_needed_stays_as_it_is(
    place: Place, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await prepare(place.db, NOW)
    await place.execution(1, 2_900)
    await place.execution(2, 2_900, parent=9)
    await place.run(REASONS[reason].format(id=uid(2), parent=uid(9)))
    before = await place.rows()
    assert await purgeable_weeks(place.db, LATER) == []
    assert await purge_weeks(place.db, LATER) == 0

    async def all_weeks(_db: PostgresSchema, _before: int) -> list[int]:
        return [2_900]  # as if it had been so a moment ago

    monkeypatch.setattr(weekly_partitions, "purgeable_weeks", all_weeks)
    assert await purge_weeks(place.db, LATER) == 0
    assert await place.rows() == before
    assert await place.partitions() == names(2_900, 2_901, 2_902)


async def test_an_owned_execution_keeps_its_week(place: Place) -> None:
    await prepare(place.db, NOW)
    await place.execution(1, 2_900)
    await place.execution(2, 2_900)
    before = await place.rows()
    async with place.beside.transaction():
        await place.run(REASONS["it is open"].format(id=uid(2)))
        assert await purge_weeks(place.db, LATER) == 0
    assert await purge_weeks(place.db, LATER) == 0
    assert await place.rows() == before


async def test_an_execution_that_begins_in_a_week_that_is_being_purged_keeps_it(place: Place) -> None:
    await prepare(place.db, NOW)
    await place.execution(1, 2_900)
    async with place.beside.transaction():
        await place.execution(2, 2_900, "running")
        assert await purge_weeks(place.db, LATER, patience=1) == 0  # somebody writes: not waited for
        purging = asyncio.create_task(purge_weeks(place.db, LATER, patience=60_000))
        await _waits_for_a_lock(place)
    assert await purging == 0
    assert (await place.rows())["heads"] == [uid(1), uid(2)]
    assert (await place.rows())["events"] == [uid(1), uid(1), uid(2), uid(2)]


async def _waits_for_a_lock(place: Place) -> None:
    """Wait until somebody waits for a lock on the tables of a schema."""
    query = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = to_regclass($1)"
    while not await place.beside.fetchval(query, f"{place.schema}.events"):
        pass
