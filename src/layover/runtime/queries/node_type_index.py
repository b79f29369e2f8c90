"""Which definitions have a node of some type, in whatever scope: what a definition has never changes.

Each definition is read once in the life of an instance; what is kept of it are the names of its types.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.core.plan import PlannedGraph
    from layover.ports.store import Store
    from layover.runtime.plans import Plans


class NodeTypeIndex:
    """The types of nodes by the hash of their definition."""

    def __init__(self, store: Store, plans: Plans) -> None:
        self._store = store
        self._plans = plans
        self._types: dict[str, frozenset[str]] = {}

    async def hashes_with(self, node_type: str, workflow: str | None) -> tuple[str, ...]:
        """Return the hashes of definitions that have a node of a type, of one workflow or of all."""
        hashes = await self._store.definitions.list_hashes(workflow)
        return tuple([one for one in hashes if node_type in await self._types_of(one)])

    async def _types_of(self, hash_: str) -> frozenset[str]:
        found = self._types.get(hash_)
        if found is None:
            version = await self._store.definitions.find_by_hash(hash_)
            found = frozenset(_types(self._plans.read(version.document).graph)) if version is not None else frozenset()
            self._types[hash_] = found
            await asyncio.sleep(0)  # whatever else is to be done is not held up by many definitions
        return found


def _types(graph: PlannedGraph) -> Iterator[str]:
    for one in graph.nodes:
        yield one.node.type
        for body in one.bodies.values():
            yield from _types(body)
