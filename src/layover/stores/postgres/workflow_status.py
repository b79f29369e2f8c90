"""The status of workflows, which says whether they may be started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.stores.postgres.audit import write_audit
from layover.stores.rows import breakpoints_of, workflow_status_of, workflow_status_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.access import WorkflowStatus
    from layover.ports.records import AuditRow
    from layover.stores.postgres.database import Transaction
    from layover.stores.postgres.session import PostgresSession


class PostgresWorkflowStatus:
    """Workflow statuses of a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    async def set_status(
        self, status: WorkflowStatus, audit: AuditRow | None = None, expected: WorkflowStatus | None = None
    ) -> bool:
        """Set the status of a workflow."""

        async def work(tx: Transaction) -> bool:
            if expected is not None:
                row = await tx.fetchrow("lock_workflow_status_to_change", status.workflow)
                if row is None or workflow_status_of(row) != expected:
                    return False
            await tx.fetch("set_workflow_status", *[*workflow_status_values(status).values()][:-1])
            await write_audit(tx, audit)
            return True

        return await self._session.db.transact(work)

    async def list_statuses(self, workflows: Sequence[str] | None = None) -> list[WorkflowStatus]:
        """Read the status of workflows, in the order of their names."""
        db = self._session.db
        rows = (
            await db.fetch("list_workflow_statuses")
            if workflows is None
            else await db.fetch("workflow_statuses_by_name", list(workflows))
        )
        return [workflow_status_of(row) for row in rows]

    async def set_breakpoint(
        self, workflow: str, node: str, reason: str | None, now: int, audit: AuditRow | None = None
    ) -> None:
        """Set a breakpoint of a workflow, or clear it."""

        async def work(tx: Transaction) -> None:
            if reason is None:
                await tx.fetch("clear_breakpoint", workflow, node)
            else:
                await tx.fetch("set_breakpoint", workflow, node, reason, now)
            await write_audit(tx, audit)

        await self._session.db.transact(work)

    async def read_breakpoints(self) -> dict[str, dict[str, str]]:
        """Read the breakpoints of all workflows that have any."""
        rows = await self._session.db.fetch("read_breakpoints")
        return {str(name): breakpoints_of(str(column)) for name, column in rows}
