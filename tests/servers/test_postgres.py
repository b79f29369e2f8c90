"""Databases for tests: empty, never the same one twice in a test, and gone at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.servers.postgres import Databases, ask, postgres_address, run, schema_of

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLES = """
    CREATE SCHEMA {0};
    CREATE TABLE {0}.migrations (n int);
    CREATE TABLE {0}.versions (id int PRIMARY KEY);
    CREATE TABLE {0}.executions (id int PRIMARY KEY, version_id int NOT NULL REFERENCES {0}.versions (id));
    CREATE TABLE {0}.events (id int NOT NULL REFERENCES {0}.executions (id), era int NOT NULL) PARTITION BY LIST (era);
    CREATE TABLE {0}.events_1 PARTITION OF {0}.events FOR VALUES IN (1);
    CREATE TABLE {0}.events_rest PARTITION OF {0}.events DEFAULT;
    INSERT INTO {0}.migrations VALUES (1);
    INSERT INTO {0}.versions VALUES (1);
    INSERT INTO {0}.executions VALUES (1, 1);
    INSERT INTO {0}.events VALUES (1, 1), (1, 2);
"""


@pytest.fixture
def on_ours(monkeypatch: pytest.MonkeyPatch) -> Iterator[Databases]:
    """Give databases on a server that is not their own."""
    monkeypatch.setenv("LAYOVER_TEST_POSTGRES", postgres_address() + "?sslmode=disable")
    found = Databases()
    yield found
    found.close()


async def test_a_database_is_emptied_before_it_is_used_again(on_ours: Databases) -> None:
    address = on_ours.address()
    schema = schema_of(address)
    await run(address, TABLES.format(schema))
    on_ours.give_back()
    assert on_ours.address() == address
    for table, rows in {"migrations": 1, "versions": 0, "executions": 0, "events": 0}.items():
        assert await ask(address, f"SELECT count(*) FROM {schema}.{table}") == rows, table  # noqa: S608 - our own names


async def test_databases_of_one_test_differ(on_ours: Databases) -> None:
    first, second = on_ours.address(), on_ours.address()
    assert schema_of(first) != schema_of(second)
    on_ours.give_back()
    assert [on_ours.address(), on_ours.address()] == [first, second]
    assert on_ours.address() not in (first, second)


async def test_a_fresh_schema_is_handed_out_once(on_ours: Databases) -> None:
    fresh = on_ours.fresh()
    on_ours.give_back()
    assert on_ours.address() != fresh


async def test_the_address_keeps_what_it_said_before(on_ours: Databases) -> None:
    assert "?sslmode=disable&schema=layover_test_" in on_ours.address()


async def test_nothing_is_left_on_a_server_that_is_not_ours(on_ours: Databases) -> None:
    address = on_ours.address()
    schema = schema_of(address)
    await run(address, TABLES.format(schema))
    on_ours.close()
    assert await ask(address, f"SELECT to_regnamespace('{schema}')") is None
