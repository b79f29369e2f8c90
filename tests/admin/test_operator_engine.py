"""The engine of an operator's tool: it may do everything, is audited, and runs nothing unless it is asked to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover import Engine, NotAllowed
from layover.admin import OperatorEngine

if TYPE_CHECKING:
    from pathlib import Path

REVIEW = {
    "name": "review",
    "nodes": [{"id": "ask", "type": "approval", "title": "t", "approvers": {"roles": ["admin"]}}],
}


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    """A database with an execution that waits for an approval by an admin."""
    path = tmp_path / "app.db"
    async with Engine(f"sqlite:///{path}", workflows=[REVIEW]) as engine:
        await engine.start("review", until="rest")
    return path


async def test_it_acts_as_its_user_with_the_credential_of_the_command_line(path: Path) -> None:
    async with OperatorEngine(str(path), user="ada") as engine:
        (point,) = await engine.points().all()
        await (await engine.execution(point.execution_id)).pause("lunch")
        assert not engine.is_applied, "no instance runs that could have applied it"
        (entry,) = await engine.audit(act="execution.pause").all()
    assert (entry.user, entry.credential, entry.details) == ("ada", "command line", {"reason": "lunch"})


async def test_its_permissions_are_no_role_that_a_workflow_asks_for(path: Path) -> None:
    async with OperatorEngine(str(path), user="ada") as engine:
        (point,) = await engine.points().all()
        with pytest.raises(NotAllowed):
            await point.approve()
        assert await engine.inbox().all() == []
    async with OperatorEngine(str(path), user="ada", roles=["admin"]) as engine:
        (mine,) = await engine.inbox().all()
        assert (await mine.approve()).status == "answered"


async def test_an_operation_that_a_running_instance_applied_is_known_as_such(path: Path) -> None:
    async with Engine(f"sqlite:///{path}"), OperatorEngine(str(path), user="ada") as engine:
        (point,) = await engine.points().all()
        paused = await (await engine.execution(point.execution_id)).pause()
        assert (engine.is_applied, paused.status) == (True, "paused")


async def test_read_only_it_writes_nothing(path: Path) -> None:
    before = _written(path)
    async with OperatorEngine(str(path), user="ada", read_only=True) as engine:
        (found,) = await engine.executions().all()
        assert (await (await engine.execution(found.id)).why()).reasons
    assert _written(path) == before


def _written(path: Path) -> tuple[bytes, bool]:
    """Return the content of a database, and whether an instance has it open."""
    return path.read_bytes(), path.with_name(f"{path.name}-instances").exists()
