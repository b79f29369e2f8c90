"""Where the boxes and lines of an acyclic graph go, in layers from top to bottom (after Sugiyama).

Boxes stand in even layers, labels of edges in odd ones. An edge that passes a layer has a slot of its own in it, so it
goes straight down where there are boxes, and bends only in the gaps between layers: no line crosses a box or a label.

1. Each box is one layer below the lowest box that leads to it.
2. Layers are ordered by the mean place of neighbours, back and forth; the order with the fewest crossings is kept.
3. Each layer is moved as close to its neighbours as its order and the widths allow, which is an isotonic regression.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Point: TypeAlias = tuple[float, float]

MOST_SLOTS = 20_000  # boxes, and layers that edges pass
_ORDERINGS = 8
_MOVES = 24
_SLOT = 10.0  # how wide an edge is that passes a layer
_BESIDE = 22.0  # between neighbours in a layer
_BELOW = 18.0  # between layers
_LABEL_HEIGHT = 16.0
_APART = 16.0  # between edges at the side of a box
_STRAIGHT, _HALF_STRAIGHT = 8.0, 2.0  # how much more a bend in the middle of an edge, or at its end, is avoided


class TooLarge(Exception):  # noqa: N818 - it says what the graph is
    """A graph that would take too long to lay out."""


class BoxSize(NamedTuple):
    """How large a box is."""

    width: float
    height: float


class Link(NamedTuple):
    """An edge between two boxes, and how wide its label is; an edge leads from an earlier box to a later one."""

    source: int
    target: int
    label_width: float = 0.0


class EdgeRoute(NamedTuple):
    """The way of an edge: down, and across in the gaps. It is interrupted at its label."""

    points: list[tuple[Point, Point]]  # where it goes straight down, each from its top to its bottom
    label: Point | None


class Arrangement(NamedTuple):
    """How large everything is, the top left corners of boxes, and the ways of edges."""

    width: float
    height: float
    corners: list[Point]
    routes: list[EdgeRoute]


def arrange(sizes: Sequence[BoxSize], links: Sequence[Link]) -> Arrangement:
    """Lay out a graph; TooLarge if that would take too long."""
    slots = _Slots(sizes, links)
    slots.order()
    slots.place()
    return slots.arrangement()


class _Slots:
    """The slots of boxes (the first ones) and of edges that pass a layer, each in its layer."""

    def __init__(self, sizes: Sequence[BoxSize], links: Sequence[Link]) -> None:
        self._sizes = sizes
        self._links = links
        self._rank = _ranks(len(sizes), links)
        self._widths = [size.width for size in sizes]
        self._heights = [size.height for size in sizes]
        if len(sizes) + sum(self._rank[one.target] - self._rank[one.source] - 1 for one in links) > MOST_SLOTS:
            raise TooLarge
        self._chains = [self._chain(link) for link in links]
        self._layers: list[list[int]] = [[] for _ in range(max(self._rank, default=0) + 1)]
        for slot, rank in enumerate(self._rank):
            self._layers[rank].append(slot)
        self._above: list[list[int]] = [[] for _ in self._rank]
        self._below: list[list[int]] = [[] for _ in self._rank]
        for chain in self._chains:
            for upper, lower in pairwise(chain):
                self._below[upper].append(lower)
                self._above[lower].append(upper)
        self._x = [0.0] * len(self._rank)

    def _chain(self, link: Link) -> list[int]:
        """Return the slots of an edge from its source to its target; its label is in the first layer it passes."""
        chain = [link.source]
        for rank in range(self._rank[link.source] + 1, self._rank[link.target]):
            has_label = link.label_width > 0 and len(chain) == 1
            chain.append(len(self._rank))
            self._rank.append(rank)
            self._widths.append(link.label_width if has_label else _SLOT)
            self._heights.append(_LABEL_HEIGHT if has_label else 0.0)
        return [*chain, link.target]

    def order(self) -> None:
        """Order each layer so that few edges cross: from several beginnings, since each may end in a dead end."""
        given = [list(layer) for layer in self._layers]
        fewest, best = self._crossings(), given
        for is_mirrored, is_down_first in ((False, True), (True, True), (False, False), (True, False)):
            self._layers = [layer[::-1] if is_mirrored else list(layer) for layer in given]
            self._crossings()
            for turn in range(_ORDERINGS):
                if not fewest:
                    break
                is_down = (turn % 2 == 0) == is_down_first
                for layer in self._layers if is_down else reversed(self._layers):
                    self._sort(layer, self._above if is_down else self._below)
                crossings = self._crossings()
                if crossings < fewest:
                    fewest, best = crossings, [list(layer) for layer in self._layers]
        self._layers = best

    def _sort(self, layer: list[int], neighbours: list[list[int]]) -> None:
        places = {slot: place for place, slot in enumerate(layer)}
        means = {slot: self._mean_place(slot, neighbours, places[slot]) for slot in layer}
        layer.sort(key=means.__getitem__)
        for place, slot in enumerate(layer):
            self._x[slot] = float(place)

    def _mean_place(self, slot: int, neighbours: list[list[int]], place: int) -> float:
        near = neighbours[slot]
        return sum(self._x[one] for one in near) / len(near) if near else float(place)

    def _crossings(self) -> int:
        """Count how many pairs of edges cross, and note the place of each slot in its layer."""
        found = 0
        for layer in self._layers:
            for place, slot in enumerate(layer):
                self._x[slot] = float(place)
        for layer in self._layers:
            seen: list[float] = []
            for slot in layer:
                ends = sorted(self._x[one] for one in self._below[slot])
                found += sum(len(seen) - bisect_right(seen, end) for end in ends)
                for end in ends:
                    insort(seen, end)
        return found

    def place(self) -> None:
        """Give each slot the middle of its place in its layer."""
        for layer in self._layers:
            self._move(layer, [0.0] * len(layer), [1.0] * len(layer))
        for turn in range(_MOVES):
            is_down = turn % 2 == 0
            for layer in self._layers if is_down else reversed(self._layers):
                last = turn >= _MOVES - 2
                self._move_towards(
                    layer, [self._above, self._below] if last else [self._above if is_down else self._below]
                )

    def _move_towards(self, layer: list[int], sides: list[list[list[int]]]) -> None:
        wanted: list[float] = []
        weights: list[float] = []
        for slot in layer:
            pulls = [(one, self._pull(slot, one)) for side in sides for one in side[slot]]
            weight = sum(pull for _, pull in pulls)
            wanted.append(sum(self._x[one] * pull for one, pull in pulls) / weight if pulls else self._x[slot])
            weights.append(weight if pulls else 0.1)
        self._move(layer, wanted, weights)

    def _pull(self, slot: int, other: int) -> float:
        boxes = len(self._sizes)
        passing = (slot >= boxes) + (other >= boxes)
        return (1.0, _HALF_STRAIGHT, _STRAIGHT)[passing]

    def _move(self, layer: list[int], wanted: list[float], weights: list[float]) -> None:
        """Move the slots of a layer close to where they are wanted, without changing their order."""
        offsets = [0.0]
        for left, right in pairwise(layer):
            offsets.append(offsets[-1] + (self._widths[left] + self._widths[right]) / 2 + _BESIDE)
        targets = [place - offset for place, offset in zip(wanted, offsets, strict=True)]
        for slot, level, offset in zip(layer, _isotonic(targets, weights), offsets, strict=True):
            self._x[slot] = level + offset

    def arrangement(self) -> Arrangement:
        """Return where everything is."""
        every = range(len(self._x))
        left = min((self._x[slot] - self._widths[slot] / 2 for slot in every), default=0.0)
        self._x = [x - left for x in self._x]
        tops, y = [], 0.0
        for layer in self._layers:
            tops.append(y)
            y += max(self._heights[slot] for slot in layer) + _BELOW
        self._tops = tops
        self._bottoms = [top - _BELOW for top in [*tops[1:], y]]
        corners = [(self._x[box] - size.width / 2, self._top(box)) for box, size in enumerate(self._sizes)]
        width = max((self._x[slot] + self._widths[slot] / 2 for slot in every), default=0.0)
        return Arrangement(width, max(y - _BELOW, 0.0), corners, self._routes())

    def _top(self, slot: int) -> float:
        """Return the upper end of a slot: boxes stand in the middle of their layer."""
        rank = self._rank[slot]
        return (self._tops[rank] + self._bottoms[rank] - self._heights[slot]) / 2

    def _routes(self) -> list[EdgeRoute]:
        exits = self._ends([chain[0] for chain in self._chains], [chain[1] for chain in self._chains])
        entries = self._ends([chain[-1] for chain in self._chains], [chain[-2] for chain in self._chains])
        return [self._route(*one) for one in zip(self._chains, self._links, exits, entries, strict=True)]

    def _ends(self, boxes: list[int], nexts: list[int]) -> list[float]:
        """Return where edges meet a side of their boxes: beside each other, in the order of where they come from."""
        at: dict[int, list[int]] = {}
        for number in sorted(range(len(boxes)), key=lambda one: self._x[nexts[one]]):
            at.setdefault(boxes[number], []).append(number)
        found = [0.0] * len(boxes)
        for box, numbers in at.items():
            apart = min(_APART, self._widths[box] * 0.6 / len(numbers))
            for place, number in enumerate(numbers):
                found[number] = self._x[box] + (place - (len(numbers) - 1) / 2) * apart
        return found

    def _route(self, chain: list[int], link: Link, leaves: float, enters: float) -> EdgeRoute:
        source, target = chain[0], chain[-1]
        rank, last = self._rank[source], self._rank[target]
        points = [((leaves, self._top(source) + self._heights[source]), (leaves, self._bottoms[rank]))]
        for slot in chain[1:-1]:
            x, passed = self._x[slot], self._rank[slot]
            points.append(((x, self._tops[passed]), (x, self._bottoms[passed])))
        points.append(((enters, self._tops[last]), (enters, self._top(target))))
        (x, top), (_, bottom) = points[1]
        return EdgeRoute(points, (x, (top + bottom) / 2) if link.label_width else None)


def _ranks(count: int, links: Iterable[Link]) -> list[int]:
    ranks = [0] * count
    for link in sorted(links, key=lambda one: one.source):  # sources come in an order in which they can run
        ranks[link.target] = max(ranks[link.target], ranks[link.source] + 2)
    return ranks


def _isotonic(targets: list[float], weights: list[float]) -> list[float]:
    """Return the rising sequence that is closest to the targets, by pooling neighbours that would fall."""
    pools: list[tuple[float, float, int]] = []  # level, weight, how many
    for target, weight in zip(targets, weights, strict=True):
        level, heavy, many = target, weight, 1
        while pools and pools[-1][0] > level:
            before, weight_before, many_before = pools.pop()
            level = (level * heavy + before * weight_before) / (heavy + weight_before)
            heavy, many = heavy + weight_before, many + many_before
        pools.append((level, heavy, many))
    return [level for level, _, many in pools for _ in range(many)]
