"""How nodes and scopes move: the few changes that all events are made of.

When a node settles, its edges settle with it, taken or not, and nodes that nothing can reach any more settle as
skipped, transitively. Each edge settles once, so a change costs what it touches, whatever the size of the graph and the
length of the history. Whatever is counted or queued by a node's status is kept right here and nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from layover.core.context_ids import context_id, within
from layover.core.engine.state import CALLING, Execution, NodeState, Scope

if TYPE_CHECKING:
    from layover.core.plan import PlannedNode


def scope_path(container: str, key: int | str) -> str:
    """Return the path of a scope of a container, given the container's context id."""
    name, _, path = container.partition(":")
    return within(path, name, key)


def variables_of(state: Execution, path: str) -> dict[str, object]:
    """Return the variables that a scope reads: its own copy, or those of the nearest scope around it that has one."""
    return cast("dict[str, object]", state.scopes[variable_scope(state, path)].variables)


def variable_scope(state: Execution, path: str) -> str:
    """Return the path of the scope whose variables a scope reads and writes."""
    while state.scopes[path].variables is None:
        path = path.rpartition(":")[0]
    return path


def set_variables(state: Execution, path: str, values: dict[str, object]) -> None:
    """Give variables of a scope new values."""
    scope = state.scopes[path]
    state.scopes.put(path, replace(scope, variables={**(scope.variables or {}), **values}))


def open_scope(state: Execution, path: str, scope: Scope) -> None:
    """Begin a scope: its first nodes are ready."""
    state.scopes.put(path, scope)
    graph = state.graph(path)
    for index in graph.starts:
        make_ready(state, context_id(path, graph.nodes[index].id), NodeState())


def drop_scope(state: Execution, path: str) -> None:
    """Forget a scope and every node in it."""
    for planned in state.graph(path).nodes:
        name = context_id(path, planned.id)
        node = state.nodes.get(name)
        if node is not None:
            move(state, name, node, NodeState())
            forget_rounds(state, name, node)
            state.nodes.drop(name)
    state.scopes.drop(path)
    state.forget_graph(path)


def forget_rounds(state: Execution, container: str, node: NodeState) -> None:
    """Drop what the rounds of a container collected: it is in its output now, or it failed."""
    if node.next_round:
        branches = [key for key in state.planned(container).bodies if key]
        for key in branches or range(node.next_round):
            state.collected.drop((container, key))


def move(state: Execution, name: str, old: NodeState, new: NodeState) -> None:
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


def make_ready(state: Execution, name: str, node: NodeState) -> None:
    """Put a node at the end of the queue of those that may begin."""
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


def settle(state: Execution, name: str, port: str | None) -> None:
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
                if arrive(state, path, target, taken=out == taken_port):
                    settled.append((target, None))
    scope = state.scopes[path]
    state.scopes.put(path, replace(scope, open=scope.open - closed))


def arrive(state: Execution, path: str, target: PlannedNode, *, taken: bool) -> bool:
    """Settle one edge into a node; return whether the node can no longer be reached."""
    name = context_id(path, target.id)
    node = state.node(name)
    node = replace(node, settled=node.settled + 1, taken=node.taken + taken)
    complete = node.settled == target.incoming
    if node.status == "idle" and node.taken and (complete or target.node.join == "any"):
        make_ready(state, name, node)
        return False
    skipped = node.status == "idle" and complete
    state.nodes.put(name, replace(node, status="skipped") if skipped else node)
    return skipped


def is_settled(node: NodeState) -> bool:
    """Whether a node's edges are settled."""
    return node.status in ("completed", "skipped") or (node.status == "failed" and bool(node.port))


def as_reached(node: NodeState) -> NodeState:
    """Return a node as it was when it was first ready, but for the attempts it has made."""
    return NodeState(settled=node.settled, taken=node.taken, attempt=node.attempt)
