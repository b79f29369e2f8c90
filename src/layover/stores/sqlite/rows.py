"""Rows to records."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import msgspec

from layover.core.engine.state import Point
from layover.ports.records import (
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

HEAD_COLUMNS = 14
INFO_COLUMNS = 8


def head_of(row: tuple[Any, ...]) -> Head:
    """Return a head. Every claim and every answer reads one, so there are no casts: each is a call."""
    id_, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, seq, done, lost, types, since = row
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
    )


def missing_of(kept: str) -> tuple[str, ...]:
    """Return node types that nobody had a function for."""
    return _TYPES.decode(kept)


def info_of(row: Row) -> NewExecution:
    """Return what is known of an execution since it began."""
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
    finished_at, outcome, error_code = row[HEAD_COLUMNS + INFO_COLUMNS :]
    closed = Closed(outcome=cast(str, outcome), error_code=cast(str, error_code)) if finished_at is not None else None
    return ExecutionRow(
        head=head_of(row[:HEAD_COLUMNS]),
        info=info_of(row[HEAD_COLUMNS : HEAD_COLUMNS + INFO_COLUMNS]),
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
    """Return one append of a log."""
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
    """Return a point that waits."""
    execution_id, point = row
    return Wait(execution_id=text(cast(bytes, execution_id)), point=cast(str, point))


def signal_of(row: Row) -> Signal:
    """Return a signal."""
    id_, name, key, at, data = row
    return Signal(id=cast(str, id_), name=cast(str, name), key=cast(str, key), at=cast(int, at), data=cast(bytes, data))


def place_of_row(row: Row) -> Place:
    """Return how things stand for an execution under limits."""
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
    _id, execution_id, workflow, status, closed_at, body, schema = row
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


_POINT = msgspec.json.Decoder(Point)
_TYPES = msgspec.json.Decoder(tuple[str, ...])
