"""A database that is broken in any way: the doctor says what is wrong and what to do, and never breaks itself."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import apsw
import pytest

from layover import Engine, admin
from layover.admin.examination.database import hint_for
from layover.errors import LayoverError
from layover.ports.vitals import Vitals
from layover.runtime.examination.database import judge_vitals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from layover.admin import Diagnosis, Finding

ASKING = "name: asking\nnodes: [{id: a, type: approval}]"


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("LAYOVER_")]:
        monkeypatch.delenv(name)


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    """Return a file with an execution that is paused."""
    file = tmp_path / "app.db"
    async with Engine(f"sqlite:///{file}") as engine:
        await engine.register(ASKING)
        await engine.start("asking", until="rest", timeout="30s")
    return file


async def wrong_with(path: Path) -> list[Finding]:
    """Return what is wrong with a file; each of it has to come with what to do."""
    found: Diagnosis = await admin.doctor(str(path), nodes=[])
    wrong = [one for one in found.findings if one.health != "ok"]
    assert [one.what for one in wrong if not one.hint] == []
    assert found.ok == all(one.health == "warning" for one in wrong)
    return wrong


async def problem_of(path: Path) -> Finding:
    (one,) = [one for one in await wrong_with(path) if one.health == "problem"]
    return one


def change(path: Path, statement: str) -> None:
    db = apsw.Connection(str(path))
    db.execute(statement)
    db.close()


def be_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def be_text(path: Path) -> None:
    path.write_text("This is a letter, and no database at all. " * 100)


def be_cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def be_noise(path: Path) -> None:
    noise = random.Random(18).randbytes(path.stat().st_size - 4096)  # noqa: S311 - it hides nothing
    path.write_bytes(path.read_bytes()[:4096] + noise)


def be_of_another_program(path: Path) -> None:
    path.unlink()
    change(path, "CREATE TABLE letters (a)")


def by(statement: str) -> Callable[[Path], None]:
    return lambda path: change(path, statement)


@pytest.mark.parametrize(
    ("spoil", "told", "hint"),
    [
        (be_a_folder, "is a folder", "Name a file"),
        (be_text, "is not a SQLite database", "Name another file"),
        (be_cut, "is damaged", "Restore it from a backup"),
        (be_noise, "is damaged", "Restore it from a backup"),
        (be_of_another_program, "of another program", "Name another database"),
        (by("INSERT INTO migrations VALUES (99, 'later', 'x', 1)"), "newer release", "Install the release"),
        (by("UPDATE migrations SET checksum = 'x' WHERE number = 3"), "another migration 3", "Install the release"),
        (by("DROP TABLE executions"), "no such table", "restore a backup"),
        (by("UPDATE heads SET missing = x'00ff'"), "could not be examined: DecodeError", "layover verify"),
        (by("UPDATE heads SET wake_at = 'abc'"), "could not be examined: TypeError", "layover verify"),
        (by("UPDATE versions SET document = x'00'"), "", "layover verify"),
    ],
)
async def test_what_is_wrong_is_a_problem_with_its_remedy(
    path: Path, spoil: Callable[[Path], None], told: str, hint: str
) -> None:
    spoil(path)
    problem = await problem_of(path)
    assert told in problem.text
    assert hint in problem.hint


async def test_a_newer_schema_is_not_called_right(path: Path) -> None:
    change(path, "INSERT INTO migrations VALUES (99, 'later', 'x', 1)")
    found = await admin.doctor(str(path))
    assert [one for one in found.findings if one.what == "schema"] == []


async def test_an_empty_file_is_filled_by_the_first_command_that_writes(tmp_path: Path) -> None:
    file = tmp_path / "app.db"
    file.touch()
    assert await wrong_with(file) == []
    found = await admin.doctor(str(file))
    assert found.findings[-1].text == f"{file} is empty; the first command that writes fills it"


async def test_a_folder_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    problem = await problem_of(tmp_path / "nowhere" / "app.db")
    assert (problem.what, problem.hint) == ("folder", "Create it, or name another with --db.")


@pytest.fixture(params=["BEGIN IMMEDIATE", "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE"])
def _held(path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hold a file as another program would, which lets others read or not even that."""
    for module in ("admin._PATIENCE_MS", "connection.BUSY_MS"):
        monkeypatch.setattr(f"layover.stores.sqlite.{module}", 1)
    db = apsw.Connection(str(path))
    for statement in request.param.split("; "):
        db.execute(statement).get  # noqa: B018 - else it would only begin
    yield
    db.close()


