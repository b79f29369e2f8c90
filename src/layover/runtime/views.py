"""An execution as a reader sees it: what the rows say, and what its state says."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import msgspec

from layover.core.engine.events import Error
from layover.core.engine.state import Execution as State
from layover.core.engine.state import ExecutionStatus
from layover.core.payloads import own

if TYPE_CHECKING:
    from layover.ports.records import NewExecution


class WaitingOn(msgspec.Struct, frozen=True, kw_only=True):
    """Something that an execution waits for."""

    context_id: str
    kind: str
    since: int
    until: int | None = None
    point: str = ""


class Execution(msgspec.Struct, frozen=True, kw_only=True):
    """One execution at one moment."""

    id: str
    workflow: str
    hash: str
    status: ExecutionStatus
    outcome: str = ""
    outcome_reason: str = ""
    input: object = None
    output: object = None
    error: Error | None = None
    variables: dict[str, object] = {}
    tags: tuple[str, ...] = ()
    priority: int = 0
    correlation_id: str | None = None
    parent_id: str | None = None
    user: str | None = None
    created_at: int = 0
    started_at: int | None = None
    finished_at: int | None = None
    paused_at: int | None = None
    paused_reason: str = ""
    resume_count: int = 0
    last_seq: int = 0
    waiting_on: tuple[WaitingOn, ...] = ()

    @property
    def closed(self) -> bool:
        """Whether it has come to its end."""
        return self.status in ("completed", "failed", "cancelled")


def execution_view(info: NewExecution, state: State, finished_at: int | None) -> Execution:
    """Return an execution as it is described by what is known since its beginning, and by its state."""
    facts, root = state.facts, state.scopes.get("")
    return Execution(
        id=facts.id,
        workflow=facts.workflow,
        hash=facts.hash,
        status=state.status,
        outcome=facts.outcome,
        outcome_reason=facts.outcome_reason,
        input=own(facts.input),
        output=own(facts.output),
        error=facts.error,
        variables=cast("dict[str, object]", own(root.variables or {})) if root is not None else {},
        tags=info.tags,
        priority=info.priority,
        correlation_id=info.correlation_id,
        parent_id=info.parent_id,
        user=facts.user,
        created_at=facts.created_at,
        started_at=facts.started_at or None,
        finished_at=finished_at,
        paused_at=facts.paused_at or None,
        paused_reason=facts.paused_reason,
        resume_count=facts.resume_count,
        last_seq=state.counts["seq"] - 1,
        waiting_on=waiting_on(state),
    )


def waiting_on(state: State) -> tuple[WaitingOn, ...]:
    """Return what an execution waits for, the oldest first."""
    if state.facts.closed:
        return ()
    points = [
        WaitingOn(context_id=point.node, kind=point.kind, since=point.opened_at, until=point.deadline, point=point.id)
        for point in state.points.rows.values()
        if point.status == "open"
    ]
    failed = [
        WaitingOn(
            context_id=name,
            kind="retry" if node.status == "backoff" else "incident",
            since=node.started_at,
            until=state.timers.get(name),
        )
        for name, node in state.nodes.rows.items()
        if node.status in ("backoff", "incident")
    ]
    return tuple(sorted([*points, *failed], key=lambda one: (one.since, one.context_id)))
