"""Triggers, their inputs and their logs. What is decided from a row is written while the row is locked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import astuple, replace

from layover.ports.trigger_records import DueTriggers, Overlapping, Received, TriggerSaved
from layover.stores import triggers as shared
from layover.stores.checks import at_most
from layover.stores.postgres.audit import write_audit
from layover.stores.postgres.settlements import send
from layover.stores.rows import workflow_status_of
from layover.stores.triggers import LOOKED_BACK, MOST_PENDING, NEWEST_INPUT, registrations, saving, with_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from layover.ports.access import WorkflowStatus
    from layover.ports.trigger_records import (
        InputChange,
        InputFilter,
        InputRow,
        NewToken,
        NewTrigger,
        Reception,
        RenewedPoll,
        TriggerEventRow,
        TriggerMove,
        TriggerRow,
        TriggerSave,
    )
    from layover.stores.postgres.database import Row, StatementRunner
    from layover.stores.postgres.session import PostgresSession
    from layover.stores.triggers import Registration


class PostgresTriggers:
    """Triggers of a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    async def read_due(self, now: int, most: int) -> DueTriggers:
        """Read what is due, oldest first, and when something will be due next."""
        db = self._session.db
        moments = await db.fetchrow("next_trigger_due", now)
        if moments is None:
            return DueTriggers()
        first_trigger, first_input, first_status, *later = moments
        triggers: tuple[TriggerRow, ...] = ()
        inputs: tuple[InputRow, ...] = ()
        workflows: tuple[WorkflowStatus, ...] = ()
        if first_trigger is not None:
            triggers = tuple(trigger_of(row) for row in await db.fetch("due_triggers", now, at_most(most)))
        if first_input is not None:
            inputs = tuple(input_of(row) for row in await db.fetch("due_trigger_inputs", now, at_most(most)))
        if first_status is not None:
            rows = await db.fetch("due_workflow_statuses", now, at_most(most))
            workflows = tuple(workflow_status_of(row) for row in rows)
        next_due = min((at for at in later if at is not None), default=None)
        return DueTriggers(triggers=triggers, inputs=inputs, workflows=workflows, next_due=next_due)

    async def find(self, trigger_id: str) -> TriggerRow | None:
        """Find a trigger."""
        row = await self._session.db.fetchrow("trigger_by_id", trigger_id)
        return trigger_of(row) if row is not None else None

    async def list_triggers(
        self, workflow: str | None = None, after: tuple[str, str] = ("", ""), limit: int = 100
    ) -> list[TriggerRow]:
        """List triggers by workflow and name, beginning after one."""
        db = self._session.db
        if workflow is None:
            return [trigger_of(row) for row in await db.fetch("list_triggers", *after, at_most(limit))]
        return [trigger_of(row) for row in await db.fetch("triggers_of_workflow", workflow, after[1], at_most(limit))]

    async def list_by_topic(self, topic: str) -> list[TriggerRow]:
        """List the triggers that a signal of this name fires, unless they are stopped."""
        return [trigger_of(row) for row in await self._session.db.fetch("triggers_by_topic", topic)]

    async def save(self, save: TriggerSave) -> TriggerSaved:
        """Create, replace or delete a trigger that belongs to no definition; a deleted one has no tokens."""
        return await self._session.db.transact(lambda tx: _save(tx, save))

    async def add_token(self, new: NewToken) -> bool:
        """Store a token, unless it is for a trigger without one, and that has one."""
        return await self._session.db.transact(lambda tx: _add_token(tx, new))

    async def find_by_token(self, hash_: str, now: int) -> TriggerRow | None:
        """Find the trigger that a token is for, if the token is valid."""
        row = await self._session.db.fetchrow("trigger_by_token", hash_, now)
        return trigger_of(row) if row is not None else None

    async def move(self, move: TriggerMove) -> bool:
        """Change a trigger, with its inputs and events, if it is as the writer has read it."""
        return await self._session.db.transact(lambda tx: _move(tx, move))

    async def renew_poll(self, lease: RenewedPoll) -> bool:
        """Have the lease of a poll last longer, if it is still held under the same epoch."""
        values = (lease.trigger_id, lease.owner, lease.epoch, lease.until)
        return await self._session.db.fetchrow("renew_poll", *values) is not None

    async def receive(self, reception: Reception) -> Received:
        """Keep an input that has arrived, unless its id is known or too many are pending."""
        given = reception.input
        known = await self.find_input(given.trigger_id, given.input_id)
        if known is not None:
            return Received(input=known, repeated=True)
        return await self._session.db.transact(lambda tx: _receive(tx, reception))

    async def change_input(self, change: InputChange) -> bool:
        """Change an input, if it is in the state that the writer expects."""
        return await self._session.db.transact(lambda tx: _change_input(tx, change))

    async def read_overlapping(self, trigger_id: str) -> Overlapping:
        """Read what a trigger has started that is not closed."""
        db = self._session.db
        rows = await db.fetch("open_executions_of_trigger", trigger_id, LOOKED_BACK)
        pending = await db.fetchval("count_pending_inputs", trigger_id, MOST_PENDING)
        return Overlapping(pending=pending, open=tuple(row[0] for row in rows))

    async def count_pending(self, trigger_id: str, most: int) -> int:
        """Return how many inputs of a trigger are pending, at most so many."""
        count: int = await self._session.db.fetchval("count_pending_inputs", trigger_id, most)
        return count

    async def find_known(self, trigger_id: str, input_ids: Sequence[str]) -> frozenset[str]:
        """Return those of some ids that are inputs of a trigger."""
        rows = await self._session.db.fetch("known_trigger_inputs", trigger_id, list(input_ids))
        return frozenset(row[0] for row in rows)

    async def find_input(self, trigger_id: str, input_id: str) -> InputRow | None:
        """Find an input."""
        return await _input(self._session.db, trigger_id, input_id)

    async def list_inputs(self, wanted: InputFilter) -> list[InputRow]:
        """List inputs of a trigger, newest first."""
        after = wanted.after or NEWEST_INPUT
        values = (wanted.trigger_id, wanted.state, *after, at_most(wanted.limit))
        return [input_of(row) for row in await self._session.db.fetch("list_trigger_inputs", *values)]

    async def list_events(self, trigger_id: str, after: int = 0, limit: int = 100) -> list[TriggerEventRow]:
        """List the events of a trigger that come after one, oldest first."""
        rows = await self._session.db.fetch("trigger_events_after", trigger_id, after, at_most(limit))
        return shared.events_of(rows)

    async def delete_old(self, now: int, before: int, most: int) -> int:
        """Forget inputs whose time has come, and events from before a moment; inputs that are pending stay."""
        db = self._session.db
        inputs: int = await db.fetchval("forget_trigger_inputs", now, at_most(most))
        events: int = await db.fetchval("delete_old_trigger_events", before, at_most(most))
        return inputs + events


