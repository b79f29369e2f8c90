"""The JSON Schema of the format, for editors, made from the same declarations that the reader follows.

It describes what authors write: the shorthands (`next`, a body as a list, `retry: forever`) as well as the canonical
form. Rules about a whole graph (ports, cycles, names in expressions) are left to `check`.
"""

from __future__ import annotations

import inspect as python_inspect
from typing import TYPE_CHECKING

import msgspec
from msgspec import inspect

from layover.core.definitions.durations import DURATION_PATTERN
from layover.core.definitions.kinds import ID_PATTERN, fields_of, kind_of
from layover.core.definitions.model import (
    DefinitionPart,
    Edge,
    Heading,
    HookSecret,
    Node,
    RetryDefinition,
    TriggerDefinition,
)
from layover.core.definitions.node_types import TYPES, CallNode
from layover.core.definitions.trigger_types import TRIGGER_TYPES

if TYPE_CHECKING:
    from layover.core.definitions.tree import Json

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_DURATION: dict[str, Json] = {"type": "string", "pattern": DURATION_PATTERN}
_TEMPLATE: dict[str, Json] = {"type": "string", "pattern": r"\$\{"}
_SCALAR: list[Json] = ["string", "number", "boolean"]
_ID: dict[str, Json] = {"type": "string", "pattern": ID_PATTERN}
_IDS: dict[str, Json] = {"oneOf": [_ID, {"type": "array", "items": _ID}]}
_GRAPH: dict[str, Json] = {
    "nodes": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/node"}},
    "edges": {"type": "array", "items": {"$ref": "#/$defs/edge"}},
    "start": {"oneOf": [_ID, {"type": "array", "minItems": 1, "items": _ID}, {"type": "null"}]},
}

_KINDS: dict[str | None, dict[str, Json]] = {
    "duration": _DURATION,
    "span": {"anyOf": [_DURATION, _TEMPLATE]},
    "expression": {"type": _SCALAR},
    "template": {"type": _SCALAR},
    "value": {},
    "values": {"type": "object"},
    "number": {"type": "number"},
    "schema": {"type": ["object", "boolean"]},
    "data": {"type": "object"},
    "graph": {"$ref": "#/$defs/body"},
    "trigger": {"$ref": "#/$defs/trigger"},
    "instant": {"type": "string", "maxLength": 64},
}


def format_schema() -> dict[str, Json]:
    """Return the JSON Schema of a definition."""
    writer = _SchemaWriter()
    heading = writer.struct(Heading)
    definition = _closed({**_properties(heading), **_GRAPH}, required=[*_required(heading), "nodes"])
    defs = writer.defs
    defs["body"] = {"oneOf": [_GRAPH["nodes"], _closed(_GRAPH, required=["nodes"])]}
    defs["node"] = _node_schema(writer)
    edge = writer.struct(Edge)
    defs["trigger"] = _trigger_schema(writer)
    defs["edge"] = _closed(_properties(edge), required=["source", "target"])
    return {
        "$schema": DIALECT,
        "title": "Layover workflow definition",
        **definition,
        "$defs": dict(sorted(defs.items())),
    }


def _node_schema(writer: _SchemaWriter) -> dict[str, Json]:
    """Choose by `type`; a type that is not built in is the name of a function."""
    following: dict[str, Json] = {"oneOf": [*_options(_IDS), {"type": "object", "additionalProperties": _IDS}]}
    cases: list[Json] = []
    structs: dict[str, type[DefinitionPart]] = {**TYPES, "function": CallNode}
    for name, struct in structs.items():
        shape = writer.struct(struct)
        writer.defs[f"{name}_node"] = _closed(
            {**_properties(shape), "next": following}, required=_required(shape), title=_summary(struct)
        )
        tested: Json = {"const": name} if name in TYPES else {"not": {"enum": [*TYPES]}}
        cases.append({"if": {"properties": {"type": tested}}, "then": {"$ref": f"#/$defs/{name}_node"}})
    return {"type": "object", "required": ["id", "type"], "allOf": cases}


def _trigger_schema(writer: _SchemaWriter) -> dict[str, Json]:
    """Choose by `type`."""
    cases: list[Json] = []
    for name, struct in TRIGGER_TYPES.items():
        writer.defs[f"{name}_trigger"] = writer.struct(struct)
        cases.append({"if": {"properties": {"type": {"const": name}}}, "then": {"$ref": f"#/$defs/{name}_trigger"}})
    types: Json = {"type": {"enum": [*TRIGGER_TYPES]}}
    return {"type": "object", "required": ["name", "type"], "properties": types, "allOf": cases}


