"""A node of a builder's graph on its way to ours, with what it changes around itself.

Most nodes become one node. Some need a node that runs first, or map their answer afterwards: such a chain is entered at
its first node and left by its last, which keeps the id, because that is the output that others read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.core.definitions.dialects.draft import Draft
from layover.core.definitions.dialects.tree_edits import graft
from layover.core.definitions.tree import Tree

if TYPE_CHECKING:
    from layover.core.definitions.dialects.ids import FreshIds
    from layover.core.definitions.dialects.scope import Scope
    from layover.core.definitions.problems import Problems


class Case(msgspec.Struct, frozen=True):
    """Where a case of a switch leads that names a node instead of a branch."""

    target: Tree
    port: str


class Routes(msgspec.Struct):
    """What the edges of a switch mean: ports by the edge's label, and ports by the node it leads to."""

    ports: dict[str, list[str]] = msgspec.field(default_factory=dict)
    targets: dict[str, list[str]] = msgspec.field(default_factory=dict)
    cases: list[Case] = msgspec.field(default_factory=list)


class Chain(msgspec.Struct, frozen=True):
    """The nodes that one node became: entered at the first, left by the last; `main` has the special ports."""

    nodes: tuple[Tree, ...]
    ids: tuple[str, ...]
    main: str


class BuilderDraft(Draft):
    """A node of a builder's graph in the making."""

    def __init__(
        self,
        origin: Tree,
        name: Tree,
        fields: dict[str, Tree],
        scope: Scope,
        problems: Problems,
        config: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(origin, fields, scope, problems, config)
        self.name = name
        self.id = str(name.value)
        self.labels: frozenset[str] = frozenset()
        self.routes = Routes()
        self.first: dict[str, Tree] | None = None
        self.mapping: Tree | None = None

    def chain(self, fresh: FreshIds) -> Chain:
        """Finish the node and whatever runs before and after it."""
        ids: list[str] = []
        nodes: list[Tree] = []
        if self.first is not None:
            ids.append(fresh.named(f"{self.id}-request"))
            nodes.append(graft({"id": ids[-1], **self.first}, self.origin))
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
        return Chain(tuple(nodes), tuple(ids), main)
