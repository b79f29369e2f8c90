"""`layover purge`, run as a person runs it: as a process, on a file that others may be using."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from layover import Engine
from layover.bootstrap import inspectable_store
from layover.runtime.maintenance.verify import violations
from tests.cli.test_verify import layover
from tests.runtime.harness import end, flow, form

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.runtime.maintenance.verify import Violation

DAY = 86_400_000
AGES = {"short": 2, "long": 9, "plain": 5}  # in days


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("purge") / "built.db"
    asyncio.run(_build(path))
    return path


@pytest.fixture
def path(built: Path, tmp_path: Path) -> Iterator[Path]:
    copy = tmp_path / "copy.db"
    shutil.copy(built, copy)
    yield copy
    assert asyncio.run(_violations(copy)) == []


async def _violations(path: Path) -> list[Violation]:
    store = inspectable_store(f"sqlite:///{path}")
    await store.open_to_read()
    try:
        return await violations(store)
    finally:
        await store.close()


async def _build(path: Path) -> None:
    """Make a database with three ended executions of each workflow, some days ago, and an open one."""
    async with Engine(f"sqlite:///{path}") as engine:
        for name, settings in (("short", {"retention": "1d"}), ("long", {"retention": "30d"}), ("plain", {})):
            await engine.register(flow(end(1), name=name, settings=settings))
            for _ in range(3):
                await engine.start(name, until="end")
        await engine.register(flow(form(), name="asking", settings={"retention": "1d", "max_pause": "none"}))
        await engine.start("asking", until="rest")
    db = apsw.Connection(str(path))
    for name, days in AGES.items():
        ids = [id_ for (id_,) in db.execute("SELECT execution_id FROM heads WHERE workflow = ?", (name,))]
        for id_ in ids:
            db.execute("UPDATE events SET at = at - ? WHERE execution_id = ?", (days * DAY, id_))
            db.execute(
                "UPDATE executions SET created_at = created_at - ?, finished_at = finished_at - ?"
                " WHERE execution_id = ?",
                (days * DAY, days * DAY, id_),
            )
    db.close()


def _counted(path: Path) -> dict[str, int]:
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    found = dict(db.execute("SELECT workflow, count(*) FROM heads GROUP BY workflow"))
    db.close()
    return found


ALL = {"short": 3, "long": 3, "plain": 3, "asking": 1}


def test_only_workflows_with_a_retention_are_purged(path: Path) -> None:
    assert layover("purge", str(path)) == (0, "short: 3 deleted\n3 executions deleted\n", "")
    assert _counted(path) == {"long": 3, "plain": 3, "asking": 1}
    assert layover("purge", str(path)) == (0, "0 executions deleted\n", "")


def test_a_retention_for_all_counts_for_workflows_without_one(path: Path) -> None:
    code, out, err = layover("purge", str(path), "--older-than", "4d")
    assert (code, err) == (0, "")
    assert sorted(out.splitlines()) == ["6 executions deleted", "plain: 3 deleted", "short: 3 deleted"]
    assert _counted(path) == {"long": 3, "asking": 1}


def test_a_dry_run_says_what_would_be_deleted_and_changes_nothing(path: Path) -> None:
    before = path.read_bytes()
    code, out, err = layover("purge", "--dry-run", "--older-than", "4d", str(path))
    assert (code, err) == (0, "")
    assert sorted(out.splitlines()) == [
        "6 executions would be deleted",
        "plain: 3 would be deleted",
        "short: 3 would be deleted",
    ]
    assert path.read_bytes() == before
    assert _counted(path) == ALL


@pytest.mark.parametrize("dry_run", [True, False])
def test_counts_as_json_for_machines(path: Path, *, dry_run: bool) -> None:
    words = ["--dry-run"] if dry_run else []
    code, out, err = layover("purge", "--json", *words, str(path))
    assert (code, err) == (0, "")
    assert json.loads(out) == {
        "dry_run": dry_run,
        "executions": 3,
        "workflows": {"asking": 0, "long": 0, "short": 3},
    }


def test_an_open_execution_is_never_deleted(path: Path) -> None:
    code, out, _ = layover("purge", str(path), "--older-than", "0s")
    assert (code, out.splitlines()[-1]) == (0, "6 executions deleted")
    assert _counted(path) == {"long": 3, "asking": 1}


def test_one_is_one(path: Path) -> None:
    db = apsw.Connection(str(path))
    db.execute(
        "UPDATE executions SET finished_at = finished_at + ? WHERE execution_id IN"
        " (SELECT execution_id FROM heads WHERE workflow = 'short' ORDER BY execution_id LIMIT 2)",
        (DAY * 3,),
    )
    try:
        assert layover("purge", "--dry-run", str(path))[1].splitlines()[-1] == "1 execution would be deleted"
    finally:
        db.execute(
            "UPDATE executions SET finished_at = finished_at - ? WHERE execution_id IN"
            " (SELECT execution_id FROM heads WHERE workflow = 'short' ORDER BY execution_id LIMIT 2)",
            (DAY * 3,),
        )
        db.close()


@pytest.mark.parametrize("given", ["a month", "-1d", "", "99999999w"])
def test_a_bad_duration_is_a_sentence_and_code_2(path: Path, given: str) -> None:
    code, out, err = layover("purge", str(path), f"--older-than={given}")
    assert (code, out) == (2, "")
    assert err.startswith("layover: --older-than: ")
    assert "Traceback" not in err
    assert _counted(path) == ALL


@pytest.mark.parametrize("words", [[], ["--dry-run"], ["--older-than", "1d", "--json"]])
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda _: None, "There is no database"),
        (Path.mkdir, "There is no database"),
        (lambda path: path.write_bytes(b"not a database at all, but a long text" * 100), "not a SQLite"),
        (Path.touch, "another program"),
    ],
)
def test_what_cannot_be_opened_is_a_sentence_and_code_2(
    tmp_path: Path, make: object, said: str, words: list[str]
) -> None:
    path = tmp_path / "some.db"
    make(path)  # type: ignore[operator]  # each makes something else
    before = path.read_bytes() if path.is_file() else None
    code, out, err = layover("purge", str(path), *words)
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err
    assert (path.read_bytes() if path.is_file() else None) == before


def test_an_address_of_no_database_is_a_sentence_and_code_2() -> None:
    code, out, err = layover("purge", "mysql://nowhere")
    assert (code, out) == (2, "")
    assert "is not the address of a database" in err


async def test_a_running_engine_is_not_held_up(path: Path) -> None:
    async with Engine(f"sqlite:///{path}") as engine:
        code, out, err = await asyncio.to_thread(layover, "purge", str(path))
        assert (code, out.splitlines()[-1], err) == (0, "3 executions deleted", "")
        assert (await engine.start("plain", until="end")).status == "completed"


def test_a_database_of_a_later_release_is_left_alone(path: Path) -> None:
    db = apsw.Connection(str(path))
    db.execute("INSERT INTO migrations SELECT 999, 'later', checksum, taken_at FROM migrations LIMIT 1")
    try:
        for words in ([], ["--dry-run"]):
            code, out, err = layover("purge", str(path), *words)
            assert (code, out) == (2, "")
            assert "Traceback" not in err
        assert _counted(path) == ALL
    finally:
        db.execute("DELETE FROM migrations WHERE number = 999")
        db.close()
