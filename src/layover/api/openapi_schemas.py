"""Schemas of what crosses the network, from the structs themselves.

Every object of ours is closed: a field that is not in its schema is not in the answer either. An answer has all of its
fields, whatever they hold, unless its struct leaves out what says nothing. What JSON of others may hold stays free.
"""

from __future__ import annotations

import re
from types import UnionType
from typing import TYPE_CHECKING, Any, Final, get_args

import msgspec

from layover.model.shared import Resource, schema_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_REF: Final = "#/components/schemas/{name}"
_PAGE: Final = re.compile(r"\bPage_(\w+?)_(?=$)")


class Schemas:
    """The schemas of some types: those of structs stand under their names, and are referred to."""

    def __init__(self, types: Iterable[Any]) -> None:
        wanted = list(dict.fromkeys(part for type_ in types for part in _parts(type_)))
        schemas, components = msgspec.json.schema_components(wanted, ref_template=_REF, schema_hook=schema_of)
        found = {type_: _renamed(schema) for type_, schema in zip(wanted, schemas, strict=True)}
        self._schemas: dict[Any, dict[str, Any]] = found
        structs = {struct.__name__: struct for struct in _structs(Resource)}
        self.components: dict[str, Any] = {
            _PAGE.sub(r"\1Page", name): _closed(_renamed(schema), structs.get(name.partition("_")[0]))
            for name, schema in components.items()
        }
        self.components = dict(sorted(self.components.items()))
        for name, schema in self.components.items():
            schema["title"] = name

    def of(self, type_: Any) -> dict[str, Any]:
        """Return the schema of a type: a reference if it is a struct, and of `A | B` either of them."""
        parts = _parts(type_)
        return {"anyOf": [self._schemas[one] for one in parts]} if len(parts) > 1 else self._schemas[type_]


def _parts(type_: Any) -> tuple[Any, ...]:
    """Return the structs of `A | B`, of which msgspec describes one at a time."""
    return get_args(type_) if isinstance(type_, UnionType) else (type_,)


def parameters_of(query: type[Any]) -> list[dict[str, Any]]:
    """Return the parameters of a query, each with its schema; one that may be left out is never null."""
    _, components = msgspec.json.schema_components((query,), ref_template=_REF, schema_hook=schema_of)
    schema = components[query.__name__]
    found: list[dict[str, Any]] = []
    for name, given in schema.get("properties", {}).items():
        one = _without_null(given)
        told = one.pop("description", None)
        parameter: dict[str, Any] = {"name": name, "in": "query", "required": name in schema.get("required", ())}
        if told is not None:
            parameter["description"] = told
        found.append({**parameter, "schema": one})
    return found


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    rest = {name: value for name, value in schema.items() if name != "anyOf"}
    if rest.get("default", ...) is None:
        del rest["default"]
    choices = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    if len(choices) == 1:
        return {**choices[0], **rest}
    if "enum" in rest:
        rest["enum"] = [value for value in rest["enum"] if value is not None]
    return {**rest, "anyOf": choices} if choices else rest


def _closed(schema: dict[str, Any], struct: type[msgspec.Struct] | None) -> dict[str, Any]:
    """Return the schema of a struct that has nothing else in it, and of an answer's, all that is always there."""
    if "properties" not in schema:
        return {**schema, "additionalProperties": False} if schema.get("type") == "object" else schema
    closed = {**schema, "additionalProperties": False}
    if struct is None or struct.__struct_config__.omit_defaults:
        return closed
    left_out = {field.encode_name for field in msgspec.structs.fields(struct) if field.default is msgspec.UNSET}
    properties = {
        name: {word: value for word, value in one.items() if word != "default"}
        for name, one in schema["properties"].items()
    }
    required = [name for name in properties if name not in left_out]
    return {**closed, "properties": properties, "required": required}


def _structs(base: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for struct in base.__subclasses__():
        yield struct
        yield from _structs(struct)


def _renamed(value: Any) -> Any:
    """Return a schema in which pages have names that people would give them."""
    if isinstance(value, dict):
        return {name: _PAGE.sub(r"\1Page", one) if name == "$ref" else _renamed(one) for name, one in value.items()}
    return [_renamed(one) for one in value] if isinstance(value, list) else value
