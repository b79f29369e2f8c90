"""The commands on a PostgreSQL database, where they differ from those on a file."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import pytest

from layover.stores.postgres.address import read_address
from layover.stores.postgres.migrations import migrate, migrations
from tests.servers.postgres import fresh_schema, postgres_address, run, schema_of

if TYPE_CHECKING:
    from tests.cli.conftest import Run

NEWEST = migrations()[-1].number


@pytest.fixture
def db() -> str:
    return fresh_schema()


def _run(db: str, script: str) -> None:
    asyncio.run(run(db, script.replace("layover.", f"{schema_of(db)}.")))


def test_a_database_is_made_once(cli: Run, db: str) -> None:
    assert cli("migrate", "--check", "--db", db) == (4, f"{db} does not exist.\n", "")
    assert cli("migrate", "--check", "--db", db).code == 4
    assert cli("migrate", "--db", db) == (0, f"{db}: schema none → {NEWEST}\n", "")
    assert cli("migrate", "--db", db) == (0, f"{db} is up to date (schema {NEWEST}).\n", "")
    assert cli("migrate", "--check", "--db", db) == (0, f"{db} is up to date (schema {NEWEST}).\n", "")
    assert cli("migrate", "--json", "--db", db).json == {"before": NEWEST, "after": NEWEST, "newest": NEWEST}


def test_a_database_can_be_brought_back_and_forth(cli: Run, db: str) -> None:
    code, _, err = cli("migrate", "--to", "0", "--db", db)
    assert code == 2
    assert "There is no database of Layover" in err
    cli("migrate", "--db", db)
    assert cli("migrate", "--to", "0", "--db", db) == (0, f"{db}: schema {NEWEST} → 0\n", "")
    assert cli("migrate", "--check", "--db", db) == (4, f"{db} has schema 0; {NEWEST} is needed.\n", "")
    code, _, err = cli("ls", "--db", db)
    assert code == 2
    assert "needs the migrations" in err
    assert cli("migrate", "--to", "1", "--db", db) == (0, f"{db}: schema 0 → 1\n", "")
    for number in ("-1", str(NEWEST + 1)):
        code, _, err = cli("migrate", "--to", number, "--db", db)
        assert code == 2
        assert f"knows 0 to {NEWEST}" in err


def test_a_database_that_instances_use_is_not_brought_back(cli: Run, db: str) -> None:
    cli("migrate", "--db", db)
    _run(db, "INSERT INTO layover.instances VALUES ('one', (extract(EPOCH FROM clock_timestamp()) * 1000)::bigint)")
    code, _, err = cli("migrate", "--to", "0", "--db", db)
    assert code == 4
    assert "is in use: 1 instance of it runs: one" in err
    _run(db, "UPDATE layover.instances SET seen_at = seen_at - 31000")
    assert cli("migrate", "--to", "0", "--db", db).code == 0


def test_an_execution_is_run_looked_at_answered_and_purged(cli: Run, db: str) -> None:
    ran = cli("run", "asking.yaml", "--nodes", "nodes.py", "--input", '{"name": "Ada"}', "--json", "--db", db)
    assert ran.code == 10
    assert ran.id in cli("ls", "--db", db).out
    assert cli("verify", db).code == 0
    code, out, err = cli("answer", ran.id, '{"size": 3}', "--by", "ann", "--db", db)
    assert code == 0
    assert "No instance is running" in err
    assert f"layover worker --db '{db}' --nodes MODULE" in err  # a shell would take the rest of the address for its own
    assert cli("cancel", ran.id, "--db", db).code == 0
    cli("run", "asking.yaml", "--nodes", "nodes.py", "--id", ran.id, "--db", db)
    assert cli("show", ran.id, "--db", db).code == 0
    assert cli("purge", db, "--older-than", "0s").out.splitlines()[-1] == "1 execution deleted"
    assert ran.id not in cli("ls", "--db", db).out
    assert out


def test_a_doctor_tells_of_the_server_the_schema_and_the_instances(cli: Run, db: str) -> None:
    code, out, _ = cli("doctor", "--db", db)
    assert code == 0
    assert "does not exist yet" in out
    cli("migrate", "--db", db)
    _run(db, "INSERT INTO layover.instances VALUES ('one', (extract(EPOCH FROM clock_timestamp()) * 1000)::bigint)")
    code, out, _ = cli("doctor", "--db", db)
    assert code == 0
    assert "ok       postgresql: 1" in out
    assert f"ok       schema: {NEWEST}" in out
    assert "instances: 1 instance alive: one" in out
    assert "sqlite" not in out
    _run(db, "DELETE FROM layover.instances")
    cli("migrate", "--to", "0", "--db", db)
    code, out, _ = cli("doctor", "--db", db)
    assert code == 1
    assert f"problem  schema: 0 of {NEWEST}" in out


def _newer(db: str) -> None:
    asyncio.run(migrate(read_address(db), 0))
    _run(db, f"INSERT INTO layover.migrations VALUES ({NEWEST + 1}, 'later', '', 0, FALSE)")  # noqa: S608 - a number


def _foreign(db: str) -> None:
    _run(db, f"CREATE SCHEMA {schema_of(db)}; CREATE TABLE layover.theirs (x int)")


@pytest.mark.parametrize(
    ("make", "said"), [(_newer, "was written by a newer release"), (_foreign, "has tables of another program")]
)
def test_an_unusable_database_is_refused_with_the_reason(cli: Run, db: str, make: object, said: str) -> None:
    assert callable(make)
    make(db)
    for words in (("ls", "--db", db), ("verify", db), ("migrate", "--db", db), ("migrate", "--to", "0", "--db", db)):
        code, _, err = cli(*words)
        assert code == 2
        assert said in err
    code, out, _ = cli("doctor", "--db", db)
    assert code == 1
    assert said in out


def test_an_unreachable_server_is_reported_without_the_password(cli: Run) -> None:
    db = "postgresql://me:s3cret@127.0.0.1:1/app?password=s3cret"
    for words in (("ls",), ("migrate",), ("migrate", "--check"), ("migrate", "--to", "0"), ("cancel", "abcdef")):
        code, out, err = cli(*words, "--db", db)
        assert code == 2
        assert "cannot be reached" in err
        assert "s3cret" not in out + err
    for json in ((), ("--json",)):
        code, out, err = cli("doctor", *json, "--db", db)
        assert code == 1
        assert "cannot be reached" in out
        assert "s3cret" not in out + err


def test_a_missing_database_is_reported_with_what_to_do(cli: Run) -> None:
    code, _, err = cli("migrate", "--db", f"{postgres_address().rpartition('/')[0]}/no_such_database")
    assert code == 2
    assert "Create the database first" in err


def test_without_the_driver_the_error_says_how_to_install_it(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    for words in (("ls",), ("migrate",), ("doctor",)):
        code, out, err = cli(*words, "--db", "postgresql://me:s3cret@there/app")
        assert code in (1, 2)
        assert 'pip install "layover[postgres]"' in out + err
        assert "s3cret" not in out + err
