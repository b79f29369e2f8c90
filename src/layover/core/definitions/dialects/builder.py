"""The nodes and edges of a visual builder: `nodeId`, `type: logic`, `subType`, `config`, edges with handles.

The configuration of each node is flattened into our fields. Triggers are not nodes in our format: they are kept whole
for programs that start executions, and the nodes after them start the graph. Nodes that are in our own form stay as
they are, so that a document may mix both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.definitions.dialects.action_nodes import (
    make_call,
    make_custom_action,
    make_http,
    make_publish_event,
    response_words,
)
from layover.core.definitions.dialects.builder_draft import BuilderDraft
from layover.core.definitions.dialects.builder_node import REGISTRY, BuilderNode, id_of, is_builder_node, parse_node
from layover.core.definitions.dialects.draft import Draft
from layover.core.definitions.dialects.ids import FreshIds
from layover.core.definitions.dialects.logic_nodes import (
    make_condition,
    make_delay,
    make_function,
    make_loop,
    make_merge,
    make_pause,
    make_switch,
)
from layover.core.definitions.dialects.scope import RootNames
from layover.core.definitions.dialects.tree_edits import build_tree, items_of, text_of
from layover.core.definitions.dialects.wait_events import make_wait_events
from layover.core.definitions.dialects.wiring import EDGE_MARKS, DrawnEdge, Wiring
from layover.core.definitions.node_types import TYPES
from layover.core.definitions.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.core.definitions.dialects.builder_draft import NodeChain, SwitchPorts
    from layover.core.definitions.problems import Problems

_MAKERS: Final[dict[str, Callable[[BuilderDraft], None]]] = {
    "condition": make_condition,
    "switch": make_switch,
    "loop": make_loop,
    "delay": make_delay,
    "merge": make_merge,
    "function": make_function,
    "pause": make_pause,
    "pause-resume": make_pause,
    "wait-events": make_wait_events,
    "api-call": make_http,
    "publish-event": make_publish_event,
    "custom-action": make_custom_action,
}


def is_builder_graph(tree: Tree) -> bool:
    """Return whether any node or edge of a graph is in the builder's spelling."""
    return any(is_builder_node(node) for node in items_of(tree.get("nodes"))) or any(
        isinstance(edge.value, dict) and not EDGE_MARKS.isdisjoint(edge.value) for edge in items_of(tree.get("edges"))
    )


def translate_graph(tree: Tree, problems: Problems) -> tuple[dict[str, Tree], list[Tree]]:
    """Return the fields of a document with nodes and edges in our form, and the triggers that it had."""
    translation = _Translation(tree, problems)
    return translation.fields(), translation.triggers


