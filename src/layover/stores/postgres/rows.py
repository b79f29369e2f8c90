"""Rows to records. Ids are decoded as text and arrays as lists, so most values are taken as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

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

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    from layover.stores.postgres.database import Row

    Columns: TypeAlias = Sequence[Any] | Row

HEAD_COLUMNS = 15
INFO_COLUMNS = 8
EXECUTION_COLUMNS = HEAD_COLUMNS + INFO_COLUMNS + 5


def head_of(row: Columns) -> Head:
    """Return a head."""
    id_, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake, seq, done, lost, types, since, paused = (
        row
    )
    return Head(
        execution_id=id_,
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
        missing=tuple(types) if types is not None else (),
        missing_since=since,
        paused_at=paused if status == "paused" else None,  # older releases do not reset it
    )


def info_of(row: Columns) -> NewExecution:
    """Return what an execution was created with."""
    workflow, hash_, created_at, priority, user, parent_id, correlation_id, tags = row
    return NewExecution(
        workflow=workflow,
        hash=hash_,
        created_at=created_at,
        priority=priority,
        user=user,
        parent_id=parent_id,
        correlation_id=correlation_id,
        tags=tuple(tags) if tags is not None else (),
    )


def execution_of(row: Columns) -> ExecutionRow:
    """Return an execution in a list."""
    finished_at, outcome, error_code, number, resumes = row[HEAD_COLUMNS + INFO_COLUMNS :]
    head, info = head_of(row[:HEAD_COLUMNS]), info_of(row[HEAD_COLUMNS : HEAD_COLUMNS + INFO_COLUMNS])
    if head.status == "paused" and head.paused_at is None:  # older releases do not set it
        head = replace(head, paused_at=info.created_at)
    return ExecutionRow(
        head=head,
        info=info,
        version=number,
        finished_at=finished_at,
        closed=ClosedExecution(outcome=outcome, error_code=error_code) if finished_at is not None else None,
        resume_count=resumes,
    )


def message_of(row: Columns) -> Message:
    """Return a message."""
    sender, n, destination, kind, body, due_at = row
    return Message(sender=sender, n=n, destination=destination, kind=kind, body=body, due_at=due_at)


def wait_of(row: Columns) -> Wait:
    """Return a waiting point, or a workflow that waits."""
    execution_id, point = row
    if execution_id is None:
        return Wait(execution_id="", point="", workflow=point)
    return Wait(execution_id=execution_id, point=point)


def place_of_row(row: Columns) -> AdmissionRow:
    """Return the place of an execution under limits."""
    id_, name, most, rank, held_at, rate, rate_limit, rate_per_ms, start_at, admitted = row
    return AdmissionRow(
        execution_id=id_,
        name=name,
        most=most,
        rank=rank,
        held_at=held_at,
        rate=RateLimit(name=rate, limit=rate_limit, per_ms=rate_per_ms) if rate is not None else None,
        start_at=start_at,
        admitted=admitted,
    )


def point_of(row: Columns) -> PointRow:
    """Return a pause point."""
    _id, execution_id, workflow, status, closed_at, body, schema = row
    return PointRow(
        execution_id=execution_id,
        workflow=workflow,
        status=status,
        closed_at=closed_at,
        point=_POINT.decode(body),
        schema=msgspec.json.decode(schema) if schema is not None else None,
    )


_TEXTS = msgspec.json.Decoder(tuple[str, ...])
_POINT = msgspec.json.Decoder(Point)
