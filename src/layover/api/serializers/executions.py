"""Executions, and what is asked about them, as they cross the network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from layover.api.resources.executions import (
    Attempt,
    Event,
    Execution,
    ExecutionSummary,
    Lease,
    Leg,
    NodeExecution,
    WaitingOn,
    Why,
    WhyReason,
)
from layover.api.resources.shared import Failure
from layover.core.moments import moment
from layover.core.payloads import MAX_INLINE

if TYPE_CHECKING:
    from layover.api.permissions import Caller
    from layover.core.engine.events import Error
    from layover.ports.records import ExecutionRow
    from layover.runtime.operations.executions import HistoryEntry
    from layover.runtime.queries import legs, node_executions, views, why

_MOMENTS: Final = frozenset({"at", "deadline", "retry_at", "timeout_at", "start_at", "escalate_at", "beat_by"})


def execution_of(view: views.Execution) -> Execution:
    """Return one execution."""
    started, finished, lease = view.started_at, view.finished_at, view.lease
    return Execution(
        id=view.id,
        workflow=view.workflow,
        version=view.version,
        status=view.status,
        outcome=view.outcome,
        outcome_reason=view.outcome_reason,
        input=view.input,
        output=view.output,
        error=failure_of(view.error),
        variables=_within_bounds(view.variables),
        tags=list(view.tags),
        priority=view.priority,
        correlation_id=view.correlation_id,
        parent_id=view.parent_id,
        trigger=view.trigger,
        user=view.user,
        created_at=moment(view.created_at),
        started_at=moment(started),
        finished_at=moment(finished),
        duration_ms=finished - started if started is not None and finished is not None else None,
        paused_at=moment(view.paused_at),
        paused_reason=view.paused_reason or None,
        paused_node=view.paused_node,
        next_nodes=list(view.next_nodes),
        resume_count=view.resume_count,
        last_resumed_at=moment(view.last_resumed_at),
        resume_data=view.resume_data,
        nodes_executed=view.nodes_executed,
        last_seq=view.last_seq,
        waiting_on=[
            WaitingOn(
                context_id=one.context_id,
                kind=one.kind,
                since=moment(one.since),
                until=moment(one.until),
                point=one.point or None,
                failure=failure_of(one.failure),
            )
            for one in view.waiting_on
        ],
        lease=Lease(instance=lease.instance, epoch=lease.epoch, expires_at=moment(lease.expires_at))
        if lease is not None
        else None,
        hash=view.hash,
    )


def brief_execution_of(view: views.Execution) -> Execution:
    """Return an execution to a caller who may not see its data: its id, its status, and how far it is."""
    return Execution(
        id=view.id,
        workflow=view.workflow,
        status=view.status,
        created_at=moment(view.created_at),
        last_seq=view.last_seq,
    )


def execution_for(caller: Caller, view: views.Execution) -> Execution:
    """Return an execution to a caller; its data only if they started it, or have the permission to read it."""
    may_read = view.user == caller.user or caller.may(("execution:read",))
    return execution_of(view) if may_read else brief_execution_of(view)


def summary_of(row: ExecutionRow) -> ExecutionSummary:
    """Return one execution of a list."""
    head, info, closed = row.head, row.info, row.closed
    code = closed.error_code if closed is not None else ""
    return ExecutionSummary(
        id=head.execution_id,
        workflow=info.workflow,
        version=row.version,
        status=head.status,
        outcome=closed.outcome if closed is not None else "",
        error=Failure(code=code, message="") if code else None,
        tags=list(info.tags),
        priority=info.priority,
        correlation_id=info.correlation_id,
        parent_id=info.parent_id,
        created_at=moment(info.created_at),
        finished_at=moment(row.finished_at),
        last_seq=head.last_seq,
    )


def event_of(entry: HistoryEntry) -> Event:
    """Return one entry of a log."""
    data = {name: _told(name, value) for name, value in msgspec.structs.asdict(entry.event).items()}
    context, attempt = data.pop("node", None), data.pop("attempt", None)
    return Event(
        seq=entry.seq,
        at=moment(entry.at),
        type=type(entry.event).__name__,
        data=data,
        context_id=str(context) if context is not None else None,
        attempt=attempt if isinstance(attempt, int) and attempt else None,
    )


def _told(name: str, value: object) -> object:
    """Return a field of an event; what is a moment as machines read it, also in the parts that are the engine's own."""
    if name in _MOMENTS and isinstance(value, int):
        return moment(value)
    if name == "remind_at" and isinstance(value, tuple):
        return [moment(one) for one in value]
    if isinstance(value, msgspec.Struct):
        return {field: _told(field, inner) for field, inner in msgspec.structs.asdict(value).items()}
    return value


def node_of(node: node_executions.NodeExecution) -> NodeExecution:
    """Return what became of one node."""
    return NodeExecution(
        context_id=node.context_id,
        node=node.node,
        type=node.type,
        status=node.status,
        attempt=node.attempt,
        input=node.input,
        output=node.output,
        port=node.port,
        error=failure_of(node.error),
        started_at=moment(node.started_at),
        finished_at=moment(node.finished_at),
        duration_ms=node.duration_ms,
        attempts=[
            Attempt(
                attempt=one.attempt,
                cause=one.cause,
                scheduled_at=moment(one.scheduled_at),
                started_at=moment(one.started_at),
                finished_at=moment(one.finished_at),
                error=failure_of(one.error),
                retry_at=moment(one.retry_at),
            )
            for one in node.attempts
        ],
    )


def leg_of(leg: legs.Leg) -> Leg:
    """Return one leg."""
    return Leg(
        id=leg.id,
        parent=leg.parent,
        depth=leg.depth,
        cause=leg.cause,
        instance=leg.instance,
        from_seq=leg.from_seq,
        to_seq=leg.to_seq,
        started_at=moment(leg.started_at),
    )


def _within_bounds(variables: dict[str, object]) -> dict[str, object]:
    """Return variables as far as all of them fit into one value; of the others, how many bytes each has."""
    sizes = {name: len(msgspec.json.encode(value)) for name, value in variables.items()}
    if sum(sizes.values()) <= MAX_INLINE:
        return variables
    found: dict[str, object] = {}
    room = MAX_INLINE
    for name, value in variables.items():
        fits = sizes[name] <= room
        room -= sizes[name] if fits else 0
        found[name] = value if fits else {"$omitted": sizes[name]}
    return found


def why_of(told: why.Why) -> Why:
    """Return why an execution stands still."""
    return Why(summary=told.summary, reasons=[_reason_of(one) for one in told.reasons], left_out=told.left_out)


def _reason_of(reason: why.Reason) -> WhyReason:
    return WhyReason(
        kind=reason.kind,
        text=reason.text,
        context_id=reason.context_id or None,
        since=moment(reason.since),
        until=moment(reason.until),
        execution=reason.execution or None,
        because=[_reason_of(one) for one in reason.because],
    )


def failure_of(error: Error | None) -> Failure | None:
    """Return what went wrong, if something did."""
    if error is None:
        return None
    return Failure(
        code=error.code,
        message=error.message,
        type=error.type,
        retryable=error.retryable,
        attempt=error.attempt,
        context_id=error.context_id,
        status=error.status,
        details=error.details,
    )
