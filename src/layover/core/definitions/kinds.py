"""The kinds of fields of a definition, beyond their Python types.

The reader, the checker, the compiler, the writer and the JSON Schema all follow these marks, so that a new field is
described in one place: its declaration in the model.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta, inspect

from layover.core.secret_names import SECRET_NAME

Kind = Literal[
    "duration",  # text such as `1h30m`; milliseconds inside
    "span",  # a duration, or a template that gives one
    "expression",  # a bare expression
    "template",  # text with `${ }` that gives text
    "value",  # any JSON, with `${ }` allowed in its strings
    "values",  # a mapping of such values
    "number",  # a whole number or not, kept as it was written
    "schema",  # a JSON Schema
    "data",  # plain JSON, taken as it is
    "name",  # a name that expressions can use
    "id",  # the id of a node or a branch
    "graph",  # a nested graph, read by its own rules
    "trigger",  # a trigger, whose type tells its fields
    "instant",  # a date, or a date and a time, perhaps without a zone
    "extra",  # the `x-` fields of builders, kept and never read
]

ID_PATTERN = r"^[A-Za-z][A-Za-z0-9_-]*$"
NAME_PATTERN = r"^[A-Za-z_][A-Za-z0-9_]*$"
WORKFLOW_PATTERN = r"^[A-Za-z][A-Za-z0-9_.-]{0,254}$"
DESTINATION_PATTERN = r"^[A-Za-z][A-Za-z0-9_.-]{0,62}$"

NAMING = {
    ID_PATTERN: "it starts with a letter and goes on with letters, digits, `_` and `-`",
    NAME_PATTERN: "it is made of letters, digits and `_`",
    WORKFLOW_PATTERN: "it starts with a letter and goes on with letters, digits, `_`, `.` and `-`",
    DESTINATION_PATTERN: "it has up to 63 letters, digits, `_`, `.` and `-`, and starts with a letter",
    SECRET_NAME: "it has up to 64 capital letters, digits and `_`, and starts with a letter",
}


def kind_of(type_: inspect.Type) -> str | None:
    """Return the kind that a field's type is marked with."""
    if isinstance(type_, inspect.Metadata) and type_.extra is not None:
        return str(type_.extra["kind"])
    return None


def fields_of(struct: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    """Return the fields of a struct with their types resolved."""
    info = inspect.type_info(struct)
    if not isinstance(info, inspect.StructType):
        raise TypeError(f"{struct.__name__} is not a struct")
    return info.fields


def _mark(kind: Kind) -> dict[str, Kind]:
    return {"kind": kind}


Duration: TypeAlias = Annotated[int, Meta(extra=_mark("duration"))]
Span: TypeAlias = Annotated[int | str, Meta(extra=_mark("span"))]
Expression: TypeAlias = Annotated[str, Meta(extra=_mark("expression"))]
Text: TypeAlias = Annotated[str, Meta(extra=_mark("template"))]
Value: TypeAlias = Annotated[object, Meta(extra=_mark("value"))]
Schema: TypeAlias = Annotated[object, Meta(extra=_mark("schema"))]
Data: TypeAlias = Annotated[dict[str, object], Meta(extra=_mark("data"))]
Values: TypeAlias = Annotated[dict[str, object], Meta(extra=_mark("values"))]
Extra: TypeAlias = Annotated[dict[str, object], Meta(extra=_mark("extra"))]
Id: TypeAlias = Annotated[str, Meta(pattern=ID_PATTERN, max_length=255, extra=_mark("id"))]
Name: TypeAlias = Annotated[str, Meta(pattern=NAME_PATTERN, max_length=255, extra=_mark("name"))]
WorkflowName: TypeAlias = Annotated[str, Meta(pattern=WORKFLOW_PATTERN, max_length=255)]
DestinationName: TypeAlias = Annotated[str, Meta(pattern=DESTINATION_PATTERN, max_length=63)]
SecretName: TypeAlias = Annotated[str, Meta(pattern=SECRET_NAME, max_length=64)]
Number: TypeAlias = Annotated[int | float, Meta(extra=_mark("number"))]
ShortText: TypeAlias = Annotated[str, Meta(max_length=255)]
Positive: TypeAlias = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Priority: TypeAlias = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
SignalName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=255)]
Instant: TypeAlias = Annotated[str, Meta(max_length=64, extra=_mark("instant"))]
Count: TypeAlias = Annotated[int, Meta(ge=0, le=1_000_000_000)]
Unset: TypeAlias = msgspec.UnsetType
