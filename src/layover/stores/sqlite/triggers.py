"""Triggers, their inputs and their logs. The writer holds the write lock, so nothing changes between read and write."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import asdict, replace

from layover.ports.trigger_records import DueTriggers, Overlapping, Received
from layover.stores import triggers as shared
from layover.stores.checks import at_most
from layover.stores.ids import key, text
from layover.stores.sqlite.audit import write_audit
from layover.stores.sqlite.deliveries import send
from layover.stores.sqlite.statements import SQL
from layover.stores.sqlite.workflow_status import due_workflow_statuses
from layover.stores.triggers import LOOKED_BACK, MOST_PENDING, NEWEST_INPUT, registrations, saving, with_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from layover.ports.records import InputKey
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
        TriggerSaved,
    )
    from layover.stores.sqlite.rows import Row
    from layover.stores.sqlite.session import SqliteSession
    from layover.stores.triggers import Registration


class SqliteTriggers:
    """Triggers of a file."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session

    async def read_due(self, now: int, most: int) -> DueTriggers:
        """Read what is due."""
        return await self._session.glance(lambda db: read_due(db, now, most), statements=4)

    async def find(self, trigger_id: str) -> TriggerRow | None:
        """Find a trigger."""
        return await self._session.glance(lambda db: find(db, trigger_id))

    async def list_triggers(
        self, workflow: str | None = None, after: tuple[str, str] = ("", ""), limit: int = 100
    ) -> list[TriggerRow]:
        """List triggers."""
        return await self._session.read(lambda db: list_triggers(db, workflow, after, limit))

    async def list_by_topic(self, topic: str) -> list[TriggerRow]:
        """List the triggers that a signal fires."""
        return await self._session.glance(
            lambda db: [trigger_of(row) for row in db.execute(SQL["triggers_by_topic"], {"topic": topic})]
        )

    async def save(self, save: TriggerSave) -> TriggerSaved:
        """Save a trigger that belongs to no definition."""
        return await self._session.write(lambda db: save_trigger(db, save))

    async def add_token(self, new: NewToken) -> bool:
        """Store a token."""
        return await self._session.write(lambda db: add_token(db, new))

    async def find_by_token(self, hash_: str, now: int) -> TriggerRow | None:
        """Find the trigger that a token is for."""
        return await self._session.glance(lambda db: find_by_token(db, hash_, now))

    async def move(self, move: TriggerMove) -> bool:
        """Change a trigger."""
        return await self._session.write(lambda db: move_trigger(db, move))

    async def renew_poll(self, lease: RenewedPoll) -> bool:
        """Renew the lease of a poll."""
        return await self._session.write(lambda db: renew_poll(db, lease))

    async def receive(self, reception: Reception) -> Received:
        """Keep an input."""
        return await self._session.write(lambda db: receive(db, reception))

    async def change_input(self, change: InputChange) -> bool:
        """Change an input."""
        return await self._session.write(lambda db: change_input(db, change))

    async def read_overlapping(self, trigger_id: str) -> Overlapping:
        """Read what is open."""
        return await self._session.glance(lambda db: read_overlapping(db, trigger_id), statements=2)

    async def count_pending(self, trigger_id: str, most: int) -> int:
        """Count pending inputs."""
        return await self._session.glance(lambda db: pending(db, trigger_id, most))

    async def find_known(self, trigger_id: str, input_ids: Sequence[str]) -> frozenset[str]:
        """Find known ids."""
        return await self._session.read(lambda db: find_known(db, trigger_id, input_ids))

    async def find_input(self, trigger_id: str, input_id: str) -> InputRow | None:
        """Find an input."""
        return await self._session.glance(lambda db: find_input(db, trigger_id, input_id))

    async def list_inputs(self, wanted: InputFilter) -> list[InputRow]:
        """List inputs."""
        return await self._session.read(lambda db: list_inputs(db, wanted))

    async def list_events(self, trigger_id: str, after: int = 0, limit: int = 100) -> list[TriggerEventRow]:
        """List events."""
        return await self._session.read(lambda db: list_events(db, trigger_id, after, limit))

    async def delete_old(self, now: int, before: int, most: int) -> int:
        """Forget inputs and events."""
        return await self._session.write(lambda db: delete_old(db, now, before, most))