class _SchemaWriter:
    """Writes the schema of each type; structs other than nodes become definitions of their own."""

    def __init__(self) -> None:
        self.defs: dict[str, Json] = {}

    def struct(self, struct: type[DefinitionPart]) -> dict[str, Json]:
        """Return the schema of a struct."""
        fields = [field for field in fields_of(struct) if kind_of(field.type) != "extra"]
        properties: dict[str, Json] = {field.encode_name: self._field(field) for field in fields}
        properties |= {name: _or_one(properties[name]) for name in struct.lists}
        properties |= {alias: properties[name] for alias, name in struct.aliases.items()}
        required = [field.encode_name for field in fields if field.required]
        if issubclass(struct, Node | TriggerDefinition) and "type" not in required:
            required.insert(1, "type")
        return _closed(properties, required=required, title=_summary(struct))

    def _field(self, field: inspect.Field) -> Json:
        schema = self.of(field.type)
        default = field.default_factory() if field.default_factory is not msgspec.NODEFAULT else field.default
        timed = "pattern" in schema or isinstance(default, msgspec.Struct | tuple)
        if default in (msgspec.NODEFAULT, msgspec.UNSET, None) or timed:
            return schema
        return {**schema, "default": msgspec.to_builtins(default)}

    def of(self, type_: inspect.Type) -> dict[str, Json]:
        """Return the schema of a type."""
        kind = kind_of(type_)
        if kind in _KINDS:
            return _KINDS[kind]
        match type_:
            case inspect.Metadata():
                return self.of(type_.type)
            case inspect.StrType():
                return _without_none(
                    type="string", pattern=type_.pattern, minLength=type_.min_length, maxLength=type_.max_length
                )
            case inspect.BoolType():
                return {"type": "boolean"}
            case inspect.IntType():
                return _without_none(type="integer", minimum=type_.ge, maximum=type_.le)
            case inspect.FloatType():
                return _without_none(type="number", minimum=type_.ge, maximum=type_.le)
            case inspect.LiteralType():
                return {"enum": [*type_.values]}
            case inspect.NoneType():
                return {"type": "null"}
            case inspect.VarTupleType():
                return _without_none(type="array", items=self.of(type_.item_type), minItems=type_.min_length)
            case inspect.StructType() if issubclass(type_.cls, DefinitionPart):
                return self._reference(type_.cls)
            case inspect.UnionType():
                return {"anyOf": self._members(type_)}
            case _:
                raise TypeError(f"the format has a field of a type without a schema: {type_}")

    def _members(self, type_: inspect.UnionType) -> list[Json]:
        """Return the schemas of a union's members; a template is text where a number beside it has its own meaning."""
        counted = any(isinstance(member, inspect.IntType) for member in type_.types)
        return [
            {"type": "string"} if counted and kind_of(member) == "template" else self.of(member)
            for member in type_.types
        ]

    def _reference(self, struct: type[DefinitionPart]) -> dict[str, Json]:
        name = struct.noun.replace(" ", "") or struct.__name__.lower()
        if name not in self.defs:
            schema = self.struct(struct)
            self.defs[name] = _with_shorthand(struct, schema)
        return {"$ref": f"#/$defs/{name}"}


def _with_shorthand(struct: type[DefinitionPart], schema: dict[str, Json]) -> dict[str, Json]:
    if struct is RetryDefinition:
        return {"oneOf": [{"const": "forever"}, schema]}
    if struct is HookSecret:
        return {"oneOf": [{"type": "string"}, schema]}
    return schema


def _or_one(listed: Json) -> Json:
    """Return the schema of a list that a single item may stand for."""
    return {"oneOf": [listed["items"] if isinstance(listed, dict) else {}, listed]}


def _closed(
    properties: dict[str, Json], *, required: list[Json] | list[str], title: str | None = None
) -> dict[str, Json]:
    return {
        **({"description": title} if title else {}),
        "type": "object",
        "properties": properties,
        "patternProperties": {"^x-": {}},
        "required": [*required],
        "additionalProperties": False,
    }


def _properties(schema: dict[str, Json]) -> dict[str, Json]:
    properties = schema["properties"]
    return properties if isinstance(properties, dict) else {}


def _required(schema: dict[str, Json]) -> list[Json]:
    required = schema["required"]
    return required if isinstance(required, list) else []


def _options(schema: dict[str, Json]) -> list[Json]:
    options = schema["oneOf"]
    return options if isinstance(options, list) else []


def _without_none(**keywords: Json) -> dict[str, Json]:
    return {key: value for key, value in keywords.items() if value is not None}


def _summary(struct: type[DefinitionPart]) -> str:
    return (python_inspect.getdoc(struct) or "").split("\n", maxsplit=1)[0]
