"""Lists, events and nodes of executions as callers get them, built from rows and from the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from layover.core.engine import events as ev
from layover.core.moments import Moment, moment
from layover.core.payloads import copy_plain
from layover.errors import Failure
from layover.masking import MASK
from layover.model.executions import Attempt, Event, ExecutionSummary, NodeExecution
from layover.redaction import names_credential, redact
from layover.runtime.results.failures import failure_of

if TYPE_CHECKING:
    from layover.ports.view_records import ExecutionRow
    from layover.runtime.queries.history import HistoryEntry
    from layover.runtime.queries.node_executions import AttemptDraft, NodeDraft
    from layover.runtime.results.waiting import ListRest

_MOMENTS: Final = frozenset({"at", "deadline", "retry_at", "timeout_at", "start_at", "escalate_at", "beat_by"})


def summary_of(row: ExecutionRow, failure: Failure | None = None, rest: ListRest | None = None) -> ExecutionSummary:
    """Return one execution of a list; its row has the code of its failure, and its log the rest.

    One that has ended, or was purged meanwhile, has no `rest`.
    """
    head, info, closed = row.head, row.info, row.closed
    code = closed.error_code if closed is not None else ""
    return ExecutionSummary(
        id=head.execution_id,
        workflow=info.workflow,
        version=row.version,
        status=head.status,
        outcome=closed.outcome if closed is not None else "",
        error=failure or (Failure(code=code, message="") if code else None),
        tags=info.tags,
        priority=info.priority,
        correlation_id=info.correlation_id,
        parent_id=info.parent_id,
        created_at=Moment.of(info.created_at),
        paused_at=Moment.maybe(head.paused_at),
        finished_at=Moment.maybe(row.finished_at),
        resume_count=row.resume_count,
        last_seq=head.last_seq,
        user=info.user,
        updated_at=Moment.of(rest.updated_at if rest is not None else row.finished_at or info.created_at),
        waiting_summary=rest.waiting if rest is not None else None,
    )


def event_of(entry: HistoryEntry) -> Event:
    """Return one entry of a log, without its traceback: that belongs to the attempt, for those who may debug."""
    data = {name: _shown_field(name, value) for name, value in msgspec.structs.asdict(entry.event).items()}
    data.pop("traceback", None)
    if isinstance(entry.event, ev.NodeStarted):
        data["input"] = without_credentials(data["input"])
    context, attempt = data.pop("node", None), data.pop("attempt", None)
    return Event(
        seq=entry.seq,
        at=Moment.of(entry.at),
        type=type(entry.event).__name__,
        data=data,
        context_id=str(context) if context is not None else None,
        attempt=attempt if isinstance(attempt, int) and attempt else None,
    )


def _shown_field(name: str, value: object) -> object:
    """Return a field of an event; what is a moment as machines read it, also in the parts that are the engine's own."""
    if name in _MOMENTS and isinstance(value, int):
        return moment(value)
    if name == "remind_at" and isinstance(value, tuple):
        return [moment(one) for one in value]
    if isinstance(value, msgspec.Struct):
        return {field: _shown_field(field, inner) for field, inner in msgspec.structs.asdict(value).items()}
    if isinstance(value, tuple):  # as a client reads it
        return msgspec.json.decode(msgspec.json.encode(value))
    return value


def without_credentials(given: object) -> object:
    """Return the input of a node without what an `http` node sends as credentials: readers do not need those."""
    if not isinstance(given, dict) or not isinstance(given.get("url"), str):
        return given
    shown = {**given, "url": redact(given["url"])}
    if shown.get("auth") is not None:
        shown["auth"] = MASK
    if isinstance(shown.get("headers"), dict):
        shown["headers"] = {name: MASK if names_credential(name) else value for name, value in shown["headers"].items()}
    return shown


def node_of(node: NodeDraft, *, tracebacks: bool = False) -> NodeExecution:
    """Return what became of one node; with `tracebacks`, also where its attempts failed."""
    return NodeExecution(
        context_id=node.context_id,
        node=node.node,
        type=node.type,
        status=node.status,
        attempt=node.attempt,
        input=without_credentials(copy_plain(node.input)) if node.type == "http" else copy_plain(node.input),
        output=copy_plain(node.output),
        port=node.port,
        error=failure_of(node.error, node.traceback if tracebacks else None) if node.error is not None else None,
        started_at=Moment.maybe(node.started_at),
        finished_at=Moment.maybe(node.finished_at),
        duration_ms=node.duration_ms,
        attempts=tuple([_attempt_of(one, tracebacks=tracebacks) for one in node.attempts]),
    )


def _attempt_of(attempt: AttemptDraft, *, tracebacks: bool) -> Attempt:
    found = Attempt(
        attempt=attempt.attempt,
        cause=attempt.cause,
        scheduled_at=Moment.of(attempt.scheduled_at),
        started_at=Moment.maybe(attempt.started_at),
        finished_at=Moment.maybe(attempt.finished_at),
    )
    if attempt.error is None:
        return found
    error = failure_of(attempt.error, attempt.traceback if tracebacks else None)
    return msgspec.structs.replace(found, error=error, retry_at=Moment.maybe(attempt.retry_at))
