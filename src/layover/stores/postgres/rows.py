"""Rows to records. Ids are decoded as text and arrays as lists, so most values are taken as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from layover.core.engine.state import Point
from layover.ports.access import Key, Reply, Standing
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

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    from layover.stores.postgres.database import Row

    Columns: TypeAlias = Sequence[Any] | Row

HEAD_COLUMNS = 15
INFO_COLUMNS = 8
EXECUTION_COLUMNS = HEAD_COLUMNS + INFO_COLUMNS + 4


def head_of(row: Columns) -> Head:
    """Return a head."""
    id_, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, seq, done, lost, *others = row
    types, since, paused_at = others
    return Head(
        execution_id=id_,
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
        missing=tuple(types) if types is not None else (),
        missing_since=since,
        paused_at=paused_at if status == "paused" else None,  # older releases do not reset it
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
    finished_at, outcome, error_code, number = row[HEAD_COLUMNS + INFO_COLUMNS :]
    head, info = head_of(row[:HEAD_COLUMNS]), info_of(row[HEAD_COLUMNS : HEAD_COLUMNS + INFO_COLUMNS])
    if head.status == "paused" and head.paused_at is None:  # older releases do not set it
        head = replace(head, paused_at=info.created_at)
    return ExecutionRow(
        head=head,
        info=info,
        version=number,
        finished_at=finished_at,
        closed=Closed(outcome=outcome, error_code=error_code) if finished_at is not None else None,
    )


def command_of(row: Columns) -> Command:
    """Return a command."""
    n, at, kind, body, source, source_n = row
    return Command(n=n, at=at, kind=kind, body=body, source=source, source_n=source_n)


def entry_of(row: Columns) -> Entry:
    """Return an entry of a log."""
    seq, at, count, body = row
    return Entry(seq=seq, at=at, count=count, events=body)


def message_of(row: Columns) -> Message:
    """Return a message."""
    sender, n, destination, kind, body, due_at = row
    return Message(sender=sender, n=n, destination=destination, kind=kind, body=body, due_at=due_at)


def wait_of(row: Columns) -> Wait:
    """Return a waiting point."""
    execution_id, point = row
    return Wait(execution_id=execution_id, point=point)


def signal_of(row: Columns) -> Signal:
    """Return a signal."""
    id_, name, key, at, data = row
    return Signal(id=id_, name=name, key=key, at=at, data=data)


def place_of_row(row: Columns) -> Place:
    """Return the place of an execution under limits."""
    id_, name, most, rank, held_at, rate, rate_limit, rate_per_ms, start_at, admitted = row
    return Place(
        execution_id=id_,
        name=name,
        most=most,
        rank=rank,
        held_at=held_at,
        rate=Rate(name=rate, limit=rate_limit, per_ms=rate_per_ms) if rate is not None else None,
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


def version_of(row: Columns) -> Version:
    """Return a version of a workflow."""
    workflow, number, hash_, document, created_at = row
    return Version(workflow=workflow, number=number, hash=hash_, document=document, created_at=created_at)


def audit_of(row: Columns) -> AuditEntry:
    """Return an audit entry."""
    id_, at, user, act, target, execution_id, credential, request_id, details = row
    return AuditEntry(
        id=id_,
        at=at,
        user=user,
        act=act,
        target=target,
        execution_id=execution_id or "",
        credential=credential,
        request_id=request_id,
        details=details,
    )


def key_of(row: Columns) -> Key:
    """Return an API key."""
    id_, prefix, hash_, name, user, roles, created_at, scopes, created_by, expires_at, ended_at = row
    return Key(
        id=id_,
        prefix=prefix,
        hash=hash_,
        name=name,
        user=user,
        roles=_TEXTS.decode(roles),
        created_at=created_at,
        scopes=_TEXTS.decode(scopes) if scopes is not None else None,
        created_by=created_by,
        expires_at=expires_at,
        ended_at=ended_at,
    )


def reply_of(row: Columns) -> Reply:
    """Return a reply."""
    scope, key, fingerprint, until, status, body = row
    return Reply(scope=scope, key=key, fingerprint=fingerprint, until=until, status=status, body=body)


def standing_of(row: Columns) -> Standing:
    """Return the status of a workflow."""
    workflow, state, changed_at, reason, by = row
    return Standing(workflow=workflow, state=state, changed_at=changed_at, reason=reason, by=by)


_TEXTS = msgspec.json.Decoder(tuple[str, ...])
_POINT = msgspec.json.Decoder(Point)
