"""Definitions as they come with a request: read by their media type, and checked beside the event loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
from msgspec import Meta

from layover.api.problems import Refusal, errors_of
from layover.core.plan import compile_plan

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.core.definitions.check import Checked
    from layover.core.definitions.read_text import Syntax
    from layover.core.plan import Plan

MEDIA_TYPES: Final = ("application/json", "application/yaml", "text/yaml", "application/x-yaml")
_UNREADABLE: Final = frozenset({"syntax", "bad_encoding", "empty_document"})


class AllowQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How strictly a definition is taken."""

    allow_unknown: Annotated[
        bool, Meta(description="Take a definition with node types or sources that no function is known for.")
    ] = False


async def checked_of(call: Request[bytes, Any], *, allow_unknown: bool) -> Checked:
    """Return what is found in the definition that was sent."""
    return await call.service.workflows.checked(call.body, allow_unknown=allow_unknown, syntax=syntax_of(call))


def syntax_of(call: Request[bytes, Any]) -> Syntax:
    """Return what the definition that was sent is written in."""
    media_type = call.headers.get("content-type", "")
    return "yaml" if "yaml" in media_type.partition(";")[0].lower() else "json"


async def plan_of(call: Request[bytes, Any], *, allow_unknown: bool) -> Plan:
    """Return the plan of the definition that was sent; InvalidDefinition tells all that is wrong with it."""
    found = await checked_of(call, allow_unknown=allow_unknown)
    if any(problem.code in _UNREADABLE for problem in found.problems):
        raise Refusal("malformed", "The definition cannot be read.", errors=errors_of(found.problems))
    return await asyncio.to_thread(compile_plan, found)
