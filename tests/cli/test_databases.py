"""`layover migrate` and `doctor`, and what every command says of a database that it cannot use."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from layover.runtime.dispatch.listeners import Listeners
from layover.stores.sqlite.connection import connect
from layover.stores.sqlite.migrations import migrate, migrations

if TYPE_CHECKING:
    from tests.cli.conftest import Run

DB = Path("layover.db")
NEWEST = migrations()[-1].number


def _old() -> None:
    db = connect(DB)
    migrate(db, DB, 0, to=1)
    db.close()


def _newer() -> None:
    db = connect(DB)
    migrate(db, DB, 0)
    db.execute("INSERT INTO migrations VALUES (?, 'later', '', 0)", (NEWEST + 1,))
    db.close()


def _foreign() -> None:
    db = apsw.Connection(str(DB))
    db.execute("CREATE TABLE theirs (x)")
    db.close()


def _garbage() -> None:
    DB.write_bytes(b"no database at all" * 1000)


FAULTY = [
    (_old, "needs the migrations"),
    (_newer, "was written by a newer release"),
    (_foreign, "is a database of another program"),
    (_garbage, "is not a SQLite database"),
    (DB.mkdir, "There is no database"),
]


def test_a_database_is_made_once(cli: Run) -> None:
    assert cli("migrate", "--check") == (4, "sqlite:///layover.db does not exist.\n", "")
    assert not DB.exists()
    assert cli("migrate") == (0, f"sqlite:///layover.db: schema none → {NEWEST}\n", "")
    assert cli("migrate") == (0, f"sqlite:///layover.db is up to date (schema {NEWEST}).\n", "")
    assert cli("migrate", "--check") == (0, f"sqlite:///layover.db is up to date (schema {NEWEST}).\n", "")
    assert cli("migrate", "--json").json == {"before": NEWEST, "after": NEWEST, "newest": NEWEST}


def test_an_old_database_is_brought_up_to_date(cli: Run) -> None:
    _old()
    assert cli("migrate", "--check") == (4, f"sqlite:///layover.db has schema 1; {NEWEST} is needed.\n", "")
    assert cli("migrate") == (0, f"sqlite:///layover.db: schema 1 → {NEWEST}\n", "")
    assert cli("ls").code == 0


@pytest.mark.parametrize(("make", "said"), FAULTY)
@pytest.mark.parametrize("words", [("ls",), ("cancel", "abcdef"), ("verify",)])
def test_an_unusable_database_is_refused_with_the_reason_and_left_alone(
    cli: Run, make: object, said: str, words: tuple[str, ...]
) -> None:
    assert callable(make)
    make()
    before = DB.read_bytes() if DB.is_file() else b""
    code, out, err = cli(*words)
    assert (code, out) == (2, "")
    assert said in err
    assert (DB.read_bytes() if DB.is_file() else b"") == before


@pytest.mark.parametrize(("make", "said"), FAULTY[1:4])
def test_an_unusable_database_is_neither_migrated_nor_run_on(cli: Run, make: object, said: str) -> None:
    assert callable(make)
    make()
    code, _, err = cli("migrate")
    assert code == 2
    assert said in err
    code, _, err = cli("run", "asking.yaml", "--nodes", "nodes.py", "--input", '{"name": "x"}')
    assert code == 2
    assert said in err
    code, out, _ = cli("doctor")
    assert code == 1
    assert said in out


def test_an_address_of_no_database_is_refused(cli: Run) -> None:
    for db in ("mysql://host/x", "sqlite://", "sqlite:///"):
        code, _, err = cli("ls", "--db", db)
        assert code == 2
        assert "is not the address of a database" in err


def test_a_password_in_an_address_is_not_printed(cli: Run) -> None:
    for words in (("ls",), ("migrate",), ("doctor",), ("verify",), ("purge",)):
        code, out, err = cli(*words, "--db", "mysql://me:s3cret@host/x")
        assert code in (1, 2)
        assert "s3cret" not in out + err


def test_a_database_that_another_program_locks_can_be_read_and_refuses_acts(cli: Run, waiting: str) -> None:
    held = apsw.Connection(str(DB))
    held.execute("BEGIN IMMEDIATE")
    assert cli("show", waiting).code == 0  # whoever looks is not held up
    code, _, err = cli("cancel", waiting)
    held.close()
    assert code == 2
    assert "is locked by another program" in err
    assert "layover doctor" in err


def test_a_missing_folder_is_named_in_the_error(cli: Run) -> None:
    code, _, err = cli("migrate", "--db", "nowhere/app.db")
    assert code == 2
    assert "there is no folder nowhere" in err
    assert cli("doctor", "--db", "nowhere/app.db").code == 1


def test_a_doctor_finds_a_sound_database_sound(cli: Run, waiting: str) -> None:
    assert waiting
    code, out, err = cli("doctor")
    assert (code, err) == (0, "")
    found = [line.split()[:2] for line in out.splitlines() if line[0] != " "]
    assert ["ok", "sqlite:"] in found
    assert ["ok", "schema:"] in found
    assert ["warning", "instances:"] in found  # something is open, and nobody drives it
    assert "Start one: layover worker" in out
    assert cli("doctor", "--json").json["ok"] is True
    assert not Path("layover.db-instances").exists()


def test_a_doctor_counts_instances_that_live(cli: Run, waiting: str) -> None:
    assert waiting
    folder = Path("layover.db-instances")
    folder.mkdir()
    (folder / "dead-1.lock").touch()
    with (folder / "alive-2.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "instances: 1 instance alive: alive-2" in cli("doctor").out
    assert "0 instances alive" in cli("doctor").out


def test_a_doctor_tells_of_executions_that_stand_still(cli: Run, waiting: str) -> None:
    db = apsw.Connection(str(DB))
    db.execute("UPDATE heads SET wake_at = 1000, owner = NULL")
    db.close()
    code, out, _ = cli("doctor")
    assert code == 0
    assert f"warning  execution {waiting}: due for" in out


def test_without_a_running_instance_an_operation_is_not_waited_for(
    cli: Run, waiting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def waited(*_: object) -> None:
        raise AssertionError("it waits")

    monkeypatch.setattr(Listeners, "until", waited)
    for command in ("pause", "cancel"):
        ran = cli(command, waiting)
        assert (ran.code, "No instance is running" in ran.err) == (0, True)
