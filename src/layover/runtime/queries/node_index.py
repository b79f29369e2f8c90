"""Which definitions have a node of some type or id, in whatever scope: what a definition has never changes.

Each definition is read once in the life of an instance; what is kept of it are the types and the ids of its nodes.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.core.plan import PlannedGraph
    from layover.ports.store import Store
    from layover.runtime.plans import Plans

_Pair: TypeAlias = tuple[str, str]  # the type and the id of a node


class NodeIndex:
    """The nodes of definitions by the hashes of those."""

    def __init__(self, store: Store, plans: Plans) -> None:
        self._store = store
        self._plans = plans
        self._nodes: dict[str, frozenset[_Pair]] = {}

    async def hashes_with(
        self, workflow: str | None, *, node_type: str | None = None, node: str | None = None
    ) -> tuple[str, ...]:
        """Return the hashes of definitions with a node of a type or an id, or both; of one workflow, or of all."""
        hashes = await self._store.definitions.list_hashes(workflow)
        return tuple([one for one in hashes if _has(await self._nodes_of(one), node_type, node)])

    async def _nodes_of(self, hash_: str) -> frozenset[_Pair]:
        found = self._nodes.get(hash_)
        if found is None:
            version = await self._store.definitions.find_by_hash(hash_)
            found = frozenset(_nodes(self._plans.read(version.document).graph)) if version is not None else frozenset()
            self._nodes[hash_] = found
            await asyncio.sleep(0)  # whatever else is to be done is not held up by many definitions
        return found


def _has(nodes: frozenset[_Pair], node_type: str | None, node: str | None) -> bool:
    return any(node_type in (None, its_type) and node in (None, its_id) for its_type, its_id in nodes)


def _nodes(graph: PlannedGraph) -> Iterator[_Pair]:
    for one in graph.nodes:
        yield one.node.type, one.node.id
        for body in one.bodies.values():
            yield from _nodes(body)
