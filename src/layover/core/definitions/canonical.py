"""The one form of a definition: as a document that can be read again, and as the hash of what it means.

Both walk the model in the same way. The document keeps everything that its author wrote, with durations such as
`1h30m`. The hash leaves out fields that only people see (labels, descriptions, tags, positions, `x-` fields), has every
default in its place, durations in milliseconds, and nodes and edges sorted: two definitions with the same hash run
alike.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, inspect

from layover.core.definitions.durations import format_duration
from layover.core.definitions.kinds import fields_of, kind_of
from layover.core.definitions.model import (
    Definition,
    DefinitionPart,
    Edge,
    GraphDefinition,
    Node,
    TriggerDefinition,
)

if TYPE_CHECKING:
    from layover.core.definitions.tree import Json

_FOR_PEOPLE = frozenset({"label", "description", "tags", "position", "extra"})
_TIMES = frozenset({"duration", "span"})


def document(definition: Definition, *, defaults: bool = False) -> dict[str, Json]:
    """Return the canonical document: nodes and edges, without fields at their default unless asked."""
    return _DocumentWriter(defaults=defaults).definition(definition)


def part_document(part: DefinitionPart) -> dict[str, Json]:
    """Return a part of a definition as its author could write it."""
    return _DocumentWriter(defaults=False).part(part)


def content_hash(definition: Definition) -> str:
    """Return the hash of the meaning of a definition, 64 hexadecimal digits."""
    meaning = _MeaningWriter().definition(definition)
    return hashlib.sha256(msgspec.json.encode(meaning, order="sorted")).hexdigest()


class _Writer(ABC):
    """Turns parts into plain data; the kind of a field alone decides its form."""

    def definition(self, definition: Definition) -> dict[str, Json]:
        return {**self.part(definition), **self.graph(definition.graph)}

    def part(self, part: DefinitionPart) -> dict[str, Json]:
        written: dict[str, Json] = {}
        for field in _fields(type(part)):
            value = getattr(part, field.attribute)
            if value is UNSET or not self.keeps(field, value):
                continue
            if field.kind == "extra":
                written.update(_plain_mapping(value))
            else:
                written[field.name] = self.value(value, field)
        return written

    @abstractmethod
    def keeps(self, field: _Field, value: object) -> bool: ...

    def value(self, value: object, field: _Field) -> Json:
        if value is None or isinstance(value, str | bool):
            return value  # most fields, so they come first
        if isinstance(value, GraphDefinition):
            return self.graph(value)
        if isinstance(value, DefinitionPart):
            return self.part(value)
        if isinstance(value, tuple):
            return [self.value(item, field) for item in value]
        if field.timed and isinstance(value, int):
            return self.duration(value)
        return _plain(value)

    @abstractmethod
    def graph(self, graph: GraphDefinition) -> dict[str, Json]: ...

    @abstractmethod
    def duration(self, milliseconds: int) -> Json: ...


class _DocumentWriter(_Writer):
    def __init__(self, *, defaults: bool) -> None:
        self.defaults = defaults

    def keeps(self, field: _Field, value: object) -> bool:
        return self.defaults or field.required or value != field.default

    def graph(self, graph: GraphDefinition) -> dict[str, Json]:
        written: dict[str, Json] = {"nodes": [self.part(node) for node in graph.nodes]}
        if graph.edges:
            written["edges"] = [self.part(edge) for edge in graph.edges]
        if self.defaults or len(graph.start) > 1:
            written["start"] = list(graph.start)
        return {**written, **_plain_mapping(graph.extra)}

    def duration(self, milliseconds: int) -> Json:
        return format_duration(milliseconds)


class _MeaningWriter(_Writer):
    def definition(self, definition: Definition) -> dict[str, Json]:
        ordered = tuple(sorted(definition.triggers, key=lambda trigger: trigger.name))
        return super().definition(msgspec.structs.replace(definition, triggers=ordered) if ordered else definition)

    def keeps(self, field: _Field, value: object) -> bool:
        return not field.for_people and (not field.later or value != field.default)

    def graph(self, graph: GraphDefinition) -> dict[str, Json]:
        nodes = sorted(graph.nodes, key=lambda node: node.id)
        edges = sorted(graph.edges, key=lambda edge: (edge.source, edge.port, edge.target))
        return {
            "nodes": [self.part(node) for node in nodes],
            "edges": [self.part(edge) for edge in edges],
            "start": [*sorted(graph.start)],
        }

    def duration(self, milliseconds: int) -> Json:
        return milliseconds


class _Field(msgspec.Struct, frozen=True):
    attribute: str
    name: str
    kind: str | None
    timed: bool
    required: bool
    default: object
    for_people: bool
    later: bool


_FIELDS: dict[type[DefinitionPart], tuple[_Field, ...]] = {}


def _fields(struct: type[DefinitionPart]) -> tuple[_Field, ...]:
    known = _FIELDS.get(struct)
    if known is None:
        known = _FIELDS[struct] = tuple(_field(struct, field) for field in fields_of(struct) if field.name != "graph")
    return known


def _field(struct: type[DefinitionPart], field: inspect.Field) -> _Field:
    items = [
        one
        for member in _members(field.type)
        for one in (_members(member.item_type) if isinstance(member, inspect.VarTupleType) else (member,))
    ]
    default = field.default_factory() if field.default_factory is not msgspec.NODEFAULT else field.default
    return _Field(
        attribute=field.name,
        name=field.encode_name,
        kind=kind_of(field.type),
        timed=any(kind_of(item) in _TIMES for item in items),
        required=field.required or (field.name == "type" and issubclass(struct, Node | TriggerDefinition)),
        default=default,
        for_people=_is_for_people(struct, field.name),
        later=field.name in struct.later,
    )


def _members(type_: inspect.Type) -> tuple[inspect.Type, ...]:
    return type_.types if isinstance(type_, inspect.UnionType) else (type_,)


def _is_for_people(struct: type[DefinitionPart], name: str) -> bool:
    if issubclass(struct, TriggerDefinition) and name == "tags":
        return False  # they are of the executions that it starts
    return name in _FOR_PEOPLE or (name == "id" and issubclass(struct, Edge))


def _plain(value: object) -> Json:
    """Return free data as it is: the reader has checked that it is JSON."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, dict):
        return _plain_mapping(value)
    if isinstance(value, list):
        return [_plain(child) for child in value]
    raise TypeError(f"a definition holds JSON values, not {type(value).__name__}")


def _plain_mapping(value: dict[str, object]) -> dict[str, Json]:
    return {key: _plain(child) for key, child in value.items()}
