"""Definitions as they come with a request: read by their media type, and checked beside the event loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
from msgspec import Meta

from layover.api.problems import Refusal
from layover.api.resources.problems import FieldError
from layover.core.definitions.check import check
from layover.core.plan import compile_plan
from layover.runtime.errors import UnknownWorkflow
from layover.runtime.plans import UnknownVersion

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Mapping, Sequence

    from layover.api.request import Request
    from layover.core.definitions.check import Checked
    from layover.core.definitions.problems import Problem
    from layover.core.definitions.read_text import Syntax
    from layover.core.plan import Plan
    from layover.ports.access import Standing
    from layover.ports.records import Version
    from layover.ports.store import Store

MEDIA_TYPES: Final = ("application/json", "application/yaml", "text/yaml", "application/x-yaml")
_UNREADABLE: Final = frozenset({"syntax", "bad_encoding", "empty_document"})


class AllowQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How strictly a definition is taken."""

    allow_unknown: Annotated[
        bool, Meta(description="Take a definition with node types that no function is known for.")
    ] = False


async def checked_of(call: Request[bytes, Any], *, allow_unknown: bool) -> Checked:
    """Return what is found in the definition that was sent."""
    media_type = call.headers.get("content-type", "")
    syntax: Syntax = "yaml" if "yaml" in media_type.partition(";")[0].lower() else "json"
    return await asyncio.to_thread(check, call.body, syntax=syntax, functions=known_types(call, allow_unknown))


async def plan_of(call: Request[bytes, Any], *, allow_unknown: bool) -> Plan:
    """Return the plan of the definition that was sent; InvalidDefinition tells all that is wrong with it."""
    found = await checked_of(call, allow_unknown=allow_unknown)
    if any(problem.code in _UNREADABLE for problem in found.problems):
        raise Refusal("malformed", "The definition cannot be read.", errors=errors_of(found.problems))
    return await asyncio.to_thread(compile_plan, found)


async def plan_from(document: Mapping[str, object], functions: Collection[str] | None) -> Plan:
    """Return the plan of a definition that is one of several."""
    return await asyncio.to_thread(lambda: compile_plan(check(document, functions=functions)))


async def wanted_version(call: Request[Any, Any], number: int | None) -> Version:
    """Return a version of the workflow in the path, the newest if no number is given; a deleted one has none."""
    name, store = call.path["name"], call.services.store
    await call.engine.standing(name)
    if number is None:
        newest = await store.latest(name)
        if newest is None:
            raise UnknownWorkflow(f"There is no workflow `{name}`.")
        return newest
    for one in await store.versions(name):
        if one.number == number:
            return one
    raise UnknownVersion(f"The workflow `{name}` has no version {number}.")


async def workflows(
    store: Store, after: str = "", at_once: int = 100
) -> AsyncIterator[tuple[Version, Standing | None]]:
    """Go through workflows by name, each with its newest version and how it stands; deleted ones are left out."""
    while page := await store.workflows(after, at_once):
        standings = {one.workflow: one for one in await store.standings([one.workflow for one in page])}
        for version in page:
            standing = standings.get(version.workflow)
            if standing is None or standing.state != "deleted":
                yield version, standing
        after = page[-1].workflow


def known_types(call: Request[Any, Any], allow_unknown: bool) -> Collection[str] | None:  # noqa: FBT001 - always named
    """Return the node types that a definition may have, or None if it may have any."""
    return None if allow_unknown else call.engine.known_types()


def errors_of(problems: Sequence[Problem], within: str = "$") -> list[FieldError]:
    """Return what is wrong with a definition, as a client is told; `within` is where it stands in what was sent."""
    return [
        FieldError(
            path=f"{within}{one.path.removeprefix('$')}",
            message=one.message,
            code=one.code,
            line=one.line,
            column=one.column,
            suggestion=one.suggestion,
        )
        for one in problems
        if one.severity == "error"
    ]
