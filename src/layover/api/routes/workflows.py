"""Definitions, their versions, and whether they may be started."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from msgspec import Meta

from layover.api.definitions import MEDIA_TYPES, AllowQuery, plan_of, syntax_of
from layover.api.openapi_examples import DEFINITION
from layover.api.pause_ends import resume_time_of
from layover.api.problems import Refusal
from layover.api.request import Response
from layover.api.routes.control import BreakpointQuery
from layover.api.routing import NoQuery, Routes
from layover.interface.resume_times import check_before
from layover.model.executions import Graph
from layover.model.problems import FieldError
from layover.model.shared import EmptyBody, Page, ReasonBody
from layover.model.workflows import (
    Differences,
    PauseWorkflowBody,
    Resting,
    ResumeWorkflowBody,
    WorkflowChange,
    WorkflowSource,
    WorkflowVersion,
)

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.core.plan import Plan

routes = Routes("Workflows", "Definitions, their versions, and whether they may be started.", prefix="/api/v1")

_EXAMPLES: Final = {"order": DEFINITION}


_SAVING: Final = ("malformed", "invalid_definition", "secret_not_allowed", "trigger_path_conflict")


def _without_addresses(reply: Response) -> Response:
    """Return what is kept of an answer with addresses of webhooks, which are shown once: all but those."""
    made = reply.value
    if isinstance(made, WorkflowVersion) and made.addresses:
        return Response(msgspec.structs.replace(made, addresses={}), reply.status, reply.headers)
    return reply


class SaveQuery(AllowQuery, frozen=True):
    """How strictly a definition is taken, and whether its text is kept."""

    keep_text: Annotated[
        bool, Meta(description="Keep the text as it is, for people to read; off for one that a program has written.")
    ] = True


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
    query=SaveQuery,
    answers={201: WorkflowVersion, 200: WorkflowVersion},
    problems=_SAVING,
    examples=_EXAMPLES,
    kept=_without_addresses,
)
async def save_workflow(call: Request[bytes, SaveQuery]) -> Response:
    """Keep a definition as the newest version of its workflow; 200 if it is that already.

    Two definitions that run alike are the same version: labels, descriptions and positions do not count.
    The newest text of a version is kept beside it, as it came. A workflow that was deleted is there again.
    """
    return await _saved(call, await plan_of(call, allow_unknown=call.query.allow_unknown))


@routes.put(
    "/workflows/{name}",
    needs=("workflow:write",),
    body=bytes,
    media_types=MEDIA_TYPES,
    query=SaveQuery,
    answers={201: WorkflowVersion, 200: WorkflowVersion},
    problems=_SAVING,
    examples=_EXAMPLES,
)
async def put_workflow(call: Request[bytes, SaveQuery]) -> Response:
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
    answers={200: Page[WorkflowVersion]},
    problems=("malformed_cursor",),
)
async def list_workflows(call: Request[None, PageQuery]) -> Response:
    """List workflows by name, each with its newest version; deleted ones are not there."""
    return Response(await call.service.workflows.list(_limit(call), call.query.cursor or None))


@routes.get(
    "/workflows/{name}",
    needs=("workflow:read",),
    query=VersionQuery,
    answers={200: WorkflowVersion},
    problems=("unknown_workflow", "unknown_version"),
)
async def get_workflow(call: Request[None, VersionQuery]) -> Response:
    """Show a workflow: a version of it, with its definition in canonical form."""
    return Response(await call.service.workflows.get(call.path["name"], call.query.version))


@routes.get(
    "/workflows/{name}/source",
    needs=("workflow:read",),
    query=VersionQuery,
    answers={200: WorkflowSource},
    problems=("unknown_workflow", "unknown_version"),
)
async def get_workflow_source(call: Request[None, VersionQuery]) -> Response:
    """Show the text of a version as it was written, with its comments; of several for one version, the newest.

    If none was kept, it is the definition written as YAML, and `as_written` is false.
    """
    return Response(await call.service.workflows.source(call.path["name"], call.query.version))


@routes.get(
    "/workflows/{name}/versions",
    needs=("workflow:read",),
    query=PageQuery,
    answers={200: Page[WorkflowVersion]},
    problems=("unknown_workflow", "malformed_cursor"),
)
async def list_versions(call: Request[None, PageQuery]) -> Response:
    """List the versions of a workflow, the newest first."""
    return Response(await call.service.workflows.versions(call.path["name"], _limit(call), call.query.cursor or None))


@routes.get(
    "/workflows/{name}/diff",
    needs=("workflow:read",),
    query=DiffQuery,
    answers={200: Differences},
    problems=("unknown_workflow", "unknown_version"),
)
async def diff_workflow(call: Request[None, DiffQuery]) -> Response:
    """Show what is different between two versions, in their canonical form.

    Nodes are told apart by their ids, so one that has only moved in its list is not different.
    """
    return Response(await call.service.workflows.diff(call.path["name"], call.query.before, call.query.after))


@routes.post(
    "/workflows/{name}/diff",
    needs=("workflow:read",),
    body=bytes,
    media_types=MEDIA_TYPES,
    answers={200: Differences},
    problems=("invalid_definition", "unknown_workflow"),
    examples=_EXAMPLES,
)
async def compare_workflow(call: Request[bytes, NoQuery]) -> Response:
    """Show how a definition differs from the newest version, before it is kept; nothing is kept.

    `after` is the number that it would get: that of the newest version if the two run alike.
    """
    return Response(await call.service.workflows.compare(call.path["name"], call.body, syntax=syntax_of(call)))


@routes.get(
    "/workflows/{name}/resting",
    needs=("execution:read",),
    answers={200: Resting},
    problems=("unknown_workflow",),
)
async def get_resting(call: Request[None, NoQuery]) -> Response:
    """Show where executions rest that have not ended: how many by status, and at which nodes of the graph they wait.

    At most 5,000 executions of each status and 5,000 pause points are looked at; `more` says that there are others. It
    also needs `workflow:read`.
    """
    return Response(await call.service.workflows.resting(call.path["name"]))


@routes.get(
    "/workflows/{name}/graph",
    needs=("workflow:read",),
    query=VersionQuery,
    answers={200: Graph},
    problems=("unknown_workflow", "unknown_version"),
)
async def get_workflow_graph(call: Request[None, VersionQuery]) -> Response:
    """Show the graph of a workflow: its nodes with those inside of containers, and its edges."""
    return Response(await call.service.workflows.graph(call.path["name"], call.query.version))


@routes.delete("/workflows/{name}", needs=("workflow:write",), answers={204: None}, problems=("unknown_workflow",))
async def delete_workflow(call: Request[None, NoQuery]) -> Response:
    """Delete a workflow: its name is unknown from then on, and its open executions go on as they began."""
    await call.service.workflows.delete(call.path["name"])
    return Response(status=204)


@routes.post(
    "/workflows/{name}/activate",
    needs=("workflow:write",),
    body=EmptyBody,
    body_required=False,
    answers={200: WorkflowChange},
    problems=("unknown_workflow",),
)
async def activate_workflow(call: Request[EmptyBody, NoQuery]) -> Response:
    """Let a workflow be started again."""
    return Response(await call.service.workflows.activate(call.path["name"]))


@routes.post(
    "/workflows/{name}/deactivate",
    needs=("workflow:write",),
    body=ReasonBody,
    body_required=False,
    answers={200: WorkflowChange},
    problems=("unknown_workflow",),
)
async def deactivate_workflow(call: Request[ReasonBody, NoQuery]) -> Response:
    """Refuse to start a workflow from now on; what is under way goes on."""
    return Response(await call.service.workflows.deactivate(call.path["name"], call.body.reason or ""))


@routes.post(
    "/workflows/{name}/pause",
    needs=("workflow:write",),
    body=PauseWorkflowBody,
    body_required=False,
    answers={200: WorkflowChange},
    problems=("unknown_workflow", "workflow_inactive", "unknown_node", "too_many_breakpoints"),
)
async def pause_workflow(call: Request[PauseWorkflowBody, NoQuery]) -> Response:
    """Hold what is started from now on until the workflow is resumed; with `running`, what is under way, too.

    `more` in the answer says that there were many: the same call again goes on with the others. With `until`, at the
    next time of `until_cron` in a `zone`, or when the signal `resume_on` arrives, the workflow goes on by itself.

    With `before` the workflow itself goes on, and each of its executions pauses before that node, whenever it comes
    there and until the breakpoint is cleared. All instances obey it within a second.
    """
    name, body = call.path["name"], call.body
    until = resume_time_of(body.until, body.until_cron, body.zone, body.resume_on)
    if body.before is not None:
        check_before(until, running=body.running)
        return Response(await call.service.workflows.set_breakpoint(name, body.before, body.reason or ""))
    return Response(await call.service.workflows.pause(name, body.reason or "", running=body.running, until=until))


@routes.delete(
    "/workflows/{name}/breakpoints",
    needs=("workflow:write",),
    query=BreakpointQuery,
    answers={200: WorkflowChange},
    problems=("unknown_workflow", "unknown_breakpoint"),
)
async def clear_workflow_breakpoint(call: Request[None, BreakpointQuery]) -> Response:
    """Let executions of a workflow no longer pause before a node, or (without one) before any.

    Those that are paused stay so.
    """
    return Response(await call.service.workflows.clear_breakpoint(call.path["name"], call.query.node))


@routes.post(
    "/workflows/{name}/resume",
    needs=("workflow:write",),
    body=ResumeWorkflowBody,
    body_required=False,
    answers={200: WorkflowChange},
    problems=("unknown_workflow", "wrong_state"),
)
async def resume_workflow(call: Request[ResumeWorkflowBody, NoQuery]) -> Response:
    """Let a workflow go on: new starts, those that were held, and those that were paused with it.

    With `at`, at the next time of a `cron` line in a `zone`, or with the signal `on`, it does not go on now, but by
    itself then.
    """
    body = call.body
    when = resume_time_of(body.at, body.cron, body.zone, body.on)
    if when is not None:
        return Response(await call.service.workflows.schedule_resume(call.path["name"], when))
    return Response(await call.service.workflows.resume(call.path["name"]))


@routes.delete(
    "/workflows/{name}/resume",
    needs=("workflow:write",),
    answers={200: WorkflowChange},
    problems=("unknown_workflow", "wrong_state"),
)
async def clear_workflow_resume(call: Request[None, NoQuery]) -> Response:
    """Let the pause of a workflow that was set to end by itself last until it is resumed."""
    return Response(await call.service.workflows.schedule_resume(call.path["name"], None))


async def _saved(call: Request[bytes, SaveQuery], plan: Plan) -> Response:
    version, is_known = await call.service.workflows.save(plan, call.body if call.query.keep_text else None)
    headers = {} if is_known else {"location": f"{call.base}/api/v1/workflows/{version.name}"}
    return Response(version, 200 if is_known else 201, headers)


def _limit(call: Request[None, PageQuery]) -> int:
    return min(call.query.limit, call.services.settings.longest_page)
