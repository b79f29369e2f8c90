"""Rows to records."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast

import msgspec

from layover.core.engine.state import Point
from layover.ports.records import Closed, Command, Entry, ExecutionRow, Head, NewExecution, PointRow, Version
from layover.stores.ids import text

if TYPE_CHECKING:
    from layover.core.engine.state import ExecutionStatus

Row: TypeAlias = tuple[object, ...]

HEAD_COLUMNS = 12
INFO_COLUMNS = 8


def head_of(row: Row) -> Head:
    """Return a head."""
    (id_, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, seq, done, takeovers) = row
    return Head(
        execution_id=text(cast(bytes, id_)),
        workflow=cast(str, workflow),
        status=cast("ExecutionStatus", status),
        priority=cast(int, priority),
        last_seq=cast(int, last_seq),
        last_epoch=cast(int, last_epoch),
        epoch=cast(int, epoch),
        owner=cast("str | None", owner),
        wake_at=cast("int | None", wake_at),
        commands_seq=cast(int, seq),
        commands_done=cast(int, done),
        takeovers=cast(int, takeovers),
    )


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
