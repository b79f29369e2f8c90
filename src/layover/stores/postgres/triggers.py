"""Triggers, their inputs and their logs. What is decided from a row is written while the row is locked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import astuple, replace

from layover.ports.trigger_records import (
    DueTriggers,
    InputRow,
    Overlapping,
    Received,
    TriggerEventRow,
    TriggerRow,
)
from layover.stores.checks import at_most
from layover.stores.postgres.audit import write_audit
from layover.stores.rows import workflow_status_of
from layover.stores.triggers import LOOKED_BACK, MOST_PENDING, NEWEST_INPUT, registrations, with_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from layover.ports.access import WorkflowStatus
    from layover.ports.trigger_records import InputChange, InputFilter, NewTrigger, Reception, TriggerMove
    from layover.stores.postgres.database import Row, StatementRunner
    from layover.stores.postgres.session import PostgresSession


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

    async def move(self, move: TriggerMove) -> bool:
        """Change a trigger, with its inputs and events, if it is as the writer has read it."""
        return await self._session.db.transact(lambda tx: _move(tx, move))

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
        return [TriggerEventRow(seq=seq, at=at, kind=kind, body=body) for seq, at, kind, body in rows]

    async def delete_old(self, now: int, before: int, most: int) -> int:
        """Forget inputs whose time has come, and events from before a moment; inputs that are pending stay."""
        db = self._session.db
        inputs: int = await db.fetchval("forget_trigger_inputs", now, at_most(most))
        events: int = await db.fetchval("delete_old_trigger_events", before, at_most(most))
        return inputs + events


async def register(db: StatementRunner, workflow: str, given: Sequence[NewTrigger], now: int) -> None:
    """Write the triggers of the newest version of a workflow; another instance may have written the same meanwhile."""
    known = [trigger_of(row) for row in await db.fetch("lock_triggers_of_workflow", workflow)]
    changes = registrations(workflow, known, given)
    if not changes:
        return
    written = await db.fetch("save_triggers", *_columns([astuple(change.row) for change in changes]))
    ids = {row[0] for row in written}
    events = [(row.id, row.seq, now, event.kind, event.body) for row, event in changes if row.id in ids]
    if events:
        await db.fetch("insert_trigger_events", *_columns(events))


async def _move(tx: StatementRunner, move: TriggerMove) -> bool:
    seq = move.expected_seq + len(move.events)
    values = (move.state, move.reason, move.next_at, move.cursor, move.failures, seq)
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
    id_, workflow, name, type_, config, timing, topic, state, reason, seq, epoch, owner, next_at, cursor, failures = row
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
    )


def input_of(row: Row) -> InputRow:
    """Return an input."""
    trigger_id, input_id, state, at, received_at, due_at, forget_at, attempts, reason, execution_id, seq = row
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
        execution_id=execution_id or "",
        seq=seq,
    )
