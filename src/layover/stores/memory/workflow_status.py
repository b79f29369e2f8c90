"""The status of workflows, which says whether they may be started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.access import Standing
from layover.stores.memory.audit import write_audit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import AuditEntry
    from layover.stores.memory.database import MemoryDatabase


def set_workflow_status(db: MemoryDatabase, standing: Standing, audit: AuditEntry | None) -> None:
    """Set the status of a workflow."""
    db.standings[standing.workflow] = standing
    write_audit(db, audit)


def revive(db: MemoryDatabase, workflow: str, now: int, by: str) -> bool:
    """Make a deleted workflow active again; return whether it was deleted."""
    found = db.standings.get(workflow)
    if found is None or found.state != "deleted":
        return False
    db.standings[workflow] = Standing(workflow=workflow, state="active", changed_at=now, by=by)
    return True


def workflow_statuses(db: MemoryDatabase, workflows: Sequence[str] | None) -> list[Standing]:
    """Read the status of workflows, in the order of their names."""
    return [db.standings[name] for name in sorted(db.standings) if workflows is None or name in workflows]