@pytest.mark.usefixtures("_held")
async def test_a_file_that_another_program_holds_is_a_problem(path: Path) -> None:
    problems = [one for one in await wrong_with(path) if one.health == "problem"]
    assert problems
    assert {one.text for one in problems} == {f"{path} is locked by another program for too long."}
    assert all("fuser" in one.hint for one in problems)


_AS_SOMEBODY = """
import asyncio, os, sys
from layover import admin
asyncio.run(admin.doctor(sys.argv[1]))  # another user may not read the modules that it needs
os.setgroups([]); os.setgid(65534); os.setuid(65534)
for one in asyncio.run(admin.doctor(sys.argv[1])).findings:
    print(one.health, one.what, one.text, one.hint, sep="|")
"""


@pytest.fixture
def shared() -> Iterator[Path]:
    """Return a folder that other users may read."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def give(path: Path, mode: int) -> None:
    path.chmod(mode)


def as_somebody(path: Path) -> dict[str, list[str]]:
    """Return what the doctor tells another user."""
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", _AS_SOMEBODY, str(path)], capture_output=True, text=True, check=False, cwd="/"
    )
    assert done.stderr == ""
    return {line.split("|")[1]: line.split("|") for line in done.stdout.splitlines()}


ONLY_ROOT = pytest.mark.skipif(sys.platform == "win32" or os.getuid() != 0, reason="only root becomes another user")


@ONLY_ROOT
async def test_an_unreadable_file_is_a_problem_with_a_remedy_and_its_instances_are_not_called_dead(
    shared: Path,
) -> None:
    path = shared / "app.db"
    async with Engine(f"sqlite:///{path}") as engine:
        await engine.register(ASKING)
        give(path, 0o644)
        told = as_somebody(path)
    assert told["file"][0] == "problem"
    assert "chmod" in told["file"][3]
    assert "0 instances alive" not in repr(told)


@ONLY_ROOT
async def test_an_unreadable_folder_is_a_problem_with_a_remedy(shared: Path) -> None:
    async with Engine(f"sqlite:///{shared / 'app.db'}"):
        give(shared, 0o700)
        told = as_somebody(shared / "app.db")
        give(shared, 0o755)
    assert "PermissionError" in told["file"][2]
    assert "Let this user" in told["file"][3]


async def test_a_full_disk_is_a_problem_and_little_space_a_warning(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for free, health, text in ((0, "problem", "0 MB free"), (90_000_000, "warning", "90 MB free")):
        monkeypatch.setattr("shutil.disk_usage", lambda _, left=free: SimpleNamespace(free=left))
        disk = next(one for one in await wrong_with(path) if one.what == "disk")
        assert (disk.health, disk.text) == (health, text)


def test_a_server_that_only_lets_read_is_a_problem() -> None:
    (found,) = [one for one in judge_vitals(Vitals(read_only=True)) if one.health == "problem"]
    assert (found.what, "primary" in found.hint) == ("server", True)


@pytest.mark.parametrize("code", ["locked", "read_only", "full", "io_error", "too_slow", "denied", "no_database"])
def test_a_database_that_is_there_is_not_to_be_started(code: str) -> None:
    assert not hint_for(LayoverError("", code=code)).startswith("Start it")
