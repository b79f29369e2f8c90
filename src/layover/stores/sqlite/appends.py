"""Appends: the only way an execution moves. Runs on the writer's connection, inside its transaction.

The writer holds the write lock, so a row that was read is still the same when it is written. An append compares in its
`UPDATE`; only if that changes no row is the reason read. The hot statements take their values by position, in the order
in which their names first appear: that is a quarter faster than by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.ports.errors import StoreError
from layover.ports.records import CLOSED, ChangedPoint, ClosedPoint, OpenedPoint, Outcome, ResumeWaitChange
from layover.stores.checks import checked_appends, message_exists, point_exists, token_exists
from layover.stores.ids import key, text
from layover.stores.json_contains import storable_input
from layover.stores.leases import lease_end
from layover.stores.sqlite.audit import write_audit
from layover.stores.sqlite.queries import commands_after, head_by_id
from layover.stores.sqlite.statements import SQL
from layover.stores.sqlite.triggers import start_input

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    import apsw

    from layover.ports.records import Append, NewExecution, PointChange, QueuedCommand
    from layover.stores.sqlite.session import SqliteSession

_APPEND = SQL["append"]
_APPEND_KEEPING_STATUS = SQL["append_keeping_status"]
_APPEND_AND_REST = SQL["append_and_rest"]
_APPEND_AND_WAIT = SQL["append_and_wait_for_functions"]
_CREATE_HEAD = SQL["create_head"]
_CREATE_EXECUTION = SQL["create_execution"]
_FINISH_EXECUTION = SQL["finish_execution"]
_OPEN_POINT = SQL["open_point"]
_CHANGE_POINT = SQL["change_point"]
_CLOSE_POINT = SQL["close_point"]


class SqliteAppends:
    """The logs of a file."""

    lanes = 1  # there is one writer: a second group at the same time would only make both smaller

    def __init__(self, session: SqliteSession, clock: Callable[[], int]) -> None:
        self._session = session
        self._clock = clock

    def commit(self, appends: Sequence[Append]) -> Awaitable[list[Outcome]]:
        """Write appends."""
        checked = checked_appends(appends)
        return self._session.write_promptly(lambda db: commit(db, checked, self._clock))

    async def commit_informed(self, append: Append, decide: Callable[[tuple[QueuedCommand, ...]], Append]) -> Outcome:
        """Write an append; decide it again if it does not know all commands."""
        (checked,) = checked_appends([append])
        return await self._session.write(lambda db: commit_informed(db, checked, decide, self._clock))


def commit(db: apsw.Connection, appends: Sequence[Append], clock: Callable[[], int]) -> list[Outcome]:
    """Write the appends that pass; return the outcome of each."""
    cursor = db.cursor()
    entries: list[tuple[bytes, int, int, int, bytes]] = []
    closed: list[tuple[str]] = []
    outcomes: list[Outcome] = []
    for append in appends:
        id_ = key(append.execution_id)
        if append.new is not None:
            outcome = _create(cursor, id_, append, append.new, clock)
        else:
            outcome = (_move_keeping if append.keeps_takeovers else _move)(cursor, id_, append)
        outcomes.append(outcome)
        if outcome.verdict == "passed":
            if append.points or append.snapshot is not None or append.closed is not None:
                _derive(cursor, id_, append)
                closed += [(change.id,) for change in append.points if isinstance(change, ClosedPoint)]
            if append.resume_count is not None:
                cursor.execute(SQL["set_resume_count"], (append.resume_count, id_))
            if append.version is not None:
                cursor.execute(SQL["set_version"], (append.version, id_))
            if append.messages or append.tokens:
                _send(db, id_, append)
            if append.audit is not None:
                write_audit(db, append.audit)
            for decided in append.decided:
                write_audit(db, decided)
            first, count = append.expected_seq + 1, append.count
            if append.earlier:
                entries += [(id_, one.seq, one.count, one.at, one.events) for one in append.earlier]
                earlier = sum(one.count for one in append.earlier)
                first, count = first + earlier, count - earlier
            if count:  # an append that only reads commands, or only rests, adds nothing to the log
                entries.append((id_, first, count, append.at, append.events))
    cursor.executemany(SQL["insert_entries"], entries)
    cursor.executemany(SQL["delete_waits"], closed)
    return outcomes


def commit_informed(
    db: apsw.Connection,
    append: Append,
    decide: Callable[[tuple[QueuedCommand, ...]], Append],
    clock: Callable[[], int],
) -> Outcome:
    """Write an append. If it does not know all commands, it is decided again here, where no command can arrive."""
    (outcome,) = commit(db, [append], clock)
    if outcome.verdict == "uninformed":
        (outcome,) = commit(db, checked_appends([decide(outcome.commands)]), clock)
    return outcome


def _move(cursor: apsw.Cursor, id_: bytes, append: Append) -> Outcome:
    expected, epoch, seen, rest = append.expected_seq, append.epoch, append.commands_seen, append.rest
    last_seq, at, db = expected + append.count, append.at, cursor.connection
    if rest is None:
        # Most appends keep the status. A statement that sets it would rewrite it in every index that holds it.
        keeps = append.status == "running"
        if keeps:
            cursor.execute(_APPEND_KEEPING_STATUS, (last_seq, epoch, seen, id_, append.owner, expected, append.status))
        if not keeps or db.changes() == 0:
            cursor.execute(_APPEND, (last_seq, epoch, append.status, seen, at, id_, append.owner, expected))
    elif not rest.missing:
        since = rest.paused_at
        values = (last_seq, epoch, append.status, seen, since, at, rest.wake_at, id_, append.owner, expected)
        cursor.execute(_APPEND_AND_REST, values)
    else:
        missing = encode_types(rest.missing)
        first = (last_seq, epoch, append.status, seen, rest.paused_at, at)
        cursor.execute(_APPEND_AND_WAIT, (*first, rest.wake_at, missing, id_, append.owner, expected))
    if db.changes() == 1:
        return Outcome(verdict="passed", commands_seq=seen)
    return _why_not(db, id_, append)


def _move_keeping(cursor: apsw.Cursor, id_: bytes, append: Append) -> Outcome:
    """Move an execution without progress: its count of takeovers stays as it is. That is rare."""
    head = head_by_id(cursor.connection, id_)
    outcome = _move(cursor, id_, append)
    if head is not None and outcome.verdict == "passed":
        cursor.execute(SQL["set_takeovers"], {"id": id_, "takeovers": head.takeovers})
    return outcome


def _why_not(db: apsw.Connection, id_: bytes, append: Append) -> Outcome:
    head = head_by_id(db, id_)
    if head is None or (head.owner, head.epoch, head.last_seq) != (append.owner, append.epoch, append.expected_seq):
        return Outcome(verdict="fenced", commands_seq=head.commands_seq if head is not None else 0)
    unread = commands_after(db, id_, append.commands_seen)
    return Outcome(verdict="uninformed", commands_seq=head.commands_seq, commands=tuple(unread))


def _create(cursor: apsw.Cursor, id_: bytes, append: Append, new: NewExecution, clock: Callable[[], int]) -> Outcome:
    resting, db = append.rest, cursor.connection
    if append.trigger_input is not None and not start_input(db, append.trigger_input, id_):
        return Outcome(verdict="exists")  # some other starter was first, and the execution may be gone again
    workflow, created_at, last_seq = new.workflow, new.created_at, append.expected_seq + append.count
    owner = append.owner if resting is None else None
    wake_at = resting.wake_at if resting is not None else lease_end(append.lease_until, append.at, clock())
    paused_at = append.at if append.status == "paused" else None
    named = (id_, workflow, append.status, new.priority, last_seq)
    cursor.execute(_CREATE_HEAD, (*named, append.epoch, owner, wake_at, paused_at, created_at))
    if db.changes() != 1:
        return Outcome(verdict="exists")
    parent_id = key(new.parent_id) if new.parent_id is not None else None
    tags = msgspec.json.encode(new.tags).decode() if new.tags else None
    given = (id_, created_at, new.user, parent_id, new.correlation_id, tags)
    cursor.execute(_CREATE_EXECUTION, (*given, storable_input(append.input), new.hash, workflow))
    if db.changes() != 1:
        raise StoreError(f"There is no version {new.hash} of the workflow {new.workflow}.", code="unknown_version")
    if new.tags:
        write_tags(db, id_, new)
    if resting is not None and resting.missing:
        db.execute(
            SQL["set_missing_functions"], {"id": id_, "missing": encode_types(resting.missing), "since": append.at}
        )
    return Outcome(verdict="passed")


def _derive(cursor: apsw.Cursor, id_: bytes, append: Append) -> None:
    """Write what follows from the events: points, a snapshot, the outcome."""
    for change in append.points:
        change_point(cursor, id_, append.at, change)
    if append.snapshot is not None:
        cursor.execute(SQL["save_snapshot"], (id_, append.expected_seq + append.count, append.snapshot))
    if (closed := append.closed) is not None:
        if append.status in CLOSED:
            cursor.execute(_FINISH_EXECUTION, (append.at, closed.outcome, closed.error_code, id_))
        else:
            cursor.execute(SQL["reopen_execution"], (id_,))


def _send(db: apsw.Connection, id_: bytes, append: Append) -> None:
    """Write messages to others, and tokens for callbacks."""
    for message in append.messages:
        values = (id_, message.n, message.destination, message.kind, message.body, message.due_at)
        db.execute(SQL["insert_messages"], values)
        if db.changes() != 1:
            raise message_exists(message)
    for token in append.tokens:
        db.execute(SQL["insert_tokens"], {"hash": token.hash, "id": id_, "point": token.point})
        if db.changes() != 1:
            raise token_exists(token)


def write_tags(db: apsw.Connection, id_: bytes, info: NewExecution) -> None:
    """Write the tags by which an execution can be found."""
    db.executemany(SQL["insert_tags"], [(tag, info.created_at, id_) for tag in info.tags])


def encode_types(types: tuple[str, ...]) -> str | None:
    """Return node types as they are stored."""
    return msgspec.json.encode(types).decode() if types else None


def change_point(cursor: apsw.Cursor, id_: bytes, at: int, change: PointChange) -> None:
    """Write a change of a pause point."""
    if type(change) is OpenedPoint:  # not `match`, which is slow to find that a struct is of another type
        point, schema = change.point, change.schema
        body, asked = msgspec.json.encode(point), msgspec.json.encode(schema) if schema is not None else None
        cursor.execute(_OPEN_POINT, (point.id, point.kind, point.status, point.opened_at, body, asked, id_))
        if cursor.connection.changes() != 1:
            raise point_exists(point.id)
        for name, awaited in change.waits:
            values = {"name": name, "key": awaited, "point": point.id, "id": id_}
            cursor.execute(SQL["insert_waits"], values)
    elif type(change) is ClosedPoint:
        cursor.execute(_CLOSE_POINT, (change.how, at, change.id))
    elif type(change) is ChangedPoint:
        changed = change.point
        cursor.execute(_CHANGE_POINT, (changed.status, msgspec.json.encode(changed), changed.id))
    elif type(change) is ResumeWaitChange:
        cursor.execute(SQL["delete_waits"], {"point": text(id_)})
        if change.awaited is not None:
            name, awaited = change.awaited
            values = {"name": name, "key": awaited, "point": text(id_), "id": id_}
            cursor.execute(SQL["insert_waits"], values)
