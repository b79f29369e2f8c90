"""Triggers, their inputs and their logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.ports.records import CLOSED
from layover.ports.trigger_records import DueTriggers, Overlapping, Received, TriggerEventRow
from layover.stores.checks import at_most
from layover.stores.memory.audit import write_audit
from layover.stores.memory.workflow_status import due_workflow_statuses
from layover.stores.triggers import LOOKED_BACK, MOST_PENDING, NEWEST_INPUT, registrations, saving, with_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from layover.ports.records import InputKey
    from layover.ports.trigger_records import (
        InputChange,
        InputFilter,
        InputRow,
        NewEvent,
        NewToken,
        NewTrigger,
        Reception,
        RenewedPoll,
        TriggerMove,
        TriggerRow,
        TriggerSave,
        TriggerSaved,
        TriggerToken,
    )
    from layover.stores.memory.database import MemoryDatabase
    from layover.stores.memory.session import MemorySession


class MemoryTriggers:
    """Triggers in memory."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def read_due(self, now: int, most: int) -> DueTriggers:
        """Read what is due."""
        return read_due(await self._session.turn(), now, most)

    async def find(self, trigger_id: str) -> TriggerRow | None:
        """Find a trigger."""
        return (await self._session.turn()).triggers.get(trigger_id)

    async def list_triggers(
        self, workflow: str | None = None, after: tuple[str, str] = ("", ""), limit: int = 100
    ) -> list[TriggerRow]:
        """List triggers."""
        rows = (await self._session.turn()).triggers.values()
        if workflow is None:
            found = [row for row in rows if (row.workflow, row.name) > after]
        else:
            found = [row for row in rows if row.workflow == workflow and row.name > after[1]]
        return sorted(found, key=lambda row: (row.workflow, row.name))[: at_most(limit)]

    async def list_by_topic(self, topic: str) -> list[TriggerRow]:
        """List the triggers that a signal fires."""
        rows = (await self._session.turn()).triggers.values()
        found = [row for row in rows if row.topic == topic != "" and row.state != "stopped"]
        return sorted(found, key=lambda row: row.id)

    async def save(self, save: TriggerSave) -> TriggerSaved:
        """Save a trigger that belongs to no definition."""
        return save_trigger(await self._session.turn(), save)

    async def add_token(self, new: NewToken) -> bool:
        """Store a token."""
        return add_token(await self._session.turn(), new)

    async def find_by_token(self, hash_: str, now: int) -> TriggerRow | None:
        """Find the trigger that a token is for."""
        db = await self._session.turn()
        token = db.trigger_tokens.get(hash_)
        is_valid = token is not None and (token.until is None or token.until >= now)
        return db.triggers.get(token.trigger_id) if token is not None and is_valid else None

    async def move(self, move: TriggerMove) -> bool:
        """Change a trigger."""
        return move_trigger(await self._session.turn(), move)

    async def renew_poll(self, lease: RenewedPoll) -> bool:
        """Renew the lease of a poll."""
        triggers = (await self._session.turn()).triggers
        row = triggers.get(lease.trigger_id)
        if row is None or (row.owner, row.epoch) != (lease.owner, lease.epoch):
            return False
        triggers[row.id] = replace(row, next_at=lease.until)
        return True

    async def receive(self, reception: Reception) -> Received:
        """Keep an input."""
        return receive(await self._session.turn(), reception)

    async def change_input(self, change: InputChange) -> bool:
        """Change an input."""
        return change_input(await self._session.turn(), change)

    async def read_overlapping(self, trigger_id: str) -> Overlapping:
        """Read what is open."""
        return read_overlapping(await self._session.turn(), trigger_id)

    async def count_pending(self, trigger_id: str, most: int) -> int:
        """Count pending inputs."""
        return min(_pending(await self._session.turn(), trigger_id), most)

    async def find_known(self, trigger_id: str, input_ids: Sequence[str]) -> frozenset[str]:
        """Find known ids."""
        inputs = (await self._session.turn()).trigger_inputs
        return frozenset(id_ for id_ in input_ids if (trigger_id, id_) in inputs)

    async def find_input(self, trigger_id: str, input_id: str) -> InputRow | None:
        """Find an input."""
        return (await self._session.turn()).trigger_inputs.get((trigger_id, input_id))

    async def list_inputs(self, wanted: InputFilter) -> list[InputRow]:
        """List inputs."""
        return list_inputs(await self._session.turn(), wanted)

    async def list_events(self, trigger_id: str, after: int = 0, limit: int = 100) -> list[TriggerEventRow]:
        """List events."""
        log = (await self._session.turn()).trigger_events.get(trigger_id, {})
        return [log[seq] for seq in sorted(log) if seq > after][: at_most(limit)]

    async def delete_old(self, now: int, before: int, most: int) -> int:
        """Forget inputs and events."""
        return delete_old(await self._session.turn(), now, before, at_most(most))


