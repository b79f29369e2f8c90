"""Numbered steps on PostgreSQL, up and down, beside others, and schemas that are refused unchanged."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

import pytest

from layover.ports.errors import StoreError, StoreUnavailable, StoreUnusable
from layover.ports.view_records import PausedFilter
from layover.stores.migrations import MigrationFile
from layover.stores.postgres import PostgresStore
from layover.stores.postgres.address import Address, read_address
from layover.stores.postgres.database import PostgresSchema
from layover.stores.postgres.migration_lock import migration_lock_key
from layover.stores.postgres.migrations import applied_migrations, check, migrate, migrations
from tests.servers.postgres import connect, fresh_schema
from tests.stores.conformance import ME, Clock, approval, claim, create, go_on, head, opened, truth, uid
from tests.stores.listed import begin_all, lists

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Sequence

    import asyncpg

KNOWN = migrations()
NEWEST = KNOWN[-1].number

WIDER = """-- compatible
ALTER TABLE layover.heads ADD COLUMN colour text NOT NULL DEFAULT 'grey';
ALTER TABLE layover.events ADD COLUMN colour text NOT NULL DEFAULT 'grey';
CREATE TABLE layover.colours (execution_id uuid PRIMARY KEY, colour text NOT NULL);
"""
NARROWER = """
DROP TABLE layover.colours;
ALTER TABLE layover.events DROP COLUMN colour;
ALTER TABLE layover.heads DROP COLUMN colour;
"""
COMPATIBLE = [*KNOWN, MigrationFile(NEWEST + 1, "colours", WIDER, NARROWER)]
INCOMPATIBLE = [*COMPATIBLE, MigrationFile(NEWEST + 2, "no_locks", "DROP TABLE layover.locks", "SELECT 1")]

COLUMNS = """
SELECT c.relname, c.relkind::text, c.reloptions, a.attname, a.attnotnull, format_type(a.atttypid, a.atttypmod),
    a.attidentity::text, a.attcollation::text, pg_get_expr(d.adbin, d.adrelid), pg_get_expr(c.relpartbound, c.oid)
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE n.nspname = $1 AND c.relname NOT LIKE 'migrations%'
ORDER BY c.relname, a.attname
"""
INDEXES = "SELECT indexdef FROM pg_indexes WHERE schemaname = $1 AND tablename <> 'migrations' ORDER BY indexdef"
CONSTRAINTS = """
SELECT r.conrelid::regclass::text, pg_get_constraintdef(r.oid)
FROM pg_constraint AS r JOIN pg_namespace AS n ON n.oid = r.connamespace
WHERE n.nspname = $1 AND r.conrelid::regclass::text NOT LIKE '%migrations' ORDER BY 1, 2
"""


class Place(NamedTuple):
    """A schema of one's own: its address, and a connection beside the store."""

    text: str
    address: Address
    beside: asyncpg.Connection

    async def run(self, script: str) -> None:
        await self.beside.execute(script.replace("layover.", f"{self.address.schema}."))

    async def catalog(self) -> list[object]:
        """Return everything that there is in the schema, but what was migrated when."""
        queries = (COLUMNS, INDEXES, CONSTRAINTS)
        return [[tuple(row) for row in await self.beside.fetch(query, self.address.schema)] for query in queries]


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    text = fresh_schema()
    beside = await connect(text)
    yield Place(text, read_address(text), beside)
    await beside.close()


@asynccontextmanager
async def database(address: Address) -> AsyncIterator[PostgresSchema]:
    db = PostgresSchema(address)
    try:
        yield db
    finally:
        await db.close()


async def checked(address: Address, known: Sequence[MigrationFile] | None = None) -> None:
    async with database(address) as db:
        await check(db, known)


async def code(call: Awaitable[object]) -> str:
    """Return the code with which something is refused."""
    with pytest.raises(StoreError) as refused:
        await call
    return refused.value.code


async def test_a_schema_that_is_not_there_takes_every_step_once(place: Place) -> None:
    assert await code(checked(place.address)) == "missing"
    assert await migrate(place.address, 77) == list(range(1, NEWEST + 1))
    assert await migrate(place.address, 78) == []
    await checked(place.address)
    async with database(place.address) as db:
        had = await applied_migrations(db)
    assert had is not None
    assert had.checksums == {step.number: step.checksum for step in KNOWN}
    rows = await place.beside.fetch(f"SELECT DISTINCT taken_at FROM {place.address.schema}.migrations")  # noqa: S608
    assert [tuple(row) for row in rows] == [(77,)]


async def test_a_check_creates_nothing(place: Place) -> None:
    store = PostgresStore(place.text)
    assert await code(store.open_to_read()) == "missing"
    assert not await place.beside.fetchval("SELECT count(*) FROM pg_namespace WHERE nspname = $1", place.address.schema)


