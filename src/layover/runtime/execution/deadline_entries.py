"""Audit entries of what the engine decides in a person's stead: a deadline that approves or rejects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.engine import events as ev
from layover.core.ids import uuid8
from layover.ports.audit_entries import ENGINE, SALT_BYTES, audit_row

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.core.engine.state import ExecutionState
    from layover.ports.records import AuditRow
    from layover.runtime.execution.pending_append import PendingAppend

_ACTS: Final = {"approve": "approval.approve", "reject": "approval.reject"}
CREDENTIAL: Final = "deadline"


def deadline_entries(
    state: ExecutionState, step: PendingAppend, instance: str, secret: Callable[[int], bytes]
) -> tuple[AuditRow, ...]:
    """Return an entry for each approval that its deadline decides in a step."""
    expired = [event.point for event in step.events if type(event) is ev.PausePointExpired]
    if not expired:
        return ()
    stood = state.undo_log.overwritten(state.points.rows)
    entries: list[AuditRow] = []
    for id_ in expired:
        point = stood.get(id_)
        act = _ACTS.get(point.on_deadline or "") if point is not None else None
        if point is None or act is None:
            continue
        entries.append(
            audit_row(
                id=uuid8(f"{id_}\0deadline"),  # however often the step is decided, it is one act
                at=step.at,
                user=ENGINE,
                act=act,
                salt=secret(SALT_BYTES),
                target=id_,
                execution_id=state.facts.id,
                credential=CREDENTIAL,
                address=instance,
                details={"context_id": point.node},
                after={"approved": point.on_deadline == "approve"},
            )
        )
    return tuple(entries)
