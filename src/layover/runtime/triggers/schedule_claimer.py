"""Claims the due occurrences of schedules.

A claim writes inputs, cursor and the next moment in one transaction, which lands only if the trigger is as it was read:
of many instances that see the same occurrence, one claims it. What it claims becomes pending inputs, which the claiming
instance starts at once, and any instance after a second.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from layover.core.calendar import ZONE_DATA
from layover.core.definitions.trigger_types import ScheduleTrigger
from layover.core.expressions.errors import ExpressionError
from layover.core.moments import moment
from layover.core.occurrences import Skip, due_occurrences
from layover.core.schedules import decode_cursor, encode_cursor
from layover.core.trigger_inputs import passes
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.trigger_records import NewEvent, TriggerMove
from layover.runtime.triggers.planned import config_of, planned_of
from layover.runtime.triggers.received import Payload, new_input, trigger_object

if TYPE_CHECKING:
    from layover.core.calendar import Occurrence
    from layover.core.occurrences import Due
    from layover.core.plan import PlannedTrigger
    from layover.ports.store import Store
    from layover.ports.trigger_records import InputRow, TriggerRow, TriggerState
    from layover.runtime.plans import Plans

SKIPPED, STATE_CHANGED = "TriggerSkipped", "TriggerStateChanged"
_ROOM = {"skip": 1, "queue_one": 2}  # executions that may be open at once; without a number, any
_NOT_NOW = {"paused": "workflow_paused", "inactive": "workflow_inactive", "deleted": "workflow_deleted"}

_log = logging.getLogger("layover.triggers")


class ClaimedOccurrences(NamedTuple):
    """The inputs that a claim has made, and how many occurrences it has skipped, by reason."""

    inputs: tuple[InputRow, ...] = ()
    skipped: tuple[Skip, ...] = ()


class ScheduleClaimer:
    """Claims due occurrences."""

    def __init__(self, store: Store, plans: Plans) -> None:
        self._store = store
        self._plans = plans

    async def claim(self, row: TriggerRow, now: int) -> ClaimedOccurrences:
        """Claim what is due of a schedule; nothing if another instance was first, or knows better."""
        planned = await self.planned(row, now)
        cursor = decode_cursor(row.cursor)
        if planned is None or not isinstance(planned.trigger, ScheduleTrigger) or cursor.zone_data > ZONE_DATA:
            return ClaimedOccurrences()  # an instance with the newest version, or with newer zone data, serves it
        status = await self._plans.status(row.workflow, now)
        not_now = _NOT_NOW.get(status.state) if status is not None else None
        room = 0 if not_now is not None else await self._room(row, planned.trigger)
        due = due_occurrences(planned.trigger, row.id, cursor, now, room)
        skips = [skip._replace(reason=not_now) for skip in due.skips] if not_now is not None else [*due.skips]
        events = self._events(row, planned, due, skips, now)
        state, reason, changed = _state_after(row, due)
        move = TriggerMove(
            trigger_id=row.id,
            expected_seq=row.seq,
            at=now,
            state=state,
            reason=reason,
            next_at=due.next_at,
            cursor=encode_cursor(due.cursor),
            events=(*(_skip_event(skip) for skip in skips), *events, *changed),
        )
        if not move.events:
            move = msgspec.structs.replace(move, events=(_moved(due),))  # each claim has a number of its own
        if not await self._store.triggers.move(move):
            return ClaimedOccurrences()
        reached(CommitPoint.CURSOR_ADVANCED)
        inputs = tuple(event.input for event in events if event.input is not None)
        if inputs:
            reached(CommitPoint.INPUT_KEPT)
        for skip in skips:
            _log.info(
                "trigger_skipped trigger=%s/%s reason=%s count=%d", row.workflow, row.name, skip.reason, skip.number
            )
        numbers = range(row.seq + 1 + len(skips), row.seq + 1 + len(skips) + len(inputs))
        numbered = zip(inputs, numbers, strict=True)
        return ClaimedOccurrences(tuple(msgspec.structs.replace(one, seq=seq) for one, seq in numbered), tuple(skips))

    async def planned(self, row: TriggerRow, now: int) -> PlannedTrigger | None:
        """Return a trigger as the newest version has it; None if this instance does not see that version yet."""
        for _ in range(2):
            plan = await self._plans.latest(row.workflow, now)
            if plan is None and await self._plans.status(row.workflow, now) is not None:
                return None  # deleted
            found = planned_of(plan, row) if plan is not None else None
            if found is not None and (not row.managed or config_of(found.trigger) == row.config):
                return found
            self._plans.forget(row.workflow)  # a newer version was registered elsewhere
        return None

    async def is_active(self, workflow: str, now: int) -> bool:
        """Return whether a workflow starts what comes, and is neither paused, nor inactive, nor deleted."""
        status = await self._plans.status(workflow, now)
        return status is None or status.state not in _NOT_NOW

    async def _room(self, row: TriggerRow, trigger: ScheduleTrigger) -> int | None:
        most = _ROOM.get(trigger.overlap)
        if most is None:
            return None
        overlapping = await self._store.triggers.read_overlapping(row.id)
        return max(0, most - overlapping.pending - len(overlapping.open))

    def _events(
        self, row: TriggerRow, planned: PlannedTrigger, due: Due, skips: list[Skip], now: int
    ) -> list[NewEvent]:
        """Return an input for each occurrence that starts; note those that the filter does not let pass."""
        kept: list[NewEvent] = []
        for occurrence in due.starts:
            event = _input_of(row, planned.trigger, occurrence, now)
            if event.input is not None and _is_filtered(row, planned, event, now):
                skips.append(Skip(occurrence.at, occurrence.at, 1, "filtered"))
            else:
                kept.append(event)
        return kept


def _input_of(row: TriggerRow, trigger: object, occurrence: Occurrence, now: int) -> NewEvent:
    if not isinstance(trigger, ScheduleTrigger):
        raise TypeError(f"{row.name} is not a schedule")
    at = moment(occurrence.at)
    payload = Payload(input_id=at, data=trigger.data, cursor=at)
    return new_input(row, payload, now=now, dedup=trigger.dedup, at=occurrence.at)


def _is_filtered(row: TriggerRow, planned: PlannedTrigger, event: NewEvent, now: int) -> bool:
    if event.input is None or "filter" not in planned.expressions:
        return False
    payload = msgspec.json.decode(event.body, type=Payload)
    try:
        return not passes(planned, trigger_object(row, event.input, payload), now)
    except ExpressionError:
        return False  # it becomes an input that is rejected, so that somebody sees why


def _state_after(row: TriggerRow, due: Due) -> tuple[TriggerState, str, tuple[NewEvent, ...]]:
    state: TriggerState = "active" if due.next_at is not None else "stopped"
    reason = "" if state == "active" else "ended"
    if (state, reason) == (row.state, row.reason):
        return state, reason, ()
    body = msgspec.json.encode({"state": state, "reason": reason})
    return state, reason, (NewEvent(kind=STATE_CHANGED, body=body),)


def _skip_event(skip: Skip) -> NewEvent:
    body = {"from": moment(skip.first), "to": moment(skip.last), "count": skip.number, "reason": skip.reason}
    return NewEvent(kind=SKIPPED, body=msgspec.json.encode(body))


def _moved(due: Due) -> NewEvent:
    body = {"cursor": moment(due.cursor.at), "processed_count": 0}
    return NewEvent(kind="TriggerCursorAdvanced", body=msgspec.json.encode(body))