def register(db: apsw.Connection, workflow: str, given: Sequence[NewTrigger], now: int) -> None:
    """Write the triggers of the newest version of a workflow."""
    known = [trigger_of(row) for row in db.execute(SQL["triggers_of_workflow"], _all_of(workflow))]
    for change in registrations(workflow, known, given):
        _write(db, change, now)


def _write(db: apsw.Connection, change: Registration, now: int) -> None:
    row, event = change
    db.execute(SQL["save_triggers"], trigger_values(row))
    values = {"trigger_id": key(row.id), "seq": row.seq, "at": now, "kind": event.kind, "body": event.body}
    db.execute(SQL["insert_trigger_events"], values)


def save_trigger(db: apsw.Connection, save: TriggerSave) -> TriggerSaved:
    """Save a trigger that belongs to no definition."""
    saved, change = saving(find(db, save.trigger_id), save)
    if change is not None:
        _write(db, change, save.at)
        if save.new is None:
            db.execute(SQL["end_trigger_tokens"], {"trigger_id": key(save.trigger_id), "until": -1})
            db.execute(SQL["delete_trigger_tokens"], {"trigger_id": key(save.trigger_id), "before": 0})
        write_audit(db, save.audit)
    return saved


def add_token(db: apsw.Connection, new: NewToken) -> bool:
    """Store a token, and end those that it replaces."""
    id_ = key(new.token.trigger_id)
    if new.others_until is None:
        if db.execute(SQL["lasting_trigger_token"], {"trigger_id": id_}).fetchone() is not None:
            return False
    else:
        db.execute(SQL["end_trigger_tokens"], {"trigger_id": id_, "until": new.others_until})
    db.execute(SQL["delete_trigger_tokens"], {"trigger_id": id_, "before": new.token.made_at})
    db.execute(SQL["insert_trigger_tokens"], {**asdict(new.token), "trigger_id": id_})
    write_audit(db, new.audit)
    return True


def find_by_token(db: apsw.Connection, hash_: str, now: int) -> TriggerRow | None:
    """Find the trigger that a token is for."""
    row = db.execute(SQL["trigger_by_token"], {"hash": hash_, "now": now}).fetchone()
    return trigger_of(row) if row is not None else None


def _all_of(workflow: str) -> dict[str, apsw.SQLiteValue]:
    return {"workflow": workflow, "after_name": "", "limit": -1}


def start_input(db: apsw.Connection, started: InputKey, execution_id: bytes) -> bool:
    """Mark an input as started, with the execution that it starts; return whether it was pending, and that is new."""
    values = {"trigger_id": key(started.trigger_id), "input_id": started.input_id, "execution_id": execution_id}
    db.execute(SQL["start_trigger_inputs"], values)
    return db.changes() == 1


def read_due(db: apsw.Connection, now: int, most: int) -> DueTriggers:
    """Read what is due, and when something will be next."""
    values = {"now": now, "most": at_most(most)}
    soonest = db.execute(SQL["next_trigger_due"], {"now": now}).fetchone() or ()
    return DueTriggers(
        triggers=tuple(trigger_of(row) for row in db.execute(SQL["due_triggers"], values)),
        inputs=tuple(input_of(row) for row in db.execute(SQL["due_trigger_inputs"], values)),
        workflows=tuple(due_workflow_statuses(db, now, at_most(most))),
        next_due=min((at for at in soonest if isinstance(at, int)), default=None),
    )


def find(db: apsw.Connection, trigger_id: str) -> TriggerRow | None:
    """Find a trigger."""
    row = db.execute(SQL["trigger_by_id"], {"id": key(trigger_id)}).fetchone()
    return trigger_of(row) if row is not None else None


