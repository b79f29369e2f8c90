"""An execution as callers get it, built from its rows and its state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET
from msgspec.structs import replace

from layover.core.context_ids import context_id, journal_id
from layover.core.engine.state import PEOPLE
from layover.core.engine.state import ExecutionState as State
from layover.core.light_structs import LightStruct
from layover.core.moments import Moment
from layover.core.payloads import copy_plain
from layover.interface.open_points import first_response, in_order
from layover.model.executions import Execution, Lease, WaitingOn
from layover.runtime.queries.why import incident_text, text_of
from layover.runtime.results.failures import failure_of
from layover.runtime.results.pause_ends import resume_signal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from layover.core.engine.state import Point
    from layover.model.points import PausePoint
    from layover.ports.records import Head, NewExecution
    from layover.ports.view_records import ExecutionRow
    from layover.runtime.execution.state_cache import CachedState


MOST_LISTED = 100  # of what an execution waits for, and of what comes next; all of it stands in lists of its own


def execution_view(
    info: NewExecution,
    state: State,
    finished_at: int | None,
    *,
    head: Head | None = None,
    version: int | None = None,
    points: Callable[[State], Iterable[PausePoint]] | None = None,
) -> Execution:
    """Return an execution as it is described by what is known since its beginning, and by its state.

    Who drives it, and since when it is paused for a person, only its head tells. With `points`, one at rest is shown
    with them.
    """
    facts, root = state.facts, state.scopes.rows.get("")
    status = state.status
    if status == "running" and head is not None and head.owner is None and head.missing:
        status = "waiting"  # for an instance that has the functions
    found = Execution(
        id=facts.id,
        workflow=facts.workflow,
        hash=facts.hash,
        version=version,
        status=status,
        input=copy_plain(facts.input),
        variables=copy_plain(root.variables or {}) if root is not None else {},  # type: ignore[arg-type]  # a copy
        tags=info.tags,
        priority=info.priority,
        correlation_id=info.correlation_id,
        parent_id=info.parent_id,
        user=facts.user,
        created_at=Moment.of(facts.created_at),
        nodes_executed=state.counts.rows["completed"],
        last_seq=state.counts.rows["seq"] - 1,
    )
    started_at = facts.started_at or None
    if facts.closed:
        found = replace(
            found,
            outcome=facts.outcome,
            outcome_reason=facts.outcome_reason,
            output=copy_plain(facts.output),
            error=failure_of(facts.error),
            started_at=Moment.maybe(started_at),
            finished_at=Moment.maybe(finished_at),
            duration_ms=finished_at - started_at if started_at is not None and finished_at is not None else None,
            lease=_lease(head),
        )
    else:
        pause = _pause(state, head) if status in ("pausing", "paused") else _NO_PAUSE
        shown = in_order(points(state)) if points is not None and status in ("paused", "waiting") else UNSET
        found = replace(
            found,
            started_at=Moment.maybe(started_at),
            paused_at=Moment.maybe(pause.at),
            paused_reason=pause.reason or None,
            paused_node=pause.node,
            resume_at=Moment.maybe(facts.resume_at),
            resume_on=resume_signal(facts.resume_on),
            breakpoints=dict(facts.breakpoints),
            next_nodes=next_nodes(state)[:MOST_LISTED],
            waiting_on=waiting_on(state)[:MOST_LISTED],
            lease=_lease(head),
            pause_points=shown,
            response=first_response(shown) if shown is not UNSET else UNSET,
        )
    if facts.forked_from is not None:
        found = replace(found, forked_from=facts.forked_from, forked_at=facts.forked_at)
    if facts.trigger is None and not facts.resume_count:
        return found
    return replace(
        found,
        trigger=copy_plain(facts.trigger),
        resume_count=facts.resume_count,
        last_resumed_at=Moment.maybe(facts.resumed_at or None),
        resume_data=copy_plain(facts.resume_data),
    )


def _lease(head: Head | None) -> Lease | None:
    """Return who drives an execution, if an instance does."""
    if head is None or not head.owner:
        return None
    return Lease(instance=head.owner, epoch=head.epoch, expires_at=Moment.maybe(head.wake_at))


class _Pause(LightStruct, gc=False):
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
    if facts.stopped_at in state.queue.rows:
        return state.queue.rows[facts.stopped_at]
    caught = [*(facts.in_flight or facts.fates), *_ready(state)]
    return caught[0] if caught else next((one.context_id for one in waiting_on(state)), None)


def awaited_people(state: State) -> list[tuple[int, str, str]]:
    """Return what a person is to do: since when, at which node, and a sentence."""
    points = [
        (point.opened_at, context_of(point), text_of(point))
        for point in state.points.rows.values()
        if point.status == "open" and point.kind in PEOPLE
    ]
    if state.counts.rows["people"] > len(points):  # the others are failed calls that wait for an operator
        points += [
            (node.started_at, name, incident_text(name, node))
            for name, node in state.nodes.rows.items()
            if node.status == "incident"
        ]
    return points


def next_nodes(state: State) -> tuple[str, ...]:
    """Return what runs next when an execution goes on: what is ready or waits for a place, else what people lead to."""
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
    if len(points) > 1:
        points.sort(key=lambda one: (one.opened_at, one.id))
    for point in points:
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
    found = [
        WaitingOn(
            context_id=point.node,
            kind=point.kind,
            since=Moment.of(point.opened_at),
            until=Moment.maybe(point.deadline),
            point=point.id,
            failure=failure_of(point.failure),
        )
        for point in state.points.rows.values()
        if point.status == "open"
    ]
    found += [
        WaitingOn(
            context_id=name,
            kind="retry" if node.status == "backoff" else "incident",
            since=Moment.of(node.started_at),
            until=Moment.maybe(state.timers.get(name)),
            failure=failure_of(node.error),
        )
        for name, node in state.nodes.rows.items()
        if node.status in ("backoff", "incident")
    ]
    if len(found) > 1:
        found.sort(key=_age)
    return tuple(found)


def _age(one: WaitingOn) -> tuple[Moment, str]:
    return one.since or Moment.of(0), one.context_id


def view_of(row: ExecutionRow, cached: CachedState) -> Execution:
    """Return an execution as callers see it, from its row and its state."""
    return execution_view(row.info, cached.state, row.finished_at, head=row.head, version=row.version)
