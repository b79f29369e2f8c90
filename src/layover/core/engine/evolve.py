"""Events to state. No rule lives here and nothing can fail: an event that was recorded has happened.

The one thing that is derived rather than told: when a node settles, its edges settle with it, taken or not, and nodes
that nothing can reach any more settle as skipped, transitively. Each edge settles once, so an event costs what it
changes, whatever the size of the graph and the length of the history.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from layover.core.engine import events as ev
from layover.core.engine.state import CALLING, PEOPLE, Collected, Execution, NodeState, Point, Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from layover.core.plan import PlannedNode


def evolve(state: Execution, event: ev.AnyEvent, at: int) -> Execution:
    """Apply an event that happened at a time; the state itself moves on and is returned."""
    _APPLY[type(event)](state, event, at)
    state.count("seq", 1)
    return state


def fold(state: Execution, entries: Iterable[tuple[int, ev.AnyEvent]]) -> Execution:
    """Apply committed events, each with its time; there is no way back behind them."""
    for at, event in entries:
        evolve(state, event, at)
    state.journal.keep()
    return state


def context_id(path: str, node: str) -> str:
    """Return the address of a node in a scope."""
    return f"{node}:{path}" if path else node


def scope_path(container: str, key: int | str) -> str:
    """Return the path of a scope of a container, given the container's context id."""
    name, _, path = container.partition(":")
    return f"{path}:{name}.{key}" if path else f"{name}.{key}"


# Execution


def _created(state: Execution, event: ev.ExecutionCreated, at: int) -> None:
    state.change(
        id=event.id,
        workflow=event.workflow,
        hash=event.hash,
        input=event.input,
        trigger=event.trigger,
        user=event.user,
        created_at=at,
    )


def _started(state: Execution, _event: ev.ExecutionStarted, at: int) -> None:
    state.change(started_at=at)
    _open_scope(state, "", Scope(open=len(state.plan.graph.nodes), variables=state.plan.definition.variables))


def _pausing(state: Execution, event: ev.ExecutionPausing, at: int) -> None:
    state.change(gate="pausing", paused_reason=event.reason, paused_at=at)


def _paused(state: Execution, _event: ev.ExecutionPaused, _at: int) -> None:
    state.change(gate="paused")


def _resumed(state: Execution, event: ev.ExecutionResumed, _at: int) -> None:
    facts = state.facts
    state.change(gate="open", paused_reason="", paused_at=0, resume_count=facts.resume_count + 1)
    if event.data:
        _set_variables(state, "", event.data)


def _execution_completed(state: Execution, event: ev.ExecutionCompleted, _at: int) -> None:
    _close(state, closed="completed", output=event.output, outcome=event.outcome, outcome_reason=event.reason)


def _execution_failed(state: Execution, event: ev.ExecutionFailed, _at: int) -> None:
    _close(state, closed="failed", error=event.error, failed_node=event.node)


def _cancelled(state: Execution, event: ev.ExecutionCancelled, _at: int) -> None:
    _close(state, closed="cancelled", outcome_reason=event.reason)


def _close(state: Execution, **facts: object) -> None:
    state.change(gate="open", paused_reason="", paused_at=0, **facts)


# Nodes


def _scheduled(state: Execution, event: ev.NodeScheduled, _at: int) -> None:
    node = state.node(event.node)
    recovered = event.cause == "recovered"
    _move(
        state,
        event.node,
        node,
        replace(node, status="scheduled", attempt=event.attempt, recoveries=node.recoveries + recovered, ticket=-1),
    )


def _node_started(state: Execution, event: ev.NodeStarted, at: int) -> None:
    node = state.node(event.node)
    status = "entered" if state.planned(event.node).bodies else "running"
    started = replace(node, status=status, attempt=event.attempt, started_at=at, input=event.input, ticket=-1)
    _move(state, event.node, node, started)
    if event.timeout_at is not None:
        state.timers.put(event.node, event.timeout_at)


def _checkpointed(state: Execution, event: ev.NodeCheckpointed, _at: int) -> None:
    state.nodes.put(event.node, replace(state.node(event.node), checkpoint=event.data))


def _recorded(state: Execution, event: ev.NodeRecorded, _at: int) -> None:
    node = state.node(event.node)
    state.nodes.put(event.node, replace(node, journal={**node.journal, event.key: event.value}))


def _node_completed(state: Execution, event: ev.NodeCompleted, _at: int) -> None:
    node = state.node(event.node)
    done = NodeState(
        status="completed",
        settled=node.settled,
        taken=node.taken,
        attempt=node.attempt,
        failures=node.failures,
        started_at=node.started_at,
        output=event.output,
        port=event.port,
        closed_seq=state.counts["seq"],
        error=event.error,
    )
    _move(state, event.node, node, done)
    _forget_rounds(state, event.node, node)
    _settle(state, event.node, event.port)