async def test_every_step_can_be_taken_back_and_taken_again(place: Place) -> None:
    shapes: list[object] = []
    for number in range(NEWEST + 2):
        await migrate(place.address, 1, number, COMPATIBLE)
        shapes.append(await place.catalog())
    for number in reversed(range(NEWEST + 1)):
        assert await migrate(place.address, 1, number, COMPATIBLE) == [number + 1]
        assert await place.catalog() == shapes[number]
    assert await place.catalog() == [[], [], []]
    assert await migrate(place.address, 1, None, COMPATIBLE) == list(range(1, NEWEST + 2))
    assert await place.catalog() == shapes[-1]


async def test_tables_that_were_used_can_be_taken_back(place: Place) -> None:
    store = PostgresStore(place.text)
    await store.open(ME)
    await create(store)
    await store.close()
    assert await migrate(place.address, 1, 0) == list(reversed(range(1, NEWEST + 1)))
    assert await place.catalog() == [[], [], []]


async def test_what_is_listed_is_the_same_when_lists_have_been_taken_back_and_taken_again(place: Place) -> None:
    store = PostgresStore(place.text)
    await store.open(ME)
    await begin_all(store)
    listed = await lists(store)
    await store.close()
    assert await migrate(place.address, 2, 3) == list(reversed(range(4, NEWEST + 1)))
    await store.open(ME)
    assert await lists(store) == listed
    await store.close()


async def test_a_schema_that_has_not_taken_every_step_is_old(place: Place) -> None:
    await migrate(place.address, 1)
    assert await code(checked(place.address, COMPATIBLE)) == "old_database"


async def test_a_step_that_fails_leaves_the_schema_as_it_was(place: Place) -> None:
    await migrate(place.address, 1)
    before = await place.catalog()
    failing = [*COMPATIBLE, MigrationFile(NEWEST + 2, "wrong", "CREATE TABLE layover.fine (x int); SELECT 1 / 0", "")]
    await code(migrate(place.address, 1, None, failing))
    assert await place.catalog() == before
    await checked(place.address)


async def test_a_step_that_reads_differently_is_refused(place: Place) -> None:
    await migrate(place.address, 1)
    await place.run("UPDATE layover.migrations SET checksum = 'another' WHERE number = 1")
    assert await code(migrate(place.address, 1)) == "other_migration"
    assert await code(checked(place.address)) == "other_migration"


@pytest.mark.parametrize("theirs", ["theirs (a int)", "migrations (version text)"])
async def test_a_schema_with_foreign_tables_is_refused_and_not_touched(place: Place, theirs: str) -> None:
    schema = place.address.schema
    await place.run(f"CREATE SCHEMA {schema}; CREATE TABLE {schema}.{theirs}")
    before = await place.beside.fetch(COLUMNS, schema)
    assert await code(checked(place.address)) == "foreign"
    assert await code(PostgresStore(place.text).open(ME)) == "foreign"
    assert await place.beside.fetch(COLUMNS, schema) == before


async def test_an_empty_schema_that_was_made_for_us_is_used_by_a_role_that_may_make_none(place: Place) -> None:
    schema = place.address.schema
    await place.run(f"CREATE ROLE {schema} LOGIN; CREATE SCHEMA {schema} AUTHORIZATION {schema}")
    try:
        assert not await place.beside.fetchval(
            f"SELECT has_database_privilege('{schema}', current_database(), 'CREATE')"
        )
        mine = read_address(place.text.replace("//postgres@", f"//{schema}@"))
        assert await migrate(mine, 1) == list(range(1, NEWEST + 1))
    finally:
        await place.run(f"DROP SCHEMA {schema} CASCADE; DROP ROLE {schema}")


async def test_many_at_once_do_it_once(place: Place) -> None:
    done = await asyncio.gather(*(migrate(place.address, n) for n in range(12)))
    assert max(done, key=len) == list(range(1, NEWEST + 1))
    assert sum(map(bool, done)) == 1


async def test_a_pooler_may_be_in_between(place: Place) -> None:
    pooled = place.address._replace(pooled=True)
    assert await migrate(pooled, 1) == list(range(1, NEWEST + 1))
    await checked(pooled)
    assert await migrate(pooled, 1) == []
    assert await migrate(pooled, 1, 0) == list(reversed(range(1, NEWEST + 1)))


async def test_a_migration_with_nothing_to_do_takes_no_lock(place: Place) -> None:
    await migrate(place.address, 1)
    async with place.beside.transaction():
        await place.run("LOCK TABLE layover.heads IN ACCESS EXCLUSIVE MODE")
        await place.run(f"SELECT pg_advisory_xact_lock({migration_lock_key(place.address.schema)})")
        assert await migrate(place.address, 2) == []
        await checked(place.address)


