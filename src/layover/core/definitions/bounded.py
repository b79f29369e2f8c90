"""A bound for containers whose number of rounds depends on data, where the definition gives none.

A list that comes from outside can have a hundred thousand items, and every item becomes a scope with events, rows and
memory. Containers that fix their number of rounds (`times: 50000`, branches) keep it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from layover.core.definitions.node_types import Loop, Parallel

if TYPE_CHECKING:
    from layover.core.definitions.model import Definition, GraphDefinition, Node

N = TypeVar("N", Loop, Parallel)


def bounded(definition: Definition, most: int) -> Definition:
    """Return a definition whose containers have at most so many rounds, unless the definition says otherwise.

    It is the same object if nothing had to be added.
    """
    graph = _graph(definition.graph, most)
    return definition if graph is definition.graph else replace(definition, graph=graph)


def _graph(graph: GraphDefinition, most: int) -> GraphDefinition:
    nodes = tuple(_node(node, most) for node in graph.nodes)
    same = all(one is other for one, other in zip(nodes, graph.nodes, strict=True))
    return graph if same else replace(graph, nodes=nodes)


def _node(node: Node, most: int) -> Node:
    if isinstance(node, Loop):
        body = _graph(node.body, most)
        inner = node if body is node.body else replace(node, body=body)
        return _limited(inner, most) if node.for_each is not None or isinstance(node.times, str) else inner
    if isinstance(node, Parallel):
        return _limited(_parallel(node, most), most) if node.for_each is not None else _parallel(node, most)
    return node


def _parallel(node: Parallel, most: int) -> Parallel:
    if node.body is not None:
        body = _graph(node.body, most)
        return node if body is node.body else replace(node, body=body)
    branches = tuple(
        branch if (body := _graph(branch.body, most)) is branch.body else replace(branch, body=body)
        for branch in node.branches
    )
    same = all(one is other for one, other in zip(branches, node.branches, strict=True))
    return node if same else replace(node, branches=branches)


def _limited(node: N, most: int) -> N:
    return replace(node, max_iterations=most) if node.max_iterations is None else node