def _node_failed(state: Execution, event: ev.NodeFailed, _at: int) -> None:
    node = state.node(event.node)
    status = "backoff" if event.retry_at is not None else "incident" if event.incident else "failed"
    failed = replace(
        node,
        status=status,
        failures=node.failures + 1,
        error=event.error,
        port=event.port or "",
        closed_seq=state.counts["seq"],
        ticket=-1,
        point="",
    )
    _move(state, event.node, node, failed)
    if event.retry_at is not None:
        state.timers.put(event.node, event.retry_at)
    if status == "failed":
        _forget_rounds(state, event.node, node)
        if event.port is not None:
            _settle(state, event.node, event.port)


# Scopes


def _scope_opened(state: Execution, event: ev.ScopeOpened, _at: int) -> None:
    path = scope_path(event.node, event.key)
    container = state.node(event.node)
    state.nodes.put(
        event.node,
        replace(container, open_scopes=container.open_scopes + 1, next_round=container.next_round + 1),
    )
    copied = state.planned(event.node).node.type == "parallel"
    variables = variables_of(state, event.node.partition(":")[2]) if copied else None
    graph = state.graph(path)
    scope = Scope(open=len(graph.nodes), node=event.node, key=event.key, item=event.item, variables=variables)
    _open_scope(state, path, scope)


def _scope_closed(state: Execution, event: ev.ScopeClosed, _at: int) -> None:
    path = scope_path(event.node, event.key)
    if path in state.scopes:
        if event.end in ("failed", "cancelled"):
            for inner in [other for other in state.scopes.rows if other.startswith(f"{path}:")]:
                _drop_scope(state, inner)
        _drop_scope(state, path)
        container = state.node(event.node)
        state.nodes.put(event.node, replace(container, open_scopes=container.open_scopes - 1))
    else:  # a round that was skipped before it began
        container = state.node(event.node)
        state.nodes.put(event.node, replace(container, next_round=container.next_round + 1))
    kept = event.end in ("done", "broken")
    state.collected.put((event.node, event.key), Collected(output=event.output, kept=kept, error=event.error))


def _variable_set(state: Execution, event: ev.VariableSet, _at: int) -> None:
    _set_variables(state, event.scope, event.values)


# Pause points


def _opened(state: Execution, event: ev.PausePointOpened, at: int) -> None:
    point = Point(
        id=event.point,
        node=event.node,
        kind=event.kind,
        opened_at=at,
        deadline=event.deadline,
        on_deadline=event.on_deadline,
        details=event.details,
    )
    state.points.put(event.point, point)
    if event.deadline is not None:
        state.timers.put(event.point, event.deadline)
    if event.kind in PEOPLE:
        state.count("people", 1)
    node = state.node(event.node)
    _move(state, event.node, node, replace(node, status="waiting", started_at=at, point=event.point, ticket=-1))


def _answered(state: Execution, event: ev.PausePointAnswered, _at: int) -> None:
    point = state.points[event.point]
    state.timers.drop(event.point)
    turn = state.counts["answers"]
    state.count("answers", 1)
    state.points.put(
        event.point,
        replace(point, status="answered", port=event.port, output=event.output, by=event.by, turn=turn),
    )
    if point.kind in PEOPLE:
        state.count("people", -1)


def _point_ended(
    state: Execution, event: ev.PausePointApplied | ev.PausePointExpired | ev.PausePointCancelled, _at: int
) -> None:
    point = state.points[event.point]
    state.points.drop(event.point)
    state.timers.drop(event.point)
    if point.kind in PEOPLE and point.status == "open":
        state.count("people", -1)
    node = state.node(point.node)
    status = "stopped" if isinstance(event, ev.PausePointCancelled) else "running"
    _move(state, point.node, node, replace(node, status=status, point=""))


# What the appliers share


def variables_of(state: Execution, path: str) -> dict[str, object]:
    """Return the variables that a scope reads: its own copy, or those of the nearest scope around it that has one."""
    return cast("dict[str, object]", state.scopes[variable_scope(state, path)].variables)


def variable_scope(state: Execution, path: str) -> str:
    """Return the path of the scope whose variables a scope reads and writes."""
    while state.scopes[path].variables is None:
        path = path.rpartition(":")[0]
    return path


def _set_variables(state: Execution, path: str, values: dict[str, object]) -> None:
    scope = state.scopes[path]
    state.scopes.put(path, replace(scope, variables={**(scope.variables or {}), **values}))


