"""Problems of the wiring: ids, edges, ports, cycles, starts, unreachable nodes."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from layover.core.definitions.node_types import TYPES, ports
from layover.core.definitions.read_graph import Unreadable
from layover.core.definitions.topology import topology

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from layover.core.definitions.model import Edge, GraphDefinition, Node
    from layover.core.definitions.problems import Problems
    from layover.core.definitions.read import Reading
    from layover.core.definitions.topology import Topology

_MOST_LISTED = 20


def check_graph(graph: GraphDefinition, reading: Reading, outer: Sequence[Container[str]]) -> Topology:
    """Report the problems of one graph, without nested ones; `outer` are the ids of the enclosing graphs."""
    problems = reading.problems
    _check_ids(graph, reading, problems, outer)
    shape = topology(graph)
    _check_edges(graph, reading, problems, shape)
    started = _check_starts(graph, reading, problems, shape)
    if shape.cyclic:
        _report_cycle(graph, reading, problems, shape)
    elif started:
        _check_reachable(graph, reading, problems, shape)
    return shape


def _check_ids(graph: GraphDefinition, reading: Reading, problems: Problems, outer: Sequence[Container[str]]) -> None:
    first: dict[str, Node] = {}
    for node in graph.nodes:
        site = reading.site(node).get("id") or reading.site(node)
        if node.id in first:
            line = reading.site(first[node.id]).place.line
            where = f" (the other is on line {line})" if line is not None else ""
            problems.add("duplicate_id", site.place, f"Two nodes are called `{node.id}`{where}: rename one.")
        elif any(node.id in ids for ids in outer):
            problems.add(
                "shadowed_name",
                site.place,
                f"`{node.id}` is also the id of a node outside, which could not be read from here: rename one.",
            )
        first.setdefault(node.id, node)


def _check_edges(graph: GraphDefinition, reading: Reading, problems: Problems, shape: Topology) -> None:
    seen: set[tuple[str, str, str]] = set()
    known: dict[str, dict[str, None]] = {}
    for edge in graph.edges:
        place = reading.site(edge).place
        for end in (edge.source, edge.target):
            if end not in shape.position:
                what = f"There is no node `{end}` in this graph"
                problems.unknown("dangling_edge", place, what, end, shape.position)
        _check_port(edge, graph, reading, shape, known)
        wire = (edge.source, edge.port, edge.target)
        if wire in seen:
            problems.add("duplicate_edge", place, f"`{edge.source}` goes to `{edge.target}` by `{edge.port}` twice.")
        seen.add(wire)


def _check_port(
    edge: Edge, graph: GraphDefinition, reading: Reading, shape: Topology, ports_by_id: dict[str, dict[str, None]]
) -> None:
    index = shape.position.get(edge.source)
    node = graph.nodes[index] if index is not None else None
    if node is None or isinstance(node, Unreadable):
        return
    known = ports_by_id.get(node.id)
    if known is None:
        known = ports_by_id[node.id] = dict.fromkeys(ports(node))
    if edge.port in known:
        return
    site = reading.site(edge)
    place = site.key_place if site.key_place.key == edge.port else site.place
    if not known:
        reading.problems.add("unknown_port", place, f"`{node.id}` ends the execution: nothing can follow it.")
        return
    listed = ", ".join(f"`{port}`" for port in islice(known, _MOST_LISTED))
    more = ", …" if len(known) > _MOST_LISTED else ""
    kind = f"`{node.type}`" if node.type in TYPES else "a function node"
    what = f"`{node.id}` has no port `{edge.port}`: {kind} has {listed}{more}"
    reading.problems.unknown("unknown_port", place, what, edge.port, known)


def _check_starts(graph: GraphDefinition, reading: Reading, problems: Problems, shape: Topology) -> bool:
    """Report wrong starts; return whether it is known which nodes start the graph."""
    site = reading.site(graph)
    written = site.get("start")
    place = (written or site.get("nodes") or site).place
    targets = {edge.target for edge in graph.edges if edge.source in shape.position}
    if written is None or written.value is None:
        if len(graph.start) > 1:
            names = ", ".join(f"`{name}`" for name in graph.start[:10])
            problems.add(
                "several_starts",
                place,
                f"No edge leads to {names}: connect them, or name the first nodes with `start: [...]`.",
            )
        return len(graph.start) == 1
    known = True
    for name in graph.start:
        if name not in shape.position:
            known = False
            problems.unknown("unknown_start", place, f"There is no node `{name}` to start with", name, shape.position)
        elif name in targets:
            problems.add("start_has_edge", place, f"`{name}` starts the graph, so no edge may lead to it.")
    if len(set(graph.start)) < len(graph.start):
        problems.add("duplicate_id", place, "`start` names a node twice.")
    return known


def _report_cycle(graph: GraphDefinition, reading: Reading, problems: Problems, shape: Topology) -> None:
    around = [graph.nodes[index] for index in shape.cycle()]
    shown = [node.id for node in around[:8]] + (["…"] if len(around) > 8 else [])
    path = " → ".join([*shown, around[0].id])
    problems.add(
        "cycle",
        reading.site(around[0]).place,
        f"These nodes wait for each other: {path}. To repeat something, put it into a `loop`.",
    )


def _check_reachable(graph: GraphDefinition, reading: Reading, problems: Problems, shape: Topology) -> None:
    reached = shape.reachable(shape.position[name] for name in graph.start if name in shape.position)
    for index, node in enumerate(graph.nodes):
        if index not in reached and shape.position[node.id] == index:
            problems.add(
                "unreachable_node",
                reading.site(node).place,
                f"Nothing leads to `{node.id}`: connect it, name it in `start`, or take it out.",
            )
