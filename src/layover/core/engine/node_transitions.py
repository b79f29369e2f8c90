"""How nodes and scopes change: the few steps that all events are made of.

When a node settles, its edges settle with it, taken or not, and nodes that nothing can reach any more settle as
skipped, transitively. Each edge settles once, so a change costs what it touches, whatever the size of the graph and the
length of the history. Counts and queues that depend on a node's status are updated here and nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from msgspec.structs import replace

from layover.core.context_ids import context_id, within
from layover.core.engine.state import Count, ExecutionState, NodeState, Scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from layover.core.engine.events import NodeStatus
    from layover.core.engine.tables import Table
    from layover.core.plan import PlannedGraph, PlannedNode

_COUNTED: Final[dict[NodeStatus, Count]] = {
    "scheduled": "calls",
    "running": "calls",
    "queued": "queued",
    "incident": "people",
}


def scope_path(container: str, key: int | str) -> str:
    """Return the path of a scope of a container, given the container's context id."""
    name, _, path = container.partition(":")
    return within(path, name, key)


def container_of(path: str) -> str:
    """Return the context id of the container that a scope belongs to."""
    around, _, step = path.rpartition(":")
    return context_id(around, step.partition(".")[0])


def variables_of(state: ExecutionState, path: str) -> dict[str, object]:
    """Return the variables that a scope reads: its own copy, or that of the nearest scope around it that has one."""
    return cast("dict[str, object]", state.scopes[variable_scope(state, path)].variables)


def variable_scope(state: ExecutionState, path: str) -> str:
    """Return the path of the scope whose variables a scope reads and writes."""
    while state.scopes[path].variables is None:
        path = path.rpartition(":")[0]
    return path


def set_variables(state: ExecutionState, path: str, values: dict[str, object]) -> None:
    """Give variables of a scope new values."""
    scope = state.scopes[path]
    state.scopes.put(path, replace(scope, variables={**(scope.variables or {}), **values}))


def open_scope(state: ExecutionState, path: str, scope: Scope, graph: PlannedGraph) -> None:
    """Open a scope: its first nodes are ready."""
    state.scopes.put(path, scope)
    for index in graph.starts:
        name = context_id(path, graph.nodes[index].id)
        state.nodes.put(name, NodeState(status="ready", ticket=_take_ticket(state, name)))


def drop_scope(state: ExecutionState, path: str) -> None:
    """Forget a scope and every node in it."""
    for planned in state.graph(path).nodes:
        name = context_id(path, planned.id)
        node = state.nodes.rows.get(name)
        if node is not None:
            if node.status != "completed":  # that is counted nowhere
                recount(state, name, node, "idle")
            if node.next_round:
                forget_rounds(state, name, node)
            state.nodes.drop(name)
    state.scopes.drop(path)
    state.forget_graph(path)


def open_scopes(state: ExecutionState, container: str) -> list[str]:
    """Return the paths of the scopes that a container has open, the latest first."""
    left = state.node(container).open_scopes
    found: list[str] = []
    if left:
        for key in reversed(keys_of(state, container, state.node(container))):
            path = scope_path(container, key)
            if path in state.scopes.rows:
                found.append(path)
                if len(found) == left:
                    break
    return found


def scopes_within(state: ExecutionState, path: str) -> Iterator[str]:
    """Find the scopes that are open inside a scope, at any depth."""
    for planned in state.graph(path).nodes:
        if planned.bodies:
            yield from scopes_of(state, context_id(path, planned.id))


def scopes_of(state: ExecutionState, container: str) -> Iterator[str]:
    """Find the scopes that a container has open, and those inside them."""
    for path in open_scopes(state, container):
        yield path
        yield from scopes_within(state, path)


def points_in(state: ExecutionState, paths: Iterable[str]) -> list[str]:
    """Return the points in some scopes, found by their nodes: there may be many more points elsewhere."""
    if not state.points.rows:
        return []
    names = (context_id(path, planned.id) for path in paths for planned in state.graph(path).nodes)
    return [point for name in names if (point := state.node(name).point)]


def is_within(name: str, path: str) -> bool:
    """Return whether a node is in a scope, or in one inside it."""
    around = name.partition(":")[2]
    return around == path or around.startswith(f"{path}:")


def keys_of(state: ExecutionState, container: str, node: NodeState) -> Sequence[int | str]:
    """Return the keys of the scopes that a container may have opened so far, in their order."""
    return [key for key in state.planned(container).bodies if key] or range(node.next_round)


