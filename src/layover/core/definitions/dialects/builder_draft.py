"""A node of a builder's graph during translation, with its changes to the graph around it.

Most nodes become one node. Some need a node that runs first, or map their answer afterwards: such a chain is entered at
its first node and left by its last, which keeps the id, because that is the output that others read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.core.definitions.dialects.draft import Draft
from layover.core.definitions.dialects.tree_edits import build_tree
from layover.core.definitions.tree import Tree

if TYPE_CHECKING:
    from layover.core.definitions.dialects.ids import FreshIds
    from layover.core.definitions.dialects.scope import RootNames
    from layover.core.definitions.problems import Problems


class CaseTarget(msgspec.Struct, frozen=True):
    """A case of a switch that names its target node instead of a branch."""

    target: Tree
    port: str


class SwitchPorts(msgspec.Struct):
    """The meaning of a switch's edges: ports by the edge's label, and ports by the node it leads to."""

    ports: dict[str, list[str]] = msgspec.field(default_factory=dict)
    targets: dict[str, list[str]] = msgspec.field(default_factory=dict)
    cases: list[CaseTarget] = msgspec.field(default_factory=list)


class NodeChain(msgspec.Struct, frozen=True):
    """The nodes that one node became: entered at the first, left by the last; `main` has the special ports."""

    nodes: tuple[Tree, ...]
    ids: tuple[str, ...]
    main: str


class BuilderDraft(Draft):
    """A node of a builder's graph during translation."""

    def __init__(
        self,
        origin: Tree,
        name: Tree,
        fields: dict[str, Tree],
        scope: RootNames,
        problems: Problems,
        config: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(origin, fields, scope, problems, config)
        self.name = name
        self.id = str(name.value)
        self.labels: frozenset[str] = frozenset()
        self.routes = SwitchPorts()
        self.first: dict[str, Tree] | None = None
        self.mapping: Tree | None = None

    def chain(self, fresh: FreshIds) -> NodeChain:
        """Finish the node, and the nodes that run before and after it."""
        ids: list[str] = []
        nodes: list[Tree] = []
        if self.first is not None:
            ids.append(fresh.named(f"{self.id}-request"))
            nodes.append(build_tree({"id": ids[-1], **self.first}, self.origin))
        main = self.id if self.mapping is None else fresh.named(f"{self.id}-call")
        ids.append(main)
        self.put("id", self.name if main == self.id else main, self.name)
        nodes.append(self.finish())
        if self.mapping is not None:
            self.scope = self.scope.answered_by(main)
            mapped = Draft(self.origin, {"output": self.mapping}, self.scope, self.problems)
            mapped.put("id", self.name)
            mapped.put("type", "compute", self.mapping)
            ids.append(self.id)
            nodes.append(mapped.finish())
        return NodeChain(tuple(nodes), tuple(ids), main)
