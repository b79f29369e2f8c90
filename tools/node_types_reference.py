"""Write docs/reference/node-types.md from the types themselves: python tools/node_types_reference.py [--check]."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import inspect

from layover.core.definitions.durations import format_duration
from layover.core.definitions.kinds import fields_of, kind_of
from layover.core.definitions.model import (
    ConcurrencyDefinition,
    DefinitionPart,
    Node,
    RateDefinition,
    RetryDefinition,
    WorkflowSettings,
)
from layover.core.definitions.node_types import (
    BUILT_IN,
    Branch,
    CallNode,
    Case,
    EscalationDefinition,
    PeopleDefinition,
    SignalDefinition,
    ports,
)

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "node-types.md"
HEADING = """# Node types and their fields

<!-- Written by tools/node_types_reference.py; change the types instead. -->

Every field of the format, made from the declarations that the reader follows. What they mean together is told in
[the definition format](../definitions.md). A *template* is text in which `${ }` may stand; a *value* is any JSON with
such texts in it; an *expression* stands alone, without `${ }`.

"""
_WORDS = {
    "duration": "duration",
    "span": "duration, or a template that gives one",
    "expression": "expression",
    "template": "template",
    "value": "value",
    "values": "mapping of values",
    "number": "number",
    "schema": "JSON Schema",
    "data": "JSON object",
    "name": "name",
    "id": "id",
    "graph": "nodes, or a nested graph",
    "extra": "`x-` fields, kept and never read",
}
_PARTS = (
    Case,
    Branch,
    PeopleDefinition,
    EscalationDefinition,
    SignalDefinition,
    RetryDefinition,
    WorkflowSettings,
    ConcurrencyDefinition,
    RateDefinition,
)


def page() -> str:
    """Return the page as it should be."""
    common = {field.name for field in fields_of(Node)}
    parts = [HEADING, "## Every node\n\n", _table(Node, set())]
    parts += [
        f"## {_name(struct)}\n\n{_first_line(struct)}\n\n{_ports(struct)}{_table(struct, common)}"
        for struct in (*BUILT_IN, CallNode)
    ]
    parts.append("# Parts of them\n\n")
    parts += [f"## {_noun(part).capitalize()}\n\n{_first_line(part)}\n\n{_table(part, set())}" for part in _PARTS]
    return "".join(parts).rstrip("\n") + "\n"


def _name(struct: type[Node]) -> str:
    return "a function's own name" if struct is CallNode else str(fields_of(struct)[1].default)


def _noun(part: type[DefinitionPart]) -> str:
    """Return what a part is called in sentences."""
    return part.noun or part.__name__.lower()


def _first_line(struct: type[msgspec.Struct]) -> str:
    return (struct.__doc__ or "").strip().splitlines()[0]


def _ports(struct: type[Node]) -> str:
    """Return the ports that a node of a type has; those of a switch are named by its cases."""
    if _name(struct) == "switch":
        return "Ports: `default`, those of its cases, `error`.\n\n"
    found = ports(struct(**{field.name: "" for field in fields_of(struct) if field.required}))
    return (
        f"Ports: {', '.join(f'`{port}`' for port in found)}.\n\n" if found else "It has no ports: nothing follows.\n\n"
    )


def _table(struct: type[msgspec.Struct], without: set[str]) -> str:
    rows = [
        f"| `{field.encode_name}` | {_words(field.type)} | {_default(field)} |\n"
        for field in fields_of(struct)
        if field.name not in without and field.encode_name != "extra"
    ]
    return "| field | holds | if it is left out |\n| --- | --- | --- |\n" + "".join(rows) + "\n" if rows else ""


def _default(field: inspect.Field) -> str:
    if field.required:
        return "it is needed"
    default = field.default
    if default is msgspec.NODEFAULT or default in (None, msgspec.UNSET, "", (), {}):
        return ""
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if isinstance(default, int) and "duration" in _words(field.type):
        return f"`{format_duration(default)}`"
    return f"`{default}`" if isinstance(default, str | int | float) else ""


def _words(type_: inspect.Type) -> str:
    kind = kind_of(type_)
    if kind is not None:
        return _WORDS[kind]
    match type_:
        case inspect.Metadata(type=inner):
            return _words(inner)
        case inspect.UnionType(types=types):
            named = [_words(one) for one in types if not isinstance(one, inspect.NoneType | inspect.CustomType)]
            return " or ".join(dict.fromkeys(word for word in named if word))
        case inspect.LiteralType(values=values):
            return ", ".join(f"`{value}`" for value in values)
        case inspect.VarTupleType(item_type=item):
            return f"list of {_words(item)}"
        case inspect.StructType(cls=cls):
            noun = _noun(cls)
            return f"[{noun.capitalize()}](#{noun.replace(' ', '-')})" if cls in _PARTS else noun
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType():
            return "whole number"
        case inspect.FloatType():
            return "number"
        case inspect.StrType():
            return "text"
        case _:
            return ""


if __name__ == "__main__":
    from written import write  # beside this file, which is only on the path of a script

    write({PAGE: page()})