async def test_a_table_that_is_in_use_for_long_is_not_waited_for_for_ever(place: Place) -> None:
    await migrate(place.address, 1)
    hasty = place.address._replace(statement_timeout=1_000)
    async with place.beside.transaction():
        await place.run("SELECT count(*) FROM layover.heads")
        with pytest.raises(StoreUnavailable, match="nothing was done") as refused:
            await migrate(hasty, 2, None, COMPATIBLE)
        assert refused.value.code == "locked"
    await checked(place.address)
    assert await code(checked(place.address, COMPATIBLE)) == "old_database"
    assert await migrate(place.address, 3, None, COMPATIBLE) == [NEWEST + 1]


async def test_a_migration_behind_another_one_fails_after_a_while(place: Place) -> None:
    await migrate(place.address, 1, 0)
    hasty = place.address._replace(statement_timeout=1_000)
    async with place.beside.transaction():
        await place.beside.execute(f"SELECT pg_advisory_xact_lock({migration_lock_key(place.address.schema)})")
        with pytest.raises(StoreUnavailable, match="Another process") as refused:
            await migrate(hasty, 2)
        assert refused.value.code == "locked"
    assert await migrate(place.address, 3) == list(range(1, NEWEST + 1))


# Two releases at once


async def test_an_older_release_goes_on_beside_a_newer_one(place: Place) -> None:
    older, newer = (PostgresStore(place.text, clock=Clock()) for _ in range(2))
    await older.open("older")
    await create(older, 1)
    assert await migrate(place.address, 2, None, COMPATIBLE) == [NEWEST + 1]
    # Those that were open before, and those that are opened since.
    await go_on(older, 1, points=(opened("p"),))
    await newer.open("newer")
    await create(newer, 2)
    await place.run("INSERT INTO layover.colours SELECT execution_id, 'red' FROM layover.heads")
    await older.answers.reserve(approval(), "s", 300)
    claimed = {one.head.execution_id for one in (await claim(newer, 100_000_000)).claimed}
    assert len(claimed) == 2
    await go_on(newer, 2)
    assert (await head(older, 2)).last_seq == (await head(newer, 2)).last_seq
    assert await truth(older) == await truth(newer)
    await older.close()
    await newer.close()
    reader = PostgresStore(place.text)
    await reader.open_to_read()
    await reader.close()
    assert await migrate(place.address, 3) == []
    assert await migrate(place.address, 4, NEWEST, COMPATIBLE) == [NEWEST + 1]


async def test_an_older_release_takes_nothing_back_that_a_newer_one_may_stand_on(place: Place) -> None:
    await migrate(place.address, 1, None, COMPATIBLE)
    before = await place.catalog()
    assert await code(migrate(place.address, 2, 0)) == "newer_database"
    assert await place.catalog() == before


async def test_an_older_release_refuses_what_it_cannot_live_with(place: Place) -> None:
    await migrate(place.address, 1, None, INCOMPATIBLE)
    for known in (None, COMPATIBLE):
        with pytest.raises(StoreUnusable, match="newer release") as refused:
            await checked(place.address, known)
        assert refused.value.code == "newer_database"
        assert await code(migrate(place.address, 2, None, known)) == "newer_database"
    await checked(place.address, INCOMPATIBLE)


def test_a_step_says_in_its_first_line_whether_older_releases_can_go_on() -> None:
    assert [step.is_compatible for step in INCOMPATIBLE[-2:]] == [True, False]
    assert not MigrationFile(9, "later", "SELECT 1;\n-- compatible", "").is_compatible


def test_instances_can_be_replaced_one_after_the_other_since_the_first_release() -> None:
    assert all(step.is_compatible for step in KNOWN[1:])


async def test_what_an_older_release_pauses_and_resumes_is_paused_since_it_began(place: Place) -> None:
    """It neither tells since when an execution is paused nor, when that is over, forgets what a newer one has told."""
    store = PostgresStore(place.text)
    await store.open(ME)
    for n in (1, 2):
        await create(store, n)
    await go_on(store, 2, status="paused", at=400)
    await place.run("UPDATE layover.heads SET status = CASE status WHEN 'paused' THEN 'running' ELSE 'paused' END")
    rows = [row for n in (1, 2) if (row := await store.queries.find_execution(uid(n))) is not None]
    assert [row.head.paused_at for row in rows] == [100, None]
    for workflow in (None, "order"):
        assert await store.queries.list_paused(PausedFilter(workflow=workflow)) == rows[:1]
        assert await store.queries.list_paused(PausedFilter(workflow=workflow, after=(100, uid(1)))) == []
    assert (await go_on(store, 2, status="paused", at=500)).paused_at == 500
    await store.close()
