"""Checking, trying out and moving definitions."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
from msgspec import Meta

from layover.api.definitions import MEDIA_TYPES, AllowQuery, checked_of, plan_of
from layover.api.openapi_examples import DEFINITION
from layover.api.problem_ranges import end_of
from layover.api.request import Response
from layover.api.routing import NoQuery, Routes
from layover.core.plan import compile_plan
from layover.errors import InvalidInput
from layover.model.deploy_plans import DeployPlan
from layover.model.shared import Page
from layover.model.workflows import (
    Bundle,
    BundleBody,
    CheckedDefinition,
    DefinitionProblem,
    DryRun,
    DryRunBody,
    Imported,
    NodeType,
    TextDryRunBody,
)
from layover.runtime.queries.graphs import drawn

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.core.definitions.check import Checked
    from layover.core.definitions.problems import Problem

routes = Routes("Definitions", "Checking, trying out and moving definitions.", prefix="/api/v1")


class ExportQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which workflows."""

    name: Annotated[
        list[str], Meta(max_length=100, description="A workflow to take; all of them if none is named.")
    ] = []


_PAIR: Final = "write it as `old=new`"


class DeployQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a definition is taken, and which nodes have other ids in it."""

    allow_unknown: Annotated[
        bool, Meta(description="Take a definition with node types or sources that no function is known for.")
    ] = False
    map: Annotated[
        list[Annotated[str, Meta(max_length=600)]],
        Meta(max_length=20, description="A node with another id, as `old=new`; the parameter is repeated for others."),
    ] = []


@routes.post(
    "/workflows/check",
    needs=("workflow:read",),
    body=bytes,
    body_required=False,  # that it is empty is found as well
    media_types=MEDIA_TYPES,
    query=AllowQuery,
    answers={200: CheckedDefinition},
    examples={"order": DEFINITION},
)
async def check_definition(call: Request[bytes, AllowQuery]) -> Response:
    """Find everything that is wrong with a definition, and draw it if it is sound; nothing is kept."""
    found = await checked_of(call, allow_unknown=call.query.allow_unknown)
    return Response(await asyncio.to_thread(_report, found, call.body))


def _report(found: Checked, body: bytes) -> CheckedDefinition:
    lines = body.decode("utf-8", "replace").splitlines() if found.problems else []
    problems = tuple(_problem_of(one, lines) for one in found.problems)
    if not found.ok:
        return CheckedDefinition(problems=problems)
    return CheckedDefinition(problems=problems, graph=drawn(compile_plan(found)), input=found.definition.input)


@routes.get("/node-types", needs=("workflow:read",), answers={200: Page[NodeType]})
async def list_node_types(call: Request[None, NoQuery]) -> Response:
    """List the types that a node may have: those that are built in, then the functions of this engine by name."""
    return Response(Page(items=await call.service.workflows.node_types()))


@routes.get("/schema", needs=("workflow:read",), answers={200: dict[str, Any]})
async def get_definition_schema(call: Request[None, NoQuery]) -> Response:
    """Show the JSON Schema of definitions, for editors."""
    return Response(await call.service.workflows.schema())


@routes.post(
    "/workflows/dry-run",
    needs=("workflow:read",),
    body=TextDryRunBody,
    answers={200: DryRun},
    problems=(
        "invalid_definition",
        "invalid_input",
        "comment_required",
        "invalid_answer",
        "payload_reserved",
        "too_many_steps",
    ),
)
async def dry_run_definition(call: Request[TextDryRunBody, NoQuery]) -> Response:
    """Play a definition before it is kept, as a dry run of a workflow does; nothing is kept."""
    body = call.body
    return Response(await call.service.workflows.dry_run_of(body.definition, body.input, body.outputs, body.answers))


@routes.post(
    "/workflows/plan",
    needs=("workflow:read",),
    body=bytes,
    media_types=MEDIA_TYPES,
    query=DeployQuery,
    answers={200: DeployPlan},
    problems=("malformed", "invalid_definition", "unknown_node"),
    examples={"order": DEFINITION},
)
async def plan_deployment(call: Request[bytes, DeployQuery]) -> Response:
    """Say what a definition would mean to the open executions of its workflow; nothing is kept or changed.

    They are counted in groups: what they wait for is the `same`, has `changed`, has `moved`, or is `gone`. To move
    them, keep the definition, and make a batch of the act `move`.
    """
    names: dict[str, str] = {}
    for old, new in map(_renamed, call.query.map):
        if names.setdefault(old, new) != new:
            text = f"`{old:.100}` is given twice, and can become one node only"
            raise InvalidInput(f"`map`: {text}.", (("map", text),), code="invalid_parameter")
    plan = await plan_of(call, allow_unknown=call.query.allow_unknown)
    return Response(await call.service.workflows.planned(plan, names))


@routes.post(
    "/workflows/{name}/dry-run",
    needs=("workflow:read",),
    body=DryRunBody,
    body_required=False,
    answers={200: DryRun},
    problems=(
        "unknown_workflow",
        "unknown_version",
        "invalid_input",
        "comment_required",
        "invalid_answer",
        "payload_reserved",
        "too_many_steps",
    ),
)
async def dry_run(call: Request[DryRunBody, NoQuery]) -> Response:
    """Play a workflow with given outputs and answers: nothing is called, kept or waited for.

    A node gives what `outputs` has for it, else null. Timers are let run out. Where a person, a signal or a callback is
    awaited and `answers` has nothing for it, the run stands still: that is in `waiting_on`. An approval is answered by
    true or false, or by `{approved, comment, data}`, in the name of all who are needed. Where several signals are
    awaited, the answer has what each brings under its alias.
    """
    body = call.body
    return Response(
        await call.service.workflows.dry_run(call.path["name"], body.version, body.input, body.outputs, body.answers)
    )


def _without_addresses(reply: Response) -> Response:
    """Return what is kept of an answer with addresses of webhooks, which are shown once: all but those."""
    found = reply.value
    if not isinstance(found, Imported):
        return reply
    bare = tuple(msgspec.structs.replace(one, addresses={}) for one in found.workflows)
    return Response(Imported(workflows=bare), reply.status)


@routes.get(
    "/workflows/export",
    needs=("workflow:read",),
    query=ExportQuery,
    answers={200: Bundle},
    problems=("unknown_workflow",),
)
async def export_workflows(call: Request[None, ExportQuery]) -> Response:
    """Take definitions along: the newest version of each workflow, in canonical form, as `import` takes it.

    `sources` has the texts of those that were given as text.
    """
    return Response(await call.service.workflows.export(call.query.name))


@routes.post(
    "/workflows/import",
    needs=("workflow:write",),
    body=BundleBody,
    query=AllowQuery,
    answers={200: Imported},
    problems=("invalid_definition", "secret_not_allowed", "unknown_workflow", "trigger_path_conflict"),
    kept=_without_addresses,
)
async def import_workflows(call: Request[BundleBody, AllowQuery]) -> Response:
    """Keep definitions from elsewhere, each as the newest version of its workflow; if one cannot be used, none is kept.

    One that is the newest version already stays as it is. Of `sources`, the text of a definition is kept if it says the
    same.
    """
    body = call.body
    bundle = Bundle(
        format=body.format,
        workflows=tuple(body.workflows),
        triggers=tuple(body.triggers),
        sources=body.sources,
    )
    saved = await call.service.workflows.import_(bundle, allow_unknown=call.query.allow_unknown)
    return Response(Imported(workflows=saved))


def _problem_of(problem: Problem, lines: list[str]) -> DefinitionProblem:
    end_line, end_column = end_of(lines, problem.line, problem.column) or (None, None)
    return DefinitionProblem(
        code=problem.code,
        path=problem.path,
        message=problem.message,
        line=problem.line,
        column=problem.column,
        end_line=end_line,
        end_column=end_column,
        suggestion=problem.suggestion,
        severity=problem.severity,
    )


def _renamed(text: str) -> tuple[str, str]:
    """Return the old and the new id of a node."""
    old, is_pair, new = text.partition("=")
    if not (is_pair and old and new):
        raise InvalidInput(f"`map`: {text!r:.100} is not `old=new`.", (("map", _PAIR),), code="invalid_parameter")
    return old, new
