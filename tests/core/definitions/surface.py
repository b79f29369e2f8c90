"""The same definition in the other ways in which people may write it.

The result differs from the plain form in everything that does not matter: the order of keys, nodes and edges,
`next` instead of `edges`, a body as the list of its nodes, defaults that are spelled out, other spellings of durations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from hypothesis import strategies as st

from layover.core.definitions.durations import format_duration, parse_duration
from layover.core.definitions.model import (
    ConcurrencyDefinition,
    DefinitionPart,
    Edge,
    Heading,
    RateDefinition,
    RetryDefinition,
    WorkflowSettings,
)
from layover.core.definitions.node_types import (
    TYPES,
    CallNode,
    Case,
    EscalationDefinition,
    PeopleDefinition,
    ReminderDefinition,
    SignalDefinition,
)

from .dice import Dice
from .node_strategies import ports_of
from .parts import spelled
from .strategies import definition

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

Document = dict[str, Any]

_TIMES = frozenset(
    {"delay", "max_delay", "max_pause", "timeout", "retention", "undo", "duration", "after", "before", "deadline"}
) | {
    "per",
    "lookback",
    "heartbeat",
}
_NESTED: dict[str, type[DefinitionPart]] = {
    "retry": RetryDefinition,
    "settings": WorkflowSettings,
    "approvers": PeopleDefinition,
    "escalate": EscalationDefinition,
    "to": PeopleDefinition,
    "cases": Case,
    "signals": SignalDefinition,
    "rate": RateDefinition,
}


@st.composite
def pairs(draw: DrawFn) -> tuple[Document, Document]:
    """Generate a definition in the plain form, and the same in another."""
    dice = Dice(draw)
    plain = definition(dice)
    return plain, surface(dice, plain)


def surface(dice: Dice, document: Document) -> Document:
    """Write a definition in another way."""
    graph = {key: value for key, value in document.items() if key in ("nodes", "edges", "start")}
    heading = {key: value for key, value in document.items() if key not in graph}
    return _shuffled(dice, {**_part(dice, heading, Heading), **_graph(dice, graph)})


def _graph(dice: Dice, graph: Document) -> Document:
    written = {key: value for key, value in graph.items() if key not in ("nodes", "edges", "start")}
    listed: list[Document] = []
    nodes = [_node(dice, node) for node in graph["nodes"]]
    for plain, node in zip(graph["nodes"], nodes, strict=True):
        leaving = [edge for edge in graph.get("edges", []) if edge["source"] == node["id"]]
        as_next = [edge for edge in leaving if len(edge) == 3 and dice.chance()]
        listed += [_edge(dice, edge, plain) for edge in leaving if edge not in as_next]
        if as_next:
            node["next"] = _next(dice, as_next, ports_of(plain)[0])
    written["nodes"] = dice.several(nodes, len(nodes), len(nodes))
    if listed or dice.chance(4):
        written["edges"] = dice.several(listed, len(listed), len(listed))
    return {**written, **_start(dice, graph)}


def _start(dice: Dice, graph: Document) -> Document:
    if "start" in graph:
        return {"start": dice.several(graph["start"], len(graph["start"]), len(graph["start"]))}
    targets = {edge["target"] for edge in graph.get("edges", [])}
    (start,) = (node["id"] for node in graph["nodes"] if node["id"] not in targets)
    return dice.pick(({}, {"start": start}, {"start": [start]}, {"start": None}))


def _edge(dice: Dice, edge: Document, source: Document) -> Document:
    default = ports_of(source)[0]
    if edge["port"] == default and source["type"] != "condition" and dice.chance():
        edge = {key: value for key, value in edge.items() if key != "port"}
    return _part(dice, edge, Edge)


def _next(dice: Dice, edges: list[Document], default: str) -> object:
    """Write edges of one node as a name, a list of names, or a mapping of ports to either."""
    by_port: dict[str, list[str]] = {}
    for edge in edges:
        by_port.setdefault(edge["port"], []).append(edge["target"])
    if [*by_port] == [default] and default != "true" and dice.chance():
        return _targets(dice, by_port[default])
    return {port: _targets(dice, targets) for port, targets in by_port.items()}


def _targets(dice: Dice, targets: list[str]) -> object:
    return targets[0] if len(targets) == 1 and dice.chance() else targets


def _node(dice: Dice, node: Document) -> Document:
    written = _part(dice, node, TYPES.get(node["type"], CallNode))
    if node["type"] in ("loop", "parallel"):
        if "body" in node:
            written["body"] = _body(dice, node["body"])
        if "branches" in node:
            written["branches"] = [{**branch, "body": _body(dice, branch["body"])} for branch in node["branches"]]
    return _shuffled(dice, written)


def _body(dice: Dice, graph: Document) -> object:
    written = _graph(dice, graph)
    return written["nodes"] if [*written] == ["nodes"] and dice.chance() else _shuffled(dice, written)


def _part(dice: Dice, fields: Document, struct: type[DefinitionPart]) -> Document:
    """Write the fields of a part: durations in other words, defaults spelled out, parts within in other ways."""
    written = {name: _field(dice, name, value) for name, value in fields.items()}
    for name, default in _defaults(struct).items():
        if name not in written and dice.chance(4):
            written[name] = default
    for other, name in struct.aliases.items():
        if name in written and dice.chance():
            written[other] = written.pop(name)
    return written


def _field(dice: Dice, name: str, value: object) -> object:
    if isinstance(value, str) and name in _TIMES and value != "none" and "${" not in value:
        return spelled(dice, parse_duration(value))
    if name == "remind" and isinstance(value, list):
        return [
            _part(dice, one, ReminderDefinition) if isinstance(one, dict) else spelled(dice, parse_duration(one))
            for one in value
        ]
    if name == "retry" and value == {"max_attempts": "forever"} and dice.chance():
        return "forever"
    if name == "concurrency" and isinstance(value, dict):
        return _part(dice, value, ConcurrencyDefinition)
    nested = _NESTED.get(name)
    if nested is not None and isinstance(value, dict):
        return _part(dice, value, nested)
    if nested is not None and isinstance(value, list):
        return [_part(dice, item, nested) if isinstance(item, dict) else item for item in value]
    return value


_DEFAULTS: dict[type[DefinitionPart], Document] = {}


def _defaults(struct: type[DefinitionPart]) -> Document:
    """Return the defaults of a struct as a document spells them; `null` where there is none."""
    known = _DEFAULTS.get(struct)
    if known is None:
        known = _DEFAULTS[struct] = {
            field.encode_name: _spelled_default(field)
            for field in msgspec.structs.fields(struct)
            if not field.required and field.name not in ("type", "extra")
        }
        for name in [name for name, value in known.items() if value is msgspec.UNSET]:
            del known[name]
    return known


def _spelled_default(field: msgspec.structs.FieldInfo) -> object:
    made = field.default_factory() if field.default_factory is not msgspec.NODEFAULT else field.default
    if made is msgspec.UNSET:
        return made
    if field.encode_name in _TIMES and isinstance(made, int):
        return format_duration(made)
    if isinstance(made, tuple):
        return list(made)
    return {} if isinstance(made, WorkflowSettings) else made


def _shuffled(dice: Dice, fields: Document) -> Document:
    """Write the fields in another order."""
    if dice.chance():
        return dict(reversed(fields.items()))
    return {key: fields[key] for key in sorted(fields)} if dice.chance() else fields
