"""What all results have in common: one set of frozen structs for the engine, HTTP, the client and the command line.

Field names are those of the wire. A time is a `Moment`: a `datetime` in UTC, on the wire ISO-8601 with milliseconds.
`encode` and `decode` write and read JSON with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Meta

from layover.core.definitions.durations import DURATION_PATTERN
from layover.core.moments import Moment

T = TypeVar("T")

Value: TypeAlias = Any  # whatever JSON can say

Uuid = Annotated[str, Meta(extra_json_schema={"format": "uuid"})]
ExecutionId = Annotated[Uuid, Meta(examples=["0195f2a6-7c00-7000-8000-5d1e0f3a9b42"])]
# `$` alone would let a line break pass at the end.
WorkflowName = Annotated[str, Meta(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,254}$(?!\n)", examples=["order"])]
ContextId = Annotated[str, Meta(examples=["review:lines.2"])]
Reason = Annotated[str, Meta(max_length=255, examples=["Waiting for the new price list"])]
Comment = Annotated[str, Meta(max_length=10_000, examples=["Fine by me"])]
# The pattern is told, not enforced: who reads a length of time says better what is wrong with it.
Length = Annotated[str, Meta(max_length=50, extra_json_schema={"pattern": DURATION_PATTERN})]


# What an execution waits for, as a filter has it: `person` stands for `approval` and `form`.
WaitsOn = Literal["person", "approval", "form", "timer", "signal", "callback", "child", "delivery", "retry", "operator"]


def encode(value: object) -> bytes:
    """Return a struct, or anything made of them, as JSON."""
    return msgspec.json.encode(value, enc_hook=_encode_moment)


def decode(body: bytes, type_: type[T]) -> T:
    """Return what JSON says, as a struct or anything made of them."""
    return msgspec.json.decode(body, type=type_, dec_hook=_read)


def builtins(value: object) -> Any:
    """Return a struct, or anything made of them, as dicts, lists and texts."""
    return msgspec.to_builtins(value, enc_hook=_encode_moment)


def schema_of(type_: type) -> dict[str, object]:
    """Return the JSON Schema of a type that only we know."""
    if issubclass(type_, Moment):
        return {"type": "string", "format": "date-time", "examples": ["2026-03-01T09:30:00.000Z"]}
    raise NotImplementedError(type_)


def _encode_moment(value: object) -> object:
    if isinstance(value, Moment):
        return _text_of(value)
    raise NotImplementedError(type(value))  # msgspec says what cannot be written


_text_of = lru_cache(maxsize=4096)(str)  # lists are full of times, and asked for again


def _read(type_: type, value: object) -> object:
    if issubclass(type_, Moment) and isinstance(value, str):
        return Moment.read(value)
    raise NotImplementedError(type_)


class Resource(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What is answered. Nothing refers back to it, so it is kept out of the garbage collector."""


class Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is asked; unknown fields are refused, since they are usually typos.

    `elsewhere` says of fields that are often given here where they belong.
    """

    elsewhere: ClassVar[Mapping[str, str]] = {}


class Page(Resource, Generic[T], frozen=True, kw_only=True):
    """One page of a list; `next` goes back in as `cursor`."""

    items: tuple[T, ...]
    next: str | None = None


class EmptyBody(Body, frozen=True, kw_only=True):
    """Nothing."""


class ReasonBody(Body, frozen=True, kw_only=True):
    """Why."""

    reason: Reason | None = None