def list_triggers(db: apsw.Connection, workflow: str | None, after: tuple[str, str], limit: int) -> list[TriggerRow]:
    """List triggers by workflow and name."""
    values = {"after_workflow": after[0], "after_name": after[1], "limit": at_most(limit)}
    if workflow is None:
        return [trigger_of(row) for row in db.execute(SQL["list_triggers"], values)]
    of_workflow = {"workflow": workflow, "after_name": after[1], "limit": at_most(limit)}
    return [trigger_of(row) for row in db.execute(SQL["triggers_of_workflow"], of_workflow)]


def move_trigger(db: apsw.Connection, move: TriggerMove) -> bool:
    """Change a trigger with its inputs and events, if nobody else has changed it since."""
    id_ = key(move.trigger_id)
    values = {
        "id": id_,
        "expected": move.expected_seq,
        "seq": move.expected_seq + len(move.events),
        "state": move.state,
        "reason": move.reason,
        "next_at": move.next_at,
        "cursor": move.cursor,
        "failures": move.failures,
        "owner": move.owner,
        "lease_epoch": move.lease.epoch if move.lease is not None else None,
        "lease_cursor": move.lease.cursor if move.lease is not None else None,
    }
    db.execute(SQL["move_trigger"], values)
    if db.changes() != 1:
        return False
    numbered = list(with_numbers(move.expected_seq, move.events))
    rows = ({"trigger_id": id_, "seq": n, "at": move.at, "kind": one.kind, "body": one.body} for n, one in numbered)
    db.executemany(SQL["insert_trigger_events"], rows)
    inputs = (input_values(replace(one.input, seq=n)) for n, one in numbered if one.input is not None)
    db.executemany(SQL["insert_trigger_inputs"], inputs)
    if move.held is not None:
        db.execute(SQL["hold_trigger_inputs"], {"id": id_, "due_at": None if move.held else move.at})
    send(db, move.messages)
    write_audit(db, move.audit)
    return True


def renew_poll(db: apsw.Connection, lease: RenewedPoll) -> bool:
    """Have the lease of a poll last longer, if it is still held under the same epoch."""
    values = {"id": key(lease.trigger_id), "owner": lease.owner, "epoch": lease.epoch, "until": lease.until}
    db.execute(SQL["renew_poll"], values)
    return db.changes() == 1


def receive(db: apsw.Connection, reception: Reception) -> Received:
    """Keep an input that has arrived."""
    given = reception.input
    known = find_input(db, given.trigger_id, given.input_id)
    if known is not None:
        return Received(input=known, repeated=True)
    trigger = find(db, given.trigger_id)
    if trigger is None or pending(db, given.trigger_id, reception.most_pending) >= reception.most_pending:
        return Received(input=None)
    kept = replace(given, seq=trigger.seq + 1, due_at=None if trigger.state == "paused" else given.due_at)
    id_, event = key(given.trigger_id), reception.event
    db.execute(SQL["note_trigger_event"], {"id": id_})
    row = {"trigger_id": id_, "seq": kept.seq, "at": kept.received_at, "kind": event.kind, "body": event.body}
    db.execute(SQL["insert_trigger_events"], row)
    db.execute(SQL["insert_trigger_inputs"], input_values(kept))
    write_audit(db, reception.audit)
    return Received(input=kept)


def pending(db: apsw.Connection, trigger_id: str, most: int) -> int:
    """Return how many inputs are pending, at most so many."""
    values = {"trigger_id": key(trigger_id), "most": most}
    count = db.execute(SQL["count_pending_inputs"], values).get
    return count if isinstance(count, int) else 0


