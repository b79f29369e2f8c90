"""The status of workflows, which says whether they may be started."""

from __future__ import annotations

from typing import TYPE_CHECKING

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


def set_workflow_status(
    db: MemoryDatabase, status: WorkflowStatus, audit: AuditRow | None, expected: WorkflowStatus | None = None
) -> bool:
    """Set the status of a workflow, if it is as expected; return whether it was set."""
    if expected is not None and db.workflow_statuses.get(status.workflow) != expected:
        return False
    db.workflow_statuses[status.workflow] = status
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
    db.workflow_statuses[workflow] = WorkflowStatus(workflow=workflow, state="active", changed_at=now, by=by)
    return True


def workflow_statuses(db: MemoryDatabase, workflows: Sequence[str] | None) -> list[WorkflowStatus]:
    """Read the status of workflows, in the order of their names."""
    return [
        db.workflow_statuses[name] for name in sorted(db.workflow_statuses) if workflows is None or name in workflows
    ]
