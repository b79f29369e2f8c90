"""Rows to records."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from layover.core.engine.state import Point
from layover.ports.limit_records import AdmissionRow, RateLimit
from layover.ports.records import (
    ClosedExecution,
    Head,
    Message,
    NewExecution,
    PointRow,
    Wait,
)
from layover.ports.view_records import ExecutionRow
from layover.stores.ids import text

Row: TypeAlias = tuple[Any, ...]  # no casts, which would be calls: a list has thousands of fields

HEAD_COLUMNS = 15
INFO_COLUMNS = 8


def head_of(row: Row) -> Head:
    """Return a head."""
    id_, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake, seq, done, lost, types, since, paused = (
        row
    )
    return Head(
        execution_id=text(id_),
        workflow=workflow,
        status=status,
        priority=priority,
        last_seq=last_seq,
        last_epoch=last_epoch,
        epoch=epoch,
        owner=owner,
        wake_at=wake,
        commands_seq=seq,
        commands_done=done,
        takeovers=lost,
        missing=missing_of(types) if types is not None else (),
        missing_since=since,
        paused_at=paused,
    )


def missing_of(kept: str) -> tuple[str, ...]:
    """Return the node types whose functions were missing."""
    return _TEXTS.decode(kept)


def info_of(row: Row) -> NewExecution:
    """Return what an execution was created with."""
    workflow, hash_, created_at, priority, user, parent_id, correlation_id, tags = row
    return NewExecution(
        workflow=workflow,
        hash=hash_,
        created_at=created_at,
        priority=priority,
        user=user,
        parent_id=text(parent_id) if isinstance(parent_id, bytes) else None,
        correlation_id=correlation_id,
        tags=tuple(msgspec.json.decode(tags)) if isinstance(tags, str) else (),
    )


def execution_of(row: Row) -> ExecutionRow:
    """Return an execution in a list."""
    finished_at, outcome, error_code, number, resumes = row[HEAD_COLUMNS + INFO_COLUMNS :]
    closed = ClosedExecution(outcome=outcome, error_code=error_code) if finished_at is not None else None
    return ExecutionRow(
        head=head_of(row[:HEAD_COLUMNS]),
        info=info_of(row[HEAD_COLUMNS : HEAD_COLUMNS + INFO_COLUMNS]),
        version=number,
        finished_at=finished_at,
        closed=closed,
        resume_count=resumes,
    )


def message_of(row: Row) -> Message:
    """Return a message."""
    sender, n, destination, kind, body, due_at = row
    return Message(
        sender=text(sender),
        n=n,
        destination=destination,
        kind=kind,
        body=body,
        due_at=due_at,
    )


def wait_of(row: Row) -> Wait:
    """Return a waiting point, or a workflow that waits."""
    execution_id, point = row
    if execution_id is None:
        return Wait(execution_id="", point="", workflow=point)
    return Wait(execution_id=text(execution_id), point=point)


def place_of_row(row: Row) -> AdmissionRow:
    """Return the place of an execution under limits."""
    id_, name, most, rank, held_at, rate, rate_limit, rate_per_ms, start_at, admitted = row
    return AdmissionRow(
        execution_id=text(id_),
        name=name,
        most=most,
        rank=rank,
        held_at=held_at,
        rate=RateLimit(name=rate, limit=rate_limit, per_ms=rate_per_ms) if isinstance(rate, str) else None,
        start_at=start_at,
        admitted=bool(admitted),
    )


def point_of(row: Row) -> PointRow:
    """Return a pause point."""
    _id, execution_id, workflow, status, closed_at, body, schema, *_ = row  # merged lists have their age besides
    return PointRow(
        execution_id=text(execution_id),
        workflow=workflow,
        status=status,
        closed_at=closed_at,
        point=_POINT.decode(body),
        schema=msgspec.json.decode(schema) if isinstance(schema, bytes) else None,
    )


_POINT = msgspec.json.Decoder(Point)
_TEXTS = msgspec.json.Decoder(tuple[str, ...])
