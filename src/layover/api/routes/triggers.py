"""Triggers: what starts executions by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from msgspec import Meta

from layover.api.bodies import check_nesting
from layover.api.definitions import AllowQuery
from layover.api.durations import milliseconds_of, misfit
from layover.api.problems import Refusal
from layover.api.request import Response
from layover.api.routing import Routes
from layover.interface.trigger_handle import MOST_OCCURRENCES
from layover.model.executions import Why
from layover.model.shared import EmptyBody, Page, WorkflowName
from layover.model.triggers import (
    BackfillBody,
    Backfilled,
    FireBody,
    Fired,
    InputState,
    ReplayBody,
    Replayed,
    RotateTokenBody,
    Trigger,
    TriggerEvent,
    TriggerInput,
    TriggerOccurrences,
    TriggerPauseBody,
    TriggerResumeBody,
    TriggerRewindBody,
)

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery

routes = Routes(
    "Triggers",
    "What starts executions by itself: schedules, webhooks, signals and polls. The triggers of a workflow are part of "
    "its definition, or made by themselves; a trigger's id follows from the names of both.",
)

_READ: Final = ("workflow:read",)
_WRITE: Final = ("workflow:write",)
_EXAMPLES: Final = {
    "nightly": {"workflow": "order", "name": "nightly", "type": "schedule", "cron": "30 2 * * *", "input": {}}
}
_PROBLEMS: Final = ("malformed_id", "unknown_trigger")
_ACTS: Final = (*_PROBLEMS, "wrong_state")

Limit = Annotated[int, Meta(ge=1, description="How many at most; more than 100 are 100.")]
Cursor = Annotated[str, Meta(description="The `next` of the page before.")]
_OfWorkflow = Annotated[WorkflowName, Meta(description="Those of this workflow.")]
_InState = Annotated[InputState | None, Meta(description="Those in this state.")]
_Count = Annotated[int, Meta(ge=1, le=MOST_OCCURRENCES, description="How many occurrences.")]


class TriggersQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One page of triggers."""

    workflow: _OfWorkflow | None = None
    limit: Limit | None = None
    cursor: Cursor | None = None


class InputsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One page of inputs."""

    state: _InState = None
    limit: Limit | None = None
    cursor: Cursor | None = None


class TriggerHistoryQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One page of a trigger's log."""

    limit: Limit | None = None
    cursor: Cursor | None = None


class NextQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many occurrences."""

    count: _Count = 5


def _not_shown_again(reply: Response) -> Response:
    """Return what is kept of an answer with an address: all but that."""
    made = reply.value
    return Response(msgspec.structs.replace(made, address=None), reply.status) if isinstance(made, Trigger) else reply


def _trigger_of(call: Request[bytes, AllowQuery]) -> dict[str, object]:
    """Return the trigger that was sent; what it says is checked as a part of a definition is."""
    check_nesting(call.body, call.services.settings)
    try:
        return msgspec.json.decode(call.body, type=dict[str, object])
    except msgspec.ValidationError as error:
        raise Refusal("malformed", "A trigger is a JSON object.") from error
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise Refusal("malformed", "The body is not valid JSON.") from error


def _limit(call: Request[None, TriggersQuery] | Request[None, InputsQuery] | Request[None, TriggerHistoryQuery]) -> int:
    settings = call.services.settings
    return min(call.query.limit or settings.page, settings.longest_page)


@routes.get("/triggers", needs=_READ, query=TriggersQuery, answers={200: Page[Trigger]}, problems=("malformed_cursor",))
async def list_triggers(call: Request[None, TriggersQuery]) -> Response:
    """List triggers by workflow and name."""
    return Response(await call.service.triggers.list(call.query.workflow, _limit(call), call.query.cursor))


@routes.post(
    "/triggers",
    needs=_WRITE,
    body=bytes,
    query=AllowQuery,
    answers={201: Trigger},
    problems=("malformed", "invalid_body", "invalid_definition", "unknown_workflow", "trigger_path_conflict"),
    examples=_EXAMPLES,
    kept=_not_shown_again,
)
async def create_trigger(call: Request[bytes, AllowQuery]) -> Response:
    """Make a trigger of a `workflow` that belongs to no definition: it starts the newest version.

    The body is a trigger as a definition has it, with the name of its `workflow`. Of a webhook with `scheme: token` the
    `address` is shown this once.
    """
    given = _trigger_of(call)
    workflow = given.pop("workflow", None)
    if not isinstance(workflow, str):
        raise misfit("workflow", "the name of the workflow that it starts")
    allow_unknown = call.query.allow_unknown
    made = await call.service.triggers.create(workflow, given, call.key, allow_unknown=allow_unknown)
    return Response(made, 201, {"location": f"{call.base}/api/v1/triggers/{made.id}"})


@routes.put(
    "/triggers/{id}",
    needs=_WRITE,
    body=bytes,
    query=AllowQuery,
    answers={200: Trigger},
    problems=(*_PROBLEMS, "malformed", "invalid_definition", "unknown_workflow", "managed_by_definition"),
    examples=_EXAMPLES,
)
async def update_trigger(call: Request[bytes, AllowQuery]) -> Response:
    """Replace a trigger that belongs to no definition by another one of its name; it goes on where it was."""
    given = _trigger_of(call)
    given.pop("workflow", None)
    allow_unknown = call.query.allow_unknown
    return Response(await call.service.triggers.update(call.path["id"], given, allow_unknown=allow_unknown))


@routes.delete("/triggers/{id}", needs=_WRITE, answers={204: None}, problems=(*_PROBLEMS, "managed_by_definition"))
async def delete_trigger(call: Request[None, NoQuery]) -> Response:
    """Stop a trigger that belongs to no definition; its address ends, and its name is free."""
    await call.service.triggers.delete(call.path["id"])
    return Response(status=204)


@routes.post(
    "/triggers/{id}/rotate-token",
    needs=_WRITE,
    body=RotateTokenBody,
    body_required=False,
    answers={200: Trigger},
    problems=(*_PROBLEMS, "unknown_workflow", "no_token"),
    kept=_not_shown_again,
)
async def rotate_trigger_token(call: Request[RotateTokenBody, NoQuery]) -> Response:
    """Make a new address for a webhook with `scheme: token`, shown this once; the one before ends after `grace`."""
    grace = milliseconds_of("grace", call.body.grace)
    return Response(await call.service.triggers.rotate_token(call.path["id"], grace))


@routes.get("/triggers/{id}", needs=_READ, answers={200: Trigger}, problems=_PROBLEMS)
async def get_trigger(call: Request[None, NoQuery]) -> Response:
    """Show a trigger."""
    return Response(await call.service.triggers.get(call.path["id"]))


@routes.get(
    "/triggers/{id}/inputs",
    needs=_READ,
    query=InputsQuery,
    answers={200: Page[TriggerInput]},
    problems=(*_PROBLEMS, "malformed_cursor"),
)
async def list_trigger_inputs(call: Request[None, InputsQuery]) -> Response:
    """List the inputs of a trigger, the newest first."""
    query = call.query
    return Response(await call.service.triggers.inputs(call.path["id"], query.state, _limit(call), query.cursor))


@routes.get(
    "/triggers/{id}/history",
    needs=_READ,
    query=TriggerHistoryQuery,
    answers={200: Page[TriggerEvent]},
    problems=(*_PROBLEMS, "malformed_cursor"),
)
async def trigger_history(call: Request[None, TriggerHistoryQuery]) -> Response:
    """List the events of a trigger's own log, the oldest first."""
    return Response(await call.service.triggers.history(call.path["id"], _limit(call), call.query.cursor))


@routes.get(
    "/triggers/{id}/next",
    needs=_READ,
    query=NextQuery,
    answers={200: TriggerOccurrences},
    problems=(*_PROBLEMS, "wrong_state", "not_a_schedule"),
)
async def next_occurrences(call: Request[None, NextQuery]) -> Response:
    """Show the next occurrences of a schedule."""
    return Response(await call.service.triggers.next(call.path["id"], call.query.count))


@routes.get("/triggers/{id}/why", needs=_READ, answers={200: Why}, problems=_PROBLEMS)
async def why_trigger(call: Request[None, NoQuery]) -> Response:
    """Tell why a trigger does not fire, or when it will."""
    return Response(await call.service.triggers.why(call.path["id"]))


