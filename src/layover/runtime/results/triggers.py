"""Triggers, inputs and events as results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.core.moments import Moment, moment
from layover.core.poll_cursors import decode_poll_cursor
from layover.core.schedules import decode_cursor
from layover.model.triggers import Trigger, TriggerEvent, TriggerInput

if TYPE_CHECKING:
    from layover.ports.access import WorkflowStatus
    from layover.ports.trigger_records import InputRow, TriggerEventRow, TriggerRow

_OF_WORKFLOW = {
    "paused": ("paused", "Its workflow is paused."),
    "inactive": ("stopped", "Its workflow is not active."),
    "deleted": ("stopped", "Its workflow is deleted."),
}


def trigger_of(row: TriggerRow, status: WorkflowStatus | None, address: str | None = None) -> Trigger:
    """Return a trigger; one that could fire shows the state of its workflow, if that keeps it from doing so."""
    state, reason = row.state, row.reason
    if status is not None and status.state in _OF_WORKFLOW and row.state in ("active", "initialized", "error"):
        state, reason = _OF_WORKFLOW[status.state]  # type: ignore[assignment]
    return Trigger(
        id=row.id,
        workflow=row.workflow,
        name=row.name,
        type=row.type,
        state=state,
        reason=reason,
        next_at=Moment.maybe(row.next_at),
        failures=row.failures,
        cursor=cursor_text(row) if row.type == "poll" else None,
        definition=msgspec.json.decode(row.config),
        managed=row.managed,
        address=address,
    )


def cursor_text(row: TriggerRow) -> str | None:
    """Return how far a trigger is: what its source returned last, or the instant of the last occurrence."""
    if row.type == "schedule" and row.cursor:
        return moment(decode_cursor(row.cursor).at)
    return decode_poll_cursor(row.cursor) if row.type == "poll" else None


def input_of(row: InputRow) -> TriggerInput:
    """Return an input."""
    return TriggerInput(
        trigger_id=row.trigger_id,
        input_id=row.input_id,
        state=row.state,
        received_at=Moment.of(row.received_at),
        at=Moment.maybe(row.at),
        reason=row.reason,
        execution_id=row.execution_id or None,
        attempts=row.attempts,
    )


def event_of(row: TriggerEventRow) -> TriggerEvent:
    """Return an event."""
    return TriggerEvent(seq=row.seq, at=Moment.of(row.at), type=row.kind, data=msgspec.json.decode(row.body))
