"""From a tree to nodes and edges: node types, the `next` shorthand, ports, starts.

A graph is written as `{nodes, edges, start}`, and a body may also be just the list of its nodes. However the edges were
written, they come out as edges with a named port, and `start` always names the first nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.core.definitions.kinds import Extra, Id, ShortText
from layover.core.definitions.model import Definition, DefinitionPart, Edge, GraphDefinition, Heading, Node
from layover.core.definitions.node_types import default_port, ports, struct_of
from layover.core.definitions.problems import display
from layover.core.definitions.read import Bad, Reading, read_struct

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from layover.core.definitions.limits import DefinitionLimits
    from layover.core.definitions.problems import Problems
    from layover.core.definitions.tree import Tree

_GRAPH_KEYS = frozenset({"nodes", "edges", "start"})
_NODE_KEYS = frozenset({"next"})


class DefinitionReader:
    """Reads one definition; afterwards `reading` knows the position of each part."""

    def __init__(self, problems: Problems, limits: DefinitionLimits) -> None:
        self.reading = Reading(problems, self.read_graph)
        self._problems = problems
        self._limits = limits
        self._nodes = 0
        self._edges = 0

    def read(self, tree: Tree) -> Definition | None:
        """Return the definition, or None if too much of it is missing; the problems say what."""
        if not isinstance(tree.value, dict):
            self.reading.bad("bad_type", tree, f"A definition is a mapping, not {display(tree)}.")
            return None
        graph = self._read_graph(tree, {})
        heading = read_struct(Heading, tree, self.reading, ignore=_GRAPH_KEYS)
        if self._edges > self._limits.edges:
            self.reading.bad("too_large", tree, f"A definition has at most {self._limits.edges} edges.")
        if isinstance(graph, Bad) or not isinstance(heading, Heading):
            return None
        definition = Definition(graph=graph, **msgspec.structs.asdict(heading))
        self.reading.note(definition, tree)
        return definition

    def read_graph(self, tree: Tree, reading: Reading) -> GraphDefinition | Bad:
        """Read a body: a graph, or just the list of its nodes."""
        if isinstance(tree.value, list):
            tree = tree.with_value({"nodes": tree})
        extra: dict[str, object] = {}
        for key, child in tree.value.items() if isinstance(tree.value, dict) else ():
            if key.startswith("x-"):
                extra[key] = child.plain()
            elif key not in _GRAPH_KEYS:
                what = f"A body has no field `{key}`"
                reading.problems.unknown("unknown_field", child.key_place, what, key, _GRAPH_KEYS)
        return self._read_graph(tree, extra)

    def _read_graph(self, tree: Tree, extra: dict[str, object]) -> GraphDefinition | Bad:
        reading = self.reading
        written = tree.get("nodes")
        if written is None or not isinstance(written.value, list):
            return reading.bad("missing_field", written or tree, "A graph needs `nodes`, a list.")
        if not written.value:
            return reading.bad("empty_graph", written, "A graph needs at least one node.")
        self._nodes += len(written.value)
        if self._nodes > self._limits.nodes:
            return reading.bad("too_large", written, f"A definition has at most {self._limits.nodes} nodes.")
        nodes = [node for node in map(self._read_node, written.value) if node is not None]
        edges = list(self._edges_of(tree, written.value, {node.id: node for node in nodes}))
        graph = GraphDefinition(
            nodes=tuple(nodes), edges=tuple(edges), start=self._starts(tree, nodes, edges), extra=extra
        )
        reading.note(graph, tree)
        return graph

    def _read_node(self, tree: Tree) -> Node | None:
        written = tree.get("type")
        kind = written.value if written is not None else None
        struct = struct_of(kind, tree.value if isinstance(tree.value, dict) else ())
        node = read_struct(struct, tree, self.reading, ignore=_NODE_KEYS)
        if isinstance(node, Node):
            return node
        named = tree.get("id")
        if named is None or not isinstance(named.value, str):
            return None
        unreadable = Unreadable(id=named.value, type="unreadable")
        self.reading.note(unreadable, tree)
        return unreadable

    def _edges_of(self, tree: Tree, written_nodes: list[Tree], nodes: Mapping[str, Node]) -> Iterator[Edge]:
        listed = tree.get("edges")
        if listed is not None:
            if isinstance(listed.value, list):
                for child in listed.value:
                    yield from self._listed_edge(child, nodes)
            else:
                self.reading.bad("bad_type", listed, f"`edges` is a list, not {display(listed)}.")
        for child in written_nodes:
            following, source = child.get("next"), child.get("id")
            if following is not None and source is not None and isinstance(source.value, str):
                yield from self._next_edges(following, source.value, nodes.get(source.value))

    def _listed_edge(self, tree: Tree, nodes: Mapping[str, Node]) -> Iterator[Edge]:
        edge = read_struct(_WrittenEdge, tree, self.reading)
        if not isinstance(edge, _WrittenEdge):
            return
        port = edge.port or self._default_port(tree, nodes.get(edge.source))
        yield self._edge(tree, edge.source, edge.target, port, id=edge.id, extra=edge.extra)

    def _next_edges(self, tree: Tree, source: str, node: Node | None) -> Iterator[Edge]:
        """Read `next: a`, `next: [a, b]` or `next: {port: a, other: [b, c]}`."""
        if isinstance(tree.value, dict):
            for name, targets in tree.value.items():
                yield from self._edges_to(targets, source, name)
            return
        yield from self._edges_to(tree, source, self._default_port(tree, node))

    def _edges_to(self, tree: Tree, source: str, port: str) -> Iterator[Edge]:
        for target in tree.value if isinstance(tree.value, list) else [tree]:
            if isinstance(target.value, str):
                yield self._edge(target, source, target.value, port)
            else:
                self.reading.bad("bad_type", target, f"`next` names a node, not {display(target)}.")

    def _default_port(self, tree: Tree, node: Node | None) -> str:
        """Return the port of an edge that names none; after a reported problem, any port will do."""
        if node is None:
            return "done"
        port = default_port(node.type)
        if port is None:
            port, *others = ports(node)
            named = " or ".join(f"`{name}`" for name in (port, *others) if name != "error")
            self.reading.bad("unknown_port", tree, f"A {node.type} leaves by {named}: say which goes where.")
        return port

    def _edge(
        self,
        tree: Tree,
        source: str,
        target: str,
        port: str,
        id: str = "",  # noqa: A002 - the word of the format
        extra: dict[str, object] | None = None,
    ) -> Edge:
        self._edges += 1
        edge = Edge(source=source, target=target, port=port, id=id, extra=extra or {})
        self.reading.note(edge, tree)
        return edge

    def _starts(self, tree: Tree, nodes: list[Node], edges: list[Edge]) -> tuple[str, ...]:
        """Return the nodes named by `start`, or else the nodes that no edge leads to."""
        written = tree.get("start")
        if written is None or written.value is None:
            targets = {edge.target for edge in edges}
            return tuple(dict.fromkeys(node.id for node in nodes if node.id not in targets))
        ids = [child.value for child in (written.value if isinstance(written.value, list) else [written])]
        names = tuple(name for name in ids if isinstance(name, str))
        if len(names) < len(ids) or not names:
            self.reading.bad("bad_type", written, "`start` is a list of node ids, such as `[first, second]`.")
        return names


class Unreadable(Node, frozen=True, kw_only=True):
    """Stands in for a node with problems, so that the rest of the graph can still be checked."""


class _WrittenEdge(DefinitionPart, frozen=True, kw_only=True):
    """An edge as its author may write it: without a port."""

    noun = "edge"

    source: Id
    target: Id
    port: Id | None = None
    id: ShortText = ""
    extra: Extra = msgspec.field(default_factory=dict)
