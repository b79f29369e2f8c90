"""`layover copy`: a database that a process left when it was killed moves to another place, and goes on there."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from layover import Engine
from layover.admin import OperatorEngine
from layover.ports.access import WorkflowStatus
from layover.stores.postgres import PostgresStore
from layover.stores.sqlite import SqliteStore
from tests.cli.copy_scene import HOUR, goes_on, leave_unheard, named, tokens
from tests.cli.test_verify import layover
from tests.servers.postgres import ask, run, schema_of
from tests.stores.conformance import entry, key
from tests.stores.copied import INDEXED_ANEW, rows_of_file, rows_of_schema

if TYPE_CHECKING:
    from layover.ports.store import Store
    from tests.servers.postgres import Databases

WELL = "both sides hold the same, no violations"
FROM_WHERE = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file as a process left it that was killed."""
    path: Path = tmp_path_factory.mktemp("copy") / "left.db"
    killed = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "tests.cli.copy_scene", str(path)], check=False, timeout=120, cwd=FROM_WHERE
    )
    assert killed.returncode == -signal.SIGKILL
    asyncio.run(leave_unheard(path))
    return path


@pytest.fixture
def source(left: Path, tmp_path: Path) -> Path:
    path = tmp_path / "source.db"
    shutil.copy(left, path)
    return path


@pytest.fixture(scope="module")
def counted(left: Path) -> str:
    """What is in the file."""
    code, out, err = layover("copy", str(left), "nowhere.db", "--dry-run")
    assert (code, err) == (0, "")
    assert out.startswith("20 executions (16 open), 1")
    assert out.endswith(" events, 14 versions, 2 signals would be copied\n")
    return out.removesuffix(" would be copied\n")


def ahead() -> int:
    return time.time_ns() // 1_000_000 + 2 * HOUR


def store_at(place: str) -> Store:
    """Return a store on a copy, with a clock that is hours ahead."""
    return PostgresStore(place, clock=ahead) if "://" in place else SqliteStore(place, clock=ahead)


# Everything moves


async def test_what_was_copied_is_the_same_on_three_databases_and_goes_on(
    source: Path, left: Path, counted: str, tmp_path: Path, postgres: Databases
) -> None:
    before, there, back = _bytes(source), postgres.address(), tmp_path / "back.db"
    said = f"{counted}: {WELL}\n"
    assert await _layover("copy", str(source), there) == (0, said, "")
    assert await _layover("copy", there, str(back)) == (0, said, "")
    assert _bytes(source) == before
    ours, theirs = rows_of_file(source), rows_of_file(back)
    for table in ours.keys() - {"heads", "executions", "versions", "migrations", "locks", *INDEXED_ANEW}:
        assert theirs[table] == ours[table], table
    marked = [({**one, "unindexed": 1}, other) for one, other in zip(ours["heads"], theirs["heads"], strict=True)]
    ((driven, due),) = [(one, other) for one, other in marked if one != other]
    assert {**driven, "owner": None, "wake_at": due["wake_at"]} == due
    assert due["workflow"] == "dies"
    token = _bytes(tokens(left)).decode()
    for place in (there, str(back)):
        await goes_on(store_at(place), token)
        assert (await _layover("verify", place))[0] == 0


async def test_keys_and_what_people_did_are_counted_if_there_are_any(tmp_path: Path) -> None:
    source, target = (tmp_path / name for name in ("source.db", "target.db"))
    store = SqliteStore(source)
    await store.open("test")
    await store.api_keys.add(key(1), entry(1))
    await store.workflow_status.set_status(WorkflowStatus(workflow="order", state="inactive", changed_at=1), entry(2))
    await store.close()
    counts = "0 executions (0 open), 0 events, 0 versions, 0 signals, 1 key, 2 audit entries"
    code, out, err = await _layover("copy", str(source), str(target))
    assert (code, out, err) == (0, f"{counts}: {WELL}\n", "")
    code, out, _ = await _layover("copy", str(target), str(tmp_path / "third.db"), "--json")
    told = json.loads(out)
    assert (code, told["keys"], told["workflow_statuses"], told["audit"]) == (0, 1, 1, 2)


