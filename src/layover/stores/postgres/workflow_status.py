"""The status of workflows, which says whether they may be started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import astuple

from layover.stores.postgres.audit import write_audit
from layover.stores.rows import workflow_status_of

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

    async def set_status(self, status: WorkflowStatus, audit: AuditRow | None = None) -> None:
        """Set the status of a workflow."""

        async def work(tx: Transaction) -> None:
            await tx.fetch("set_workflow_status", *astuple(status))
            await write_audit(tx, audit)

        await self._session.db.transact(work)

    async def list_statuses(self, workflows: Sequence[str] | None = None) -> list[WorkflowStatus]:
        """Read the status of workflows, in the order of their names."""
        db = self._session.db
        rows = (
            await db.fetch("list_workflow_statuses")
            if workflows is None
            else await db.fetch("workflow_statuses_by_name", list(workflows))
        )
        return [workflow_status_of(row) for row in rows]
