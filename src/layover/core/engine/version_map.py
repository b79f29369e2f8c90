"""Which node of one version is which node of another, and what that makes of the nodes of a scope.

A node keeps its id, or has another one by the `names` that are given. What is done is done: a node that was settled
stays so, whatever has become of it. A node that is not settled goes on where it was. Edges are settled anew, by the
wiring of the other version, and so are the nodes that nothing has reached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from layover.core.context_ids import context_id, within
from layover.core.engine.node_transitions import is_settled
from layover.core.engine.state import NodeState

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from layover.core.engine.state import ExecutionState
    from layover.core.plan import Plan, PlannedGraph, PlannedNode


class ScopePair(NamedTuple):
    """An open scope by both versions: its paths, its graphs, and the new ids of the nodes that both have, by the old.

    Without a `new` graph the other version does not have the scope.
    """

    path: str
    new_path: str
    old: PlannedGraph
    new: PlannedGraph | None
    names: Mapping[str, str]

    def renamed(self, node: str) -> str | None:
        """Return the context id by the other version of a node, given its old id; None if there is none."""
        name = self.names.get(node)
        return context_id(self.new_path, name) if name is not None else None


class PassedNode(NamedTuple):
    """A node of the other version, with the state that it has there; `before` is its old id, if it had one."""

    planned: PlannedNode
    before: str | None
    node: NodeState


def scope_pairs(state: ExecutionState, plan: Plan, names: Mapping[str, str]) -> dict[str, ScopePair]:
    """Return the open scopes by both versions, by their old paths; each comes after those around it."""
    pairs: dict[str, ScopePair] = {}
    for path in sorted(state.scopes.rows, key=lambda path: (path.count(":") + bool(path), path)):
        if not path:
            pairs[path] = _pair("", "", state.graph(""), plan.graph, names)
            continue
        outer, _, step = path.rpartition(":")
        container, _, key = step.partition(".")
        around = pairs[outer]
        name = around.names.get(container)
        if around.new is None or name is None:
            pairs[path] = ScopePair(path, path, state.graph(path), None, {})
            continue
        bodies = around.new.by_id[name].bodies
        body = bodies.get("") or bodies.get(key)
        pairs[path] = _pair(path, within(around.new_path, name, key), state.graph(path), body, names)
    return pairs


def _pair(path: str, new_path: str, old: PlannedGraph, new: PlannedGraph | None, names: Mapping[str, str]) -> ScopePair:
    if new is None:
        return ScopePair(path, new_path, old, None, {})
    taken = {names[id_] for id_ in old.by_id if id_ in names}
    found = {id_: names.get(id_, id_) for id_ in old.by_id if id_ in names or id_ not in taken}
    return ScopePair(path, new_path, old, new, {id_: name for id_, name in found.items() if name in new.by_id})


def carried_nodes(pair: ScopePair, nodes: Mapping[str, NodeState], passed: Collection[str]) -> Iterator[PassedNode]:
    """Return the nodes of a scope by the other version, each after those before it, with their edges settled anew."""
    graph = pair.new
    if graph is None:
        return
    old_ids = {name: id_ for id_, name in pair.names.items()}
    arrived, taken = [0] * len(graph.nodes), [0] * len(graph.nodes)
    for index in graph.order:
        planned = graph.nodes[index]
        before = old_ids.get(planned.id)
        known = nodes.get(context_id(pair.path, before)) if before is not None else None
        node = replace(known or NodeState(), settled=arrived[index], taken=taken[index])
        if node.status == "idle":
            is_cut_off = bool(planned.incoming) and arrived[index] == planned.incoming and not taken[index]
            if is_cut_off or context_id(pair.new_path, planned.id) in passed:
                node = replace(node, status="skipped")
        yield PassedNode(planned, before, node)
        if is_settled(node):
            port = None if node.status == "skipped" else node.port
            for out, target in planned.edges:
                arrived[target] += 1
                taken[target] += out == port


def follows(graph: PlannedGraph, planned: PlannedNode, node: NodeState) -> bool:
    """Return whether a node that nothing has reached is ready as its edges are settled."""
    if node.status != "idle":
        return False
    if planned.index in graph.starts:
        return True
    return bool(node.taken) and (node.settled == planned.incoming or planned.node.join == "any")