async def test_a_copy_between_servers(source: Path, postgres: Databases) -> None:
    first, second = postgres.address(), postgres.address()
    assert (await _layover("copy", str(source), first))[0] == 0
    code, out, err = await _layover("copy", first, second, "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert (told["ok"], told["dry_run"], told["violations"]) == (True, False, [])
    assert (told["executions"], told["open"], told["written"], told["signals"]) == (20, 16, 20, 2)
    ours, theirs = await rows_of_schema(first), await rows_of_schema(second)
    for table in ours.keys() - {"instances", "executions", "versions", "migrations"}:
        assert theirs[table] == ours[table], table


@pytest.mark.usefixtures("source")
def test_a_copy_between_files_by_path_or_by_address(tmp_path: Path) -> None:
    assert layover("copy", "source.db", f"sqlite:///{tmp_path}/a.db", cwd=tmp_path)[0] == 0
    assert layover("copy", "sqlite:///a.db", "b.db", cwd=tmp_path)[0] == 0
    assert rows_of_file(tmp_path / "a.db")["heads"] == rows_of_file(tmp_path / "b.db")["heads"]


def test_a_dry_run_counts_and_makes_nothing(source: Path, counted: str, tmp_path: Path) -> None:
    target = tmp_path / "target.db"
    assert layover("copy", str(source), str(target), "--dry-run") == (0, f"{counted} would be copied\n", "")
    assert not target.exists()
    told = json.loads(layover("copy", str(source), str(target), "--dry-run", "--json")[1])
    assert (told["dry_run"], told["executions"], told["written"]) == (True, 20, 0)


# What is refused


def test_a_target_that_is_not_empty_is_refused_and_left_as_it_is(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.db"
    asyncio.run(_use(target))
    before = target.read_bytes()
    for words in ((), ("--dry-run",), ("--json",)):
        code, out, err = layover("copy", str(source), str(target), *words)
        assert (code, out) == (4, "")
        assert "is not empty" in err
        assert "--resume" in err
    code, out, err = layover("copy", str(source), str(target), "--resume")
    assert (code, out) == (4, "")
    assert "is not a copy of this source" in err
    assert target.read_bytes() == before


async def _use(path: Path) -> None:
    async with Engine(f"sqlite:///{path}") as engine:
        await engine.register({"name": "other", "nodes": [{"id": "a", "type": "end"}]})
        await engine.start("other", until="end")


async def test_a_source_that_is_in_use_is_refused(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.db"
    async with OperatorEngine(f"sqlite:///{source}", drive=True) as engine:
        for words in ((), ("--dry-run",)):
            code, out, err = await _layover("copy", str(source), str(target), *words)
            assert (code, out) == (4, "")
            assert f"source.db is in use: 1 instance of it runs: {engine.instance_id}." in err
    assert not target.exists()


async def test_a_target_that_is_in_use_is_refused(source: Path, postgres: Databases) -> None:
    target = postgres.address()
    async with Engine(target):
        code, out, err = await _layover("copy", str(source), target)
        assert (code, out) == (4, "")
        assert "is in use" in err
    assert (await _layover("copy", str(source), target))[0] == 0


async def test_two_copies_do_not_meet(source: Path, tmp_path: Path) -> None:
    other = SqliteStore(tmp_path / "target.db")
    await other.open("copy")
    code, out, err = await _layover("copy", str(source), str(tmp_path / "target.db"))
    await other.close()
    assert (code, out) == (4, "")
    assert "Another copy into" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere.db", "target.db"), "There is no database nowhere.db"),
        (("source.db", "mysql://nowhere"), "is not the address of a database"),
        (("source.db", "source.db"), "are the same database"),
        (("source.db", "sqlite:///./source.db"), "are the same database"),
        (("source.db",), "target"),
        (("source.db", "notes.txt"), "not a SQLite database"),
        (("notes.txt", "target.db"), "not a SQLite database"),
        (("source.db", "postgresql://me:secret@127.0.0.1:1/none"), "127.0.0.1"),
    ],
)
def test_what_cannot_be_copied_is_a_sentence_and_code_2(
    source: Path, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    (tmp_path / "notes.txt").write_text("no database at all, but a text\n" * 100)
    before = source.read_bytes()
    code, out, err = layover("copy", *words, cwd=tmp_path)
    assert (code, out) == (2, "")
    assert said in err.replace("TARGET", "target")
    assert "Traceback" not in err
    assert "secret" not in err
    assert source.read_bytes() == before
    assert not (tmp_path / "target.db").exists()


def test_a_target_of_an_older_release_is_left_alone(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.db"
    layover("migrate", "--db", str(target))
    layover("migrate", "--db", str(target), "--to", "1")
    before = target.read_bytes()
    code, _, err = layover("copy", str(source), str(target))
    assert code == 2
    assert "needs the migrations" in err
    assert target.read_bytes() == before


# What goes wrong

_KILLED = """
import os, signal, sys
from layover.cli.main import main
from layover.runtime.maintenance import database_copy
from layover.stores.{kind}.database_copy import {family}

database_copy._EXECUTIONS_AT_ONCE = 3
write_batch = {family}.write_batch
left = {calls}

async def write_some(self, batch):
    global left
    await write_batch(self, batch)
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

{family}.write_batch = write_some
main()
"""


def _killed_copy(source: Path, target: str, calls: int) -> None:
    """Copy, and be killed after some of it was written."""
    kind = "postgres" if "://" in target else "sqlite"
    program = _KILLED.format(kind=kind, family=f"{kind.title()}DatabaseCopy", calls=calls)
    words = [sys.executable, "-c", program, "copy", str(source), target]
    assert subprocess.run(words, check=False, timeout=120).returncode == -signal.SIGKILL  # noqa: S603 - our own


@pytest.mark.parametrize("calls", [1, 14, 16, 20, 21])  # of 14 versions, 7 batches of executions, and the signals
def test_a_copy_that_was_killed_is_gone_on_with(source: Path, counted: str, tmp_path: Path, calls: int) -> None:
    before, target = source.read_bytes(), tmp_path / "target.db"
    _killed_copy(source, str(target), calls)
    code, out, err = layover("copy", str(source), str(target))
    assert (code, out) == (4, "")
    assert "is not empty" in err
    code, out, err = layover("copy", str(source), str(target), "--resume")
    assert (code, err) == (0, "")
    there = min(max(calls - 14, 0) * 3, 20)
    lines = out.splitlines()
    assert lines[-1] == f"{counted}: {WELL}"
    assert lines[:-1] == ([f"{_executions(20 - there)} copied, the others were there"] if there else [])
    assert source.read_bytes() == before
    assert layover("verify", str(target))[0] == 0


def _executions(number: int) -> str:
    return f"{number} execution{'' if number == 1 else 's'}"


async def test_a_copy_to_a_server_that_was_killed_is_gone_on_with(
    source: Path, left: Path, postgres: Databases
) -> None:
    target = postgres.address()
    await asyncio.to_thread(_killed_copy, source, target, 17)
    schema = schema_of(target)
    assert await ask(target, f"SELECT count(*) FROM {schema}.heads") == 9  # noqa: S608 - a name of ours
    code, out, err = await _layover("copy", str(source), target, "--resume")
    assert (code, out) == (4, "")
    assert "is running, or was until a moment ago" in err
    assert "try again in half a minute" in err
    await run(target, f"UPDATE {schema}.instances SET seen_at = seen_at - 40000")  # noqa: S608 - the same
    code, out, err = await _layover("copy", str(source), target, "--resume")
    assert (code, err) == (0, "")
    assert out.startswith("11 executions copied, the others were there\n")
    await goes_on(store_at(target), _bytes(tokens(left)).decode())


def test_a_copy_that_was_used_is_not_gone_on_with(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.db"
    _killed_copy(source, str(target), 20)
    asyncio.run(_use(target))
    code, _, err = layover("copy", str(source), str(target), "--resume")
    assert code == 4
    assert "is not a copy of this source" in err


_OPENED = """
import sys
from layover.cli.main import main
from layover.stores.sqlite import SqliteStore
from layover.stores.sqlite.database_copy import SqliteDatabaseCopy

write_batch, late = SqliteDatabaseCopy.write_batch, SqliteStore(sys.argv[2])

async def write_and_open(self, batch):
    await write_batch(self, batch)
    if not late._session.is_open:
        await late.open("late")

SqliteDatabaseCopy.write_batch = write_and_open
main()
"""


def test_a_source_that_is_opened_meanwhile_fails_the_copy(source: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-c", _OPENED, "copy", str(source), str(tmp_path / "target.db")]
    done = subprocess.run(words, check=False, timeout=120, capture_output=True)  # noqa: S603 - our own
    assert (done.returncode, done.stdout) == (4, b"")
    assert b"was opened while it was copied: 1 instance of it runs: late." in done.stderr


def test_what_fails_on_its_way_says_how_to_go_on(source: Path, postgres: Databases) -> None:
    """A database that cannot keep an execution is told by the execution, and the rest can be copied once it is gone."""
    db = apsw.Connection(str(source))
    id_ = bytes.fromhex(named("timer").replace("-", ""))
    db.execute("UPDATE executions SET correlation_id = 'a' || char(0) || 'b' WHERE execution_id = ?", (id_,))
    db.close()
    code, out, err = layover("copy", str(source), postgres.address())
    assert (code, out) == (2, "")
    assert named("timer") in err
    assert "Nothing was changed in the source" in err
    assert "--resume` continues the copy" in err


def test_a_source_that_breaks_a_law_is_copied_as_it_is_and_reported(source: Path, counted: str, tmp_path: Path) -> None:
    db = apsw.Connection(str(source))
    id_ = bytes.fromhex(named("timer").replace("-", ""))
    db.execute("UPDATE heads SET wake_at = wake_at + 1 WHERE execution_id = ?", (id_,))
    db.close()
    code, out, err = layover("copy", str(source), str(tmp_path / "target.db"))
    assert (code, err) == (1, "")
    first, second, last = out.splitlines()
    assert first.startswith(f"source: {named('timer')}: It wakes at")
    assert second.startswith(f"target: {named('timer')}: It wakes at")
    assert last == f"{counted}: 2 violations"
    shutil.rmtree(tmp_path / "target.db-instances", ignore_errors=True)
    (tmp_path / "target.db").unlink()
    code, out, _ = layover("copy", str(source), str(tmp_path / "target.db"), "--json")
    told = json.loads(out)
    assert (code, told["ok"]) == (1, False)
    assert [one["where"] for one in told["violations"]] == ["source", "target"]
    assert {one["code"] for one in told["violations"]} == {"wake_wrong"}


def test_progress_is_shown_on_a_terminal(source: Path, tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", "from layover.cli.main import main; main()", "copy", str(source), "target.db"],
        stdout=subprocess.PIPE,
        stderr=theirs,
        check=False,
        cwd=tmp_path,
        env={"COLUMNS": "100", "LANG": "C.UTF-8", "PYTHONIOENCODING": "utf-8", "TERM": "xterm"},
    )
    os.close(theirs)
    assert done.returncode == 0
    shown = os.read(ours, 100_000)
    os.close(ours)
    assert b" of 20 executions" in shown


def _bytes(path: Path) -> bytes:
    return path.read_bytes()


async def _layover(*words: str) -> tuple[int, str, str]:
    return await asyncio.to_thread(layover, *words)
