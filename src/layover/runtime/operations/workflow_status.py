"""The status of workflows: whether they may be started, and the pause of all executions of one.

A workflow is active unless a status (a `Standing`) is stored for it. An inactive one cannot be started; of a deleted
one only the executions that exist are left. An execution that starts while its workflow is paused is paused from the
start, with a reason that names the workflow: by this reason it is found when the workflow is resumed.

Pausing or resuming a workflow first stores its status, then sends commands to its executions. The store takes such a
command only while the status is the one that the sender has stored. So all commands of one pause or resume are in the
queues before the next status is stored, and the next sender reads the queues as well as the states: the executions end
up as the last stored status says, however many instances change it at once.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from layover.core.engine import commands as cmd
from layover.core.engine.answers import Refused
from layover.core.engine.command_codec import decode_command, encode_command
from layover.core.errors import LayoverError
from layover.ports.access import Standing
from layover.ports.errors import StoreUnavailable
from layover.ports.records import Enqueue, ExecutionFilter
from layover.runtime.errors import WorkflowInactive
from layover.runtime.operations.workflows import Workflows
from layover.runtime.plans import GOES_ON, held_because, is_deleted, is_held_because, unknown_workflow

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from layover.ports.records import AuditEntry, Head, Loaded

_log = logging.getLogger("layover.workflow_status")

_AT_ONCE = 100  # executions that are told in one transaction
_MOST = 2_000  # that are told by one call
_HELD = ("pausing", "paused")  # the gate is closed, unless it is `paused` for people
_OPEN = ("pending", "running", "waiting", *_HELD)


class WorkflowStatusChange(msgspec.Struct, frozen=True, kw_only=True):
    """The status of a workflow, and how many executions got a command; if there are `more`, call again."""

    standing: Standing
    executions: int = 0
    more: bool = False


class WorkflowStatuses(Workflows):
    """The operations of an engine on whole workflows."""

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
    ) -> WorkflowStatusChange:
        """Hold what starts from now on, and (`running`) pause what has begun; the first reason is kept."""
        standing = await self.standing(workflow)
        if standing.state == "inactive":
            raise WorkflowInactive(f"The workflow `{workflow}` is not active: nothing starts that could be held.")
        if standing.state != "paused":
            standing = await self._note(_changed(standing, "paused", reason, by, self.instance.clock.now()), audit)
        if not running:
            return WorkflowStatusChange(standing=standing)
        pause = cmd.Pause(reason=held_because(standing), by=by)
        return await self._move(standing, pause, lambda gate: gate.is_open, audit)

    async def resume_workflow(
        self, workflow: str, *, by: str | None = None, audit: AuditEntry | None = None
    ) -> WorkflowStatusChange:
        """Hold nothing that starts from now on, and resume what is held because its workflow was paused."""
        standing = await self.standing(workflow)
        if standing.state == "paused":
            standing = await self._note(_changed(standing, "active", "", by, self.instance.clock.now()), audit)
        resume = cmd.Resume(reason=GOES_ON, by=by)

        def is_held(gate: _Gate) -> bool:
            return not gate.is_open and is_held_because(workflow, gate.reason)

        return await self._move(standing, resume, is_held, audit)

    async def _note(self, standing: Standing, audit: AuditEntry | None) -> Standing:
        instance = self.instance
        await instance.store.set_standing(standing, audit)
        instance.plans.forget(standing.workflow)
        return standing

    async def _move(
        self,
        standing: Standing,
        command: cmd.Pause | cmd.Resume,
        wanted: Callable[[_Gate], bool],
        audit: AuditEntry | None,
    ) -> WorkflowStatusChange:
        """Tell executions of a workflow something, as many as one call does; all of it is one act.

        Whoever notes the opposite meanwhile is later: then the rest is told nothing.
        """
        kind, body = encode_command(command)
        told, pauses = 0, standing.state == "paused"
        async for ids in self._those(standing.workflow, wanted):
            if told >= _MOST:
                return WorkflowStatusChange(standing=standing, executions=told, more=True)
            commands = [Enqueue(execution_id=id_, kind=kind, body=body, audit=audit) for id_ in ids]
            while (taken := await self._told(commands, standing)) is None:
                standing = await self.standing(standing.workflow)
                if (standing.state == "paused") != pauses:
                    return WorkflowStatusChange(standing=standing, executions=told)
            told += taken
        return WorkflowStatusChange(standing=standing, executions=told)

    async def _told(self, commands: list[Enqueue], standing: Standing) -> int | None:
        """Send commands while a workflow stands so; return how many were taken, or nothing if it no longer does."""
        noted = standing if standing.changed_at else None  # nothing was ever noted of it: so it was never paused
        taken = await self.instance.driver.send(commands, noted)
        if any(isinstance(one, Refused) and one.code == "superseded" for one in taken):
            return None
        return sum(1 for one in taken if not isinstance(one, Refused))

    async def _those(self, workflow: str, wanted: Callable[[_Gate], bool]) -> AsyncIterator[list[str]]:
        """Find open executions of a workflow whose gate will be as wanted, some at a time."""
        store = self.instance.store
        page = ExecutionFilter(workflow=workflow, status=_OPEN, limit=_AT_ONCE)
        while rows := await store.page(page):
            loaded = await store.load([row.head.execution_id for row in rows if _may_be(row.head, wanted)])
            ids = [one.head.execution_id for one in loaded if one is not None and await self._is_one(one, wanted)]
            if ids:
                yield ids
            page = replace(page, after=(rows[-1].info.created_at, rows[-1].head.execution_id))

    async def _is_one(self, loaded: Loaded, wanted: Callable[[_Gate], bool]) -> bool:
        head, instance = loaded.head, self.instance
        try:
            facts = (await instance.driver.state_of(loaded)).state.facts
            if facts.closed:
                return False
            gate = _Gate(is_open=facts.gate == "open", reason=facts.paused_reason)
            if _has_unread(head):
                for command in await instance.store.commands(head.execution_id, head.commands_done):
                    gate = gate.after(decode_command(command.kind, command.body))
        except StoreUnavailable:
            raise  # whoever asked is not told that all are told
        except LayoverError as error:  # one log that cannot be read must not keep the others from being told
            _log.error("load_failed execution=%s error=%s", head.execution_id, error.message)
            return False
        return wanted(gate)


class _Gate(NamedTuple):
    """Whether an execution may go on, and why not."""

    is_open: bool
    reason: str = ""

    def after(self, command: cmd.AnyCommand) -> _Gate:
        """Return the gate as it is once a command has been applied; the first reason is kept."""
        if isinstance(command, cmd.Pause) and self.is_open:
            return _Gate(is_open=False, reason=command.reason)
        return _Gate(is_open=True) if isinstance(command, cmd.Resume) else self


def _has_unread(head: Head) -> bool:
    return head.commands_done < head.commands_seq


def _may_be(head: Head, wanted: Callable[[_Gate], bool]) -> bool:
    """Tell by its head alone whether an execution may be one that is wanted; others need not be loaded."""
    return _has_unread(head) or head.status in _HELD or wanted(_Gate(is_open=True))


def _changed(
    standing: Standing,
    state: Literal["active", "inactive", "paused", "deleted"],
    reason: str,
    by: str | None,
    now: int,
) -> Standing:
    later = max(now, standing.changed_at + 1)  # so that no two standings of a workflow are equal
    return Standing(workflow=standing.workflow, state=state, changed_at=later, reason=reason, by=by or "")
