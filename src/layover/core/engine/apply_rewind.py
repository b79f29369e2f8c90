"""Rewinding: a node and everything behind it become as if the node had just been reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.core.context_ids import context_id
from layover.core.engine.node_transitions import (
    arrive,
    drop_scope,
    forget_rounds,
    has_waited,
    is_settled,
    make_ready,
    move,
    scopes_of,
    variable_scope,
)
from layover.core.engine.state import ExecutionState, NodeState

if TYPE_CHECKING:
    from layover.core.engine import events as ev
    from layover.core.plan import PlannedGraph


def rewound(state: ExecutionState, event: ev.NodeRewound, _at: int) -> None:
    """Take a node and everything behind it back to before the node was reached, and make it ready."""
    first, _, path = event.node.partition(":")
    graph = state.graph(path)
    behind = behind_of(graph, graph.positions[first])
    reopened = 0
    # Attempt numbers go on, so that a late result of an earlier attempt is recognised.
    state.counts.put("old_attempts", state.counts["attempts"])
    answered = state.facts.answered
    for index in behind:
        name = context_id(path, graph.nodes[index].id)
        node = state.node(name)
        inner = list(scopes_of(state, name))
        if answered == name or answered.partition(":")[2] in inner:
            state.change(answered="")  # it is asked for again
        reopened += is_settled(node)
        for one in inner:
            drop_scope(state, one)
        forget_rounds(state, name, node)
        move(state, name, node, NodeState(attempt=node.attempt, waited=has_waited(node)))
        _give_back(state, name, inner)
    scope = state.scopes[path]
    state.scopes.put(path, replace(scope, open=scope.open + reopened))
    _arrive_again(state, path, graph, set(behind), graph.positions[first])
    if event.variables or event.unset:
        _take_back_variables(state, variable_scope(state, path), event.variables, event.unset)
    if event.root_variables or event.root_unset:
        _take_back_variables(state, "", event.root_variables, event.root_unset)
    make_ready(state, event.node, replace(state.node(event.node), error=event.error))


def _take_back_variables(
    state: ExecutionState, path: str, variables: dict[str, object], unset: tuple[str, ...]
) -> None:
    scope = state.scopes[path]
    kept = {name: value for name, value in (scope.variables or {}).items() if name not in unset}
    state.scopes.put(path, replace(scope, variables={**kept, **variables}))


def _give_back(state: ExecutionState, name: str, inner: list[str]) -> None:
    """Let the signals that a node has taken, or a node within it, be taken again."""
    for id_, one in list(state.taken.rows.items()):
        if one.node == name or (inner and one.node.partition(":")[2] in inner):
            state.taken.drop(id_)


def behind_of(graph: PlannedGraph, index: int) -> list[int]:
    """Return a node and all nodes that can be reached from it."""
    found = [index]
    seen = {index}
    for position in found:  # grows while it is walked
        for targets in graph.nodes[position].ports.values():
            new = [target for target in targets if target not in seen]
            seen.update(new)
            found.extend(new)
    return found


def _arrive_again(state: ExecutionState, path: str, graph: PlannedGraph, behind: set[int], first: int) -> None:
    """Settle anew the edges that lead into rewound nodes from nodes that keep their results."""
    for planned in graph.nodes:
        node = state.node(context_id(path, planned.id))
        if planned.index in behind or not is_settled(node):
            continue
        for out, targets in planned.ports.items():
            for index in targets:
                if index in behind and index != first:
                    arrive(state, path, graph.nodes[index], taken=out == node.port)