def register(db: MemoryDatabase, workflow: str, given: Sequence[NewTrigger], now: int) -> None:
    """Write the triggers of the newest version of a workflow."""
    known = [row for row in db.triggers.values() if row.workflow == workflow]
    for row, event in registrations(workflow, known, given):
        db.triggers[row.id] = row
        _log(db, row.id, row.seq, now, event)


def save_trigger(db: MemoryDatabase, save: TriggerSave) -> TriggerSaved:
    """Save a trigger that belongs to no definition."""
    saved, change = saving(db.triggers.get(save.trigger_id), save)
    if change is not None:
        db.triggers[change.row.id] = change.row
        _log(db, change.row.id, change.row.seq, save.at, change.event)
        if save.new is None:
            _forget_tokens(db, save.trigger_id, lambda _: True)
        write_audit(db, save.audit)
    return saved


def add_token(db: MemoryDatabase, new: NewToken) -> bool:
    """Store a token, and end those that it replaces."""
    given, ends = new.token, new.others_until
    known = [one for one in db.trigger_tokens.values() if one.trigger_id == given.trigger_id]
    if ends is None and any(one.until is None for one in known):
        return False
    for one in known:
        if ends is not None and (one.until is None or one.until > ends):
            db.trigger_tokens[one.hash] = replace(one, until=ends)
    _forget_tokens(db, given.trigger_id, lambda one: one.until is not None and one.until < given.made_at)
    db.trigger_tokens[given.hash] = given
    write_audit(db, new.audit)
    return True


def _forget_tokens(db: MemoryDatabase, trigger_id: str, is_over: Callable[[TriggerToken], bool]) -> None:
    for one in [*db.trigger_tokens.values()]:
        if one.trigger_id == trigger_id and is_over(one):
            del db.trigger_tokens[one.hash]


def _log(db: MemoryDatabase, trigger_id: str, seq: int, at: int, event: NewEvent) -> None:
    written = TriggerEventRow(seq=seq, at=at, kind=event.kind, body=event.body)
    db.trigger_events.setdefault(trigger_id, {})[seq] = written


def start_input(db: MemoryDatabase, started: InputKey, execution_id: str) -> None:
    """Mark an input as started."""
    name = started.trigger_id, started.input_id
    db.trigger_inputs[name] = replace(db.trigger_inputs[name], state="started", execution_id=execution_id)


def is_pending(db: MemoryDatabase, started: InputKey) -> bool:
    """Return whether an input may be started."""
    found = db.trigger_inputs.get((started.trigger_id, started.input_id))
    return found is not None and found.state == "pending"


def read_due(db: MemoryDatabase, now: int, most: int) -> DueTriggers:
    """Read what is due, and when something will be next."""
    waiting = [(row.next_at, row) for row in db.triggers.values() if row.next_at is not None]
    inputs = [
        (one.due_at, one) for one in db.trigger_inputs.values() if one.state == "pending" and one.due_at is not None
    ]
    due = sorted((pair for pair in waiting if pair[0] <= now), key=lambda pair: pair[0])
    ready = sorted((pair for pair in inputs if pair[0] <= now), key=lambda pair: pair[0])
    moments = [at for at, _ in waiting if at > now] + [at for at, _ in inputs if at > now]
    moments += [one.due_at for one in db.workflow_statuses.values() if one.due_at is not None and one.due_at > now]
    return DueTriggers(
        triggers=tuple(row for _, row in due[: at_most(most)]),
        inputs=tuple(one for _, one in ready[: at_most(most)]),
        workflows=tuple(due_workflow_statuses(db, now, at_most(most))),
        next_due=min(moments, default=None),
    )