class _Translation:
    """One graph, or the body of a container, during translation."""

    def __init__(
        self,
        tree: Tree,
        problems: Problems,
        outer: RootNames | None = None,
        variables: tuple[str, ...] = (),
        fresh: FreshIds | None = None,
    ) -> None:
        self._tree = tree
        self._problems = problems
        self._nested = outer is not None
        parts = [parse_node(node) for node in items_of(tree.get("nodes"))]
        self._parts = parts
        self._fresh = FreshIds() if fresh is None else fresh
        sketches = [part for part in parts if isinstance(part, BuilderNode)]
        self.triggers = [part.origin for part in sketches if self._is_trigger(part)]
        self._trigger_ids = {part.id for part in sketches if self._is_trigger(part)}
        ids = {text for part in parts if (text := id_of(part)) is not None} - self._trigger_ids
        self._fresh.take(ids)
        self._scope = RootNames(ids, self._trigger_ids) if outer is None else outer.within(ids, variables)
        self._wires: list[DrawnEdge | Tree] = [
            DrawnEdge(edge, dict(edge.value)) if isinstance(edge.value, dict) else edge
            for edge in items_of(tree.get("edges"))
        ]
        self._wires += [wire for part in parts for wire in _following(part)]
        self._labels: dict[str, set[str]] = {}
        for wire in self._wires:
            if isinstance(wire, DrawnEdge) and wire.label is not None:
                self._labels.setdefault(text_of(wire.source) or "", set()).add(wire.label)

    def fields(self) -> dict[str, Tree]:
        chains: dict[str, NodeChain] = {}
        routes: dict[str, SwitchPorts] = {}
        kinds: dict[str, str] = {}
        nodes: list[Tree] = []
        for part in self._parts:
            if isinstance(part, Tree):
                nodes.append(self._own(part))
            elif not self._is_trigger(part):
                draft = self._draft(part)
                chain = draft.chain(self._fresh)
                nodes += map(self._with_bodies, chain.nodes)
                chains[draft.id] = chain
                kinds[draft.id] = part.kind
                if part.kind == "switch":
                    routes[draft.id] = draft.routes
        return self._assembled(nodes, Wiring(chains, routes, kinds))

    def _is_trigger(self, part: BuilderNode) -> bool:
        return part.is_trigger and not self._nested

    def _draft(self, part: BuilderNode) -> BuilderDraft:
        fields = {key: tree for key, tree in part.fields.items() if key != "next"}
        draft = BuilderDraft(part.origin, part.name, fields, self._scope, self._problems, part.config)
        draft.labels = frozenset(self._labels.get(draft.id, ()))
        registry = draft.take(*REGISTRY)
        if registry is not None:
            draft.put("x-registry-id", registry)
        draft.put("id", part.name)
        self._make(draft, part)
        return draft

    def _make(self, draft: BuilderDraft, part: BuilderNode) -> None:
        mapping = draft.take("outputMapping", "output_mapping")
        make = _MAKERS.get(part.kind)
        if make is not None:
            make(draft)
        elif part.kind.replace("-", "_") in TYPES:
            draft.put("type", part.kind.replace("-", "_"), part.kind_tree)
            draft.put_retry()
        elif part.kind and part.category != "logic":
            make_call(draft, text_of(part.kind_tree) or part.kind, part.kind_tree)
        elif part.kind_tree is not None:
            draft.put("type", part.kind_tree)
        else:
            self._problems.add(
                "missing_field", part.origin.place, f"The node `{draft.id}` needs a sub type that says what it does."
            )
            draft.put("type", "unknown")
        if mapping is not None:
            draft.mapping = response_words(mapping) if part.kind == "api-call" else mapping

    def _own(self, node: Tree) -> Tree:
        """Return a node that is in our own form, with its texts and its retry policy translated."""
        if not isinstance(node.value, dict):
            return node
        fields = dict(node.value)
        if text_of(fields.get("id")) is not None:
            fields.pop("next", None)
        draft = Draft(node, fields, self._scope, self._problems)
        draft.put_retry()
        return self._with_bodies(draft.finish())

    def _with_bodies(self, node: Tree) -> Tree:
        """Return a node with its nested graphs translated."""
        if not isinstance(node.value, dict) or text_of(node.get("type")) not in {"loop", "parallel"}:
            return node
        fields = dict(node.value)
        variables = (text_of(fields.get("as")) or "item", text_of(fields.get("index_as")) or "index")
        if "body" in fields:
            fields["body"] = self._body(fields["body"], variables)
        branches = fields.get("branches")
        if branches is not None and isinstance(branches.value, list):
            fields["branches"] = branches.with_value([self._branch(branch) for branch in branches.value])
        return node.with_value(fields)

    def _branch(self, branch: Tree) -> Tree:
        body = branch.get("body")
        if body is None or not isinstance(branch.value, dict):
            return branch
        return branch.with_value({**branch.value, "body": self._body(body, ())})

    def _body(self, body: Tree, variables: tuple[str, ...]) -> Tree:
        if isinstance(body.value, list):
            body = body.with_value({"nodes": body})
        if not isinstance(body.value, dict):
            return body
        return body.with_value(_Translation(body, self._problems, self._scope, variables, self._fresh).fields())

    def _assembled(self, nodes: list[Tree], wiring: Wiring) -> dict[str, Tree]:
        fields = dict(self._tree.value) if isinstance(self._tree.value, dict) else {}
        if "nodes" in fields and isinstance(fields["nodes"].value, list):
            fields["nodes"] = fields["nodes"].with_value(nodes)
        edges: list[Tree] = []
        starts: dict[object, Tree] = {}
        for wire in self._wires:
            if isinstance(wire, Tree):
                edges.append(wire)
            elif text_of(wire.source) in self._trigger_ids and wire.target is not None:
                entry = wiring.entry(wire.target)
                starts.setdefault(text_of(entry), entry)
            else:
                edges += wiring.edges_for(wire)
        edges += wiring.edges_of_cases()
        edges += wiring.edges_of_chains()
        written = fields.get("edges")
        if (edges and written is None) or (written is not None and isinstance(written.value, list)):
            fields["edges"] = build_tree(edges, written if written is not None else self._tree)
        if starts:
            fields.setdefault(
                "start", build_tree(list(starts.values()), written if written is not None else self._tree)
            )
        return fields


def _following(part: BuilderNode | Tree) -> list[DrawnEdge]:
    """Return the edges that a node writes as `next`."""
    written = part.get("next") if isinstance(part, Tree) else part.fields.get("next")
    name = part.get("id") if isinstance(part, Tree) else part.name
    if written is None or name is None or text_of(name) is None:
        return []
    ports = written.value if isinstance(written.value, dict) else {"": written}
    return [
        DrawnEdge(target, {"source": name, "target": target, **({"port": build_tree(port, target)} if port else {})})
        for port, targets in ports.items()
        for target in (targets.value if isinstance(targets.value, list) else [targets])
        if target.value is not None
    ]
