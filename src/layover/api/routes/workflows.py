"""Definitions, their versions, and whether they may be started."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from msgspec import Meta

from layover.api.definitions import MEDIA_TYPES, AllowQuery, plan_of, wanted_version, workflows
from layover.api.differences import differences
from layover.api.openapi_examples import DEFINITION
from layover.api.problems import Refusal
from layover.api.request import Reply
from layover.api.resources.executions import Graph
from layover.api.resources.problems import FieldError
from layover.api.resources.shared import EmptyBody, Page, ReasonBody
from layover.api.resources.workflows import (
    Differences,
    PauseWorkflowBody,
    SavedVersion,
    StandingChanged,
    VersionSummary,
    Workflow,
    WorkflowSummary,
)
from layover.api.routing import NoQuery, Routes
from layover.api.serializers.graphs import graph_of
from layover.api.serializers.workflows import standing_of, summary_of, version_of, workflow_of
from layover.core.engine.state import Execution
from layover.core.plan import load
from layover.runtime.queries.graphs import graph

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.core.plan import Plan
    from layover.ports.access import Standing

routes = Routes("Workflows", "Definitions, their versions, and whether they may be started.", prefix="/api/v1")

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,254}")
_EXAMPLES: Final = {"order": DEFINITION}


class PageQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which part of a list."""

    limit: Annotated[int, Meta(ge=1, description="How many at most; more than 100 are never given.")] = 50
    cursor: Annotated[str, Meta(description="The `next` of the page before.")] = ""


class VersionQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which version."""

    version: (
        Annotated[int, Meta(ge=1, description="The number of a version; the newest if it is not given.")] | None
    ) = None


class DiffQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which two versions."""

    before: Annotated[int, Meta(ge=1, description="The earlier version; the one before `to` if it is not given.")] | (
        None
    ) = msgspec.field(name="from", default=None)
    after: Annotated[int, Meta(ge=1, description="The later version; the newest if it is not given.")] | None = (
        msgspec.field(name="to", default=None)
    )


@routes.post(
    "/workflows",
    needs=("workflow:write",),
    body=bytes,
    media_types=MEDIA_TYPES,
    query=AllowQuery,
    answers={201: SavedVersion, 200: SavedVersion},
    problems=("malformed", "invalid_definition"),
    examples=_EXAMPLES,
)
async def save_workflow(call: Request[bytes, AllowQuery]) -> Reply:
    """Keep a definition as the newest version of its workflow; 200 if it is that already.

    Two definitions that run alike are the same version: labels, descriptions and positions do not count.
    A workflow that was deleted is there again.
    """
    return await _saved(call, await plan_of(call, allow_unknown=call.query.allow_unknown))


@routes.put(
    "/workflows/{name}",
    needs=("workflow:write",),
    body=bytes,
    media_types=MEDIA_TYPES,
    query=AllowQuery,
    answers={201: SavedVersion, 200: SavedVersion},
    problems=("malformed", "invalid_definition"),
    examples=_EXAMPLES,
)
async def put_workflow(call: Request[bytes, AllowQuery]) -> Reply:
    """Keep a definition as the newest version of this workflow, whose name it has to have."""
    plan = await plan_of(call, allow_unknown=call.query.allow_unknown)
    if plan.definition.name != call.path["name"]:
        message = f"The definition is one of `{plan.definition.name}`, not of the workflow in the path."
        errors = [FieldError(path="$.name", message=message, code="other_name")]
        raise Refusal("invalid_definition", "The definition cannot be used.", errors=errors)
    return await _saved(call, plan)


@routes.get(
    "/workflows",
    needs=("workflow:read",),
    query=PageQuery,
    answers={200: Page[WorkflowSummary]},
    problems=("malformed_cursor",),
)
async def list_workflows(call: Request[None, PageQuery]) -> Reply:
    """List workflows by name, each with its newest version; deleted ones are not there."""
    after, limit = call.query.cursor, _limit(call)
    if after and not _NAME.fullmatch(after):
        raise Refusal("malformed_cursor", "The cursor is none that was given out: use the `next` of a page as it is.")
    listed: list[WorkflowSummary] = []
    async for version, standing in workflows(call.services.store, after, limit + 1):
        listed.append(summary_of(version, standing))
        if len(listed) > limit:
            break
    items = listed[:limit]
    return Reply(Page(items=items, next=items[-1].name if len(listed) > limit else None))


@routes.get(
    "/workflows/{name}",
    needs=("workflow:read",),
    query=VersionQuery,
    answers={200: Workflow},
    problems=("unknown_workflow", "unknown_version"),
)
async def get_workflow(call: Request[None, VersionQuery]) -> Reply:
    """Show a workflow: a version of it, with its definition in canonical form."""
    standing = await call.engine.standing(call.path["name"])
    return Reply(workflow_of(await wanted_version(call, call.query.version), standing))


@routes.get(
    "/workflows/{name}/versions",
    needs=("workflow:read",),
    query=PageQuery,
    answers={200: Page[VersionSummary]},
    problems=("unknown_workflow", "malformed_cursor"),
)
async def list_versions(call: Request[None, PageQuery]) -> Reply:
    """List the versions of a workflow, the newest first."""
    before, limit = call.query.cursor, _limit(call)
    if before and not re.fullmatch("[1-9][0-9]{0,9}", before):
        raise Refusal("malformed_cursor", "The cursor is none that was given out: use the `next` of a page as it is.")
    await call.engine.standing(call.path["name"])
    versions = await call.services.store.versions(call.path["name"])
    found = [one for one in reversed(versions) if not before or one.number < int(before)]
    items = [version_of(one) for one in found[:limit]]
    return Reply(Page(items=items, next=str(items[-1].version) if len(found) > limit else None))


