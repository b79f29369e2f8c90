"""The end of a pause of a whole workflow beside other instances, some of which die over it."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.core.engine.events import ExecutionResumed
from layover.core.resume_waits import PauseEnd, ResumeWait
from layover.ports.errors import StoreUnavailable
from layover.runtime.maintenance.verify import violations
from layover.runtime.operations import workflow_status
from tests.runtime.harness import Between, delay, end, engine_at, engine_on, flow, store_in, until_status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.access import WorkflowStatus
    from layover.ports.records import Append, Enqueue, Enqueued, Outcome, Refusal
    from layover.runtime.runtime import Runtime

pytestmark = pytest.mark.usefixtures("each_database")

FLOW = flow(delay(duration="1h"), end("done"))


async def resumes(engine: Runtime, execution_id: str) -> int:
    history = await engine.queries.history(execution_id)
    return len([entry for entry in history if isinstance(entry.event, ExecutionResumed)])


def soon(engine: Runtime) -> PauseEnd:
    return PauseEnd(at=engine.instance.clock.now() + 50)


async def test_of_many_instances_one_ends_a_pause(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as one, engine_at(tmp_path) as two, engine_at(tmp_path) as three:
        await one.workflows.register(FLOW)
        for n in range(1, 4):
            await one.workflow_status.pause("flow", "night", soon(one))
            held = await one.executions.start("flow")
            await until_status(two, held.id, "waiting")
            assert await resumes(one, held.id) == 1
            await three.workflow_status.pause("flow", "day", PauseEnd(on=ResumeWait(signal="open")))
            late = await two.executions.start("flow")
            await asyncio.gather(
                *(each.signals.deliver("open", id=f"s{n}{k}") for k, each in enumerate((one, two, three)))
            )
            await until_status(three, late.id, "waiting")
            assert await resumes(one, late.id) == 1
        assert await violations(one.instance.store) == []


class Dying(Between):
    """A store whose instance cannot send any command to executions: as if it died before that."""

    async def commands_enqueue(
        self, commands: Sequence[Enqueue], now: int, status: WorkflowStatus | None = None
    ) -> list[Enqueued | Refusal]:
        if status is not None:
            raise StoreUnavailable("it is dead")
        return await self.store.commands.enqueue(commands, now, status)


async def test_another_instance_resumes_what_the_one_that_ended_the_pause_did_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workflow_status, "_LEFT_ALONE", 50)
    async with engine_on(Dying(tmp_path)) as dying:
        await dying.workflows.register(FLOW)
        await dying.workflow_status.pause("flow", "night")
        held = [(await dying.executions.start("flow")).id for _ in range(3)]
        with pytest.raises(StoreUnavailable):
            await dying.workflow_status.resume("flow", by="ann")
        (noted,) = await dying.instance.store.workflow_status.list_statuses(["flow"])
        assert noted.state == "active"
        assert noted.due_at is not None
        async with engine_at(tmp_path) as other:
            for id_ in held:
                await until_status(other, id_, "waiting")
                assert await resumes(other, id_) == 1
            while (await other.instance.store.workflow_status.list_statuses(["flow"]))[0].due_at is not None:
                pass  # it is about to be noted


class Late(Between):
    """A store whose instance dies when it has written an execution that begins held."""

    is_dead = False

    async def appends_commit(self, appends: Sequence[Append]) -> list[Outcome]:
        outcomes = await self.store.appends.commit(appends)
        if any(append.new is not None for append in appends):
            self.is_dead = True
        return outcomes

    async def workflow_status_list_statuses(self, workflows: Sequence[str] | None = None) -> list[WorkflowStatus]:
        if self.is_dead:
            raise StoreUnavailable("it is dead")
        return await self.store.workflow_status.list_statuses(workflows)


async def test_an_execution_that_began_held_when_its_workflow_went_on_is_let_go_by_another_instance(
    tmp_path: Path,
) -> None:
    async with engine_at(tmp_path) as other:
        await other.workflows.register(FLOW)
        await other.workflow_status.pause("flow", "night")
        late = Late(tmp_path)
        async with engine_on(late) as dying:
            await dying.instance.plans.startable("flow", None, dying.instance.clock.now())  # it knows of the pause
            await other.workflow_status.resume("flow")
            id_ = "00000000-0000-7000-8000-0000000000aa"
            with pytest.raises(StoreUnavailable):
                await dying.executions.start("flow", id=id_)
            await until_status(other, id_, "waiting")
            assert await resumes(other, id_) == 1


async def test_a_pause_that_ends_while_its_end_is_changed_is_changed_or_over(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(FLOW)
        paused = (await engine.workflow_status.pause("flow", "night")).status
        store = store_in(tmp_path)
        await store.open("another")
        try:
            assert await store.workflow_status.set_status(replace(paused, state="active"), expected=paused)
            assert not await store.workflow_status.set_status(replace(paused, due_at=1), expected=paused)
        finally:
            await store.close()
        (noted,) = await engine.instance.store.workflow_status.list_statuses(["flow"])
        assert (noted.state, noted.due_at) == ("active", None)