async def register(db: StatementRunner, workflow: str, given: Sequence[NewTrigger], now: int) -> None:
    """Write the triggers of the newest version of a workflow; another instance may have written the same meanwhile."""
    known = [trigger_of(row) for row in await db.fetch("lock_triggers_of_workflow", workflow)]
    await _write(db, registrations(workflow, known, given), now)


async def _write(db: StatementRunner, changes: Sequence[Registration], now: int) -> bool:
    """Write rows with their events; return whether all are as they were read."""
    if not changes:
        return True
    written = await db.fetch("save_triggers", *_columns([astuple(change.row) for change in changes]))
    ids = {row[0] for row in written}
    events = [(row.id, row.seq, now, event.kind, event.body) for row, event in changes if row.id in ids]
    if events:
        await db.fetch("insert_trigger_events", *_columns(events))
    return len(events) == len(changes)


async def _save(tx: StatementRunner, save: TriggerSave) -> TriggerSaved:
    row = await tx.fetchrow("lock_trigger", save.trigger_id)
    saved, change = saving(trigger_of(row) if row is not None else None, save)
    if change is None:
        return saved
    if not await _write(tx, [change], save.at):
        return TriggerSaved(verdict="taken")  # created by another instance meanwhile
    if save.new is None:
        await tx.fetch("end_trigger_tokens", save.trigger_id, -1)
        await tx.fetch("delete_trigger_tokens", save.trigger_id, 0)
    await write_audit(tx, save.audit)
    return saved


