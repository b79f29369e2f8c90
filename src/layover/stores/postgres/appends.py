"""Appends: the only way an execution moves. One statement locks the heads of a whole group and compares them.

Rows besides the log are written only for executions whose append has passed. A fault of the caller violates a
constraint of the tables; then nothing of the group is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from layover.ports.commit_points import CommitPoint, announce_soon
from layover.ports.errors import StoreError
from layover.ports.records import CLOSED, ChangedPoint, ClosedPoint, OpenedPoint, Outcome, ResumeWaitChange
from layover.stores.checks import checked_appends, point_exists
from layover.stores.json_contains import storable_input
from layover.stores.postgres.audit import audit_values
from layover.stores.postgres.commit_statements import (
    KEEPING,
    LEASED,
    MOVES,
    NEW,
    RESTING_MOVES,
    STARTED_INPUTS,
    commit_statement,
)
from layover.stores.postgres.queries import commands_after

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from layover.ports.records import Append, NewExecution, QueuedCommand
    from layover.stores.postgres.database import Row, StatementRunner
    from layover.stores.postgres.session import PostgresSession

T = TypeVar("T")


class PostgresAppends:
    """The logs of a schema."""

    lanes = 2  # while the server commits one group, the next can be on its way

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    def commit(self, appends: Sequence[Append]) -> Awaitable[list[Outcome]]:
        """Write the appends that pass; return the outcome of each."""
        return self._commit(checked_appends(appends))

    async def _commit(self, appends: Sequence[Append]) -> list[Outcome]:
        announce_soon(CommitPoint.ROWS_WRITTEN)  # after the statement was sent, before its result arrives
        db = self._session.db
        return await _commit(db, self._session, appends)

    async def commit_informed(self, append: Append, decide: Callable[[tuple[QueuedCommand, ...]], Append]) -> Outcome:
        """Write an append. If it does not know all commands, it is decided again here, where no command can arrive."""
        (checked,) = checked_appends([append])
        db = self._session.db

        async def write(tx: StatementRunner) -> Outcome:
            await tx.fetch("lock_head", checked.execution_id)
            (outcome,) = await _commit(tx, self._session, [checked])
            if outcome.verdict == "uninformed":
                (outcome,) = await _commit(tx, self._session, checked_appends([decide(outcome.commands)]))
            return outcome

        return await db.transact(write)


async def _commit(db: StatementRunner, session: PostgresSession, appends: Sequence[Append]) -> list[Outcome]:
    if not appends:
        return []
    group = _Group(appends, session)
    statement = commit_statement(session.db.address.schema, frozenset(group.parts))
    try:
        refused = await db.fetch_text(statement.text, *(group.values[name] for name in statement.values))
    except StoreError as error:
        raise _in_detail(error, appends) from error
    if not refused:
        return [_passed(append) for append in appends]
    return await _outcomes(db, appends, refused)


def _in_detail(error: StoreError, appends: Sequence[Append]) -> StoreError:
    """Return an error with the names that the error of the server does not have."""
    match error.code:
        case "unknown_version":
            new = [append.new for append in appends if append.new is not None]
            versions = sorted({f"{info.hash} of the workflow {info.workflow}" for info in new})
            return StoreError(f"There is no version {' or '.join(versions)}.", code=error.code)
        case "point_exists":
            changes = [change for append in appends for change in append.points]
            opened = sorted({change.point.id for change in changes if isinstance(change, OpenedPoint)})
            return point_exists(" or ".join(opened))
        case _:
            return error


def _passed(append: Append) -> Outcome:
    return Outcome(verdict="passed", commands_seq=append.commands_seen if append.new is None else 0)


async def _outcomes(db: StatementRunner, appends: Sequence[Append], refused: list[Row]) -> list[Outcome]:
    rows = {row[0]: row for row in refused}
    return [
        await _refused(db, append, rows[append.execution_id]) if append.execution_id in rows else _passed(append)
        for append in appends
    ]


async def _refused(db: StatementRunner, append: Append, row: Row) -> Outcome:
    if append.new is not None:
        return Outcome(verdict="exists")
    _, owner, epoch, last_seq, commands_seq = row
    if (owner, epoch, last_seq) != (append.owner, append.epoch, append.expected_seq):
        return Outcome(verdict="fenced", commands_seq=commands_seq or 0)
    # The statement that refused it saw the commands from before it had the lock.
    unread = await commands_after(db, append.execution_id, append.commands_seen)
    last = unread[-1].n if unread else 0
    return Outcome(verdict="uninformed", commands_seq=max(commands_seq, last), commands=tuple(unread))


def _moved_row(append: Append, version: str) -> tuple[object, ...]:
    """Return what becomes of the row of an execution that goes on by another version."""
    closed = append.closed
    end = (append.at, closed.outcome, closed.error_code) if closed and append.status in CLOSED else (None, None, None)
    return (append.execution_id, version, closed is not None, *end, append.resume_count)


class _Became(NamedTuple):
    """The state of a pause point after an append."""

    opened: OpenedPoint | None
    status: str
    body: bytes | None
    closed_at: int | None = None


_UNCHANGED = _Became(None, "", None)


class _Group:
    """The values of a group, column by column, and the parts of the statement that the group needs."""

    def __init__(self, appends: Sequence[Append], session: PostgresSession) -> None:
        self._session = session
        self.parts: set[str] = set()
        self.values: dict[str, Any] = {}
        new = [append for append in appends if append.new is not None]
        moves = [append for append in appends if append.new is None]
        if new:
            self._begin(new)
        if moves:
            self._move(moves)
        for append in appends:
            self._belong(append)

    def _begin(self, appends: list[Append]) -> None:
        self.parts.add(NEW)
        values = self.values
        infos: list[NewExecution] = [append.new for append in appends if append.new is not None]
        rests = [append.rest for append in appends]
        ends = [append.closed if append.status in CLOSED else None for append in appends]
        values["new_ids"] = [append.execution_id for append in appends]
        values["new_workflows"] = [info.workflow for info in infos]
        values["new_hashes"] = [info.hash for info in infos]
        values["new_created_at"] = [info.created_at for info in infos]
        values["new_priorities"] = [info.priority for info in infos]
        values["new_users"] = [info.user for info in infos]
        values["new_parents"] = [info.parent_id for info in infos]
        values["new_correlation_ids"] = [info.correlation_id for info in infos]
        values["new_tags"] = [_json(info.tags) for info in infos]
        values["new_inputs"] = [storable_input(append.input) for append in appends]
        values["new_status"] = [append.status for append in appends]
        values["new_epochs"] = [append.epoch for append in appends]
        values["new_owners"] = [append.owner if append.rest is None else None for append in appends]
        values["new_wake_at"] = [self._wake_at(append) for append in appends]
        values["new_missing"] = [_json(rest.missing) if rest is not None else None for rest in rests]
        values["new_counts"] = [_own_count(append) for append in appends]
        values["new_at"] = [append.at for append in appends]
        values["new_bodies"] = [append.events for append in appends]
        values["new_last_seq"] = [append.expected_seq + append.count for append in appends]
        values["new_finished_at"] = [a.at if end is not None else None for a, end in zip(appends, ends, strict=True)]
        values["new_outcomes"] = [end.outcome if end is not None else None for end in ends]
        values["new_error_codes"] = [end.error_code if end is not None else None for end in ends]
        values["new_resumes"] = [append.resume_count or 0 for append in appends]

    def _wake_at(self, append: Append) -> int | None:
        if append.rest is not None:
            return append.rest.wake_at
        lease_until, length = self._session.lease(append.at, append.lease_until)
        if length is not None:
            self.parts.add(LEASED)
        return lease_until

    def _move(self, appends: list[Append]) -> None:
        values = self.values
        values["ids"] = [append.execution_id for append in appends]
        values["expected"] = [append.expected_seq for append in appends]
        values["at"] = [append.at for append in appends]
        values["bodies"] = [append.events for append in appends]
        values["owners"] = sent_once([append.owner for append in appends])
        values["epochs"] = sent_once([append.epoch for append in appends])
        values["seen"] = sent_once([append.commands_seen for append in appends])
        values["totals"] = sent_once([append.count for append in appends])
        values["status"] = sent_once([append.status for append in appends])
        values["counts"] = sent_once([_own_count(append) for append in appends])
        keeping = [append.execution_id for append in appends if append.keeps_takeovers]
        if keeping:
            self.parts.add(KEEPING)
            values["keeping"] = keeping
        rests = [append.rest for append in appends]
        if not any(rests):
            self.parts.add(MOVES)
            return
        self.parts.add(RESTING_MOVES)
        values["rests"] = [rest is not None for rest in rests]
        values["wake_at"] = [rest.wake_at if rest is not None else None for rest in rests]
        values["missing"] = [_json(rest.missing) if rest is not None else None for rest in rests]
        values["since"] = [rest.paused_at if rest is not None else None for rest in rests]

    def _belong(self, append: Append) -> None:
        """Add the rows that are written besides the log."""
        id_ = append.execution_id
        for entry in append.earlier:
            created_at = append.new.created_at if append.new is not None else None
            self._add("earlier_entries", _EARLIER, (id_, entry.seq, entry.count, entry.at, entry.events, created_at))
        if append.points:
            self._change_points(append)
        if append.snapshot is not None:
            self._add("snapshots", _SNAPSHOTS, (id_, append.expected_seq + append.count, append.snapshot))
        if append.version is not None:
            self._add("moved_executions", _MOVED, _moved_row(append, append.version))
        elif append.closed is not None and append.new is None:
            end = append.closed
            how = (append.at, end.outcome, end.error_code) if append.status in CLOSED else (None, None, None)
            self._add("closed_executions", _ENDED, (id_, *how, append.resume_count))
        elif append.resume_count is not None and append.new is None:  # a statement writes a row once
            self._add("resumed_executions", _RESUMED, (id_, append.resume_count))
        for message in append.messages:
            row = (id_, message.n, message.destination, message.kind, message.body, message.due_at)
            self._add("messages", _MESSAGES, row)
        for token in append.tokens:
            self._add("tokens", _TOKENS, (id_, token.hash, token.point))
        if append.trigger_input is not None:
            started = append.trigger_input
            self._add(STARTED_INPUTS, _STARTED, (id_, started.trigger_id, started.input_id))
        if append.audit is not None:
            self._add("audit_entries", _AUDITED, (id_, *audit_values(append.audit)))
        for decided in append.decided:
            self._add("audit_entries", _AUDITED, (id_, *audit_values(decided)))

    def _change_points(self, append: Append) -> None:
        """Add changes of pause points. A statement writes a row once, so all changes of a point are merged."""
        id_ = append.execution_id
        became: dict[str, _Became] = {}
        for change in append.points:
            match change:
                case OpenedPoint(point=point):
                    if point.id in became:  # a row of its own, which violates the primary key
                        self._open_point(append, point.id, became.pop(point.id))
                    became[point.id] = _Became(change, point.status, msgspec.json.encode(point))
                case ChangedPoint(point=point):
                    known = became.get(point.id, _UNCHANGED)
                    became[point.id] = known._replace(status=point.status, body=msgspec.json.encode(point))
                case ClosedPoint(id=point_id, how=how):
                    became[point_id] = became.get(point_id, _UNCHANGED)._replace(status=how, closed_at=append.at)
                case ResumeWaitChange(awaited=awaited, was=was):
                    if was is not None:
                        self._add("ended_waits", _UNWAITED, (id_, id_))
                    if awaited is not None:
                        self._add("started_waits", _WAITS, (id_, *awaited, id_))
        for name, one in became.items():
            if one.opened is not None:
                self._open_point(append, name, one)
                continue
            self._add("changed_points", _CHANGED, (id_, name, one.status, one.closed_at, one.body))
            if one.closed_at is not None:
                self._add("ended_waits", _UNWAITED, (id_, name))

    def _open_point(self, append: Append, name: str, one: _Became) -> None:
        if one.opened is None:
            return
        id_, point = append.execution_id, one.opened.point
        schema = msgspec.json.encode(one.opened.schema) if one.opened.schema is not None else None
        workflow = append.new.workflow if append.new is not None else None
        row = (id_, name, point.kind, one.status, point.opened_at, one.closed_at, one.body, schema, workflow)
        self._add("opened_points", _OPENED, row)
        if one.closed_at is None:
            for signal, key in one.opened.waits:
                self._add("started_waits", _WAITS, (id_, signal, key, name))

    def _add(self, part: str, columns: tuple[str, ...], row: tuple[object, ...]) -> None:
        if part not in self.parts:
            self.parts.add(part)
            for column in columns:
                self.values[column] = []
        for column, value in zip(columns, row, strict=True):
            self.values[column].append(value)


_EARLIER = ("earlier_ids", "earlier_seq", "earlier_counts", "earlier_at", "earlier_bodies", "earlier_created_at")
_SNAPSHOTS = ("snapshot_ids", "snapshot_seq", "snapshot_bodies")
_ENDED = ("ended_ids", "ended_at", "ended_outcomes", "ended_error_codes", "ended_resumes")
_MOVED = (
    *("moved_ids", "moved_hashes", "moved_ends", "moved_at", "moved_outcomes", "moved_error_codes", "moved_resumes"),
)
_RESUMED = ("resumed_ids", "resumed_counts")
_MESSAGES = ("senders", "message_n", "destinations", "message_kinds", "message_bodies", "due_at")
_STARTED = ("started_ids", "started_triggers", "started_inputs")
_TOKENS = ("token_ids", "token_hashes", "token_points")
_OPENED = (
    "opened_ids",
    "opened_points",
    "opened_kinds",
    "opened_status",
    "opened_at",
    "opened_closed_at",
    "opened_bodies",
    "opened_schemas",
    "opened_workflows",
)
_CHANGED = ("changed_ids", "changed_points", "changed_status", "changed_closed_at", "changed_bodies")
_AUDITED = (
    "audited_ids",
    "audit_ids",
    "audit_at",
    "audit_users",
    "audit_acts",
    "audit_targets",
    "audit_executions",
    "audit_credentials",
    "audit_requests",
    "audit_details",
    "audit_bodies",
    "audit_salts",
    "audit_leaves",
    "audit_seen",
    "audit_documents",
)
_WAITS = ("wait_ids", "wait_names", "wait_keys", "wait_points")
_UNWAITED = ("unwaited_ids", "unwaited_points")


def sent_once(column: list[T]) -> list[T]:
    """Return a column with its value once, if all are the same: each value that is sent takes time."""
    return column[:1] if column.count(column[0]) == len(column) else column


def _own_count(append: Append) -> int:
    """Return how many events are in the last entry; earlier entries have their own."""
    return append.count - sum(entry.count for entry in append.earlier) if append.earlier else append.count


def _json(texts: tuple[str, ...]) -> str | None:
    return msgspec.json.encode(texts).decode() if texts else None
