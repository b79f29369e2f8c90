"""The shape of one graph: the order in which its nodes can run, and the ancestors of each.

Everything is linear in nodes and edges, but for the ancestors: they are one bit per pair of nodes, held in whole
numbers, so that "what came before" is one `or` per edge.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from layover.core.definitions.model import GraphDefinition


class Topology(msgspec.Struct, frozen=True):
    """One graph by the positions of its nodes. Edges to unknown nodes are left out."""

    position: dict[str, int]
    following: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]
    ancestors: tuple[int, ...]

    @property
    def cyclic(self) -> bool:
        """Whether some nodes can never run because they wait for each other."""
        return len(self.order) < len(self.following)

    def before(self, position: int) -> Iterable[int]:
        """Return the positions of the nodes that come before one."""
        return _bits(self.ancestors[position])

    def cycle(self) -> list[int]:
        """Return one cycle, as positions in the order of its edges."""
        stuck = set(range(len(self.following))).difference(self.order)
        for leaf in _leaves(stuck, self.following):
            stuck.discard(leaf)
        seen: dict[int, int] = {}
        walk: list[int] = []
        at = min(stuck)
        while at not in seen:
            seen[at] = len(walk)
            walk.append(at)
            at = next(target for target in self.following[at] if target in stuck)
        return walk[seen[at] :]

    def reachable(self, starts: Iterable[int]) -> set[int]:
        """Return the positions that can be reached from some nodes, themselves included."""
        found = set(starts)
        waiting = deque(sorted(found))
        while waiting:
            for target in self.following[waiting.popleft()]:
                if target not in found:
                    found.add(target)
                    waiting.append(target)
        return found


def topology(graph: GraphDefinition) -> Topology:
    """Return the shape of a graph; if ids repeat, the first one counts."""
    position: dict[str, int] = {}
    for index, node in enumerate(graph.nodes):
        position.setdefault(node.id, index)
    following: list[dict[int, None]] = [{} for _ in graph.nodes]
    for edge in graph.edges:
        if edge.source in position and edge.target in position:
            following[position[edge.source]][position[edge.target]] = None
    order, ancestors = _sorted([tuple(targets) for targets in following])
    return Topology(position, tuple(tuple(targets) for targets in following), order, ancestors)


def _sorted(following: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the nodes in an order in which each comes after all its sources, and the ancestors of each."""
    missing = [0] * len(following)
    for targets in following:
        for target in targets:
            missing[target] += 1
    ancestors = [0] * len(following)
    ready = deque(index for index, count in enumerate(missing) if count == 0)
    order = []
    while ready:
        index = ready.popleft()
        order.append(index)
        passed_on = ancestors[index] | 1 << index
        for target in following[index]:
            ancestors[target] |= passed_on
            missing[target] -= 1
            if missing[target] == 0:
                ready.append(target)
    return tuple(order), tuple(ancestors)


def _leaves(stuck: set[int], following: Sequence[tuple[int, ...]]) -> list[int]:
    """Return the nodes that only hang below a cycle, without being part of one."""
    in_order = sorted(stuck)
    preceding: dict[int, list[int]] = {index: [] for index in in_order}
    outgoing = dict.fromkeys(in_order, 0)
    for index in in_order:
        for target in following[index]:
            if target in stuck:
                preceding[target].append(index)
                outgoing[index] += 1
    leaves = [index for index, count in outgoing.items() if count == 0]
    for leaf in leaves:
        for source in preceding[leaf]:
            outgoing[source] -= 1
            if outgoing[source] == 0:
                leaves.append(source)
    return leaves


def _bits(number: int) -> Iterable[int]:
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest
