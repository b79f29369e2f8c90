"""Triggers: what starts executions by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from msgspec import Meta

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
    "What starts executions by itself: schedules and signals. The triggers of a workflow are part of its definition, "
    "and a trigger's id follows from the names of both.",
)

_READ: Final = ("workflow:read",)
_WRITE: Final = ("workflow:write",)
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


def _limit(call: Request[None, TriggersQuery] | Request[None, InputsQuery] | Request[None, TriggerHistoryQuery]) -> int:
    settings = call.services.settings
    return min(call.query.limit or settings.page, settings.longest_page)


@routes.get("/triggers", needs=_READ, query=TriggersQuery, answers={200: Page[Trigger]}, problems=("malformed_cursor",))
async def list_triggers(call: Request[None, TriggersQuery]) -> Response:
    """List triggers by workflow and name."""
    return Response(await call.service.triggers.list(call.query.workflow, _limit(call), call.query.cursor))


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
    return Response(await call.service.triggers.pause(call.path["id"], call.body.reason or ""))


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
    return Response(await call.service.triggers.resume(call.path["id"], catch_up=call.body.catch_up))


@routes.post(
    "/triggers/{id}/rewind",
    needs=_WRITE,
    body=TriggerRewindBody,
    answers={200: Trigger},
    problems=(*_ACTS, "invalid_input", "not_a_poll"),
)
async def rewind_trigger(call: Request[TriggerRewindBody, NoQuery]) -> Response:
    """Set the cursor of a poll; items that are still known by their ids start nothing again."""
    return Response(await call.service.triggers.rewind(call.path["id"], call.body.cursor))


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
    return Response(await call.service.triggers.fire(call.path["id"], body.data, body.id, dry_run=body.dry_run))


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
        call.path["id"], body.from_, body.to, again=body.again, dry_run=body.dry_run
    )
    return Response(found)


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
    return Response(await call.service.triggers.replay(call.path["id"], call.path["input"]))


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
    return Response(await call.service.triggers.discard(call.path["id"], call.path["input"]))
