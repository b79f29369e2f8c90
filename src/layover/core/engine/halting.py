"""Scopes that failed or were cancelled: how they are kept, and how they go on.

A halted scope is kept outside the tables of the running scopes: nothing in it is counted, queued or timed. It is there
until its container settles, so that a retry can continue from the failure and repeat no completed node. A call that
was out in it may have had its effect, so a node that must not be called twice is in doubt. Scopes within a halted
one are halted with it, each under its own path.

When a container is resumed, its halted scopes are due: they are reopened one by one, as its `concurrency` allows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from layover.core.context_ids import context_id
from layover.core.definitions.node_types import CallNode, Parallel
from layover.core.engine.node_transitions import (
    as_reached,
    drop_scope,
    keys_of,
    make_ready,
    move,
    recount,
    scope_path,
    scopes_within,
)
from layover.core.engine.state import ExecutionState, Halted, NodeState

if TYPE_CHECKING:
    from layover.core.engine import events as ev
    from layover.core.engine.events import NodeStatus
    from layover.core.plan import PlannedNode

# These were at work and start again. A node that waited at a point was stopped with the point.
_INTERRUPTED: Final[frozenset[NodeStatus]] = frozenset({"scheduled", "queued", "running", "backoff", "incident"})


def halt_scope(state: ExecutionState, path: str) -> None:
    """Keep a scope that ended before it was done, unless its container goes on without it anyway."""
    within = list(scopes_within(state, path))
    container = state.planned(state.scopes.rows[path].node).node
    is_kept = not (isinstance(container, Parallel) and container.on_failure == "continue")
    for one in (*within, path):
        if is_kept:
            _halt(state, one)
        else:
            drop_scope(state, one)


def _halt(state: ExecutionState, path: str) -> None:
    nodes: dict[str, NodeState] = {}
    for planned in state.graph(path).nodes:
        name = context_id(path, planned.id)
        node = state.nodes.rows.get(name)
        if node is not None:
            if node.status != "completed":  # that is counted nowhere
                recount(state, name, node, "idle")
            nodes[planned.id] = _as_halted(planned, node)
            state.nodes.drop(name)
    state.halted.put(path, Halted(scope=state.scopes.rows[path], nodes=nodes))
    state.scopes.drop(path)
    state.forget_graph(path)


def _as_halted(planned: PlannedNode, node: NodeState) -> NodeState:
    """Return a node as it is kept: stopped if it was at work, and in doubt if its call was out and must not repeat."""
    status = node.status
    if status in _INTERRUPTED:
        lost = status == "running" and isinstance(planned.node, CallNode) and planned.node.on_crash != "rerun"
        doubt = node.doubt or lost
        return replace(as_reached(node), status="stopped", doubt=doubt, input=node.input if doubt else None)
    if status == "ready":
        return replace(node, ticket=-1)
    return replace(node, open_scopes=0) if status == "entered" else node


def is_given_up(node: NodeState) -> bool:
    """Whether a node was stopped, or failed without being handled."""
    return node.status == "stopped" or (node.status == "failed" and not node.port)


def has_rounds(node: NodeState) -> bool:
    """Whether a node at work, or given up, is a container that has opened scopes and can go on with them."""
    return bool(node.next_round) and (node.status == "entered" or is_given_up(node))


def resume_container(state: ExecutionState, name: str) -> None:
    """Resume a container where it was: its halted scopes are due."""
    node = state.node(name)
    due = 0
    if state.halted.rows:
        for key in keys_of(state, name, node):
            path = scope_path(name, key)
            halted = state.halted.rows.get(path)
            if halted is not None:
                state.halted.put(path, replace(halted, due=True))
                due += 1
    again = replace(node, status="entered", error=None, failures=0, closed_seq=0, due_scopes=due, due_from=0)
    move(state, name, node, again)


def next_due(state: ExecutionState, name: str) -> tuple[int, int | str]:
    """Return the index and the key of the first halted scope of a container that is due."""
    node = state.node(name)
    keys = keys_of(state, name, node)
    for index in range(node.due_from, len(keys)):
        halted = state.halted.rows.get(scope_path(name, keys[index]))
        if halted is not None and halted.due:
            return index, keys[index]
    raise LookupError(f"no scope of {name} is due")


def scope_reopened(state: ExecutionState, event: ev.ScopeReopened, _at: int) -> None:
    """Put a halted scope back: the nodes that the event names are ready, containers go on, the rest is as it was."""
    name, path = event.node, scope_path(event.node, event.key)
    halted = state.halted[path]
    container = state.node(name)
    due_from = container.due_from
    if halted.due:
        index, key = next_due(state, name)
        due_from = index + 1 if key == event.key else due_from
    state.halted.drop(path)
    state.collected.drop((name, event.key))
    again = replace(
        container,
        open_scopes=container.open_scopes + 1,
        due_scopes=container.due_scopes - halted.due,
        due_from=due_from,
    )
    state.nodes.put(name, again)
    state.keep_graph(path, state.planned(name).body(event.key))
    state.scopes.put(path, halted.scope)
    for id_, node in halted.nodes.items():
        inner = context_id(path, id_)
        if inner in event.nodes:
            make_ready(state, inner, as_reached(node))
        elif node.status == "ready":
            make_ready(state, inner, node)
        else:
            state.nodes.put(inner, node)
            if has_rounds(node):
                resume_container(state, inner)