def change_input(db: apsw.Connection, change: InputChange) -> bool:
    """Change an input, if it is in the expected state."""
    values = {
        "trigger_id": key(change.trigger_id),
        "input_id": change.input_id,
        "of": msgspec.json.encode(change.of).decode(),
        "state": change.state,
        "due_at": change.due_at,
        "attempts": change.attempts,
        "reason": change.reason,
        "execution_id": key(change.execution_id) if change.execution_id else None,
        "forget_at": change.forget_at,
    }
    db.execute(SQL["change_trigger_input"], values)
    if db.changes() != 1:
        return False
    write_audit(db, change.audit)
    return True


def read_overlapping(db: apsw.Connection, trigger_id: str) -> Overlapping:
    """Read what is open of what was started last."""
    rows = db.execute(SQL["open_executions_of_trigger"], {"trigger_id": key(trigger_id), "most": LOOKED_BACK})
    return Overlapping(pending=pending(db, trigger_id, MOST_PENDING), open=tuple(text(id_) for (id_,) in rows))


def find_known(db: apsw.Connection, trigger_id: str, input_ids: Sequence[str]) -> frozenset[str]:
    """Find those of some ids that are inputs."""
    values = {"trigger_id": key(trigger_id), "ids": msgspec.json.encode(input_ids).decode()}
    return frozenset(id_ for (id_,) in db.execute(SQL["known_trigger_inputs"], values))


def find_input(db: apsw.Connection, trigger_id: str, input_id: str) -> InputRow | None:
    """Find an input."""
    values = {"trigger_id": key(trigger_id), "input_id": input_id}
    row = db.execute(SQL["trigger_input_by_id"], values).fetchone()
    return input_of(row) if row is not None else None


def list_inputs(db: apsw.Connection, wanted: InputFilter) -> list[InputRow]:
    """List inputs, newest first."""
    after_at, after_id = wanted.after or NEWEST_INPUT
    values = {
        "trigger_id": key(wanted.trigger_id),
        "state": wanted.state,
        "after_at": after_at,
        "after_id": after_id,
        "limit": at_most(wanted.limit),
    }
    return [input_of(row) for row in db.execute(SQL["list_trigger_inputs"], values)]


def list_events(db: apsw.Connection, trigger_id: str, after: int, limit: int) -> list[TriggerEventRow]:
    """List events, oldest first."""
    values = {"trigger_id": key(trigger_id), "after": after, "limit": at_most(limit)}
    return shared.events_of(db.execute(SQL["trigger_events_after"], values))


def delete_old(db: apsw.Connection, now: int, before: int, most: int) -> int:
    """Forget inputs with their data, then events that are old."""
    inputs = db.execute(SQL["inputs_to_forget"], {"now": now, "most": at_most(most)}).fetchall()
    for trigger_id, input_id, seq in inputs:
        db.execute(SQL["delete_trigger_inputs"], {"trigger_id": trigger_id, "input_id": input_id})
        db.execute(SQL["delete_trigger_events"], {"trigger_id": trigger_id, "seq": seq})
    events = db.execute(SQL["old_trigger_events"], {"before": before, "most": at_most(most)}).fetchall()
    for trigger_id, seq in events:
        db.execute(SQL["delete_trigger_events"], {"trigger_id": trigger_id, "seq": seq})
    return len(inputs) + len(events)


def trigger_of(row: Row) -> TriggerRow:
    """Return a trigger."""
    return shared.trigger_of(text(row[0]), row)


def trigger_values(row: TriggerRow) -> dict[str, apsw.SQLiteValue]:
    """Return the columns of a trigger."""
    return {**asdict(row), "id": key(row.id)}


def input_of(row: Row) -> InputRow:
    """Return an input."""
    return shared.input_of(text(row[0]), text(row[9]) if row[9] is not None else "", row)


def input_values(one: InputRow) -> dict[str, apsw.SQLiteValue]:
    """Return the columns of an input."""
    execution_id = key(one.execution_id) if one.execution_id else None
    return {**asdict(one), "trigger_id": key(one.trigger_id), "execution_id": execution_id}
