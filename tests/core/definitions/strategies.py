"""Valid definitions of every kind, in the plain form: nodes, edges with their ports, `start` only where it is needed.

Every generated definition passes `check`. `surface` writes the same definition in the other ways that people write it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from .dice import Dice
from .node_strategies import NODES, Site, ports_of
from .notify_strategies import notify, notify_secrets
from .parts import duration, extra_fields
from .places import AWKWARD, INPUT_SCHEMAS, Place, mapping, root_terms, template
from .trigger_strategies import secrets_of, triggers

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

Document = dict[str, Any]

ROUNDS = int(os.environ.get("LAYOVER_TORTURE", "0"))


def examples(count: int) -> settings:
    """Return the settings of a test with so many examples, and with more under torture."""
    return settings(
        max_examples=count * max(ROUNDS, 1),
        derandomize=not ROUNDS,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    )


@st.composite
def definitions(draw: DrawFn) -> Document:
    """Generate a definition in the plain form."""
    return definition(Dice(draw))


def definition(dice: Dice) -> Document:
    """Return a definition in the plain form."""
    schema = dice.pick([None, *INPUT_SCHEMAS])
    variables = {"paid": False, **mapping(dice, None)} if dice.chance() else None
    place = Place(root_terms(True if schema is None else schema, ["paid"] if variables else []))
    document: Document = {"name": dice.pick(("order", "a", "Big.order_v-2", "null"))}
    document |= dice.some(
        {
            "description": lambda: dice.text(40),
            "settings": lambda: _settings(dice, place),
            "secrets": lambda: [f"KEY_{n}" for n in range(dice.integer(0, 2))],
            "tags": lambda: [dice.text(8) for _ in range(dice.integer(0, 2))],
            "triggers": lambda: triggers(dice),
            "notify": lambda: notify(dice),
        }
    )
    if needed := [*secrets_of(document.get("triggers", [])), *notify_secrets(document.get("notify", []))]:
        document["secrets"] = [*document.get("secrets", []), *needed]
    if schema is not None:
        document["input"] = schema
    if variables is not None:
        document["variables"] = variables
    return {**document, **extra_fields(dice), **_Builder(dice, dice.integer(1, 16)).graph(place)}


def _settings(dice: Dice, place: Place) -> Document:
    return dice.some(
        {
            "durability": lambda: dice.pick(("step", "leg")),
            "resume": lambda: dice.pick(("sequential", "concurrent")),
            "max_pause": lambda: "none" if dice.chance() else duration(dice),
            "timeout": lambda: duration(dice),
            "on_resume_failure": lambda: dice.pick(("fail", "reopen")),
            "concurrency": lambda: _concurrency(dice, _before_start(place)),
            "rate": lambda: _rate(dice, _before_start(place)),
            "max_recoveries": lambda: dice.integer(0, 1_000_000_000),
            "retention": lambda: duration(dice),
            "undo": lambda: duration(dice),
            "resume_data": lambda: dice.pick(INPUT_SCHEMAS),
        }
    )


def _concurrency(dice: Dice, place: Place) -> Document:
    optional = {
        "key": lambda: template(dice, place),
        "on_conflict": lambda: dice.pick(("queue", "reject", "cancel_running")),
    }
    return {"limit": dice.integer(1, 1_000_000_000), **dice.some(optional)}


def _rate(dice: Dice, place: Place) -> Document:
    needed = {"limit": dice.integer(1, 1_000_000_000), "per": "1ms" if dice.chance(4) else "1h"}
    return {**needed, **dice.some({"key": lambda: template(dice, place)})}


def _before_start(place: Place) -> Place:
    """Return the position before an execution starts."""
    return place._replace(terms=tuple(term for term in place.terms if term[0].startswith(("input", "trigger"))))


class _Drawn(NamedTuple):
    """A node that has been drawn, and everything before it, itself included."""

    node: Document
    past: dict[str, Document]


class _Builder:
    """Builds the graphs of one definition; `left` is the number of nodes that it may still have."""

    def __init__(self, dice: Dice, left: int) -> None:
        self._dice = dice
        self._left = left

    def graph(self, place: Place) -> Document:
        """Return nodes in an order in which they can run, and the edges between them."""
        ids = self._ids(place.ids)
        place = place._replace(ids=place.ids | frozenset(ids))
        drawn: list[_Drawn] = []
        edges: list[Document] = []
        for id_ in ids:
            incoming = self._incoming(id_, drawn)
            sources = {edge["source"] for edge in incoming}
            past = {name: node for one in drawn if one.node["id"] in sources for name, node in one.past.items()}
            node = self._node(id_, place.after(past), tuple(sorted(sources)))
            drawn.append(_Drawn(node, {**past, id_: node}))
            edges += incoming
        graph: Document = {"nodes": [found.node for found in drawn]}
        if edges:
            graph["edges"] = edges
        targets = {edge["target"] for edge in edges}
        starts = [id_ for id_ in ids if id_ not in targets]
        return {**graph, "start": starts} if len(starts) > 1 else graph

    def body(self, place: Place) -> Document:
        """Return the graph of a container."""
        return {**self.graph(place._replace(level=place.level + 1)), **extra_fields(self._dice)}

    def _ids(self, taken: frozenset[str]) -> list[str]:
        count = max(1, min(self._left, self._dice.integer(1, 7)))
        self._left -= count
        free = [name for name in (*AWKWARD, "a", "Check_out", "B-2", "go") if name not in taken]
        wanted = self._dice.several(free, 0, count)
        return [*wanted, *(f"n{len(taken) + index}" for index in range(count - len(wanted)))]

    def _incoming(self, target: str, drawn: list[_Drawn]) -> list[Document]:
        wires = [(found.node["id"], port) for found in drawn for port in ports_of(found.node)]
        least = 0 if self._dice.chance(3) else 1
        return [self._edge(source, target, port) for source, port in self._dice.several(wires, least)]

    def _edge(self, source: str, target: str, port: str) -> Document:
        edge: Document = {"source": source, "target": target, "port": port}
        if self._dice.chance(4):
            edge |= {"id": self._dice.text(8), **extra_fields(self._dice)}
        return edge

    def _node(self, id_: str, place: Place, sources: tuple[str, ...]) -> Document:
        dice = self._dice
        kind = dice.pick(_TYPES)
        config = NODES[kind](dice, Site(place, sources, self.body))
        node = {"id": id_, "type": kind, **config}
        if not dice.chance():
            return node
        common = {
            "label": lambda: dice.text(8),
            "description": lambda: dice.text(20),
            "join": lambda: dice.pick(("all", "any")),
            "on_error": lambda: dice.pick(("fail", "continue")),
            "position": lambda: {"x": dice.integer(-5000, 5000), "y": dice.float()},
        }
        return {**node, **dice.some(common), **extra_fields(dice)}


_TYPES = sorted(NODES)