def _open_scope(state: Execution, path: str, scope: Scope) -> None:
    state.scopes.put(path, scope)
    graph = state.graph(path)
    for index in graph.starts:
        _make_ready(state, context_id(path, graph.nodes[index].id), NodeState())


def _drop_scope(state: Execution, path: str) -> None:
    for planned in state.graph(path).nodes:
        name = context_id(path, planned.id)
        node = state.nodes.get(name)
        if node is not None:
            _move(state, name, node, NodeState())
            _forget_rounds(state, name, node)
            state.nodes.drop(name)
    state.scopes.drop(path)


def _forget_rounds(state: Execution, container: str, node: NodeState) -> None:
    """Drop what the rounds of a container collected: it is in its output now, or it failed."""
    if node.next_round:
        branches = [key for key in state.planned(container).bodies if key]
        for key in branches or range(node.next_round):
            state.collected.drop((container, key))


def _move(state: Execution, name: str, old: NodeState, new: NodeState) -> None:
    """Replace a node, with all that is counted by its status."""
    change = (new.status in CALLING) - (old.status in CALLING)
    if change:
        state.count("calls", change)
    change = (new.status == "incident") - (old.status == "incident")
    if change:
        state.count("people", change)
    if old.status == "ready":
        _take_off_queue(state, old.ticket)
    if name in state.timers:
        state.timers.drop(name)
    state.nodes.put(name, new)


def _make_ready(state: Execution, name: str, node: NodeState) -> None:
    ticket = state.counts["next_ticket"]
    state.count("next_ticket", 1)
    state.queue.put(ticket, name)
    state.nodes.put(name, replace(node, status="ready", ticket=ticket))


def _take_off_queue(state: Execution, ticket: int) -> None:
    state.queue.drop(ticket)
    first, beyond = state.counts["first_ticket"], state.counts["next_ticket"]
    if ticket == first:
        queue = state.queue.rows
        while first < beyond and first not in queue:
            first += 1
        state.counts.put("first_ticket", first)


def _settle(state: Execution, name: str, port: str | None) -> None:
    """Settle a node's edges, and in turn every node that this leaves without any way to be reached."""
    id_, _, path = name.partition(":")
    graph = state.graph(path)
    settled: list[tuple[PlannedNode, str | None]] = [(graph.node(id_), port)]
    closed = 0
    while settled:
        planned, taken_port = settled.pop()
        closed += 1
        for out, targets in planned.ports.items():
            for index in targets:
                target = graph.nodes[index]
                if _arrive(state, path, target, taken=out == taken_port):
                    settled.append((target, None))
    scope = state.scopes[path]
    state.scopes.put(path, replace(scope, open=scope.open - closed))


def _arrive(state: Execution, path: str, target: PlannedNode, *, taken: bool) -> bool:
    """Settle one edge into a node; return whether the node can no longer be reached."""
    name = context_id(path, target.id)
    node = state.node(name)
    node = replace(node, settled=node.settled + 1, taken=node.taken + taken)
    complete = node.settled == target.incoming
    if node.status == "idle" and node.taken and (complete or target.node.join == "any"):
        _make_ready(state, name, node)
        return False
    skipped = node.status == "idle" and complete
    state.nodes.put(name, replace(node, status="skipped") if skipped else node)
    return skipped


_APPLY: dict[type[ev.Event], Callable[[Execution, ev.AnyEvent, int], None]] = cast(
    "dict[type[ev.Event], Callable[[Execution, ev.AnyEvent, int], None]]",
    {
        ev.ExecutionCreated: _created,
        ev.ExecutionStarted: _started,
        ev.ExecutionPausing: _pausing,
        ev.ExecutionPaused: _paused,
        ev.ExecutionResumed: _resumed,
        ev.ExecutionCompleted: _execution_completed,
        ev.ExecutionFailed: _execution_failed,
        ev.ExecutionCancelled: _cancelled,
        ev.NodeScheduled: _scheduled,
        ev.NodeStarted: _node_started,
        ev.NodeCheckpointed: _checkpointed,
        ev.NodeRecorded: _recorded,
        ev.NodeCompleted: _node_completed,
        ev.NodeFailed: _node_failed,
        ev.ScopeOpened: _scope_opened,
        ev.ScopeClosed: _scope_closed,
        ev.VariableSet: _variable_set,
        ev.PausePointOpened: _opened,
        ev.PausePointAnswered: _answered,
        ev.PausePointApplied: _point_ended,
        ev.PausePointExpired: _point_ended,
        ev.PausePointCancelled: _point_ended,
    },
)
