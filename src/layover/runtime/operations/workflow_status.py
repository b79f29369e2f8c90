"""The status of workflows: whether they may be started, and the pause of all executions of one.

A workflow is active unless a `WorkflowStatus` is stored for it. An inactive one cannot be started; of a deleted
one only the executions that exist are left. An execution that starts while its workflow is paused is paused from the
start, with a reason that names the workflow: by this reason it is found when the workflow is resumed.

Pausing or resuming a workflow first stores its status, then sends commands to its executions. The store takes such a
command only while the status is the one that the sender has stored. So all commands of one pause or resume are in the
queues before the next status is stored, and the next sender reads the queues as well as the states: the executions end
up as the last stored status says, however many instances change it at once.

A pause may end by itself, at a moment or with a signal. The instance that sees that first stores the next status, which
lands only if the status is as it was read. A status that resumes is due until all executions have their command: if the
instance that sends them dies, another one goes on with it. A command that an execution gets twice has one source.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from layover.core.engine import commands as cmd
from layover.core.engine.answers import Refused
from layover.core.engine.command_codec import decode_command, encode_command
from layover.core.resume_waits import NO_END
from layover.errors import LayoverError, NotFound, WrongState
from layover.ports.access import WorkflowStatus
from layover.ports.errors import StoreUnavailable
from layover.ports.records import Enqueue
from layover.ports.view_records import ExecutionFilter
from layover.runtime.execution.leg_tracing import sent_here
from layover.runtime.operations.refusals import check_breakpoint
from layover.runtime.plans import GOES_ON, held_because, is_deleted, is_held_because, unknown_workflow

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from layover.core.resume_waits import PauseEnd
    from layover.ports.records import AuditRow, Head, Signal
    from layover.ports.store import Store
    from layover.ports.view_records import Loaded
    from layover.runtime.clock import Clock
    from layover.runtime.dispatch.driver import Driver
    from layover.runtime.plans import Plans

_log = logging.getLogger("layover.workflow_status")

_LEFT_ALONE = 10_000  # milliseconds that a resume is left to the instance that has begun it
_AT_ONCE = 100  # executions that get their command in one transaction
_MOST = 2_000  # executions that get their command by one call
_HELD = ("pausing", "paused")  # the gate is closed, unless it is `paused` for people
_OPEN = ("pending", "running", "waiting", *_HELD)


class WorkflowStatusChange(msgspec.Struct, frozen=True, kw_only=True):
    """The status of a workflow, and how many executions got a command; if there are `more`, call again."""

    status: WorkflowStatus
    executions: int = 0
    more: bool = False


class WorkflowStatuses:
    """Reads and changes the status of whole workflows."""

    def __init__(
        self, store: Store, driver: Driver, plans: Plans, clock: Clock, is_due: Callable[[], None] = lambda: None
    ) -> None:
        self._store = store
        self._is_due = is_due  # called when something is due, or stops, earlier than instances know
        self._driver = driver
        self._plans = plans
        self._clock = clock
        self.breakpoints = driver.breakpoints

    async def get(self, workflow: str) -> WorkflowStatus:
        """Return how a workflow stands."""
        store = self._store
        noted = await store.workflow_status.list_statuses([workflow])
        status = noted[0] if noted else None
        if is_deleted(status) or await store.definitions.find_latest(workflow) is None:
            raise unknown_workflow(workflow)
        return status or WorkflowStatus(workflow=workflow, state="active", changed_at=0)

    async def set(
        self,
        workflow: str,
        state: Literal["active", "inactive", "deleted"],
        reason: str = "",
        *,
        by: str | None = None,
        audit: AuditRow | None = None,
    ) -> WorkflowStatus:
        """Activate, deactivate or delete a workflow; what was begun before goes on.

        One that is paused may be started, so it need not be activated: it stays paused until it is resumed.
        """
        status = await self.get(workflow)
        if status.state == state or (state, status.state) == ("active", "paused"):
            return status
        return await self._note(_changed(status, state, reason, by, self._clock.now()), audit)

    async def pause(
        self,
        workflow: str,
        reason: str = "",
        end: PauseEnd = NO_END,
        *,
        running: bool = False,
        by: str | None = None,
        audit: AuditRow | None = None,
    ) -> WorkflowStatusChange:
        """Hold what starts from now on, and (`running`) pause what has begun; the first reason is kept.

        With an `end` the workflow goes on by itself; one that is paused already gets that end of its pause.
        """
        status = await self.get(workflow)
        if status.state == "inactive":
            raise WrongState(
                f"The workflow `{workflow}` is not active: nothing starts that could be held.",
                "inactive",
                code="workflow_inactive",
            )
        if status.state != "paused":
            paused = _changed(status, "paused", reason, by, self._clock.now())
            status = await self._note(_ending(paused, end, by), audit)
        elif end.is_set and not end.is_same(status.end):
            scheduled = await self._schedule(status, end, by, audit)
            if scheduled is None:  # it has been changed meanwhile
                return await self.pause(workflow, reason, end, running=running, by=by, audit=audit)
            status = scheduled
        if not running:
            return WorkflowStatusChange(status=status)
        pause = cmd.Pause(reason=held_because(status), by=by)
        return await self._move(status, pause, lambda gate: gate.is_open, audit)

    async def resume(
        self, workflow: str, *, by: str | None = None, audit: AuditRow | None = None
    ) -> WorkflowStatusChange:
        """Hold nothing that starts from now on, and resume what is held because its workflow was paused."""
        status = await self.get(workflow)
        if status.state == "paused":
            now = self._clock.now()
            active = _changed(status, "active", "", by, now)
            status = await self._note(replace(active, due_at=now + _LEFT_ALONE), audit)
        return await self._resume_held(status, by, audit)

    async def schedule_resume(
        self, workflow: str, end: PauseEnd, *, by: str | None = None, audit: AuditRow | None = None
    ) -> WorkflowStatusChange:
        """Set when a paused workflow goes on by itself; with no end, it no longer does."""
        status = await self.get(workflow)
        if status.state != "paused":
            message = f"The workflow `{workflow}` is not paused: there is no pause to end."
            raise WrongState(message, status.state)
        if end.is_same(status.end):
            return WorkflowStatusChange(status=status)
        scheduled = await self._schedule(status, end, by, audit)
        if scheduled is None:  # it has been changed meanwhile
            return await self.schedule_resume(workflow, end, by=by, audit=audit)
        return WorkflowStatusChange(status=scheduled)

    async def set_breakpoint(
        self, workflow: str, node: str, reason: str = "", *, by: str | None = None, audit: AuditRow | None = None
    ) -> WorkflowStatus:
        """Pause every execution of a workflow before a node, each time it comes there."""
        status = await self.get(workflow)
        plan = await self._plans.latest(workflow, self._clock.now())
        if plan is None:
            raise unknown_workflow(workflow)
        check_breakpoint(plan, node, status.breakpoints)
        because = reason or f"Executions of {workflow} pause before `{node}`, as {by or 'an operator'} has asked"
        await self._change_breakpoint(workflow, node, because, audit)
        return await self.get(workflow)

    async def clear_breakpoint(self, workflow: str, node: str, *, audit: AuditRow | None = None) -> WorkflowStatus:
        """Pause no execution of a workflow before a node, or before any; those that are paused stay so."""
        status = await self.get(workflow)
        names = [node] if node else sorted(status.breakpoints)
        if not names or not all(name in status.breakpoints for name in names):
            where = f"before `{node[:200]}`" if node else "before any node"
            raise NotFound(f"The workflow `{workflow}` has no breakpoint {where}.", code="unknown_breakpoint")
        for name in names:
            await self._change_breakpoint(workflow, name, None, audit)
            audit = None
        return await self.get(workflow)

    async def _change_breakpoint(self, workflow: str, node: str, reason: str | None, audit: AuditRow | None) -> None:
        await self._store.workflow_status.set_breakpoint(workflow, node, reason, self._clock.now(), audit)
        self._plans.forget(workflow)
        await self.breakpoints.read()
        self._is_due()

    async def act_on_due(self, status: WorkflowStatus) -> bool:
        """End a pause whose moment has come, or go on with a resume that its instance has left; return whether it was.

        Of many instances that see the same status, one does it.
        """
        if status.state == "paused":
            return await self._end(status)
        going_on = replace(status, due_at=self._clock.now() + _LEFT_ALONE)
        if not await self._store.workflow_status.set_status(going_on, expected=status):
            return False
        await self._resume_all(going_on, status.by or None)
        return True

    async def end_with(self, workflow: str, signal: Signal) -> bool:
        """End the pause of a workflow, if this is the signal that was set for that; return whether it is."""
        status = await self._find(workflow)
        if status is None or status.state != "paused" or status.resume_on is None:
            return False
        known: dict[str, object] = {"id": signal.id, "name": signal.name, "key": signal.key, "at": signal.at}
        known["data"] = msgspec.json.decode(signal.data)
        return status.resume_on.takes(known, self._clock.now()) and await self._end(status)

    async def _end(self, status: WorkflowStatus) -> bool:
        now, by = self._clock.now(), status.resume_by or None
        active = replace(_changed(status, "active", "", by, now), due_at=now + _LEFT_ALONE)
        if not await self._store.workflow_status.set_status(active, expected=status):
            return False  # another instance was first, or it was resumed by hand
        self._plans.forget(status.workflow)
        _log.info("workflow_resumed workflow=%s", status.workflow)
        await self._resume_all(active, by)
        return True

    async def _resume_all(self, status: WorkflowStatus, by: str | None) -> None:
        while (moved := await self._resume_held(status, by, None)).more:
            status = moved.status

    async def _resume_held(
        self, status: WorkflowStatus, by: str | None, audit: AuditRow | None
    ) -> WorkflowStatusChange:
        """Resume what is held because its workflow was paused; once that is all, nothing is due any more."""
        resume = cmd.Resume(reason=GOES_ON, by=by)

        def is_held(gate: _Gate) -> bool:
            return not gate.is_open and is_held_because(status.workflow, gate.reason)

        moved = await self._move(status, resume, is_held, audit)
        if not moved.more and moved.status.due_at is not None and moved.status.state != "paused":
            done = replace(moved.status, due_at=None)
            if await self._store.workflow_status.set_status(done, expected=moved.status):
                return replace(moved, status=done)
        return moved

    async def _schedule(
        self, status: WorkflowStatus, end: PauseEnd, by: str | None, audit: AuditRow | None
    ) -> WorkflowStatus | None:
        """Set the end of a pause; None if the workflow is no longer as it was read."""
        changed = _changed(status, "paused", status.reason, status.by or None, self._clock.now())
        scheduled = _ending(changed, end, by)
        if not await self._store.workflow_status.set_status(scheduled, audit, status):
            return None
        self._plans.forget(status.workflow)
        self._is_due()
        return scheduled

    async def _find(self, workflow: str) -> WorkflowStatus | None:
        noted = await self._store.workflow_status.list_statuses([workflow])
        return noted[0] if noted else None

    async def _note(self, status: WorkflowStatus, audit: AuditRow | None) -> WorkflowStatus:
        await self._store.workflow_status.set_status(status, audit)
        self._plans.forget(status.workflow)
        if status.due_at is not None:
            self._is_due()
        return status

    async def _move(
        self,
        status: WorkflowStatus,
        command: cmd.Pause | cmd.Resume,
        wanted: Callable[[_Gate], bool],
        audit: AuditRow | None,
    ) -> WorkflowStatusChange:
        """Tell executions of a workflow something, as many as one call does; all of it is one act.

        A change to the opposite status meanwhile is later: then the rest gets no command.
        """
        kind, body = encode_command(sent_here(self._driver.tracer, command))
        told, pauses = 0, status.state == "paused"
        async for ids in self._those(status.workflow, wanted):
            if told >= _MOST:
                return WorkflowStatusChange(status=status, executions=told, more=True)
            source = "" if pauses else f"workflow:{status.changed_at}"
            commands = [Enqueue(execution_id=id_, kind=kind, body=body, source=source, audit=audit) for id_ in ids]
            while (taken := await self._send_commands(commands, status)) is None:
                status = await self._find(status.workflow) or status
                if (status.state == "paused") != pauses:
                    return WorkflowStatusChange(status=status, executions=told)
            told += taken
        return WorkflowStatusChange(status=status, executions=told)

    async def _send_commands(self, commands: list[Enqueue], status: WorkflowStatus) -> int | None:
        """Send commands while a workflow stands so; return how many were taken, or nothing if it no longer does."""
        noted = status if status.changed_at else None  # nothing was ever noted of it: so it was never paused
        taken = await self._driver.send(commands, noted)
        if any(isinstance(one, Refused) and one.code == "superseded" for one in taken):
            return None
        return sum(1 for one in taken if not isinstance(one, Refused))

    async def _those(self, workflow: str, wanted: Callable[[_Gate], bool]) -> AsyncIterator[list[str]]:
        """Find open executions of a workflow whose gate will be as wanted, some at a time."""
        store = self._store
        page = ExecutionFilter(workflow=workflow, status=_OPEN, limit=_AT_ONCE)
        while rows := await store.queries.list_executions(page):
            loaded = await store.queries.load([row.head.execution_id for row in rows if _may_be(row.head, wanted)])
            ids = [one.head.execution_id for one in loaded if one is not None and await self._is_one(one, wanted)]
            if ids:
                yield ids
            page = replace(page, after=(rows[-1].info.created_at, rows[-1].head.execution_id))

    async def _is_one(self, loaded: Loaded, wanted: Callable[[_Gate], bool]) -> bool:
        head = loaded.head
        try:
            facts = (await self._driver.state_of(loaded)).state.facts
            if facts.closed:
                return False
            gate = _Gate(is_open=facts.gate == "open", reason=facts.paused_reason)
            if _has_unread(head):
                for command in await self._store.commands.list_after(head.execution_id, head.commands_done):
                    gate = gate.after(decode_command(command.kind, command.body))
        except StoreUnavailable:
            raise  # the caller must not believe that all have the command
        except LayoverError as error:  # one log that cannot be read must not keep the others from being told
            _log.exception("load_failed execution=%s error=%s", head.execution_id, error.message)
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
    status: WorkflowStatus,
    state: Literal["active", "inactive", "paused", "deleted"],
    reason: str,
    by: str | None,
    now: int,
) -> WorkflowStatus:
    later = max(now, status.changed_at + 1)  # so that no two workflow_statuses of a workflow are equal
    # A resume that is under way goes on, whatever becomes of the workflow, unless that is paused again.
    due_at = status.due_at if "paused" not in (state, status.state) else None
    return WorkflowStatus(
        workflow=status.workflow,
        state=state,
        changed_at=later,
        reason=reason,
        by=by or "",
        due_at=due_at,
        breakpoints=status.breakpoints,
    )


def _ending(status: WorkflowStatus, end: PauseEnd, by: str | None) -> WorkflowStatus:
    """Return a paused status with the end of the pause."""
    return replace(status, due_at=end.at, resume_on=end.on, resume_by=(by or "") if end.is_set else "")
