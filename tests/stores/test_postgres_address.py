"""What the address of a PostgreSQL database says, and what is told of it."""

from __future__ import annotations

import re
from secrets import token_hex
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from layover.bootstrap import UnknownDatabase, open_store
from layover.errors import LayoverError
from layover.ports.errors import StoreUnusable
from layover.stores.postgres import PostgresStore
from layover.stores.postgres.address import Address, MalformedAddress, read_address
from layover.stores.postgres.connections import check_version, connect
from layover.stores.postgres.database import PostgresSchema
from tests.servers.postgres import postgres_address, run

if TYPE_CHECKING:
    from tests.servers.postgres import Databases


def test_an_address_without_options_has_the_usual_ones() -> None:
    dsn = "postgresql://me@there:5433/app"
    assert read_address(dsn) == Address(dsn=dsn, shown=dsn)


def test_our_options_are_taken_out_and_the_driver_gets_the_rest() -> None:
    text = "postgres://there/app?schema=my_own&sslmode=require&connections=3&statement_timeout=900&pooler=transaction"
    assert read_address(text) == Address(
        dsn="postgres://there/app?sslmode=require",
        shown="postgres://there/app",
        schema="my_own",
        connections=3,
        statement_timeout=900,
        pooled=True,
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql:///app?host=/run/postgresql", "postgresql:///app"),
        ("postgresql://me:s3cret@there/app", "postgresql://me@there/app"),
        ("postgresql://me:s3%40cr%2Fet@there/app?password=s3cret", "postgresql://me@there/app"),
        ("postgresql://me:s3cret@one:5432,two:5433/app", "postgresql://me@one:5432,two:5433/app"),
        ("postgresql://me:s3cret@[::1]:5433/app", "postgresql://me@[::1]:5433/app"),
    ],
)
def test_an_address_is_shown_without_its_password(text: str, shown: str) -> None:
    found = read_address(text)
    assert found.shown == shown
    assert found.dsn.partition("?")[0] == text.partition("?")[0]


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://me:s3cret@there/app?schema=Mine",
        "postgresql://me:s3cret@there/app?schema=",
        "postgresql://me:s3cret@there/app?schema=a.b",
        "postgresql://me:s3cret@there/app?schema=a;drop",
        "postgresql://me:s3cret@there/app?schema=pg_mine",
        "postgresql://me:s3cret@there/app?schema=information_schema",
        f"postgresql://me:s3cret@there/app?schema={'a' * 60}",
        "postgresql://me:s3cret@there/app?connections=2",
        "postgresql://me:s3cret@there/app?connections=many",
        "postgresql://me:s3cret@there/app?connections=³",
        f"postgresql://me:s3cret@there/app?connections={'9' * 5000}",
        "postgresql://me:s3cret@there/app?statement_timeout=30s",
        "postgresql://me:s3cret@there/app?pooler=session",
        "postgresql://me:s3#cret@there/app",
        "postgresql://me:s3/cret@there/app",
        "postgresql://me:s3?cret@there/app",
        "postgresql://me:s3@cret@there/app",
        "postgresql://me:s3[cret@there/app",
        "postgresql://me:s3cret@there:port/app",
        "postgresql://[::1/app",
    ],
)
def test_an_address_that_says_nothing_sensible_is_refused_without_telling_its_password(text: str) -> None:
    with pytest.raises(MalformedAddress) as refused:
        read_address(text)
    assert refused.value.code == "malformed_address"
    assert not re.search("s3|cret", refused.value.message)


@pytest.mark.parametrize("option", ["sslmode=perhaps", "no_such_setting=1", "work_mem=much"])
async def test_an_unknown_option_is_a_fault_of_the_address(option: str) -> None:
    server = postgres_address()
    with pytest.raises(MalformedAddress, match=re.escape(read_address(server).shown)):
        await connect(read_address(f"{server}{'&' if '?' in server else '?'}{option}"))


async def test_an_unreachable_server_is_reported_without_the_password() -> None:
    db = PostgresSchema(read_address("postgresql://me:s3cret@127.0.0.1:1/app"))
    with pytest.raises(LayoverError) as refused:
        await db.fetchval("server_time")
    assert (refused.value.code, "s3cret" in refused.value.message) == ("unreachable", False)
    await db.close()


def test_a_server_that_is_too_old_is_refused() -> None:
    address = read_address("postgresql://there/app")
    check_version(address, 14)
    with pytest.raises(StoreUnusable, match="PostgreSQL 13") as refused:
        check_version(address, 13)
    assert refused.value.code == "old_server"


async def test_what_others_have_done_is_seen_after_a_lock_whatever_the_server_has_for_a_default(
    postgres: Databases,
) -> None:
    connection = await connect(read_address(f"{postgres.fresh()}&default_transaction_isolation=serializable"))
    assert await connection.fetchval("SHOW transaction_isolation") == "read committed"
    await connection.close()


def test_an_address_leads_to_its_store() -> None:
    for scheme in ("postgresql", "postgres"):
        store = open_store(f"{scheme}://me:s3cret@there/app?schema=mine")
        assert type(store).__name__ == "PostgresStore"
    with pytest.raises(MalformedAddress):
        open_store("postgresql://there/app?schema=Mine")
    with pytest.raises(UnknownDatabase) as refused:
        open_store("mysql://me:s3cret@there/app")
    assert "s3cret" not in refused.value.message


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
async def test_a_database_that_cannot_keep_every_text_is_refused(encoding: str, postgres: Databases) -> None:
    server, name = postgres.server_address(), f"layover_in_{encoding.lower()}_{token_hex(4)}"
    await run(server, f"CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    try:
        with pytest.raises(StoreUnusable, match="UTF8") as refused:
            await PostgresStore(urlsplit(server)._replace(path=f"/{name}").geturl()).open("me")
        assert refused.value.code == "foreign_encoding"
    finally:
        await run(server, f"DROP DATABASE {name}")
