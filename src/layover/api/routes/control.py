"""What operators do to executions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from msgspec import Meta

from layover.api.answer_problems import PROBLEMS
from layover.api.pause_ends import resume_time_of
from layover.api.request import Response
from layover.api.routing import Routes
from layover.api.shown import bounded
from layover.errors import InvalidInput
from layover.interface.resume_times import check_before
from layover.model.deploy_plans import MoveBody
from layover.model.executions import Execution, NodeName, PauseBody, ResumeBody, RetryBody, RewindBody
from layover.model.repeat_plans import RepeatPlan
from layover.model.shared import ReasonBody

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery

routes = Routes(
    "Control",
    "What operators do to executions. One that does not apply it within ten seconds, since nothing drives it, is "
    "answered as it is, and applies it later.",
    prefix="/api/v1",
)

_NEEDS: Final = ("execution:cancel",)
_PROBLEMS: Final = ("malformed_id", "unknown_execution", "wrong_state")


class BreakpointQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The breakpoint to clear."""

    node: Annotated[NodeName, Meta(description="As it was given. Without it, all of them are cleared.")] | None = None


@routes.post(
    "/executions/{id}/pause",
    needs=_NEEDS,
    body=PauseBody,
    body_required=False,
    answers={200: Execution},
    problems=(*_PROBLEMS, "beyond_max_pause", "unknown_node", "too_many_breakpoints"),
)
async def pause_execution(call: Request[PauseBody, NoQuery]) -> Response:
    """Hold an execution: nothing starts from here on. One that is held stays so, for the reason that it had.

    With `until`, or at the next time of `until_cron` in a `zone`, it goes on by itself: the execution has it as
    `resume_at`. With `resume_on` it goes on when that signal arrives.

    With `before` it goes on until it comes to that node, and pauses there, once: `breakpoints` has it until then. The
    node is named by its id in the graph, or in a scope by its context id.
    """
    body = call.body
    until = resume_time_of(body.until, body.until_cron, body.zone, body.resume_on)
    if body.before is not None:
        check_before(until)
        held = await call.service.executions.set_breakpoint(call.path["id"], body.before, body.reason or "", call.key)
        return Response(bounded(held))
    found = await call.service.executions.pause(call.path["id"], body.reason or "", call.key, until)
    return Response(bounded(found))


@routes.delete(
    "/executions/{id}/breakpoints",
    needs=_NEEDS,
    query=BreakpointQuery,
    answers={200: Execution},
    problems=(*_PROBLEMS, "unknown_breakpoint"),
)
async def clear_breakpoint(call: Request[None, BreakpointQuery]) -> Response:
    """Do not pause an execution before a node, or (without one) before any; the breakpoints of its workflow stay."""
    return Response(bounded(await call.service.executions.clear_breakpoint(call.path["id"], call.query.node)))


@routes.post(
    "/executions/{id}/resume",
    needs=_NEEDS,
    body=ResumeBody,
    body_required=False,
    answers={200: Execution},
    problems=(
        *_PROBLEMS,
        "beyond_max_pause",
        "ambiguous_point",
        *(code for code in PROBLEMS if code not in ("not_answerable", "unknown_point")),
    ),
)
async def resume_execution(call: Request[ResumeBody, NoQuery]) -> Response:
    """Let an execution go on that an operator holds; with `approved`, decide what it waits for.

    `resume_data` becomes part of the variables: at once, or when the decision is applied. Only those who are asked may
    decide, as with the approval itself.

    With `at`, or with the next time of a `cron` line in a `zone`, it does not go on now, but by itself then; with `on`,
    when that signal arrives.
    """
    body = call.body
    when = resume_time_of(body.at, body.cron, body.zone, body.on)
    if when is not None:
        if body.resume_data is not None or body.approved is not None:
            message = "A pause that ends by itself takes no data and no decision"
            raise InvalidInput(message, (("resume_data", message),), code="invalid_body")
        scheduled = await call.service.executions.schedule_resume(call.path["id"], when, body.reason or "", call.key)
        return Response(bounded(scheduled))
    found = await call.service.executions.resume(
        call.path["id"], body.resume_data, body.approved, body.reason or "", call.key
    )
    return Response(bounded(found))


@routes.delete("/executions/{id}/resume", needs=_NEEDS, answers={200: Execution}, problems=_PROBLEMS)
async def clear_resume(call: Request[None, NoQuery]) -> Response:
    """Let a pause that was set to end by itself last until it is resumed."""
    return Response(bounded(await call.service.executions.schedule_resume(call.path["id"], None, "", call.key)))


@routes.post(
    "/executions/{id}/cancel",
    needs=_NEEDS,
    body=ReasonBody,
    body_required=False,
    answers={200: Execution},
    problems=_PROBLEMS,
)
async def cancel_execution(call: Request[ReasonBody, NoQuery]) -> Response:
    """End an execution, at once."""
    found = await call.service.executions.cancel(call.path["id"], call.body.reason or "", call.key)
    return Response(bounded(found))


@routes.post(
    "/executions/{id}/retry",
    needs=_NEEDS,
    body=RetryBody,
    body_required=False,
    answers={200: Execution | RepeatPlan},
    problems=_PROBLEMS,
)
async def retry_execution(call: Request[RetryBody, NoQuery]) -> Response:
    """Go on with a failed execution from what failed, or with what waits for an operator.

    With `dry_run` the answer is what that would repeat, as things stand, and nothing is changed. It is refused as the
    retry would be.
    """
    if call.body.dry_run:
        return Response(await call.service.executions.plan_retry(call.path["id"]))
    found = await call.service.executions.retry(call.path["id"], call.body.reason or "", call.key)
    return Response(bounded(found))


@routes.post(
    "/executions/{id}/rewind",
    needs=_NEEDS,
    body=RewindBody,
    answers={200: Execution | RepeatPlan},
    problems=(*_PROBLEMS, "unknown_node"),
)
async def rewind_execution(call: Request[RewindBody, NoQuery]) -> Response:
    """Drop the results of a node and of all that came after it, and go on from there.

    With `dry_run` the answer is what that would repeat, drop and close, as things stand, and nothing is changed.
    """
    body = call.body
    if body.dry_run:
        return Response(await call.service.executions.plan_rewind(call.path["id"], body.to))
    found = await call.service.executions.rewind(call.path["id"], body.to, body.reason or "", call.key)
    return Response(bounded(found))


@routes.post(
    "/executions/{id}/move",
    needs=_NEEDS,
    body=MoveBody,
    answers={200: Execution},
    problems=(*_PROBLEMS, "unknown_version", "unknown_node", "cannot_move"),
)
async def move_execution(call: Request[MoveBody, NoQuery]) -> Response:
    """Go on by another version of the workflow, if what it waits for has a place there.

    What is done stays done. A form that has changed is asked again; everything else that waits goes on waiting.
    """
    body = call.body
    found = await call.service.executions.move(call.path["id"], body.version, body.map, body.reason or "", call.key)
    return Response(bounded(found))