@routes.post(
    "/triggers/{id}/pause",
    needs=_WRITE,
    body=TriggerPauseBody,
    body_required=False,
    answers={200: Trigger},
    problems=_ACTS,
)
async def pause_trigger(call: Request[TriggerPauseBody, NoQuery]) -> Response:
    """Let a trigger start nothing: occurrences are skipped, and signals wait as pending inputs."""
    return Response(await call.service.triggers.pause(call.path["id"], call.body.reason or "", call.key))


@routes.post(
    "/triggers/{id}/resume",
    needs=_WRITE,
    body=TriggerResumeBody,
    body_required=False,
    answers={200: Trigger},
    problems=_ACTS,
)
async def resume_trigger(call: Request[TriggerResumeBody, NoQuery]) -> Response:
    """Let a trigger go on from now; with `catch_up`, make up for occurrences of the pause as its schedule says."""
    triggers, catch_up = call.service.triggers, call.body.catch_up
    return Response(await triggers.resume(call.path["id"], catch_up=catch_up, idempotency_key=call.key))


@routes.post(
    "/triggers/{id}/rewind",
    needs=_WRITE,
    body=TriggerRewindBody,
    answers={200: Trigger},
    problems=(*_ACTS, "invalid_input", "not_a_poll"),
)
async def rewind_trigger(call: Request[TriggerRewindBody, NoQuery]) -> Response:
    """Set the cursor of a poll; items that are still known by their ids start nothing again."""
    return Response(await call.service.triggers.rewind(call.path["id"], call.body.cursor, call.key))


@routes.post(
    "/triggers/{id}/fire",
    needs=("execution:start",),
    body=FireBody,
    body_required=False,
    answers={200: Fired},
    problems=(*_ACTS, "trigger_full"),
)
async def fire_trigger(call: Request[FireBody, NoQuery]) -> Response:
    """Give a trigger an input by hand; a dry run tells filter, input and id. The same id again is the same input."""
    body = call.body
    fired = await call.service.triggers.fire(
        call.path["id"], body.data, body.id, dry_run=body.dry_run, idempotency_key=call.key
    )
    return Response(fired)


@routes.post(
    "/triggers/{id}/backfill",
    needs=_WRITE,
    body=BackfillBody,
    answers={200: Backfilled},
    problems=(*_ACTS, "invalid_input", "not_a_schedule"),
)
async def backfill_trigger(call: Request[BackfillBody, NoQuery]) -> Response:
    """Start the occurrences of a schedule in a range of the past; those that are known are passed over."""
    body = call.body
    found = await call.service.triggers.backfill(
        call.path["id"], body.from_, body.to, again=body.again, dry_run=body.dry_run, idempotency_key=call.key
    )
    return Response(found)


@routes.post(
    "/triggers/{id}/replay",
    needs=_WRITE,
    body=ReplayBody,
    body_required=False,
    answers={200: Replayed},
    problems=(*_PROBLEMS, "malformed_cursor"),
)
async def replay_inputs(call: Request[ReplayBody, NoQuery]) -> Response:
    """Try rejected inputs once more, the newest first; while the answer has a `next`, that is the next `cursor`."""
    where = call.body.where
    return Response(await call.service.triggers.replay_all(call.path["id"], where.limit, where.cursor))


@routes.post(
    "/triggers/{id}/inputs/{input}/replay",
    needs=_WRITE,
    body=EmptyBody,
    body_required=False,
    answers={200: TriggerInput},
    problems=(*_PROBLEMS, "unknown_input", "wrong_state"),
)
async def replay_input(call: Request[EmptyBody, NoQuery]) -> Response:
    """Try a rejected input once more, with the newest version of the workflow."""
    return Response(await call.service.triggers.replay(call.path["id"], call.path["input"], call.key))


@routes.post(
    "/triggers/{id}/inputs/{input}/discard",
    needs=_WRITE,
    body=EmptyBody,
    body_required=False,
    answers={200: TriggerInput},
    problems=(*_PROBLEMS, "unknown_input", "wrong_state"),
)
async def discard_input(call: Request[EmptyBody, NoQuery]) -> Response:
    """Have a rejected or pending input never start."""
    return Response(await call.service.triggers.discard(call.path["id"], call.path["input"], call.key))