@routes.get(
    "/workflows/{name}/diff",
    needs=("workflow:read",),
    query=DiffQuery,
    answers={200: Differences},
    problems=("unknown_workflow", "unknown_version"),
)
async def diff_workflow(call: Request[None, DiffQuery]) -> Reply:
    """Show what is different between two versions, in their canonical form.

    Nodes are told apart by their ids, so one that has only moved in its list is not different.
    """
    after = await wanted_version(call, call.query.after)
    before = await wanted_version(
        call, call.query.before if call.query.before is not None else max(after.number - 1, 1)
    )
    found = differences(msgspec.json.decode(before.document), msgspec.json.decode(after.document))
    return Reply(
        Differences(name=after.workflow, before=before.number, after=after.number, differences=list(found)),
    )


@routes.get(
    "/workflows/{name}/graph",
    needs=("workflow:read",),
    query=VersionQuery,
    answers={200: Graph},
    problems=("unknown_workflow", "unknown_version"),
)
async def get_workflow_graph(call: Request[None, VersionQuery]) -> Reply:
    """Show the graph of a workflow: its nodes with those inside of containers, and its edges."""
    version = await wanted_version(call, call.query.version)
    plan = await asyncio.to_thread(load, msgspec.json.decode(version.document))
    return Reply(graph_of(graph(plan, Execution(plan), (), version.number)))


@routes.delete("/workflows/{name}", needs=("workflow:write",), answers={204: None}, problems=("unknown_workflow",))
async def delete_workflow(call: Request[None, NoQuery]) -> Reply:
    """Delete a workflow: its name is unknown from then on, and its open executions go on as they began."""
    name = call.path["name"]
    await call.engine.set_standing(name, "deleted", by=call.caller.user, audit=call.audit("workflow.delete", name))
    return Reply(status=204)


@routes.post(
    "/workflows/{name}/activate",
    needs=("workflow:write",),
    body=EmptyBody,
    body_required=False,
    answers={200: StandingChanged},
    problems=("unknown_workflow",),
)
async def activate_workflow(call: Request[EmptyBody, NoQuery]) -> Reply:
    """Let a workflow be started again."""
    name = call.path["name"]
    audit = call.audit("workflow.activate", name)
    return Reply(standing_of(await call.engine.set_standing(name, "active", by=call.caller.user, audit=audit)))


@routes.post(
    "/workflows/{name}/deactivate",
    needs=("workflow:write",),
    body=ReasonBody,
    body_required=False,
    answers={200: StandingChanged},
    problems=("unknown_workflow",),
)
async def deactivate_workflow(call: Request[ReasonBody, NoQuery]) -> Reply:
    """Refuse to start a workflow from now on; what is under way goes on."""
    name, reason = call.path["name"], call.body.reason or ""
    audit = call.audit("workflow.deactivate", name, reason=reason or None)
    found = await call.engine.set_standing(name, "inactive", reason, by=call.caller.user, audit=audit)
    return Reply(standing_of(found))


@routes.post(
    "/workflows/{name}/pause",
    needs=("workflow:write",),
    body=PauseWorkflowBody,
    body_required=False,
    answers={200: StandingChanged},
    problems=("unknown_workflow", "workflow_inactive"),
)
async def pause_workflow(call: Request[PauseWorkflowBody, NoQuery]) -> Reply:
    """Hold what is started from now on until the workflow is resumed; with `running`, what is under way, too.

    `more` in the answer says that there were many: the same call again goes on with the others.
    """
    name, body = call.path["name"], call.body
    reason = body.reason or ""
    audit = call.audit("workflow.pause", name, reason=reason or None, running=body.running)
    moved = await call.engine.pause_workflow(name, reason, running=body.running, by=call.caller.user, audit=audit)
    return Reply(standing_of(moved.standing, executions=moved.executions, more=moved.more))


@routes.post(
    "/workflows/{name}/resume",
    needs=("workflow:write",),
    body=EmptyBody,
    body_required=False,
    answers={200: StandingChanged},
    problems=("unknown_workflow",),
)
async def resume_workflow(call: Request[EmptyBody, NoQuery]) -> Reply:
    """Let a workflow go on: new starts, those that were held, and those that were paused with it."""
    name = call.path["name"]
    audit = call.audit("workflow.resume", name)
    moved = await call.engine.resume_workflow(name, by=call.caller.user, audit=audit)
    return Reply(standing_of(moved.standing, executions=moved.executions, more=moved.more))


async def _saved(call: Request[bytes, AllowQuery], plan: Plan) -> Reply:
    plan = await call.engine.accepted(plan)
    name, store = plan.definition.name, call.services.store
    newest = await store.latest(name)
    standings = await store.standings([name])
    version = await call.engine.register(plan, audit=call.audit("workflow.save", name, hash=plan.hash))
    was_there = newest is not None and newest.number == version.number and not any(map(_is_deleted, standings))
    saved = SavedVersion(name=name, version=version.number, hash=version.hash)
    headers = {} if was_there else {"location": f"{call.base}/api/v1/workflows/{name}"}
    return Reply(saved, 200 if was_there else 201, headers)


def _is_deleted(standing: Standing | None) -> bool:
    return standing is not None and standing.state == "deleted"


def _limit(call: Request[None, PageQuery]) -> int:
    return min(call.query.limit, call.services.settings.longest_page)
