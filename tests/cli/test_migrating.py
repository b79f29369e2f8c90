"""`layover migrate --to`: a database file in the shape that an older release knows, and back."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import TYPE_CHECKING

from layover.stores.sqlite.migrations import migrations

if TYPE_CHECKING:
    from tests.cli.conftest import Run

DB = "sqlite:///layover.db"
NEWEST = migrations()[-1].number


def test_a_file_can_be_brought_back_and_forth(cli: Run, waiting: str) -> None:
    assert cli("migrate", "--to", "1") == (0, f"{DB}: schema {NEWEST} → 1\n", "")
    assert cli("migrate", "--to", "1") == (0, f"{DB} is up to date (schema 1).\n", "")
    assert cli("migrate", "--to", "1", "--check").code == 0
    assert cli("ls").code == 2
    assert cli("migrate") == (0, f"{DB}: schema 1 → {NEWEST}\n", "")
    assert waiting in cli("ls").out


def test_only_what_is_known_can_be_asked_for(cli: Run) -> None:
    for number in ("-1", str(NEWEST + 1)):
        code, _, err = cli("migrate", "--to", number)
        assert code == 2
        assert f"knows 0 to {NEWEST}" in err


def test_a_file_that_is_not_there_is_not_made(cli: Run) -> None:
    code, _, err = cli("migrate", "--to", "1")
    assert code == 2
    assert "There is no database" in err
    assert not Path("layover.db").exists()


def test_a_file_that_an_instance_has_open_is_not_brought_back(cli: Run, waiting: str) -> None:
    assert waiting
    folder = Path("layover.db-instances")
    folder.mkdir()
    with (folder / "one.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        code, _, err = cli("migrate", "--to", "1")
    assert code == 4
    assert "is in use: 1 instance of it runs: one" in err
    assert cli("ls").code == 0