def move_trigger(db: MemoryDatabase, move: TriggerMove) -> bool:
    """Change a trigger with its inputs and events, if nobody else has changed it since."""
    row = db.triggers.get(move.trigger_id)
    if row is None or row.seq != move.expected_seq:
        return False
    if move.lease is not None and (row.epoch, row.cursor) != (move.lease.epoch, move.lease.cursor):
        return False
    db.triggers[row.id] = replace(
        row,
        state=move.state,
        reason=move.reason,
        next_at=move.next_at,
        cursor=move.cursor,
        failures=move.failures,
        epoch=row.epoch + (move.owner is not None),
        owner=move.owner,
        seq=row.seq + len(move.events),
    )
    for seq, event in with_numbers(move.expected_seq, move.events):
        _log(db, row.id, seq, move.at, event)
        if event.input is not None:
            db.trigger_inputs.setdefault((row.id, event.input.input_id), replace(event.input, seq=seq))
    if move.held is not None:
        for name, one in db.trigger_inputs.items():
            if name[0] == row.id and one.state == "pending":
                db.trigger_inputs[name] = replace(one, due_at=None if move.held else move.at)
    for message in move.messages:
        db.outbox.setdefault((message.sender, message.n, message.destination), message)
    write_audit(db, move.audit)
    return True


def receive(db: MemoryDatabase, reception: Reception) -> Received:
    """Keep an input that has arrived."""
    given = reception.input
    known = db.trigger_inputs.get((given.trigger_id, given.input_id))
    if known is not None:
        return Received(input=known, repeated=True)
    trigger = db.triggers.get(given.trigger_id)
    if trigger is None or _pending(db, given.trigger_id) >= reception.most_pending:
        return Received(input=None)
    kept = replace(given, seq=trigger.seq + 1, due_at=None if trigger.state == "paused" else given.due_at)
    db.triggers[trigger.id] = replace(trigger, seq=kept.seq)
    _log(db, trigger.id, kept.seq, kept.received_at, reception.event)
    db.trigger_inputs[trigger.id, kept.input_id] = kept
    write_audit(db, reception.audit)
    return Received(input=kept)


def _pending(db: MemoryDatabase, trigger_id: str) -> int:
    inputs = db.trigger_inputs.items()
    return sum(1 for name, one in inputs if name[0] == trigger_id and one.state == "pending")


def change_input(db: MemoryDatabase, change: InputChange) -> bool:
    """Change an input, if it is in the expected state."""
    name = change.trigger_id, change.input_id
    known = db.trigger_inputs.get(name)
    if known is None or known.state not in change.of:
        return False
    db.trigger_inputs[name] = replace(
        known,
        state=change.state,
        due_at=change.due_at,
        attempts=change.attempts,
        reason=change.reason,
        execution_id=change.execution_id or known.execution_id,
        forget_at=max(known.forget_at, change.forget_at),
    )
    write_audit(db, change.audit)
    return True


def read_overlapping(db: MemoryDatabase, trigger_id: str) -> Overlapping:
    """Read what is open of what was started last."""
    started = [one for name, one in db.trigger_inputs.items() if name[0] == trigger_id and one.state == "started"]
    newest = sorted(started, key=lambda one: one.seq, reverse=True)[:LOOKED_BACK]
    heads = [db.heads[one.execution_id] for one in newest if one.execution_id in db.heads]
    found = tuple(head.execution_id for head in heads if head.status not in CLOSED)
    return Overlapping(pending=min(_pending(db, trigger_id), MOST_PENDING), open=found)


def list_inputs(db: MemoryDatabase, wanted: InputFilter) -> list[InputRow]:
    """List inputs, newest first."""
    before = wanted.after or NEWEST_INPUT
    found = [
        one
        for (trigger_id, _), one in db.trigger_inputs.items()
        if trigger_id == wanted.trigger_id
        and (one.received_at, one.input_id) < before
        and wanted.state in (None, one.state)
    ]
    return sorted(found, key=lambda one: (one.received_at, one.input_id), reverse=True)[: at_most(wanted.limit)]


def delete_old(db: MemoryDatabase, now: int, before: int, most: int) -> int:
    """Forget inputs with their data, then events that are old."""
    inputs = [item for item in db.trigger_inputs.items() if item[1].state != "pending" and item[1].forget_at < now]
    inputs = sorted(inputs, key=lambda item: item[1].forget_at)[:most]
    for name, one in inputs:
        del db.trigger_inputs[name]
        db.trigger_events.get(name[0], {}).pop(one.seq, None)
    known = {(name[0], one.seq) for name, one in db.trigger_inputs.items()}
    events = [
        (event.at, trigger_id, seq)
        for trigger_id, log in db.trigger_events.items()
        for seq, event in log.items()
        if event.at < before and (trigger_id, seq) not in known
    ]
    for _, trigger_id, seq in sorted(events)[:most]:
        del db.trigger_events[trigger_id][seq]
    return len(inputs) + len(events[:most])
