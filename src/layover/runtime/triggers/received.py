"""The data of an input: what `trigger` is in expressions, and what is kept of it in the trigger's log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.core.expressions.errors import ExpressionError
from layover.core.moments import moment
from layover.core.trigger_inputs import failing_part, input_id, passes
from layover.ports.trigger_records import InputRow, NewEvent

if TYPE_CHECKING:
    from layover.core.plan import PlannedTrigger
    from layover.ports.trigger_records import TriggerRow
    from layover.runtime.triggers.notes import FilteredNotes

RECEIVED = "TriggerInputReceived"
OWN_FOR = 1_000  # milliseconds that a pending input is left to the instance that wrote it


class Payload(msgspec.Struct, frozen=True, omit_defaults=True):
    """The data of an input, as the event that holds them has them."""

    input_id: str
    data: object = None
    headers: dict[str, str] = {}
    query: dict[str, str | list[str]] = {}
    by: str = ""  # the user who gave it by hand
    cursor: str | None = None  # how far its trigger is with it: that of a batch, or the instant of an occurrence


def decode_payload(body: bytes) -> Payload:
    """Return the data of an input."""
    return msgspec.json.decode(body, type=Payload)


def trigger_object(row: TriggerRow, one: InputRow, payload: Payload) -> dict[str, object]:
    """Return what expressions see as `trigger`, and what an execution keeps as its trigger."""
    found: dict[str, object] = {
        "trigger_id": row.id,
        "name": row.name,
        "type": row.type,
        "id": one.input_id,
        "at": moment(one.at if one.at is not None else one.received_at),
        "received_at": moment(one.received_at),
        "data": payload.data,
        "headers": payload.headers,
        "query": payload.query,
    }
    return found | {"by": payload.by} if payload.by else found


def new_input(
    row: TriggerRow, payload: Payload, *, now: int, dedup: int, at: int | None = None, due_at: int | None = None
) -> NewEvent:
    """Return a pending input with the event that holds its data; its writer starts it at once."""
    one = InputRow(
        trigger_id=row.id,
        input_id=payload.input_id,
        at=at,
        received_at=now,
        due_at=now + OWN_FOR if due_at is None else due_at,
        forget_at=now + dedup,
    )
    return NewEvent(kind=RECEIVED, body=msgspec.json.encode(payload), input=one)


def note_filtered(
    notes: FilteredNotes, row: TriggerRow, planned: PlannedTrigger, event: NewEvent, payload: Payload, now: int
) -> None:
    """Note an input that the filter does not let pass, with the part of the filter that is false."""
    if event.input is not None:
        notes.add(row.id, failing_part(planned, trigger_object(row, event.input, payload), now), now)


def named_input(
    row: TriggerRow, planned: PlannedTrigger, event: NewEvent, payload: Payload, now: int
) -> NewEvent | None:
    """Return an input with the id that its author gives it; None if the filter does not let it pass."""
    if event.input is None:
        return None
    if "filter" not in planned.expressions and "id" not in planned.renderers:
        return event
    try:
        trigger = trigger_object(row, event.input, payload)
        if not passes(planned, trigger, now):
            return None
        own = input_id(planned, trigger, now)
    except ExpressionError:
        return event  # it is rejected when it starts, so that somebody sees why
    if own is None or own == payload.input_id:
        return event
    body = msgspec.json.encode(msgspec.structs.replace(payload, input_id=own))
    return NewEvent(kind=event.kind, body=body, input=msgspec.structs.replace(event.input, input_id=own))
