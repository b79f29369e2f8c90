"""The types of values, as far as they are known before the values exist.

A type is a promise about kinds, no more: the checker only reports operations that fail for every value of a type. `DYN`
promises nothing. A `RecordType` describes a map whose field names are known; if it is closed, any other name is a
mistake, and its `noun` says what its fields are called (`node`, `variable`). `fields` may be a Mapping that finds its
entries lazily.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from layover.core.expressions.values import Kind

_MAX_SCHEMA_DEPTH = 16
_NO_FIELDS: Final[Mapping[str, Type]] = {}


class Simple(msgspec.Struct, frozen=True):
    """A type without parts: the kinds that its values may have."""

    name: str
    kinds: frozenset[Kind]


class ListOf(msgspec.Struct, frozen=True):
    """A list whose elements share a type."""

    element: Type


class MapOf(msgspec.Struct, frozen=True):
    """A map with any keys whose values share a type."""

    value: Type


class RecordType(msgspec.Struct, frozen=True, eq=False):
    """A map with known fields; `open` if it may have others, `literal` if the expression itself writes it out.

    Two are equal only if they are the same one.
    """

    fields: Mapping[str, Type] = _NO_FIELDS
    open: bool = True
    noun: str = "field"
    literal: bool = False


Type = Simple | ListOf | MapOf | RecordType

_ANY: Final[frozenset[Kind]] = frozenset(
    {"null", "bool", "int", "double", "string", "timestamp", "duration", "list", "map"}
)
_LIST: Final[frozenset[Kind]] = frozenset({"list"})
_MAP: Final[frozenset[Kind]] = frozenset({"map"})

DYN: Final = Simple("dyn", _ANY)
NULL: Final = Simple("null", frozenset({"null"}))
BOOL: Final = Simple("bool", frozenset({"bool"}))
INT: Final = Simple("int", frozenset({"int"}))
DOUBLE: Final = Simple("double", frozenset({"double"}))
NUMBER: Final = Simple("number", frozenset({"int", "double"}))
STRING: Final = Simple("string", frozenset({"string"}))
TIMESTAMP: Final = Simple("timestamp", frozenset({"timestamp"}))
DURATION: Final = Simple("duration", frozenset({"duration"}))


def kinds(type_: Type) -> frozenset[Kind]:
    """Return the kinds that values of a type may have."""
    if isinstance(type_, Simple):
        return type_.kinds
    return _LIST if isinstance(type_, ListOf) else _MAP


def may_be(type_: Type, wanted: Type) -> bool:
    """Return whether some value of a type is of the wanted type."""
    return not kinds(type_).isdisjoint(kinds(wanted))


def name_of(type_: Type) -> str:
    """Return the name of a type for a message."""
    if isinstance(type_, Simple):
        return type_.name
    return "list" if isinstance(type_, ListOf) else "map"


def common(types: list[Type]) -> Type:
    """Return a type that covers all of several."""
    if not types:
        return DYN
    first = types[0]
    if all(other == first for other in types[1:]):
        return first
    covered = frozenset().union(*(kinds(type_) for type_ in types))
    if covered == NUMBER.kinds:
        return NUMBER
    if covered == _LIST:
        return ListOf(DYN)
    if covered == _MAP:
        return MapOf(DYN)
    return DYN


_SCHEMA_TYPES: Final[Mapping[str, Type]] = {
    "null": NULL,
    "boolean": BOOL,
    "integer": NUMBER,  # JSON Schema counts 1.0 as an integer
    "number": NUMBER,
    "string": STRING,
}
_COMBINING: Final = ("$ref", "$dynamicRef", "anyOf", "oneOf", "allOf", "if", "not", "enum", "const")


def type_of_schema(schema: object, depth: int = 0) -> Type:
    """Return the type of a JSON Schema; keywords that it does not understand promise nothing."""
    if not isinstance(schema, Mapping) or depth > _MAX_SCHEMA_DEPTH:
        return DYN
    if any(word in schema for word in _COMBINING):
        return DYN
    kind = schema.get("type")
    if not isinstance(kind, str):
        return DYN
    if kind == "array":
        items = schema.get("items")
        plain = "prefixItems" not in schema
        return ListOf(type_of_schema(items, depth + 1) if plain else DYN)
    if kind == "object":
        return _type_of_object(schema, depth)
    return _SCHEMA_TYPES.get(kind, DYN)


def _type_of_object(schema: Mapping[object, object], depth: int) -> Type:
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    extra = schema.get("additionalProperties", True)
    patterns = schema.get("patternProperties")
    if not known and isinstance(extra, Mapping) and not patterns:
        return MapOf(type_of_schema(extra, depth + 1))
    fields = {name: type_of_schema(value, depth + 1) for name, value in known.items() if isinstance(name, str)}
    return RecordType(fields, open=extra is not False or bool(patterns))
