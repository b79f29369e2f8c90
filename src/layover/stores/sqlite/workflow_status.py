"""The status of workflows, which says whether they may be started."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import asdict

from layover.stores.sqlite.audit import write_audit
from layover.stores.sqlite.rows import standing_of
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from layover.ports.access import Standing
    from layover.ports.records import AuditEntry


def set_workflow_status(db: apsw.Connection, standing: Standing, audit: AuditEntry | None) -> None:
    """Set the status of a workflow."""
    db.execute(SQL["set_workflow_status"], asdict(standing))
    write_audit(db, audit)


def revive(db: apsw.Connection, workflow: str, now: int, by: str) -> bool:
    """Make a deleted workflow active again; return whether it was deleted."""
    db.execute(SQL["revive_workflow"], {"workflow": workflow, "now": now, "by": by})
    return db.changes() == 1


def workflow_statuses(db: apsw.Connection, workflows: Sequence[str] | None) -> list[Standing]:
    """Read the status of workflows, in the order of their names."""
    if workflows is None:
        return [standing_of(row) for row in db.execute(SQL["list_workflow_statuses"])]
    wanted = msgspec.json.encode(workflows).decode()
    return [standing_of(row) for row in db.execute(SQL["workflow_statuses_by_name"], {"workflows": wanted})]
