"""Valid definitions of every kind, in the plain form: nodes, edges with their ports, starts only where there are several.

Whatever is generated here passes `check`. `surfaces` writes the same definition in the other ways that people may write it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from .node_strategies import NODES, Built, ports_of
from .parts import durations, extra_fields, short_text
from .places import AWKWARD, INPUT_SCHEMAS, Place, mappings, output_terms, plain_text, root_terms, templates

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

Document = dict[str, Any]

ROUNDS = int(os.environ.get("LAYOVER_TORTURE", "0"))


def examples(count: int) -> settings:
    """Return the settings of a test that looks at so many examples, and at more under torture."""
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
    schema = draw(st.sampled_from([None, *INPUT_SCHEMAS]))
    variables = draw(st.none() | mappings(None).map(lambda found: {"paid": False, **found}))
    place = Place(root_terms(True if schema is None else schema, ["paid"] if variables else []))
    document: Document = {"name": draw(st.sampled_from(["order", "a", "Big.order_v-2", "null"]))}
    optional: dict[str, st.SearchStrategy[object]] = {
        "description": plain_text(40),
        "settings": _settings(place),
        "tags": st.lists(short_text(), max_size=2),
    }
    document |= some(draw, optional) | draw(extra_fields())
    if schema is not None:
        document["input"] = schema
    if variables is not None:
        document["variables"] = variables
    return {**document, **draw(graphs(place, Budget([draw(st.integers(1, 9))])))}


def some(draw: DrawFn, optional: dict[str, st.SearchStrategy[object]]) -> Document:
    """Draw some of several fields."""
    chosen = draw(st.integers(0, 2 ** len(optional) - 1))
    return {name: draw(field) for bit, (name, field) in enumerate(optional.items()) if chosen >> bit & 1}


@st.composite
def _settings(draw: DrawFn, place: Place) -> Document:
    optional: dict[str, st.SearchStrategy[object]] = {
        "durability": st.sampled_from(["step", "leg"]),
        "resume": st.sampled_from(["sequential", "concurrent"]),
        "max_pause": st.just("none") | durations(),
        "timeout": durations(),
        "on_resume_failure": st.sampled_from(["fail", "reopen"]),
        "concurrency": _concurrency(place),
        "max_recoveries": st.integers(0, 1_000_000_000),
        "retention": durations(),
    }
    return some(draw, optional)


@st.composite
def _concurrency(draw: DrawFn, place: Place) -> Document:
    optional: dict[str, st.SearchStrategy[object]] = {
        "key": templates(place),
        "on_conflict": st.sampled_from(["queue", "reject", "cancel_running"]),
    }
    return {"limit": draw(st.integers(1, 1_000_000_000)), **some(draw, optional)}


class Budget(NamedTuple):
    """How many more nodes a definition may have, shared by all its graphs."""

    left: list[int]

    def take(self, most: int) -> int:
        taken = max(1, min(most, self.left[0]))
        self.left[0] -= taken
        return taken


class _Drawn(NamedTuple):
    """A node that has been drawn, the ports that lead out of it, and all that comes before it, itself included."""

    node: Document
    ports: tuple[str, ...]
    past: dict[str, Document]


@st.composite
def graphs(draw: DrawFn, place: Place, budget: Budget) -> Document:
    """Generate the nodes of a graph in an order in which they can run, and the edges between them."""
    ids = _ids(draw, budget.take(draw(st.integers(1, 5))), place.ids)
    place = place._replace(ids=place.ids | frozenset(ids))
    drawn: list[_Drawn] = []
    edges: list[Document] = []
    starts: list[str] = []
    for id_ in ids:
        incoming = _incoming(draw, id_, drawn)
        sources = [edge["source"] for edge in incoming]
        past = {name: node for before in drawn if before.node["id"] in sources for name, node in before.past.items()}
        seen = place.plus(term for name, node in past.items() for term in output_terms(node, name))
        node = _node(draw, id_, seen, sources, budget)
        drawn.append(_Drawn(node, ports_of(node), {**past, id_: node}))
        edges += incoming
        if not incoming:
            starts.append(id_)
    graph: Document = {"nodes": [found.node for found in drawn]}
    if edges:
        graph["edges"] = edges
    if len(starts) > 1:
        graph["start"] = starts
    return graph


def _ids(draw: DrawFn, count: int, taken: frozenset[str]) -> list[str]:
    free = [name for name in (*AWKWARD, "a", "Check_out", "B-2", "go") if name not in taken]
    wanted = draw(st.lists(st.sampled_from(free), min_size=0, max_size=count, unique=True))
    return [*wanted, *(f"n{len(taken) + index}" for index in range(count - len(wanted)))]


def _incoming(draw: DrawFn, target: str, drawn: list[_Drawn]) -> list[Document]:
    wires = [(found.node["id"], port) for found in drawn for port in found.ports]
    if not wires:
        return []
    least = 0 if draw(st.integers(0, 4)) == 0 else 1
    chosen = draw(st.lists(st.sampled_from(wires), min_size=least, max_size=3, unique=True))
    return [_edge(draw, source, target, port) for source, port in chosen]


def _edge(draw: DrawFn, source: str, target: str, port: str) -> Document:
    edge: Document = {"source": source, "target": target, "port": port}
    if draw(st.integers(0, 3)) == 0:
        edge |= some(draw, {"id": short_text()}) | draw(extra_fields())
    return edge


def _node(draw: DrawFn, id_: str, place: Place, sources: list[str], budget: Budget) -> Document:
    kind = draw(st.sampled_from(sorted(NODES)))

    def body(inside: Place) -> Document:
        return _body(draw, inside._replace(level=place.level + 1), budget)

    config = NODES[kind](draw, Built(place, tuple(dict.fromkeys(sources)), body))
    common: dict[str, st.SearchStrategy[object]] = {
        "label": short_text(),
        "description": plain_text(20),
        "join": st.sampled_from(["all", "any"]),
        "on_error": st.sampled_from(["fail", "continue"]),
        "position": st.fixed_dictionaries({"x": _COORDINATES, "y": _COORDINATES}),
    }
    metadata = some(draw, common) | draw(extra_fields()) if draw(st.booleans()) else {}
    return {"id": id_, "type": kind, **config, **metadata}


_COORDINATES = st.integers(-5000, 5000) | st.floats(-1e9, 1e9, allow_nan=False)


def _body(draw: DrawFn, place: Place, budget: Budget) -> Document:
    graph = draw(graphs(place, budget))
    return {**graph, **draw(extra_fields())}