async def _add_token(tx: StatementRunner, new: NewToken) -> bool:
    token = new.token
    await tx.fetchrow("lock_trigger", token.trigger_id)
    if new.others_until is None:
        if await tx.fetchrow("lasting_trigger_token", token.trigger_id) is not None:
            return False
    else:
        await tx.fetch("end_trigger_tokens", token.trigger_id, new.others_until)
    await tx.fetch("delete_trigger_tokens", token.trigger_id, token.made_at)
    await tx.fetch("insert_trigger_tokens", *_columns([astuple(token)]))
    await write_audit(tx, new.audit)
    return True


async def _move(tx: StatementRunner, move: TriggerMove) -> bool:
    seq = move.expected_seq + len(move.events)
    lease = (move.lease.epoch, move.lease.cursor) if move.lease is not None else (None, None)
    values = (move.state, move.reason, move.next_at, move.cursor, move.failures, seq, move.owner, *lease)
    if await tx.fetchrow("move_trigger", move.trigger_id, move.expected_seq, *values) is None:
        return False
    numbered = list(with_numbers(move.expected_seq, move.events))
    if numbered:
        events = [(move.trigger_id, n, move.at, event.kind, event.body) for n, event in numbered]
        await tx.fetch("insert_trigger_events", *_columns(events))
    inputs = [replace(event.input, seq=n) for n, event in numbered if event.input is not None]
    if inputs:
        await tx.fetch("insert_trigger_inputs", *_input_columns(inputs))
    if move.held is not None:
        await tx.fetch("hold_trigger_inputs", move.trigger_id, None if move.held else move.at)
    await send(tx, move.messages)
    await write_audit(tx, move.audit)
    return True


async def _receive(tx: StatementRunner, reception: Reception) -> Received:
    given, event = reception.input, reception.event
    row = await tx.fetchrow("lock_trigger", given.trigger_id)
    known = await _input(tx, given.trigger_id, given.input_id)
    if known is not None:
        return Received(input=known, repeated=True)
    pending = await tx.fetchval("count_pending_inputs", given.trigger_id, reception.most_pending)
    if row is None or pending >= reception.most_pending:
        return Received(input=None)
    trigger = trigger_of(row)
    kept = replace(given, seq=trigger.seq + 1, due_at=None if trigger.state == "paused" else given.due_at)
    await tx.fetch("note_trigger_event", given.trigger_id)
    logged = (given.trigger_id, kept.seq, kept.received_at, event.kind, event.body)
    await tx.fetch("insert_trigger_events", *_columns([logged]))
    await tx.fetch("insert_trigger_inputs", *_input_columns([kept]))
    await write_audit(tx, reception.audit)
    return Received(input=kept)


async def _change_input(tx: StatementRunner, change: InputChange) -> bool:
    values = (change.state, change.due_at, change.attempts, change.reason, change.execution_id or None)
    name = (change.trigger_id, change.input_id, list(change.of))
    if await tx.fetchrow("change_trigger_input", *name, *values, change.forget_at) is None:
        return False
    await write_audit(tx, change.audit)
    return True


async def _input(db: StatementRunner, trigger_id: str, input_id: str) -> InputRow | None:
    row = await db.fetchrow("trigger_input_by_id", trigger_id, input_id)
    return input_of(row) if row is not None else None


def _columns(rows: Sequence[Iterable[object]]) -> list[list[object]]:
    return [list(column) for column in zip(*rows, strict=True)]


def _input_columns(inputs: Sequence[InputRow]) -> list[list[object]]:
    return _columns([input_columns(one) for one in inputs])


def input_columns(one: InputRow) -> tuple[object, ...]:
    """Return the columns of an input."""
    return astuple(replace(one, execution_id=one.execution_id or None))


def trigger_of(row: Row) -> TriggerRow:
    """Return a trigger."""
    return shared.trigger_of(row[0], row)


def input_of(row: Row) -> InputRow:
    """Return an input."""
    return shared.input_of(row[0], row[9] or "", row)
