"""The id and the filter of a trigger, for inputs that arrive by themselves: deliveries, signals and items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.core.expressions.errors import ExpressionError
from layover.core.trigger_inputs import input_id, passes
from layover.ports.trigger_records import NewEvent
from layover.runtime.triggers.received import trigger_object

if TYPE_CHECKING:
    from layover.core.plan import PlannedTrigger
    from layover.ports.trigger_records import TriggerRow
    from layover.runtime.triggers.received import Payload


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
        return event  # it is rejected when it starts, so that somebody sees why; a sender need not send it again
    if own is None or own == payload.input_id:
        return event
    body = msgspec.json.encode(msgspec.structs.replace(payload, input_id=own))
    return NewEvent(kind=event.kind, body=body, input=msgspec.structs.replace(event.input, input_id=own))
