"""The status of workflows, which says whether they may be started."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.stores.rows import breakpoints_of, workflow_status_of, workflow_status_values
from layover.stores.sqlite.audit import write_audit
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from layover.ports.access import WorkflowStatus
    from layover.ports.records import AuditRow
    from layover.stores.sqlite.session import SqliteSession


class SqliteWorkflowStatus:
    """Workflow statuses of a file."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session

    async def set_status(
        self, status: WorkflowStatus, audit: AuditRow | None = None, expected: WorkflowStatus | None = None
    ) -> bool:
        """Set the status of a workflow."""
        return await self._session.write(lambda db: set_workflow_status(db, status, audit, expected))

    async def list_statuses(self, workflows: Sequence[str] | None = None) -> list[WorkflowStatus]:
        """Read the status of workflows."""
        return await self._session.read(lambda db: workflow_statuses(db, workflows))

    async def set_breakpoint(
        self, workflow: str, node: str, reason: str | None, now: int, audit: AuditRow | None = None
    ) -> None:
        """Set a breakpoint of a workflow, or clear it."""

        def set_it(db: apsw.Connection) -> None:
            name = "clear_breakpoint" if reason is None else "set_breakpoint"
            db.execute(SQL[name], {"workflow": workflow, "node": node, "reason": reason, "now": now})
            write_audit(db, audit)

        await self._session.write(set_it)

    async def read_breakpoints(self) -> dict[str, dict[str, str]]:
        """Read the breakpoints of all workflows that have any."""
        return await self._session.read(
            lambda db: {name: breakpoints_of(column) for name, column in db.execute(SQL["read_breakpoints"])}
        )


def set_workflow_status(
    db: apsw.Connection, status: WorkflowStatus, audit: AuditRow | None, expected: WorkflowStatus | None = None
) -> bool:
    """Set the status of a workflow, if it is as expected; return whether it was set."""
    if expected is not None and workflow_statuses(db, [status.workflow]) != [expected]:
        return False
    db.execute(SQL["set_workflow_status"], workflow_status_values(status))
    write_audit(db, audit)
    return True


def due_workflow_statuses(db: apsw.Connection, now: int, most: int) -> list[WorkflowStatus]:
    """Read the status of workflows for which something is due."""
    return [workflow_status_of(row) for row in db.execute(SQL["due_workflow_statuses"], {"now": now, "most": most})]


def revive(db: apsw.Connection, workflow: str, now: int, by: str) -> bool:
    """Make a deleted workflow active again; return whether it was deleted."""
    db.execute(SQL["revive_workflow"], {"workflow": workflow, "now": now, "by": by})
    return db.changes() == 1


def workflow_statuses(db: apsw.Connection, workflows: Sequence[str] | None) -> list[WorkflowStatus]:
    """Read the status of workflows, in the order of their names."""
    if workflows is None:
        return [workflow_status_of(row) for row in db.execute(SQL["list_workflow_statuses"])]
    wanted = msgspec.json.encode(workflows).decode()
    return [workflow_status_of(row) for row in db.execute(SQL["workflow_statuses_by_name"], {"workflows": wanted})]
