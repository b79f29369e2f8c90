"""Rows to records."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import msgspec

from layover.core.engine.state import Point
from layover.ports.access import Key, Reply, Standing, WorkflowState
from layover.ports.records import (
    AuditEntry,
    Closed,
    Command,
    Entry,
    ExecutionRow,
    Head,
    Message,
    NewExecution,
    Place,
    PointRow,
    Rate,
    Signal,
    Version,
    Wait,
)
from layover.stores.ids import text

Row: TypeAlias = tuple[object, ...]

HEAD_COLUMNS = 15
INFO_COLUMNS = 8


def head_of(row: tuple[Any, ...]) -> Head:
    """Return a head. Every claim and every answer reads one, so there are no casts, which would be calls."""
    id_, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, seq, done, lost, *others = row
    types, since, paused_at = others
    return Head(
        execution_id=text(id_),
        workflow=workflow,
        status=status,
        priority=priority,
        last_seq=last_seq,
        last_epoch=last_epoch,
        epoch=epoch,
        owner=owner,
        wake_at=wake_at,
        commands_seq=seq,
        commands_done=done,
        takeovers=lost,
        missing=missing_of(types) if types is not None else (),
        missing_since=since,
        paused_at=paused_at,
    )


def missing_of(kept: str) -> tuple[str, ...]:
    """Return the node types whose functions were missing."""
    return _TEXTS.decode(kept)


def info_of(row: Row) -> NewExecution:
    """Return what an execution was created with."""
    workflow, hash_, created_at, priority, user, parent_id, correlation_id, tags = row
    return NewExecution(
        workflow=cast(str, workflow),
        hash=cast(str, hash_),
        created_at=cast(int, created_at),
        priority=cast(int, priority),
        user=cast("str | None", user),
        parent_id=text(parent_id) if isinstance(parent_id, bytes) else None,
        correlation_id=cast("str | None", correlation_id),
        tags=tuple(msgspec.json.decode(tags)) if isinstance(tags, str) else (),
    )


def execution_of(row: Row) -> ExecutionRow:
    """Return an execution in a list."""
    finished_at, outcome, error_code, number = row[HEAD_COLUMNS + INFO_COLUMNS :]
    closed = Closed(outcome=cast(str, outcome), error_code=cast(str, error_code)) if finished_at is not None else None
    return ExecutionRow(
        head=head_of(row[:HEAD_COLUMNS]),
        info=info_of(row[HEAD_COLUMNS : HEAD_COLUMNS + INFO_COLUMNS]),
        version=cast(int, number),
        finished_at=cast("int | None", finished_at),
        closed=closed,
    )


def command_of(row: Row) -> Command:
    """Return a command."""
    n, at, kind, body, source, source_n = row
    return Command(
        n=cast(int, n),
        at=cast(int, at),
        kind=cast(str, kind),
        body=cast(bytes, body),
        source=cast(str, source),
        source_n=cast(int, source_n),
    )


def entry_of(row: Row) -> Entry:
    """Return an entry of a log."""
    seq, at, count, body = row
    return Entry(seq=cast(int, seq), at=cast(int, at), count=cast(int, count), events=cast(bytes, body))


def message_of(row: Row) -> Message:
    """Return a message."""
    sender, n, destination, kind, body, due_at = row
    return Message(
        sender=text(cast(bytes, sender)),
        n=cast(int, n),
        destination=cast(str, destination),
        kind=cast(str, kind),
        body=cast(bytes, body),
        due_at=cast(int, due_at),
    )


def wait_of(row: Row) -> Wait:
    """Return a waiting point."""
    execution_id, point = row
    return Wait(execution_id=text(cast(bytes, execution_id)), point=cast(str, point))


def signal_of(row: Row) -> Signal:
    """Return a signal."""
    id_, name, key, at, data = row
    return Signal(id=cast(str, id_), name=cast(str, name), key=cast(str, key), at=cast(int, at), data=cast(bytes, data))


def place_of_row(row: Row) -> Place:
    """Return the place of an execution under limits."""
    id_, name, most, rank, held_at, rate, rate_limit, rate_per_ms, start_at, admitted = row
    return Place(
        execution_id=text(cast(bytes, id_)),
        name=cast("str | None", name),
        most=cast("int | None", most),
        rank=cast(int, rank),
        held_at=cast("int | None", held_at),
        rate=Rate(name=rate, limit=cast(int, rate_limit), per_ms=cast(int, rate_per_ms))
        if isinstance(rate, str)
        else None,
        start_at=cast("int | None", start_at),
        admitted=bool(admitted),
    )


def point_of(row: Row) -> PointRow:
    """Return a pause point."""
    _id, execution_id, workflow, status, closed_at, body, schema, *_ = row  # merged lists have their age besides
    return PointRow(
        execution_id=text(cast(bytes, execution_id)),
        workflow=cast(str, workflow),
        status=cast(str, status),
        closed_at=cast("int | None", closed_at),
        point=_POINT.decode(cast(bytes, body)),
        schema=msgspec.json.decode(schema) if isinstance(schema, bytes) else None,
    )


def version_of(row: Row) -> Version:
    """Return a version of a workflow."""
    workflow, number, hash_, document, created_at = row
    return Version(
        workflow=cast(str, workflow),
        number=cast(int, number),
        hash=cast(str, hash_),
        document=cast(bytes, document),
        created_at=cast(int, created_at),
    )


def audit_of(row: Row) -> AuditEntry:
    """Return an audit entry."""
    id_, at, user, act, target, execution_id, credential, request_id, details = row
    return AuditEntry(
        id=cast(str, id_),
        at=cast(int, at),
        user=cast(str, user),
        act=cast(str, act),
        target=cast(str, target),
        execution_id=cast("str | None", execution_id) or "",
        credential=cast(str, credential),
        request_id=cast(str, request_id),
        details=cast(bytes, details),
    )


def key_of(row: Row) -> Key:
    """Return an API key."""
    id_, prefix, hash_, name, user, roles, created_at, scopes, created_by, expires_at, ended_at = row
    return Key(
        id=cast(str, id_),
        prefix=cast(str, prefix),
        hash=cast(bytes, hash_),
        name=cast(str, name),
        user=cast(str, user),
        roles=_TEXTS.decode(cast(str, roles)),
        created_at=cast(int, created_at),
        scopes=_TEXTS.decode(scopes) if isinstance(scopes, str) else None,
        created_by=cast(str, created_by),
        expires_at=cast("int | None", expires_at),
        ended_at=cast("int | None", ended_at),
    )


def reply_of(row: Row) -> Reply:
    """Return a reply."""
    scope, key, fingerprint, until, status, body = row
    return Reply(
        scope=cast(str, scope),
        key=cast(str, key),
        fingerprint=cast(bytes, fingerprint),
        until=cast(int, until),
        status=cast(int, status),
        body=cast(bytes, body),
    )


def standing_of(row: Row) -> Standing:
    """Return the status of a workflow."""
    workflow, state, changed_at, reason, by = row
    return Standing(
        workflow=cast(str, workflow),
        state=cast(WorkflowState, state),
        changed_at=cast(int, changed_at),
        reason=cast(str, reason),
        by=cast(str, by),
    )


_POINT = msgspec.json.Decoder(Point)
_TEXTS = msgspec.json.Decoder(tuple[str, ...])
