"""The status of workflows, which says whether they may be started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.ports.access import WorkflowStatus
from layover.stores.memory.audit import write_audit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import AuditRow
    from layover.stores.memory.database import MemoryDatabase
    from layover.stores.memory.session import MemorySession


class MemoryWorkflowStatus:
    """Workflow statuses in memory."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def set_status(
        self, status: WorkflowStatus, audit: AuditRow | None = None, expected: WorkflowStatus | None = None
    ) -> bool:
        """Set the status of a workflow."""
        return set_workflow_status(await self._session.turn(), status, audit, expected)

    async def list_statuses(self, workflows: Sequence[str] | None = None) -> list[WorkflowStatus]:
        """Read the status of workflows."""
        return workflow_statuses(await self._session.turn(), workflows)

    async def set_breakpoint(
        self, workflow: str, node: str, reason: str | None, now: int, audit: AuditRow | None = None
    ) -> None:
        """Set a breakpoint of a workflow, or clear it."""
        db = await self._session.turn()
        found = db.workflow_statuses.get(workflow)
        if found is not None or reason is not None:
            found = found or WorkflowStatus(workflow=workflow, state="active", changed_at=now)
            left = {name: why for name, why in found.breakpoints.items() if name != node}
            breakpoints = left if reason is None else {**left, node: reason}
            db.workflow_statuses[workflow] = replace(found, breakpoints=breakpoints)
        write_audit(db, audit)

    async def read_breakpoints(self) -> dict[str, dict[str, str]]:
        """Read the breakpoints of all workflows that have any."""
        statuses = (await self._session.turn()).workflow_statuses
        return {name: dict(one.breakpoints) for name, one in statuses.items() if one.breakpoints}


def set_workflow_status(
    db: MemoryDatabase, status: WorkflowStatus, audit: AuditRow | None, expected: WorkflowStatus | None = None
) -> bool:
    """Set the status of a workflow, if it is as expected; return whether it was set."""
    if expected is not None and db.workflow_statuses.get(status.workflow) != expected:
        return False
    known = db.workflow_statuses.get(status.workflow)
    db.workflow_statuses[status.workflow] = replace(status, breakpoints=known.breakpoints if known is not None else {})
    write_audit(db, audit)
    return True


def due_workflow_statuses(db: MemoryDatabase, now: int, most: int) -> list[WorkflowStatus]:
    """Read the status of workflows for which something is due."""
    due = [(one.due_at, one) for one in db.workflow_statuses.values() if one.due_at is not None and one.due_at <= now]
    return [one for _, one in sorted(due, key=lambda pair: pair[0])][:most]


def revive(db: MemoryDatabase, workflow: str, now: int, by: str) -> bool:
    """Make a deleted workflow active again; return whether it was deleted."""
    found = db.workflow_statuses.get(workflow)
    if found is None or found.state != "deleted":
        return False
    db.workflow_statuses[workflow] = WorkflowStatus(
        workflow=workflow, state="active", changed_at=now, by=by, breakpoints=found.breakpoints
    )
    return True


def workflow_statuses(db: MemoryDatabase, workflows: Sequence[str] | None) -> list[WorkflowStatus]:
    """Read the status of workflows, in the order of their names."""
    return [
        db.workflow_statuses[name] for name in sorted(db.workflow_statuses) if workflows is None or name in workflows
    ]
