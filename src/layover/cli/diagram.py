"""A plan as a diagram: what Mermaid and SVG draw, before either draws it.

A container holds bodies, and an edge stays within one body, so a diagram is a tree of small graphs. Ids are numbers:
no text of a definition is ever used as a name in a drawing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from layover.cli.graph import node_summary
from layover.core.definitions.node_types import Switch, default_port

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.core.definitions.model import Node
    from layover.core.definitions.node_types import Case
    from layover.core.plan import Plan, PlannedGraph, PlannedNode

Shape: TypeAlias = Literal["work", "decision", "pause", "child", "end", "container"]

_SHAPES: dict[str, Shape] = {
    "condition": "decision",
    "switch": "decision",
    "approval": "pause",
    "form": "pause",
    "delay": "pause",
    "wait_signal": "pause",
    "callback": "pause",
    "workflow": "child",
    "loop": "container",
    "parallel": "container",
    "end": "end",
}
_LONGEST = 40


class DiagramEdge(msgspec.Struct, frozen=True):
    """An edge from a node of a body to another, by their places in it; the usual way out has no label."""

    source: int
    target: int
    label: str = ""


class DiagramBody(msgspec.Struct, frozen=True, kw_only=True):
    """One graph: that of the workflow, or one inside of a container; `label` is the name of its branch."""

    label: str = ""
    nodes: tuple[DiagramNode, ...]
    edges: tuple[DiagramEdge, ...]
    starts: tuple[int, ...]


class DiagramNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node with what is written on it: its name, its type, and what it does."""

    number: int
    title: str
    type: str
    detail: str
    shape: Shape
    bodies: tuple[DiagramBody, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """What is written on it."""
        return (self.title, self.type, self.detail) if self.detail else (self.title, self.type)


class Diagram(msgspec.Struct, frozen=True, kw_only=True):
    """The diagram of a workflow."""

    title: str
    body: DiagramBody


def diagram_of(plan: Plan) -> Diagram:
    """Return the diagram of a plan."""
    return Diagram(title=plan.definition.name, body=_Numbered().body(plan.graph, ""))


class _Numbered:
    """Gives each node of a plan a number."""

    def __init__(self) -> None:
        self._count = 0

    def body(self, graph: PlannedGraph, label: str) -> DiagramBody:
        """Return a graph with its nodes in the order in which they can run."""
        places = {index: place for place, index in enumerate(graph.order)}
        return DiagramBody(
            label=label,
            nodes=tuple(self._node(graph.nodes[index]) for index in graph.order),
            edges=tuple(_edges(graph, places)),
            starts=tuple(places[index] for index in graph.starts),
        )

    def _node(self, planned: PlannedNode) -> DiagramNode:
        node = planned.node
        self._count += 1
        return DiagramNode(
            number=self._count,
            title=_cut(node.label or node.id),
            type=_cut(node.type),
            detail=_cut(node_summary(node)),
            shape=_SHAPES.get(node.type, "work"),
            bodies=tuple(self.body(graph, _cut(branch)) for branch, graph in planned.bodies.items()),
        )


def _edges(graph: PlannedGraph, places: dict[int, int]) -> Iterator[DiagramEdge]:
    for index in graph.order:
        planned = graph.nodes[index]
        for port, target in planned.edges:
            yield DiagramEdge(places[index], places[target], _edge_label(planned.node, port))


def _edge_label(node: Node, port: str) -> str:
    """Return the port by which an edge leaves, with the condition under which it does; nothing for the usual one."""
    if isinstance(node, Switch):
        conditions = [_condition(node, case) for case in node.cases if case.port == port]
        return _cut(f"{port}: {' or '.join(conditions)}") if conditions else port
    return "" if port == default_port(node.type) else port


def _condition(node: Switch, case: Case) -> str:
    if case.if_ is not None:
        return case.if_
    text = msgspec.json.encode(case.equals).decode() if case.equals is not msgspec.UNSET else ""
    return f"= {text}" if node.value else text


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
