"""Damage to what limits are kept in is found: a slot that nobody gives back, a place in line that is gone."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.runtime.ids import id_from_key
from layover.runtime.maintenance.verify import violations
from layover.stores.sqlite import SqliteStore
from tests.runtime.harness import Held, call, engine_at, flow
from tests.runtime.maintenance.verify_scene import Damage

ENDED, HOLDER, WAITING = (id_from_key("flow", name) for name in ("ended", "holder", "waiting"))
SLOT = "INSERT INTO places SELECT :id, name, most, rank, held_at, NULL, NULL, NULL, NULL, 1 FROM places LIMIT 1"


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    """Make a database with an execution that has ended, one that holds the slot, and one in line for it."""
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), settings={"concurrency": {"limit": 1}}))
        await engine.executions.start("flow", key="ended")
        (await work.begun()).returns()
        await engine.executions.wait(ENDED)
        await engine.executions.start("flow", key="holder")
        await work.begun()
        await engine.executions.start("flow", key="waiting")
        await engine.stop(grace=0)
    return tmp_path / "layover.db"


async def _found(path: Path) -> list[tuple[str, str]]:
    store = SqliteStore(path)
    await store.open_to_read()
    try:
        return [(one.code, one.execution_id) for one in await violations(store)]
    finally:
        await store.close()


async def test_a_line_is_sound(path: Path) -> None:
    assert await _found(path) == []


@pytest.mark.parametrize(
    ("statement", "of", "code"),
    [
        (SLOT, ENDED, "slot_kept"),
        ("DELETE FROM places WHERE execution_id = :id", WAITING, "stillness"),
        ("DELETE FROM places WHERE execution_id != :id", WAITING, "stillness"),
    ],
)
async def test_damage_is_found(path: Path, statement: str, of: str, code: str) -> None:
    damage = Damage(path)
    damage(statement, of=of)
    damage.close()
    assert await _found(path) == [(code, of)]
