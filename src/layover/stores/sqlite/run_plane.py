"""What moves executions. Each function here runs on the writer's connection, inside its transaction.

Whoever holds the write lock is alone, so a row that was read is still the same when it is written. An append compares
in its `UPDATE`; only one that does not pass asks why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.core.engine.answers import Refused, reserve
from layover.ports.errors import StoreError
from layover.ports.records import (
    CLOSED,
    Append,
    ChangedPoint,
    Claim,
    Claimed,
    Claims,
    ClosedPoint,
    Enqueue,
    Enqueued,
    Head,
    Lease,
    OpenedPoint,
    Outcome,
    Refusal,
    Reserved,
)
from layover.stores.sqlite.rows import command_of, head_of, key, point_of, text
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from layover.core.engine.commands import Answer
    from layover.ports.records import Command, NewExecution, PointChange

_APPEND = SQL["append"]
_APPEND_RESTING = SQL["append_resting"]


# Appends


def commit(db: apsw.Connection, appends: Sequence[Append]) -> list[Outcome]:
    """Write what passes; return what became of each."""
    entries: list[tuple[bytes, int, int, int, bytes]] = []
    outcomes: list[Outcome] = []
    for append in appends:
        id_ = key(append.execution_id)
        outcome = _create(db, id_, append, append.new) if append.new is not None else _move(db, id_, append)
        outcomes.append(outcome)
        if outcome.verdict == "passed":
            entries.append((id_, append.expected_seq + 1, append.count, append.at, append.events))
            if append.points or append.snapshot is not None or append.closed is not None:
                _derive(db, id_, append)
    db.executemany(SQL["insert_entry"], entries)
    return outcomes


def _move(db: apsw.Connection, id_: bytes, append: Append) -> Outcome:
    values: dict[str, apsw.SQLiteValue] = {
        "id": id_,
        "owner": append.owner,
        "epoch": append.epoch,
        "expected": append.expected_seq,
        "seen": append.commands_seen,
        "last_seq": append.expected_seq + append.count,
        "status": append.status,
    }
    if append.rest is not None:
        values["wake_at"] = append.rest.wake_at
        db.execute(_APPEND_RESTING, values)
    else:
        db.execute(_APPEND, values)
    if db.changes() == 1:
        return Outcome(verdict="passed", commands_seq=append.commands_seen)
    return _why_not(db, id_, append)


def _why_not(db: apsw.Connection, id_: bytes, append: Append) -> Outcome:
    head = _head(db, id_)
    if head is None or (head.owner, head.epoch, head.last_seq) != (append.owner, append.epoch, append.expected_seq):
        return Outcome(verdict="fenced", commands_seq=head.commands_seq if head is not None else 0)
    unread = _commands(db, id_, append.commands_seen)
    return Outcome(verdict="uninformed", commands_seq=head.commands_seq, commands=unread)


def _create(db: apsw.Connection, id_: bytes, append: Append, new: NewExecution) -> Outcome:
    resting = append.rest
    db.execute(
        SQL["create_head"],
        {
            "id": id_,
            "workflow": new.workflow,
            "status": append.status,
            "priority": new.priority,
            "last_seq": append.expected_seq + append.count,
            "epoch": append.epoch,
            "owner": append.owner if resting is None else None,
            "wake_at": append.lease_until if resting is None else resting.wake_at,
        },
    )
    if db.changes() != 1:
        return Outcome(verdict="exists")
    db.execute(
        SQL["create_execution"],
        {
            "id": id_,
            "workflow": new.workflow,
            "hash": new.hash,
            "created_at": new.created_at,
            "user": new.user,
            "parent_id": key(new.parent_id) if new.parent_id is not None else None,
            "correlation_id": new.correlation_id,
            "tags": msgspec.json.encode(new.tags).decode() if new.tags else None,
        },
    )
    return Outcome(verdict="passed")


def _derive(db: apsw.Connection, id_: bytes, append: Append) -> None:
    """Write what follows from the events: rows of points, a snapshot, how it ended."""
    for change in append.points:
        _change_point(db, id_, append.at, change)
    if append.snapshot is not None:
        values = {"id": id_, "seq": append.expected_seq + append.count, "body": append.snapshot}
        db.execute(SQL["save_snapshot"], values)
    if append.closed is not None:
        if append.status in CLOSED:
            closed = append.closed
            ended = {"id": id_, "at": append.at, "outcome": closed.outcome, "error_code": closed.error_code}
            db.execute(SQL["finish_execution"], ended)
        else:
            db.execute(SQL["reopen_execution"], {"id": id_})


def _change_point(db: apsw.Connection, id_: bytes, at: int, change: PointChange) -> None:
    match change:
        case OpenedPoint(point=point, schema=schema):
            workflow = db.execute("SELECT workflow FROM heads WHERE execution_id = ?", (id_,)).get
            db.execute(
                SQL["open_point"],
                {
                    "point": point.id,
                    "id": id_,
                    "workflow": workflow,
                    "kind": point.kind,
                    "status": point.status,
                    "opened_at": point.opened_at,
                    "body": msgspec.json.encode(point),
                    "schema": msgspec.json.encode(schema) if schema is not None else None,
                },
            )
        case ChangedPoint(point=point):
            values = {"point": point.id, "status": point.status, "body": msgspec.json.encode(point)}
            db.execute(SQL["change_point"], values)
        case ClosedPoint(id=point_id, how=how):
            db.execute(SQL["close_point"], {"point": point_id, "how": how, "at": at})


# Claims and leases


def claim(db: apsw.Connection, wish: Claim) -> Claims:
    """Take what is due, or one execution that nobody drives."""
    if wish.execution_id is None:
        found = [head_of(row) for row in db.execute(SQL["due"], {"now": wish.now, "most": wish.most})]
    else:
        head = _head(db, key(wish.execution_id))
        found = [head] if head is not None and (head.owner is None or _is_due(head, wish.now)) else []
    taken = [(wish.instance, wish.lease_until, head.owner is not None, key(head.execution_id)) for head in found]
    db.executemany(SQL["claim"], taken)
    return Claims(
        claimed=tuple(_claimed(db, head, wish) for head in found),
        next_due=db.execute(SQL["next_due"]).get,
    )


def _is_due(head: Head, now: int) -> bool:
    return head.wake_at is not None and head.wake_at <= now


def _claimed(db: apsw.Connection, was: Head, wish: Claim) -> Claimed:
    taken_over = was.owner is not None
    head = msgspec.structs.replace(
        was,
        owner=wish.instance,
        epoch=was.epoch + 1,
        wake_at=wish.lease_until,
        takeovers=was.takeovers + taken_over,
    )
    unread = was.commands_seq > was.commands_done
    commands = _commands(db, key(was.execution_id), was.commands_done) if unread else ()
    return Claimed(head=head, commands=commands, taken_over=taken_over)


def renew(db: apsw.Connection, instance: str, leases: Sequence[Lease], until: int) -> list[str]:
    """Keep what is driven; return what was lost."""
    lost: list[str] = []
    for lease in leases:
        values = {"id": key(lease.execution_id), "owner": instance, "epoch": lease.epoch, "until": until}
        db.execute(SQL["renew"], values)
        if db.changes() != 1:
            lost.append(lease.execution_id)
    return lost


def release(db: apsw.Connection, instance: str, leases: Sequence[Lease], wake_at: int) -> None:
    """Give back what is driven."""
    db.executemany(
        SQL["release"],
        [{"id": key(one.execution_id), "owner": instance, "epoch": one.epoch, "wake_at": wake_at} for one in leases],
    )


def orphan(db: apsw.Connection, instances: Sequence[str], now: int) -> int:
    """Make due at once what instances drove that are known to be dead."""
    found = 0
    for instance in instances:
        db.execute(SQL["orphan"], {"owner": instance, "now": now})
        found += db.changes()
    return found


# Commands and answers


def enqueue(db: apsw.Connection, commands: Sequence[Enqueue], now: int) -> list[Enqueued | Refusal]:
    """Take commands for executions that are not closed."""
    return [_enqueue(db, command, now) for command in commands]


def _enqueue(db: apsw.Connection, command: Enqueue, now: int) -> Enqueued | Refusal:
    id_ = key(command.execution_id)
    head = _head(db, id_)
    if head is None:
        return Refused("unknown_execution", f"There is no execution {command.execution_id}.")
    before = _seen_before(db, id_, command.source, command.source_n)
    if before is not None:
        return Enqueued(n=before, owner=head.owner, repeated=True)
    if head.status in CLOSED:
        return Refused("execution_closed", f"The execution is {head.status}.")
    return _take(db, head, command, now)


def _take(db: apsw.Connection, head: Head, command: Enqueue, now: int) -> Enqueued:
    id_, n = key(head.execution_id), head.commands_seq + 1
    db.execute(SQL["enqueue"], {"id": id_, "now": now})
    values = {
        "id": id_,
        "n": n,
        "at": now,
        "kind": command.kind,
        "body": command.body,
        "source": command.source,
        "source_n": command.source_n,
    }
    db.execute(SQL["insert_command"], values)
    return Enqueued(n=n, owner=head.owner)


def answer(db: apsw.Connection, given: Answer, source: str, now: int) -> Reserved | Refusal:
    """Take an answer if its point is open, this person may give it, and it fits."""
    row = db.execute(SQL["point"], {"point": given.point}).fetchone()
    if row is None:
        return Refused("unknown_point", f"There is no pause point {given.point}.")
    found = point_of(row)
    id_ = key(found.execution_id)
    head = _head(db, id_)
    if head is None:
        raise StoreError(f"The pause point {given.point} belongs to no execution.")
    before = _seen_before(db, id_, source, 0)
    if before is not None:
        return Reserved(execution_id=text(id_), point=found.point, n=before, owner=head.owner, repeated=True)
    if found.closed_at is not None:
        return _closed(found.status)
    point = reserve(found.point, found.schema, given, now)
    if isinstance(point, Refused):
        return point
    if point is found.point:  # the same person said the same before
        return Reserved(execution_id=text(id_), point=point, n=head.commands_seq, owner=head.owner, repeated=True)
    _change_point(db, id_, now, ChangedPoint(point=point))
    command = Enqueue(
        execution_id=head.execution_id, kind="Answer", body=msgspec.json.encode(given), source=source, source_n=0
    )
    taken = _take(db, head, command, now)
    return Reserved(execution_id=head.execution_id, point=point, n=taken.n, owner=taken.owner)


def _closed(status: str) -> Refusal:
    if status == "expired":
        return Refused("point_expired", "The time to answer has passed.")
    if status == "applied":
        return Refused("already_answered", "It has been answered already.")
    return Refused("point_closed", "Nobody waits for this answer any more.")


def _seen_before(db: apsw.Connection, id_: bytes, source: str, source_n: int) -> int | None:
    found: int | None = db.execute(SQL["command_by_source"], {"id": id_, "source": source, "source_n": source_n}).get
    return found


def _head(db: apsw.Connection, id_: bytes) -> Head | None:
    row = db.execute(SQL["head"], {"id": id_}).fetchone()
    return head_of(row) if row is not None else None


def _commands(db: apsw.Connection, id_: bytes, after: int) -> tuple[Command, ...]:
    return tuple(command_of(row) for row in db.execute(SQL["commands_after"], {"id": id_, "after": after}))
