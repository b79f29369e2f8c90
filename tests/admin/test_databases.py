"""`layover.admin` as a program uses it: results are structs, errors are those of Layover, nothing is printed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from layover import Engine, InvalidInput, LayoverError, WrongState, admin

if TYPE_CHECKING:
    from pathlib import Path

    from layover.admin import AdminProgress

ASKING = {"name": "asking", "nodes": [{"id": "ask", "type": "form", "title": "t", "schema": {}}]}
PLAIN = {"name": "plain", "nodes": [{"id": "end", "type": "end"}]}


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    """A database with a completed execution and one that waits."""
    path = tmp_path / "app.db"
    async with Engine(f"sqlite:///{path}", workflows=[ASKING, PLAIN]) as engine:
        await engine.start("plain", until="end")
        await engine.start("asking", until="rest")
    return path


async def test_a_database_is_made_and_brought_to_a_schema(tmp_path: Path) -> None:
    db = str(tmp_path / "new.db")
    newest = (await admin.schema_of(db)).newest
    assert await admin.schema_of(db) == admin.Schema(current=None, newest=newest)
    assert await admin.migrate(db) == admin.MigrationReport(before=None, after=newest, newest=newest)
    assert await admin.migrate(db, to=1) == admin.MigrationReport(before=newest, after=1, newest=newest)
    with pytest.raises(InvalidInput, match=f"knows 0 to {newest}"):
        await admin.migrate(db, to=newest + 1)


async def test_a_database_that_an_instance_has_open_is_not_brought_back(path: Path) -> None:
    async with admin.OperatorEngine(str(path), drive=True) as engine:
        assert await admin.running_instances(str(path)) == [engine.instance_id]
        with pytest.raises(WrongState, match=engine.instance_id) as refused:
            await admin.migrate(str(path), to=1)
        assert refused.value.code == "in_use"


async def test_a_sound_database_is_verified_with_progress(path: Path) -> None:
    told: list[AdminProgress] = []
    found = await admin.verify(f"sqlite:///{path}", on_progress=told.append)
    assert (found.ok, found.executions, found.violations) == (True, 2, ())
    assert [(one.part, one.executions, one.total) for one in told] == [("verifying", 1, 2), ("verifying", 2, 2)]


async def test_a_copy_tells_when_it_begins_to_write_and_what_it_holds(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    counted = await admin.copy(str(path), str(target), dry_run=True)
    assert (counted.dry_run, counted.contents.executions, counted.contents.open) == (True, 2, 1)
    assert (await admin.schema_of(str(target))).current is None
    told: list[AdminProgress] = []
    done = await admin.copy(str(path), str(target), on_progress=told.append)
    assert (done.ok, done.written, done.contents) == (True, 2, counted.contents)
    assert told[0] == admin.AdminProgress(part="copying", executions=0)
    assert {one.part for one in told} == {"copying", "comparing", "verifying"}
    with pytest.raises(WrongState) as refused:
        await admin.copy(str(path), str(target))
    assert refused.value.code == "not_empty"
    assert (await admin.copy(str(path), str(target), resume=True)).written == 0
    with pytest.raises(InvalidInput, match="same database"):
        await admin.copy(str(path), f"sqlite:///{path}")


async def test_only_what_has_ended_is_purged(path: Path) -> None:
    assert (await admin.purge(str(path))).executions == 0
    assert (await admin.purge(str(path), older_than="0s", dry_run=True)).workflows == {"asking": 0, "plain": 1}
    assert (await admin.purge(str(path), older_than="0s")).executions == 1
    assert (await admin.verify(str(path))).executions == 1
    with pytest.raises(InvalidInput, match="older_than"):
        await admin.purge(str(path), older_than="soon")


async def test_a_purge_tells_how_far_it_is(path: Path) -> None:
    told: list[AdminProgress] = []
    done = await admin.purge(str(path), older_than="0s", on_progress=told.append)
    assert (told[-1].part, told[-1].executions, told[-1].total) == ("deleting", done.executions, done.executions)


async def test_a_doctor_warns_of_what_nothing_drives(path: Path) -> None:
    found = await admin.doctor(str(path))
    assert found.ok
    (instances,) = [one for one in found.findings if one.what == "instances"]
    assert (instances.health, instances.text) == ("warning", "0 instances alive")


@pytest.mark.parametrize("work", [admin.verify, admin.purge])
def test_what_is_not_there_is_not_made(tmp_path: Path, work: object) -> None:
    assert callable(work)
    with pytest.raises(LayoverError, match="There is no database"):
        asyncio.run(work(str(tmp_path / "none.db")))
    assert not list(tmp_path.iterdir())


def test_a_password_is_not_shown() -> None:
    shown = admin.without_password("postgresql://me:secret@host/x?sslpassword=other&y=1 and more")
    assert shown == "postgresql://me:***@host/x?sslpassword=***&y=1 and more"
