"""The view of an execution that callers get, built from its rows and its state."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

import msgspec

from layover.core.context_ids import context_id, journal_id
from layover.core.engine.events import Error
from layover.core.engine.state import PEOPLE, ExecutionStatus
from layover.core.engine.state import Execution as State
from layover.core.payloads import own
from layover.runtime.queries.why import incident_text, text_of

if TYPE_CHECKING:
    from layover.core.engine.state import Point
    from layover.ports.records import Head, NewExecution


MOST_LISTED = 100  # of what an execution waits for, and of what comes next; all of it stands in lists of its own


class WaitingOn(msgspec.Struct, frozen=True, kw_only=True):
    """Something that an execution waits for."""

    context_id: str
    kind: str
    since: int
    until: int | None = None
    point: str = ""
    failure: Error | None = None  # after which it waits


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """The instance that drives an execution, and until when no other can."""

    instance: str
    epoch: int
    expires_at: int | None = None


class Execution(msgspec.Struct, frozen=True, kw_only=True):
    """One execution at one moment."""

    id: str
    workflow: str
    hash: str
    version: int | None = None
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
    trigger: object = None
    user: str | None = None
    created_at: int = 0
    started_at: int | None = None
    finished_at: int | None = None
    paused_at: int | None = None
    paused_reason: str = ""
    paused_node: str | None = None
    next_nodes: tuple[str, ...] = ()
    resume_count: int = 0
    last_resumed_at: int | None = None
    resume_data: dict[str, object] | None = None
    nodes_executed: int = 0
    last_seq: int = 0
    waiting_on: tuple[WaitingOn, ...] = ()
    lease: Lease | None = None

    @property
    def closed(self) -> bool:
        """Whether it has come to its end."""
        return self.status in ("completed", "failed", "cancelled")


def execution_view(
    info: NewExecution,
    state: State,
    finished_at: int | None,
    *,
    head: Head | None = None,
    version: int | None = None,
) -> Execution:
    """Return an execution as it is described by what is known since its beginning, and by its state.

    Who drives it, and since when it is paused for a person, only its head tells.
    """
    facts, root = state.facts, state.scopes.get("")
    status = state.status
    if status == "running" and head is not None and head.owner is None and head.missing:
        status = "waiting"  # for an instance that has the functions
    pause = _pause(state, head) if status in ("pausing", "paused") else _NO_PAUSE
    return Execution(
        id=facts.id,
        workflow=facts.workflow,
        hash=facts.hash,
        version=version,
        status=status,
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
        trigger=own(facts.trigger),
        user=facts.user,
        created_at=facts.created_at,
        started_at=facts.started_at or None,
        finished_at=finished_at,
        paused_at=pause.at,
        paused_reason=pause.reason,
        paused_node=pause.node,
        next_nodes=next_nodes(state)[:MOST_LISTED],
        resume_count=facts.resume_count,
        last_resumed_at=facts.resumed_at or None,
        resume_data=cast("dict[str, object] | None", own(facts.resume_data)),
        nodes_executed=state.counts["completed"],
        last_seq=state.counts["seq"] - 1,
        waiting_on=waiting_on(state)[:MOST_LISTED],
        lease=Lease(instance=head.owner, epoch=head.epoch, expires_at=head.wake_at) if head and head.owner else None,
    )


class _Pause(NamedTuple):
    """Since when, why and where an execution is paused."""

    at: int | None = None
    reason: str = ""
    node: str | None = None


_NO_PAUSE = _Pause()


def _pause(state: State, head: Head | None) -> _Pause:
    """Return the operator's pause, or that for a person."""
    facts = state.facts
    listed = head.paused_at if head is not None else None  # by which it is found: since its status is that
    if facts.gate != "open":
        return _Pause(listed or facts.paused_at, facts.paused_reason, _held_at(state))
    since, name, reason = min(awaited_people(state), default=(None, None, ""))
    at = listed if listed is not None else since
    return _Pause(at, reason, name)


def _held_at(state: State) -> str | None:
    """Return the node that an operator's pause caught: one in flight, else one about to run, else one that waits."""
    facts = state.facts
    caught = [*(facts.in_flight or facts.fates), *_ready(state)]
    return caught[0] if caught else next((one.context_id for one in waiting_on(state)), None)


def awaited_people(state: State) -> list[tuple[int, str, str]]:
    """Return what a person is to do: since when, at which node, and a sentence."""
    points = [
        (point.opened_at, context_of(point), text_of(point))
        for point in state.points.rows.values()
        if point.status == "open" and point.kind in PEOPLE
    ]
    incidents = [
        (node.started_at, name, incident_text(name, node))
        for name, node in state.nodes.rows.items()
        if node.status == "incident"
    ]
    return [*points, *incidents]


def next_nodes(state: State) -> tuple[str, ...]:
    """Return what runs next when an execution goes on: what is ready or waits for a place, else what people lead to."""
    if state.facts.closed:
        return ()
    return tuple(_ready(state)) or _behind_people(state)


def _ready(state: State) -> list[str]:
    """Return the nodes that only wait for their turn, or for the start."""
    if not state.facts.started_at:
        graph = state.plan.graph
        return [graph.nodes[index].id for index in graph.starts]
    ready = [state.queue.rows[ticket] for ticket in sorted(state.queue.rows)]
    if not state.counts["queued"]:
        return ready
    return [*ready, *(name for name, node in state.nodes.rows.items() if node.status == "queued")]


def _behind_people(state: State) -> tuple[str, ...]:
    """Return where the points lead by their default ports at which people are awaited; a function goes on itself."""
    points = [point for point in state.points.rows.values() if point.status == "open" and point.kind in PEOPLE]
    found: dict[str, None] = {}
    for point in sorted(points, key=lambda one: (one.opened_at, one.id)):
        if point.key or point.doubt:
            found.setdefault(point.node)
            continue
        path = point.node.partition(":")[2]
        graph, port = state.graph(path), "approved" if point.kind == "approval" else "done"
        for index in state.planned(point.node).targets(port):
            found.setdefault(context_id(path, graph.nodes[index].id))
    return tuple(found)


def context_of(point: Point) -> str:
    """Return the address of a pause point; what a running function asked under a key has that in it: `charge/size`."""
    return journal_id(point.node, point.key) if point.key else point.node


def waiting_on(state: State) -> tuple[WaitingOn, ...]:
    """Return what an execution waits for, the oldest first."""
    if state.facts.closed:
        return ()
    points = [
        WaitingOn(
            context_id=point.node,
            kind=point.kind,
            since=point.opened_at,
            until=point.deadline,
            point=point.id,
            failure=point.failure,
        )
        for point in state.points.rows.values()
        if point.status == "open"
    ]
    failed = [
        WaitingOn(
            context_id=name,
            kind="retry" if node.status == "backoff" else "incident",
            since=node.started_at,
            until=state.timers.get(name),
            failure=node.error,
        )
        for name, node in state.nodes.rows.items()
        if node.status in ("backoff", "incident")
    ]
    return tuple(sorted([*points, *failed], key=lambda one: (one.since, one.context_id)))
