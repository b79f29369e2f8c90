"""What registering a workflow does to the rows of its triggers: the same in every store.

A trigger is matched by its id, which follows from its workflow and name. One that is registered again goes on: its
cursor stays, unless what its occurrences follow from has changed; an operator's pause stays, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from layover.ports.trigger_records import REMOVED, NewEvent, TriggerRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from layover.ports.trigger_records import NewTrigger

REGISTERED, STATE_CHANGED = "TriggerRegistered", "TriggerStateChanged"
LOOKED_BACK = 20  # of the executions that a trigger started last, to see which are open
MOST_PENDING = 1_000  # that are counted
NEWEST_INPUT = (2**63 - 1, "")


class Registration(NamedTuple):
    """A row as it is now, with the event that says so."""

    row: TriggerRow
    event: NewEvent


def registrations(workflow: str, known: Iterable[TriggerRow], given: Sequence[NewTrigger]) -> list[Registration]:
    """Return the rows that change when a version with these triggers is saved."""
    rows = {row.id: row for row in known}
    changes = [_registered(workflow, rows.pop(new.id, None), new) for new in given]
    changes += [_removed(row) for row in rows.values()]
    return sorted((change for change in changes if change is not None), key=lambda change: change.row.id)


def with_numbers(expected_seq: int, events: Sequence[NewEvent]) -> Iterator[tuple[int, NewEvent]]:
    """Return events with their numbers in the log of their trigger."""
    return enumerate(events, expected_seq + 1)


def _registered(workflow: str, known: TriggerRow | None, new: NewTrigger) -> Registration | None:
    event = NewEvent(kind=REGISTERED, body=new.config)
    if known is None:
        row = TriggerRow(
            id=new.id,
            workflow=workflow,
            name=new.name,
            type=new.type,
            config=new.config,
            timing=new.timing,
            topic=new.topic,
            state=new.state,
            seq=1,
            next_at=new.next_at,
            cursor=new.cursor,
        )
        return Registration(row, event)
    if known.config == new.config and known.reason != REMOVED:
        return None
    goes_on = known.timing == new.timing and known.type == new.type and known.reason != REMOVED
    keeps_cursor = goes_on or (new.keeps_cursor and known.type == new.type)
    paused = known.state == "paused"
    changed = replace(
        known,
        type=new.type,
        config=new.config,
        timing=new.timing,
        topic=new.topic,
        state="paused" if paused else new.state,
        reason=known.reason if paused else "",
        seq=known.seq + 1,
        owner=None,
        failures=0,
        cursor=known.cursor if keeps_cursor else new.cursor,
        next_at=_next_at(known, new, goes_on=goes_on),
    )
    return Registration(changed, event)


def _next_at(known: TriggerRow, new: NewTrigger, *, goes_on: bool) -> int | None:
    if known.state == "paused":
        return None
    # One that had come to its end may have been given more time; where a poll goes on, it does so at once.
    return known.next_at if goes_on and known.next_at is not None and not new.keeps_cursor else new.next_at


def _removed(row: TriggerRow) -> Registration | None:
    if row.reason == REMOVED:
        return None
    stopped = replace(row, state="stopped", reason=REMOVED, next_at=None, owner=None, seq=row.seq + 1)
    return Registration(stopped, NewEvent(kind=STATE_CHANGED, body=b'{"state":"stopped","reason":"removed"}'))
