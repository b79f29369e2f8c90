"""What crosses the network: the resources of the HTTP interface, for the server, the client and the command line alike.

Field names are those of the wire. Times are texts in ISO-8601, UTC, with milliseconds. What a field may not hold is
left out of a request and null in an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Generic, TypeAlias, TypeVar

import msgspec
from msgspec import Meta

from layover.core.definitions.durations import DURATION_PATTERN

T = TypeVar("T")

Value: TypeAlias = Any  # whatever JSON can say

Moment = Annotated[str, Meta(examples=["2026-03-01T09:30:00.000Z"], extra_json_schema={"format": "date-time"})]
Uuid = Annotated[str, Meta(extra_json_schema={"format": "uuid"})]
ExecutionId = Annotated[Uuid, Meta(examples=["0195f2a6-7c00-7000-8000-5d1e0f3a9b42"])]
# `$` alone would let a line break pass at the end.
WorkflowName = Annotated[str, Meta(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,254}$(?!\n)", examples=["order"])]
ContextId = Annotated[str, Meta(examples=["review:lines.2"])]
Reason = Annotated[str, Meta(max_length=255, examples=["Waiting for the new price list"])]
Comment = Annotated[str, Meta(max_length=10_000, examples=["Fine by me"])]
# The pattern is told, not enforced: who reads a length of time says better what is wrong with it.
Length = Annotated[str, Meta(max_length=50, extra_json_schema={"pattern": DURATION_PATTERN})]


class Resource(msgspec.Struct, frozen=True, kw_only=True):
    """What is answered."""


class Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is asked; unknown fields are refused, since they are usually typos.

    `elsewhere` says of fields that are often given here where they belong.
    """

    elsewhere: ClassVar[Mapping[str, str]] = {}


class Page(Resource, Generic[T], frozen=True, kw_only=True):
    """One page of a list; `next` goes back in as `cursor`."""

    items: list[T]
    next: str | None = None


class Failure(Resource, frozen=True, kw_only=True):
    """What went wrong in an execution."""

    code: str
    message: str
    type: str = ""
    retryable: bool = True
    attempt: int = 0
    context_id: str = ""
    status: int | None = None
    details: Value = None


class EmptyBody(Body, frozen=True, kw_only=True):
    """Nothing."""


class ReasonBody(Body, frozen=True, kw_only=True):
    """Why."""

    reason: Reason | None = None
