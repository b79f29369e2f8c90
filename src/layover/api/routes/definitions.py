"""Checking, trying out and moving definitions."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from msgspec import Meta

from layover.api.definitions import (
    MEDIA_TYPES,
    AllowQuery,
    checked_of,
    errors_of,
    known_types,
    plan_from,
    wanted_version,
    workflows,
)
from layover.api.openapi_examples import DEFINITION
from layover.api.problems import Refusal
from layover.api.request import Reply
from layover.api.resources.executions import WaitingOn
from layover.api.resources.problems import FieldError
from layover.api.resources.workflows import Bundle, BundleBody, Checked, DryRun, DryRunBody, Imported, SavedVersion
from layover.api.routing import NoQuery, Routes
from layover.api.serializers.executions import failure_of, node_of
from layover.api.serializers.workflows import problem_of
from layover.core.definitions.problems import InvalidDefinition
from layover.core.moments import moment
from layover.runtime.operations import dry_run as dry_runs
from layover.runtime.queries.node_executions import node_executions

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.core.plan import Plan

routes = Routes("Definitions", "Checking, trying out and moving definitions.", prefix="/api/v1")

_MOST_ERRORS: Final = 200


class ExportQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which workflows."""

    name: Annotated[
        list[str], Meta(max_length=100, description="A workflow to take; all of them if none is named.")
    ] = []


@routes.post(
    "/workflows/check",
    needs=("workflow:read",),
    body=bytes,
    body_required=False,  # that it is empty is found as well
    media_types=MEDIA_TYPES,
    query=AllowQuery,
    answers={200: Checked},
    examples={"order": DEFINITION},
)
async def check_definition(call: Request[bytes, AllowQuery]) -> Reply:
    """Find everything that is wrong with a definition; nothing is kept."""
    found = await checked_of(call, allow_unknown=call.query.allow_unknown)
    return Reply(Checked(problems=[problem_of(one) for one in found.problems]))


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
async def dry_run(call: Request[DryRunBody, NoQuery]) -> Reply:
    """Play a workflow with given outputs and answers: nothing is called, kept or waited for.

    A node gives what `outputs` has for it, else null. Timers are let run out. Where a person, a signal or a callback is
    awaited and `answers` has nothing for it, the run stands still: that is in `waiting_on`. An approval is answered by
    true or false, or by `{approved, comment, data}`, in the name of everybody who is needed. Where several signals are
    awaited, the answer has what each brings under its alias.
    """
    body = call.body
    version = await wanted_version(call, body.version)
    plan = await call.engine.instance.plans.of(version.hash)
    now = call.engine.instance.clock.now()
    run = dry_runs.DryRun(plan, outputs=body.outputs, answers=body.answers, now=now)
    await asyncio.to_thread(run.run, body.input)
    return Reply(_told(plan, run))


@routes.get(
    "/workflows/export",
    needs=("workflow:read",),
    query=ExportQuery,
    answers={200: Bundle},
    problems=("unknown_workflow",),
)
async def export_workflows(call: Request[None, ExportQuery]) -> Reply:
    """Take definitions along: the newest version of each workflow, in canonical form, as `import` takes it."""
    store = call.services.store
    names = call.query.name
    for name in names:
        await call.engine.standing(name)
    newest = (
        [await store.latest(name) for name in sorted(set(names))]
        if names
        else [version async for version, _ in workflows(store)]
    )
    return Reply(
        Bundle(
            exported_at=moment(call.engine.instance.clock.now()),
            workflows=[msgspec.json.decode(one.document) for one in newest if one is not None],
        )
    )


@routes.post(
    "/workflows/import",
    needs=("workflow:write",),
    body=BundleBody,
    query=AllowQuery,
    answers={200: Imported},
    problems=("invalid_definition",),
)
async def import_workflows(call: Request[BundleBody, AllowQuery]) -> Reply:
    """Keep definitions from elsewhere, each as the newest version of its workflow; if one cannot be used, none is kept.

    One that is the newest version already stays as it is.
    """
    saved: list[SavedVersion] = []
    for given in await _plans(call):
        plan = await call.engine.accepted(given)
        name = plan.definition.name
        version = await call.engine.register(plan, audit=call.audit("workflow.save", name, hash=plan.hash))
        saved.append(SavedVersion(name=name, version=version.number, hash=version.hash))
    return Reply(Imported(workflows=saved))


async def _plans(call: Request[BundleBody, AllowQuery]) -> list[Plan]:
    """Return the plans of all definitions, or refuse them all for what is wrong with any of them."""
    functions = known_types(call, call.query.allow_unknown)
    plans: dict[str, Plan] = {}
    errors: list[FieldError] = []
    for index, definition in enumerate(call.body.workflows):
        place = f"$.workflows[{index}]"
        try:
            plan = await plan_from(definition, functions)
        except InvalidDefinition as error:
            errors += errors_of(error.problems, place)
            continue
        name = plan.definition.name
        if name in plans:
            errors.append(FieldError(path=f"{place}.name", message=f"`{name}` is there twice.", code="duplicate_name"))
        plans[name] = plan
    if errors:
        raise Refusal("invalid_definition", "Not all definitions can be used.", errors=errors[:_MOST_ERRORS])
    return list(plans.values())


def _told(plan: Plan, run: dry_runs.DryRun) -> DryRun:
    state, facts = run.state, run.state.facts
    points = sorted(state.points.rows.values(), key=lambda point: (point.opened_at, point.node))
    return DryRun(
        status=state.status,
        outcome=facts.outcome,
        output=facts.output,
        error=failure_of(facts.error),
        nodes=[node_of(one) for one in node_executions(plan, run.log)],
        waiting_on=[
            WaitingOn(
                context_id=point.node,
                kind=point.kind,
                since=moment(point.opened_at),
                until=moment(point.deadline),
            )
            for point in points
        ],
    )
