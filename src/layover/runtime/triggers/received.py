"""The data of an input: what `trigger` is in expressions, and what is kept of it in the trigger's log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.core.moments import moment
from layover.ports.trigger_records import InputRow, NewEvent

if TYPE_CHECKING:
    from layover.ports.trigger_records import TriggerRow

RECEIVED = "TriggerInputReceived"
OWN_FOR = 1_000  # milliseconds that a pending input is left to the instance that wrote it


class Payload(msgspec.Struct, frozen=True, omit_defaults=True):
    """The data of an input, as the event that holds them has them."""

    input_id: str
    data: object = None
    headers: dict[str, str] = {}
    query: dict[str, str] = {}


def decode_payload(body: bytes) -> Payload:
    """Return the data of an input."""
    return msgspec.json.decode(body, type=Payload)


def trigger_object(row: TriggerRow, one: InputRow, payload: Payload) -> dict[str, object]:
    """Return what expressions see as `trigger`, and what an execution keeps as its trigger."""
    return {
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
