"""The status of workflows, which says whether they may be started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import astuple

from layover.stores.postgres.audit import write_audit
from layover.stores.postgres.rows import standing_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.access import Standing
    from layover.ports.records import AuditEntry
    from layover.stores.postgres.database import Database, StatementRunner, Transaction


async def set_workflow_status(db: Database, standing: Standing, audit: AuditEntry | None) -> None:
    """Set the status of a workflow."""

    async def work(tx: Transaction) -> None:
        await tx.fetch("set_workflow_status", *astuple(standing))
        await write_audit(tx, audit)

    await db.transact(work)


async def workflow_statuses(db: StatementRunner, workflows: Sequence[str] | None) -> list[Standing]:
    """Read the status of workflows, in the order of their names."""
    rows = (
        await db.fetch("list_workflow_statuses")
        if workflows is None
        else await db.fetch("workflow_statuses_by_name", list(workflows))
    )
    return [standing_of(row) for row in rows]