def forget_rounds(state: ExecutionState, container: str, node: NodeState) -> None:
    """Drop the state of a container's rounds: it has settled, or starts anew."""
    if node.next_round:
        for key in keys_of(state, container, node):
            state.collected.drop((container, key))
            if state.halted.rows:
                _forget_halted(state, scope_path(container, key))


def _forget_halted(state: ExecutionState, path: str) -> None:
    """Drop a halted scope, and those within it."""
    halted = state.halted.rows.get(path)
    if halted is not None:
        for id_, node in halted.nodes.items():
            forget_rounds(state, context_id(path, id_), node)
        state.halted.drop(path)
        state.forget_graph(path)


def move(state: ExecutionState, name: str, old: NodeState, new: NodeState) -> None:
    """Replace a node, and update the counts by status."""
    recount(state, name, old, new.status)
    state.nodes.put(name, new)


def recount(state: ExecutionState, name: str, old: NodeState, new: NodeStatus) -> None:
    """Update the counts and queues that depend on the status that a node leaves, and on the one that it takes."""
    was = old.status
    if was == "scheduled" and new == "running":
        return  # by far the most common: no count changes
    left, taken = _COUNTED.get(was), _COUNTED.get(new)
    if left != taken:
        if left is not None:
            state.count(left, -1)
        if taken is not None:
            state.count(taken, 1)
    if was == "ready":
        dequeue(state, state.queue, old.ticket, "first_ticket", "next_ticket")
    if name in state.timers.rows:
        state.timers.drop(name)


def make_ready(state: ExecutionState, name: str, node: NodeState) -> None:
    """Put a node at the end of the queue of ready nodes."""
    state.nodes.put(name, replace(node, status="ready", ticket=_take_ticket(state, name)))


def _take_ticket(state: ExecutionState, name: str) -> int:
    ticket = state.counts.rows["next_ticket"]
    state.count("next_ticket", 1)
    state.queue.put(ticket, name)
    return ticket


def dequeue(state: ExecutionState, queue: Table[int, str], number: int, first: Count, beyond: Count) -> None:
    """Remove an entry from a queue; two counts hold its first number, and the next one to be given."""
    queue.drop(number)
    counts, rows = state.counts.rows, queue.rows
    if number == counts[first]:
        lowest = number + 1 if rows else counts[beyond]
        while rows and lowest not in rows:
            lowest += 1
        state.counts.put(first, lowest)


def settle(state: ExecutionState, name: str, port: str | None) -> None:
    """Settle the edges of a node, and in turn every node that can no longer be reached."""
    id_, _, path = name.partition(":")
    graph = state.graph(path)
    settled: list[tuple[PlannedNode, str | None]] = [(graph.by_id[id_], port)]
    closed = 0
    while settled:
        planned, taken_port = settled.pop()
        closed += 1
        for out, index in planned.edges:
            target = graph.nodes[index]
            if arrive(state, path, target, taken=out == taken_port):
                settled.append((target, None))
    scope = state.scopes.rows[path]
    state.scopes.put(path, replace(scope, open=scope.open - closed))


def arrive(state: ExecutionState, path: str, target: PlannedNode, *, taken: bool) -> bool:
    """Settle one edge into a node; return whether the node can no longer be reached."""
    name = context_id(path, target.id)
    node = state.node(name)
    arrived, reached = node.settled + 1, node.taken + taken
    status, ticket = node.status, node.ticket
    if status == "idle":
        complete = arrived == target.incoming
        if reached and (complete or target.node.join == "any"):
            status, ticket = "ready", _take_ticket(state, name)
        elif complete:
            status = "skipped"
    state.nodes.put(name, replace(node, status=status, settled=arrived, taken=reached, ticket=ticket))
    return status == "skipped" and node.status == "idle"


def is_settled(node: NodeState) -> bool:
    """Whether a node's edges are settled."""
    return node.status in ("completed", "skipped") or (node.status == "failed" and bool(node.port))


def as_reached(node: NodeState) -> NodeState:
    """Return a node as it was when it was first ready, except for its attempts and what they have recorded.

    The input of a call in doubt is kept: an undo, or a probe, gets the same.
    """
    return NodeState(
        settled=node.settled,
        taken=node.taken,
        attempt=node.attempt,
        checkpoint=node.checkpoint,
        journal=node.journal,
        input=node.input if node.doubt else None,
        doubt=node.doubt,
        undo=node.undo,
        waited=has_waited(node),
    )


def has_waited(node: NodeState) -> bool:
    """Whether a node has been at a point of its own, then or before it was rewound: it starts without an attempt."""
    return node.waited or bool(node.started_at and not node.attempt)
