"""Appends. A commit is checked as a whole before any of it is written, so an error leaves nothing behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from layover.core.engine.state import Point
from layover.ports.errors import StoreError
from layover.ports.records import (
    CLOSED,
    ChangedPoint,
    ClosedPoint,
    Entry,
    Head,
    OpenedPoint,
    Outcome,
    PointRow,
    ResumeWaitChange,
    Wait,
)
from layover.stores.checks import checked_appends, message_exists, point_exists, token_exists
from layover.stores.json_contains import storable_input
from layover.stores.leases import lease_end
from layover.stores.memory.audit import write_audit
from layover.stores.memory.triggers import is_pending, start_input

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from layover.ports.records import Append, Message, NewExecution, PointChange, QueuedCommand
    from layover.stores.memory.database import MemoryDatabase
    from layover.stores.memory.session import MemorySession


class MemoryAppends:
    """Logs in memory."""

    lanes = 1

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def commit(self, appends: Sequence[Append]) -> list[Outcome]:
        """Write appends."""
        checked = checked_appends(appends)
        return commit(await self._session.turn(), checked)

    async def commit_informed(self, append: Append, decide: Callable[[tuple[QueuedCommand, ...]], Append]) -> Outcome:
        """Write an append; decide it again if it does not know all commands."""
        (checked,) = checked_appends([append])
        return commit_informed(await self._session.turn(), checked, decide)


def commit(db: MemoryDatabase, appends: Sequence[Append]) -> list[Outcome]:
    """Write the appends that pass; return the outcome of each."""
    outcomes = [_judge(db, append) for append in appends]
    passed = [append for append, outcome in zip(appends, outcomes, strict=True) if outcome.verdict == "passed"]
    _check(db, passed)
    for append in passed:
        _write(db, append)
    return outcomes


def commit_informed(
    db: MemoryDatabase, append: Append, decide: Callable[[tuple[QueuedCommand, ...]], Append]
) -> Outcome:
    """Write an append. If it does not know all commands, it is decided again here, where no command can arrive."""
    (outcome,) = commit(db, [append])
    if outcome.verdict == "uninformed":
        (outcome,) = commit(db, checked_appends([decide(outcome.commands)]))
    return outcome


def _judge(db: MemoryDatabase, append: Append) -> Outcome:
    head = db.heads.get(append.execution_id)
    if append.new is not None:
        started = append.trigger_input
        passes = head is None and (started is None or is_pending(db, started))
        return Outcome(verdict="passed" if passes else "exists")
    if head is None:
        return Outcome(verdict="fenced")
    if (head.owner, head.epoch, head.last_seq) != (append.owner, append.epoch, append.expected_seq):
        return Outcome(verdict="fenced", commands_seq=head.commands_seq)
    if head.commands_seq != append.commands_seen:
        unread = tuple(command for command in db.commands[append.execution_id] if command.n > append.commands_seen)
        return Outcome(verdict="uninformed", commands_seq=head.commands_seq, commands=unread)
    return Outcome(verdict="passed", commands_seq=head.commands_seq)


def _check(db: MemoryDatabase, appends: Sequence[Append]) -> None:
    opened, sent, tokens = set(db.points), set(db.outbox), set(db.tokens)
    for append in appends:
        new = append.new
        if new is not None and not any(v.hash == new.hash and v.workflow == new.workflow for v in db.versions):
            raise StoreError(f"There is no version {new.hash} of the workflow {new.workflow}.", code="unknown_version")
        for change in append.points:
            if isinstance(change, OpenedPoint):
                if change.point.id in opened:
                    raise point_exists(change.point.id)
                opened.add(change.point.id)
        for message in append.messages:
            if name_of(message) in sent:
                raise message_exists(message)
            sent.add(name_of(message))
        for token in append.tokens:
            if token.hash in tokens:
                raise token_exists(token)
            tokens.add(token.hash)


def _write(db: MemoryDatabase, append: Append) -> None:
    id_ = append.execution_id
    if append.new is not None:
        db.infos[id_] = append.new
        if (kept := storable_input(append.input)) is not None:
            db.inputs[id_] = kept
        db.logs[id_] = []
        db.commands[id_] = []
    db.heads[id_] = _created(db, append, append.new) if append.new is not None else _moved(db.heads[id_], append)
    if append.rest is not None or append.status != "running":
        db.unindexed.add(id_)
    earlier = sum(entry.count for entry in append.earlier)
    last = Entry(
        seq=append.expected_seq + 1 + earlier, at=append.at, count=append.count - earlier, events=append.events
    )
    db.logs[id_] += [*append.earlier, last] if last.count else append.earlier
    db.outbox.update({name_of(message): message for message in append.messages})
    db.tokens.update({token.hash: Wait(execution_id=id_, point=token.point) for token in append.tokens})
    for change in append.points:
        change_point(db, id_, append.at, change)
    if append.snapshot is not None:
        db.snapshots[id_] = (append.expected_seq + append.count, append.snapshot)
    if append.closed is not None:
        db.ends.pop(id_, None)
        if append.status in CLOSED:
            db.ends[id_] = (append.at, append.closed)
    if append.resume_count is not None:
        db.resumes[id_] = append.resume_count
    if append.version is not None:
        db.infos[id_] = replace(db.infos[id_], hash=append.version)
    if append.trigger_input is not None:
        start_input(db, append.trigger_input, id_)
    write_audit(db, append.audit)
    for decided in append.decided:
        write_audit(db, decided)


def name_of(message: Message) -> tuple[str, int, str]:
    """Return the key of a message."""
    return message.sender, message.n, message.destination


def _created(db: MemoryDatabase, append: Append, new: NewExecution) -> Head:
    resting = append.rest
    leased_until = lease_end(append.lease_until, append.at, db.clock())
    return Head(
        execution_id=append.execution_id,
        workflow=new.workflow,
        status=append.status,
        last_seq=append.expected_seq + append.count,
        last_epoch=append.epoch,
        epoch=append.epoch,
        priority=new.priority,
        owner=append.owner if resting is None else None,
        wake_at=leased_until if resting is None else resting.wake_at,
        missing=resting.missing if resting is not None else (),
        missing_since=append.at if resting is not None and resting.missing else None,
        paused_at=append.at if append.status == "paused" else None,
    )


def _moved(head: Head, append: Append) -> Head:
    was = head.paused_at if head.status == "paused" else append.at
    since = append.rest.paused_at if append.rest is not None else None
    moved = replace(
        head,
        status=append.status,
        last_seq=append.expected_seq + append.count,
        last_epoch=append.epoch,
        commands_done=append.commands_seen,
        takeovers=head.takeovers if append.keeps_takeovers else 0,
        paused_at=(was if since is None else since) if append.status == "paused" else None,
    )
    if append.rest is None:
        return moved
    return released(replace(moved, wake_at=append.rest.wake_at), append.rest.missing, append.at)


def released(head: Head, missing: tuple[str, ...], at: int | None) -> Head:
    """Return a head without a lease. `missing_since` stays as it was if it already waited for functions."""
    since = head.missing_since if head.missing_since is not None else at
    return replace(head, owner=None, missing=missing, missing_since=since if missing else None)


def change_point(db: MemoryDatabase, execution_id: str, at: int, change: PointChange) -> None:
    """Write a change of a pause point."""
    match change:
        case OpenedPoint(point=point, schema=schema, waits=waits):
            db.points[point.id] = PointRow(
                execution_id=execution_id,
                workflow=db.heads[execution_id].workflow,
                point=_copied(point),
                schema=msgspec.json.decode(msgspec.json.encode(schema)),
                status=point.status,
            )
            for name, key in waits:
                db.waits[name, key, point.id] = Wait(execution_id=execution_id, point=point.id)
        case ChangedPoint(point=point):
            if point.id in db.points:
                db.points[point.id] = replace(db.points[point.id], point=_copied(point), status=point.status)
        case ClosedPoint(id=point_id, how=how):
            if point_id in db.points:
                db.points[point_id] = replace(db.points[point_id], status=how, closed_at=at)
                db.waits = {name: wait for name, wait in db.waits.items() if wait.point != point_id}
        case ResumeWaitChange(awaited=awaits):
            db.waits = {name: wait for name, wait in db.waits.items() if wait.point != execution_id}
            if awaits is not None:
                db.waits[*awaits, execution_id] = Wait(execution_id=execution_id, point=execution_id)


def _copied(point: Point) -> Point:
    """Return a copy of a point, since there are dicts in it that the caller could change."""
    return msgspec.json.decode(msgspec.json.encode(point), type=Point)
