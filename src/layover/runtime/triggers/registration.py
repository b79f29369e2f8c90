"""The triggers of a plan as they are registered, and their ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.core.definitions.canonical import part_document
from layover.core.definitions.trigger_types import PollTrigger, ScheduleTrigger, SignalTrigger
from layover.core.ids import trigger_id, uuid8
from layover.core.schedules import cursor_at, encode_cursor, first_start, timing_of
from layover.ports.trigger_records import NewTrigger

if TYPE_CHECKING:
    from layover.core.definitions.model import TriggerDefinition
    from layover.core.plan import Plan


def execution_id_of(trigger: str, input_id: str) -> str:
    """Return the id of the execution that an input starts: a sender is told it before the execution exists."""
    return uuid8(f"{trigger}/{input_id}")


def requester_of(workflow: str, name: str) -> str:
    """Return the user as whom a trigger starts executions."""
    return f"trigger:{workflow}/{name}"


def triggers_of(plan: Plan, now: int) -> tuple[NewTrigger, ...]:
    """Return the triggers of a plan, as they begin if they are new."""
    workflow = plan.definition.name
    return tuple(new_trigger(workflow, trigger, now) for trigger in plan.definition.triggers)


def new_trigger(workflow: str, trigger: TriggerDefinition, now: int) -> NewTrigger:
    """Return a trigger as it begins if it is new."""
    id_ = trigger_id(workflow, trigger.name)
    config = msgspec.json.encode(part_document(trigger))
    match trigger:
        case ScheduleTrigger():
            cursor = cursor_at(now)
            next_at = first_start(trigger, id_, cursor)
            return NewTrigger(
                id=id_,
                name=trigger.name,
                type=trigger.type,
                config=config,
                timing=timing_of(trigger),
                state="active" if next_at is not None else "stopped",
                next_at=next_at,
                cursor=encode_cursor(cursor),
            )
        case SignalTrigger():
            return NewTrigger(id=id_, name=trigger.name, type=trigger.type, config=config, topic=trigger.signal)
        case PollTrigger():
            return NewTrigger(
                id=id_, name=trigger.name, type=trigger.type, config=config, next_at=now, keeps_cursor=True
            )
        case _:
            return NewTrigger(id=id_, name=trigger.name, type=trigger.type, config=config)
