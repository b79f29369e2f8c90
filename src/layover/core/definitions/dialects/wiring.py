"""The edges of a builder's graph: by which port of a node each one leaves.

A builder marks the port by a handle, a branch or a label. On a condition, a switch and on nodes that have such a port
it names one; anywhere else it is only drawn, and is kept as an `x-` field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.definitions.dialects.ids import is_id, port_name
from layover.core.definitions.dialects.tree_edits import build_tree, kebab, label_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.core.definitions.dialects.builder_draft import NodeChain, SwitchPorts
    from layover.core.definitions.dialects.tree_edits import Shape
    from layover.core.definitions.tree import Tree

SOURCES: Final = ("source", "sourceNodeId", "source_node_id", "sourceId", "from")
TARGETS: Final = ("target", "targetNodeId", "target_node_id", "targetId", "to")
LABELS: Final = ("port", "sourceHandle", "source_handle", "branch", "label")
EDGE_MARKS: Final = frozenset({*SOURCES[1:], *TARGETS[1:], *LABELS[1:], "targetHandle", "animated", "markerEnd"})
_DRAWN: Final = frozenset({"targetHandle", "target_handle", "type", "animated", "style", "markerEnd", "data", "label"})
_PORTS: Final = frozenset({"done", "error", "expired", "approved", "rejected", "default", "true", "false"})
_WORDS: Final = {"yes": "true", "no": "false", "success": "done", "failure": "error", "on-error": "error"}


class DrawnEdge:
    """One edge as it was drawn."""

    __slots__ = ("fields", "label", "label_tree", "origin", "source", "target")

    def __init__(self, origin: Tree, fields: dict[str, Tree]) -> None:
        self.origin = origin
        self.fields = fields
        self.source = _take(fields, SOURCES)
        self.target = _take(fields, TARGETS)
        self.label_tree = next((tree for key in LABELS if (tree := fields.get(key)) and label_of(tree)), None)
        self.label = label_of(self.label_tree)


class Wiring:
    """Translates drawn edges into ours, given the translated nodes."""

    def __init__(self, chains: dict[str, NodeChain], routes: dict[str, SwitchPorts], kinds: dict[str, str]) -> None:
        self._chains = chains
        self._routes = routes
        self._kinds = kinds
        self._drawn: set[tuple[str, str]] = set()

    def entry(self, target: Tree) -> Tree:
        """Return the first of the nodes that a node became."""
        chain = self._chains.get(text_of(target) or "")
        return target if chain is None or chain.ids[0] == target.value else target.with_value(chain.ids[0])

    def edges_for(self, wire: DrawnEdge) -> Iterator[Tree]:
        """Return the edges that one drawn edge becomes: at least one, sometimes several."""
        source, target = text_of(wire.source) or "", text_of(wire.target) or ""
        self._drawn.add((source, target))
        for port in self._ports(wire, source, target):
            for leaving in self._leaving(source, port):
                yield self._edge(wire, leaving, port)

    def edges_of_cases(self) -> Iterator[Tree]:
        """Return the edges to nodes that the cases of a switch name and that are not drawn."""
        made: set[tuple[str, str, str]] = set()
        for source, routes in self._routes.items():
            for case in routes.cases:
                wire = (source, text_of(case.target) or "", case.port)
                if wire not in made and wire[:2] not in self._drawn:
                    made.add(wire)
                    yield build_tree(
                        {"source": source, "target": self.entry(case.target), "port": case.port}, case.target
                    )

    def edges_of_chains(self) -> Iterator[Tree]:
        """Return the edges inside the chains that single nodes became."""
        for chain in self._chains.values():
            for index, node in enumerate(chain.nodes[:-1]):
                yield build_tree({"source": chain.ids[index], "target": chain.ids[index + 1]}, node)

    def _ports(self, wire: DrawnEdge, source: str, target: str) -> list[str | None]:
        routes = self._routes.get(source)
        label = wire.label
        if routes is not None and label is None:
            return list(routes.targets.get(target, [])) or [None]
        if label is None:
            return [None]
        if routes is not None and label in routes.ports:
            return list(routes.ports[label])
        if "port" in wire.fields or self._kinds.get(source) == "switch":
            return [label if is_id(label) else port_name(label)]
        word = _WORDS.get(kebab(label), kebab(label))
        return [word if word in _PORTS else None]

    def _leaving(self, source: str, port: str | None) -> tuple[str, ...]:
        chain = self._chains.get(source)
        if chain is None or len(chain.ids) == 1:
            return (source,)
        if port == "error":
            return chain.ids
        return (chain.ids[-1],) if port in (None, "done") else (chain.main,)

    def _edge(self, wire: DrawnEdge, source: str, port: str | None) -> Tree:
        made: dict[str, Shape] = {}
        if wire.source is not None:
            made["source"] = wire.source if wire.source.value == source else build_tree(source, wire.source)
        if wire.target is not None:
            made["target"] = self.entry(wire.target)
        if port is not None:
            made["port"] = build_tree(port, wire.label_tree) if wire.label_tree is not None else port
        for key, tree in wire.fields.items():
            if key in _DRAWN or (key in LABELS[1:] and (port is None or tree is not wire.label_tree)):
                made[f"x-{kebab(key)}"] = tree
            elif key not in LABELS:
                made[key] = tree
        return build_tree(made, wire.origin)


def _take(fields: dict[str, Tree], spellings: tuple[str, ...]) -> Tree | None:
    for spelling in spellings:
        if spelling in fields:
            return fields.pop(spelling)
    return None
