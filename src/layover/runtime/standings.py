"""How workflows stand: whether they may be started, and holding all executions of one at once.

A workflow is active unless something else is noted of it. An inactive one is not started by anybody; of a deleted one
only what was begun before is left. What starts while a workflow is paused is held by an operator's pause from its
beginning, whose reason says so: by that reason it is found when the workflow goes on.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec.structs import replace

from layover.core.engine import commands as cmd
from layover.core.engine.answers import Refused
from layover.core.engine.command_codec import encode_command
from layover.core.errors import LayoverError
from layover.ports.access import Standing
from layover.ports.records import Enqueue, ExecutionFilter
from layover.runtime.errors import WorkflowInactive
from layover.runtime.plans import GOES_ON, held_because, is_deleted, is_held_because, unknown_workflow
from layover.runtime.workflows import Workflows

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from layover.core.engine.state import Facts
    from layover.ports.records import AuditEntry, Loaded

_log = logging.getLogger("layover.standings")

_AT_ONCE = 100  # executions that are told in one transaction
_MOST = 2_000  # that are told by one call
_CAN_BE_HELD = ("pending", "running", "waiting", "paused")  # the last also for people, whose gate is open


class WorkflowMoved(msgspec.Struct, frozen=True, kw_only=True):
    """How a workflow stands, and how many of its executions were told; if there are `more`, another call goes on."""

    standing: Standing
    executions: int = 0
    more: bool = False


class Standings(Workflows):
    """What an engine lets people do to whole workflows."""

    async def standing(self, workflow: str) -> Standing:
        """Return how a workflow stands."""
        store = self.instance.store
        noted = await store.standings([workflow])
        standing = noted[0] if noted else None
        if is_deleted(standing) or await store.latest(workflow) is None:
            raise unknown_workflow(workflow)
        return standing or Standing(workflow=workflow, state="active", changed_at=0)

    async def set_standing(
        self,
        workflow: str,
        state: Literal["active", "inactive", "deleted"],
        reason: str = "",
        *,
        by: str | None = None,
        audit: AuditEntry | None = None,
    ) -> Standing:
        """Activate, deactivate or delete a workflow; what was begun before goes on.

        One that is paused may be started, so it need not be activated: it stays paused until it is resumed.
        """
        standing = await self.standing(workflow)
        if standing.state == state or (state, standing.state) == ("active", "paused"):
            return standing
        return await self._note(_changed(standing, state, reason, by, self.instance.clock.now()), audit)

    async def pause_workflow(
        self,
        workflow: str,
        reason: str = "",
        *,
        running: bool = False,
        by: str | None = None,
        audit: AuditEntry | None = None,
    ) -> WorkflowMoved:
        """Hold what starts from now on, and (`running`) pause what has begun; the first reason is kept."""
        standing = await self.standing(workflow)
        if standing.state == "inactive":
            raise WorkflowInactive(f"The workflow `{workflow}` is not active: nothing starts that could be held.")
        if standing.state != "paused":
            standing = await self._note(_changed(standing, "paused", reason, by, self.instance.clock.now()), audit)
        if not running:
            return WorkflowMoved(standing=standing)
        pause = cmd.Pause(reason=held_because(standing), by=by)
        return await self._move(standing, pause, _CAN_BE_HELD, lambda facts: facts.gate == "open", audit)

    async def resume_workflow(
        self, workflow: str, *, by: str | None = None, audit: AuditEntry | None = None
    ) -> WorkflowMoved:
        """Hold nothing that starts from now on, and resume what is held because its workflow was paused."""
        standing = await self.standing(workflow)
        if standing.state == "paused":
            standing = await self._note(_changed(standing, "active", "", by, self.instance.clock.now()), audit)
        resume = cmd.Resume(reason=GOES_ON, by=by)

        def is_held(facts: Facts) -> bool:
            return facts.gate != "open" and is_held_because(workflow, facts.paused_reason)

        return await self._move(standing, resume, ("pausing", "paused"), is_held, audit)

    async def _note(self, standing: Standing, audit: AuditEntry | None) -> Standing:
        instance = self.instance
        await instance.store.set_standing(standing, audit)
        instance.plans.forget(standing.workflow)
        return standing

    async def _move(
        self,
        standing: Standing,
        command: cmd.Pause | cmd.Resume,
        status: tuple[str, ...],
        wanted: Callable[[Facts], bool],
        audit: AuditEntry | None,
    ) -> WorkflowMoved:
        """Tell executions of a workflow something, as many as one call does; all of it is one act."""
        kind, body = encode_command(command)
        told = 0
        async for ids in self._those(standing.workflow, status, wanted):
            if told >= _MOST:
                return WorkflowMoved(standing=standing, executions=told, more=True)
            commands = [Enqueue(execution_id=id_, kind=kind, body=body, audit=audit) for id_ in ids]
            taken = await self.instance.driver.send(commands)
            told += sum(1 for one in taken if not isinstance(one, Refused))
        return WorkflowMoved(standing=standing, executions=told)

    async def _those(
        self, workflow: str, status: tuple[str, ...], wanted: Callable[[Facts], bool]
    ) -> AsyncIterator[list[str]]:
        """Find open executions of a workflow that are as wanted, some at a time."""
        instance = self.instance
        page = ExecutionFilter(workflow=workflow, status=status, limit=_AT_ONCE)
        while rows := await instance.store.page(page):
            loaded = await instance.store.load([row.head.execution_id for row in rows])
            ids = [one.head.execution_id for one in loaded if one is not None and await self._is_one(one, wanted)]
            if ids:
                yield ids
            page = replace(page, after=(rows[-1].info.created_at, rows[-1].head.execution_id))

    async def _is_one(self, loaded: Loaded, wanted: Callable[[Facts], bool]) -> bool:
        try:
            facts = (await self.instance.driver.state_of(loaded)).state.facts
        except LayoverError as error:  # one log that cannot be read must not keep the others from being told
            _log.error("load_failed execution=%s error=%s", loaded.head.execution_id, error.message)
            return False
        return not facts.closed and wanted(facts)


def _changed(
    standing: Standing,
    state: Literal["active", "inactive", "paused", "deleted"],
    reason: str,
    by: str | None,
    now: int,
) -> Standing:
    return Standing(workflow=standing.workflow, state=state, changed_at=now, reason=reason, by=by or "")
