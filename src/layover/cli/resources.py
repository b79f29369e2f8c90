"""What is printed for machines: the resources of the HTTP interface, with times in ISO-8601."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.cli.screen import when

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.ports.records import ExecutionRow, PointRow, Version
    from layover.runtime.executions import HistoryEntry
    from layover.runtime.node_executions import NodeExecution
    from layover.runtime.views import Execution
    from layover.runtime.why import Reason, Why

_MOMENTS = frozenset({"deadline", "retry_at", "timeout_at", "start_at", "escalate_at", "beat_by"})


def execution_resource(execution: Execution, versions: Iterable[Version] = ()) -> dict[str, object]:
    """Return one execution."""
    found = msgspec.to_builtins(execution)
    number = next((one.number for one in versions if one.hash == execution.hash), None)
    started, finished = execution.started_at, execution.finished_at
    return {
        **found,
        "version": number,
        "created_at": when(execution.created_at),
        "started_at": when(started),
        "finished_at": when(finished),
        "duration_ms": finished - started if started is not None and finished is not None else None,
        "paused_at": when(execution.paused_at),
        "waiting_on": [
            {**one, "since": when(one["since"]), "until": when(one["until"])} for one in found["waiting_on"]
        ],
    }


def row_resource(row: ExecutionRow) -> dict[str, object]:
    """Return one execution of a list."""
    head, info, closed = row.head, row.info, row.closed
    return {
        "id": head.execution_id,
        "workflow": info.workflow,
        "status": head.status,
        "outcome": closed.outcome if closed is not None else "",
        "error": {"code": closed.error_code} if closed is not None and closed.error_code else None,
        "tags": list(info.tags),
        "priority": info.priority,
        "correlation_id": info.correlation_id,
        "parent_id": info.parent_id,
        "created_at": when(info.created_at),
        "finished_at": when(row.finished_at),
        "last_seq": head.last_seq,
    }


def point_resource(row: PointRow) -> dict[str, object]:
    """Return one pause point."""
    point = row.point
    rules = point.rules
    return {
        "id": point.id,
        "execution_id": row.execution_id,
        "workflow": row.workflow,
        "context_id": context_of(row),
        "node": point.node.partition(":")[0],
        "kind": point.kind,
        "status": row.status,
        "title": title_of(row),
        "schema": row.schema,
        "shown": point.details.get("shown"),
        "response": point.details.get("response"),
        "opened_at": when(point.opened_at),
        "deadline": when(point.deadline),
        "on_deadline": point.on_deadline,
        "approvers": {"users": list(rules.users), "roles": list(rules.roles)} if rules is not None else None,
        "need": rules.need if rules is not None else None,
        "decisions": [{**msgspec.to_builtins(one), "at": when(one.at)} for one in point.decisions],
        "answer": point.output,
        "answered_by": point.by,
    }


def context_of(row: PointRow) -> str:
    """Return the address of a pause point; what a running function asked under a key has that in it: `charge/size`."""
    if not row.point.key:
        return row.point.node
    name, separator, path = row.point.node.partition(":")
    return f"{name}/{row.point.key}{separator}{path}"


def title_of(row: PointRow) -> str:
    """Return what a person is asked."""
    return str(row.point.details.get("title") or "")


def node_resource(node: NodeExecution) -> dict[str, object]:
    """Return what became of one node."""
    found: dict[str, object] = msgspec.to_builtins(node)
    attempts = [
        {key: when(value) if key.endswith("_at") else value for key, value in msgspec.to_builtins(one).items()}
        for one in node.attempts
    ]
    times = {"started_at": when(node.started_at), "finished_at": when(node.finished_at)}
    return {**found, **times, "attempts": attempts}


def entry_resource(entry: HistoryEntry) -> dict[str, object]:
    """Return one event of a log."""
    data = {name: moments_shown(name, value) for name, value in msgspec.structs.asdict(entry.event).items()}
    context = data.pop("node", None)
    attempt = data.pop("attempt", None)
    told: dict[str, object] = {"seq": entry.seq, "at": when(entry.at), "type": type(entry.event).__name__}
    if context is not None:
        told["context_id"] = context
    if attempt:
        told["attempt"] = attempt
    return {**told, "data": data}


def moments_shown(name: str, value: object) -> object:
    """Return a field of an event; one that is a moment as machines read it."""
    return when(value) if name in _MOMENTS and isinstance(value, int) else value


def why_resource(why: Why) -> dict[str, object]:
    """Return why an execution stands still."""
    return {"summary": why.summary, "reasons": [_reason(one) for one in why.reasons]}


def _reason(reason: Reason) -> dict[str, object]:
    found: dict[str, object] = {"kind": reason.kind, "text": reason.text}
    if reason.context_id:
        found["context_id"] = reason.context_id
    found |= {name: when(at) for name, at in (("since", reason.since), ("until", reason.until)) if at is not None}
    if reason.execution:
        found["execution"] = reason.execution
    if reason.because:
        found["because"] = [_reason(one) for one in reason.because]
    return found
