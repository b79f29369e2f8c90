"""What registering a workflow, or saving a trigger by itself, does to the rows of triggers: the same in every store.

A trigger is matched by its id, which follows from its workflow and name. One that is registered again goes on: its
cursor stays, unless what its occurrences follow from has changed; an operator's pause stays, too. A name belongs to a
definition or to a trigger that was made by itself, until that is removed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from layover.errors import AlreadyExists
from layover.ports.trigger_records import REMOVED, InputRow, NewEvent, TriggerEventRow, TriggerRow, TriggerSaved

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from layover.ports.trigger_records import NewTrigger, TriggerSave

REGISTERED, STATE_CHANGED = "TriggerRegistered", "TriggerStateChanged"
LOOKED_BACK = 20  # of the executions that a trigger started last, to see which are open
MOST_PENDING = 1_000  # that are counted
NEWEST_INPUT = (2**63 - 1, "")


class Registration(NamedTuple):
    """A row as it is now, with the event that says so."""

    row: TriggerRow
    event: NewEvent


def registrations(workflow: str, known: Iterable[TriggerRow], given: Sequence[NewTrigger]) -> list[Registration]:
    """Return the rows that change when a version with these triggers is saved; AlreadyExists if a name is taken."""
    rows = {row.id: row for row in known}
    for new in given:
        if new.id in rows and _is_alone(rows[new.id]):
            message = f"There is a trigger `{workflow}/{new.name}` that belongs to no definition: delete it first."
            raise AlreadyExists(message, code="trigger_path_conflict")
    changes = [_registered(workflow, rows.pop(new.id, None), new, managed=True) for new in given]
    changes += [_removed(row) for row in rows.values() if row.managed]
    return sorted((change for change in changes if change is not None), key=lambda change: change.row.id)


def saving(known: TriggerRow | None, save: TriggerSave) -> tuple[TriggerSaved, Registration | None]:
    """Return what saving a trigger by itself comes to, and the row that changes with it."""
    is_there = known is not None and known.reason != REMOVED
    if save.create and is_there:
        return TriggerSaved(verdict="taken"), None
    if known is not None and known.managed and not save.create:
        return TriggerSaved(verdict="managed"), None
    if not save.create and (known is None or (save.new is not None and not is_there)):
        return TriggerSaved(verdict="unknown"), None
    change: Registration | None = None
    if save.new is not None:
        change = _registered(save.workflow, known, save.new, managed=False)
    elif known is not None:
        change = _removed(known)
    return TriggerSaved(verdict="saved", row=change.row if change is not None else known), change


def _is_alone(row: TriggerRow) -> bool:
    return not row.managed and row.reason != REMOVED


def with_numbers(expected_seq: int, events: Sequence[NewEvent]) -> Iterator[tuple[int, NewEvent]]:
    """Return events with their numbers in the log of their trigger."""
    return enumerate(events, expected_seq + 1)


def _registered(workflow: str, known: TriggerRow | None, new: NewTrigger, *, managed: bool) -> Registration | None:
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
            managed=managed,
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
        managed=managed,
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


def trigger_of(id_: str, columns: Iterable[Any]) -> TriggerRow:
    """Return a trigger from its columns; the first one, its id, is written differently by each database."""
    (_, workflow, name, type_, config, timing, topic, state, reason, seq, epoch, owner, next_at, *rest) = columns
    cursor, failures, managed = rest
    return TriggerRow(
        id=id_,
        workflow=workflow,
        name=name,
        type=type_,
        config=config,
        timing=timing,
        topic=topic,
        state=state,
        reason=reason,
        seq=seq,
        epoch=epoch,
        owner=owner,
        next_at=next_at,
        cursor=cursor,
        failures=failures,
        managed=bool(managed),
    )


def input_of(trigger_id: str, execution_id: str, columns: Iterable[Any]) -> InputRow:
    """Return an input from its columns; those of ids are written differently by each database."""
    _, input_id, state, at, received_at, due_at, forget_at, attempts, reason, _, seq = columns
    return InputRow(
        trigger_id=trigger_id,
        input_id=input_id,
        state=state,
        at=at,
        received_at=received_at,
        due_at=due_at,
        forget_at=forget_at,
        attempts=attempts,
        reason=reason,
        execution_id=execution_id,
        seq=seq,
    )


def events_of(rows: Iterable[Iterable[Any]]) -> list[TriggerEventRow]:
    """Return events from their columns."""
    return [TriggerEventRow(seq=seq, at=at, kind=kind, body=body) for seq, at, kind, body in rows]
