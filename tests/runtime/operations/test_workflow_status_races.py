"""Pausing and resuming a workflow at once, on one instance and on several."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from layover.ports.access import WorkflowStatus
from tests.runtime.harness import (
    Between,
    delay,
    engine_at,
    engine_on,
    flow,
    until,
    until_status,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import Claim, Claims, Enqueue, Enqueued, Refusal
    from layover.runtime.runtime import Runtime

pytestmark = pytest.mark.usefixtures("each_database")


class Gated(Between):
    """A store that takes up no execution, or no command, until the test lets it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.claims_pass, self.commands_pass, self.asked = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.claims_pass.set()
        self.commands_pass.set()

    async def claims_claim(self, wish: Claim) -> Claims:
        await self.claims_pass.wait()
        claims: Claims = await self.store.claims.claim(wish)
        return claims

    async def commands_enqueue(
        self, commands: Sequence[Enqueue], now: int, status: WorkflowStatus | None = None
    ) -> list[Enqueued | Refusal]:
        self.asked.set()
        await self.commands_pass.wait()
        return await self.store.commands.enqueue(commands, now, status)


async def has_read_all(engine: Runtime, execution_id: str) -> str:
    """Return the status of an execution once it has applied all commands."""
    head = await until(engine, execution_id, lambda head: head.commands_done == head.commands_seq)
    return head.status


async def test_a_workflow_resumed_before_its_pause_is_applied_leaves_nothing_paused(tmp_path: Path) -> None:
    store = Gated(tmp_path)
    async with engine_on(store) as engine:
        await engine.workflows.register(flow(delay()))
        started = await engine.executions.start("flow", wait="rest")
        store.claims_pass.clear()
        assert (await engine.workflow_status.pause("flow", running=True)).executions == 1
        assert (await engine.workflow_status.resume("flow")).executions == 1
        store.claims_pass.set()
        assert await has_read_all(engine, started.id) == "waiting"


async def test_a_workflow_paused_before_its_resume_is_applied_has_its_executions_paused(tmp_path: Path) -> None:
    store = Gated(tmp_path)
    async with engine_on(store) as engine:
        await engine.workflows.register(flow(delay()))
        started = await engine.executions.start("flow", wait="rest")
        await engine.workflow_status.pause("flow", running=True)
        await until_status(engine, started.id, "paused")
        store.claims_pass.clear()
        await engine.workflow_status.resume("flow")
        assert (await engine.workflow_status.pause("flow", running=True)).executions == 1
        store.claims_pass.set()
        assert await has_read_all(engine, started.id) == "paused"


async def test_a_pause_that_comes_after_the_resume_of_another_instance_changes_nothing(tmp_path: Path) -> None:
    late = Gated(tmp_path)
    async with engine_on(late) as here, engine_at(tmp_path) as there:
        await here.workflows.register(flow(delay()))
        started = await here.executions.start("flow", wait="rest")
        late.commands_pass.clear()
        pausing = asyncio.create_task(here.workflow_status.pause("flow", running=True))
        await late.asked.wait()
        assert (await there.workflow_status.resume("flow")).status.state == "active"
        late.commands_pass.set()
        moved = await pausing
        assert (moved.status.state, moved.executions) == ("active", 0)
        assert await has_read_all(there, started.id) == "waiting"


async def test_a_resume_that_comes_after_the_pause_of_another_instance_changes_nothing(tmp_path: Path) -> None:
    late = Gated(tmp_path)
    async with engine_on(late) as here, engine_at(tmp_path) as there:
        await here.workflows.register(flow(delay()))
        started = await here.executions.start("flow", wait="rest")
        await here.workflow_status.pause("flow", running=True)
        await until_status(here, started.id, "paused")
        late.asked.clear()
        late.commands_pass.clear()
        resuming = asyncio.create_task(here.workflow_status.resume("flow"))
        await late.asked.wait()
        await there.workflow_status.pause("flow", running=True)
        late.commands_pass.set()
        moved = await resuming
        assert (moved.status.state, moved.executions) == ("paused", 0)
        assert await has_read_all(there, started.id) == "paused"


async def test_a_pause_goes_on_although_another_instance_pauses_the_same_workflow(tmp_path: Path) -> None:
    late = Gated(tmp_path)
    async with engine_on(late) as here, engine_at(tmp_path) as there:
        await here.workflows.register(flow(delay()))
        started = await here.executions.start("flow", wait="rest")
        late.commands_pass.clear()
        pausing = asyncio.create_task(here.workflow_status.pause("flow", "one reason", running=True))
        await late.asked.wait()
        await there.instance.store.workflow_status.set_status(
            WorkflowStatus(workflow="flow", state="paused", changed_at=1, reason="read as active at the same moment")
        )
        late.commands_pass.set()
        assert (await pausing).executions == 1
        assert await has_read_all(there, started.id) == "paused"


async def test_a_start_that_was_held_stays_held_if_its_workflow_is_paused_again_meanwhile(tmp_path: Path) -> None:
    late = Gated(tmp_path)
    async with engine_on(late) as here, engine_at(tmp_path) as there:
        await here.workflows.register(flow(delay()))
        await here.workflow_status.pause("flow")
        await here.executions.start("flow", wait="rest")  # the next one believes for a second that it is paused
        await there.workflow_status.resume("flow")
        late.asked.clear()
        late.commands_pass.clear()
        starting = asyncio.create_task(here.executions.start("flow"))
        await late.asked.wait()
        await there.workflow_status.pause("flow", running=True)
        late.commands_pass.set()
        assert await has_read_all(there, (await starting).id) == "paused"
