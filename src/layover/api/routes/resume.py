"""Resuming at a pause point by where it stands: the paths that speak camelCase."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from layover.api.answer_problems import PROBLEMS
from layover.api.paused import once_paused, paused
from layover.api.problems import Refusal
from layover.api.request import Response
from layover.api.routing import Routes
from layover.errors import AnswerRefused, InvalidInput
from layover.interface.requests import PointAnswer
from layover.model.points import PausedOfWorkflow, PausePoint, Resumed, ResumePointBody
from layover.runtime.ids import checked_id
from layover.runtime.queries.legs import resume_leg_id
from layover.runtime.queries.views import context_of
from layover.service.answers import ANSWERING, AnswerOutcome, answer, cancel
from layover.service.cursors import malformed_cursor, parsed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.api.request import Request
    from layover.api.routing import NoQuery
    from layover.ports.records import PointRow
    from layover.runtime.operations.operations import Opened

routes = Routes("Resuming", "Resume at a pause point by where it stands.", prefix="/api")

_PATH: Final = "/resume/{workflow}/{execution}/{context:path}"
_WAITING: Final = frozenset({"paused", "partially_resumed"})
_ENDED: Final = frozenset({"fully_resumed", "expired"})
_FINDING: Final = (
    "malformed_id",
    "malformed_context_id",
    "unknown_execution",
    "unknown_point",
    "not_answerable",
    "snapshot_pending",
    "execution_closed",
)


class PausedPageQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which page."""

    limit: Annotated[int, Meta(ge=1, description="How many at most; more than 100 are 100.")] | None = None
    cursor: Annotated[str, Meta(description="The `next` of the page before.")] | None = None
    status: Annotated[
        list[Annotated[str, Meta(max_length=100)]],
        Meta(
            max_length=4,
            description="Of `paused` and `partially_resumed`, which are listed without it, or of `fully_resumed` and "
            "`expired`; several are separated by commas, or the parameter is repeated.",
        ),
    ] = []


@routes.post(
    _PATH,
    needs=ANSWERING,
    body=ResumePointBody,
    body_required=False,
    answers={202: Resumed},
    problems=tuple(dict.fromkeys((*_FINDING, *PROBLEMS))),
)
async def resume_point(call: Request[ResumePointBody, NoQuery]) -> Response:
    """Resume at a pause point: it is started at once, or waits in line."""
    body, actor, row = call.body, call.service.actor, await _find_point(call)
    data = body.data if row.point.kind == "approval" and body.data is not None else body.input
    request = PointAnswer(data=data, approved=body.approved, comment=body.comment or "", idempotency_key=call.key)
    try:
        taken = await answer(actor, row, request)
    except AnswerRefused as error:
        if error.code == "decision_required" and isinstance(data, dict) and "approved" in data:
            message = f"{error.message} `approved` belongs at the top of the body, beside `input`."
            raise Refusal(error.code, message) from error
        raise
    return Response(await _resumed(actor.runtime, taken), 202)


@routes.delete(
    _PATH,
    needs=("execution:cancel",),
    answers={200: PausePoint},
    problems=(*_FINDING, "expired", "already_answered", "point_closed"),
)
async def cancel_point(call: Request[None, NoQuery]) -> Response:
    """Give up waiting at a pause point; its node fails with `pause_cancelled`."""
    row = await cancel(call.service.actor, await _find_point(call), "", call.key)
    return Response(await call.service.points.shown_to_caller(row))


@routes.get(
    "/workflows/{workflow}/paused",
    needs=("execution:read",),
    query=PausedPageQuery,
    answers={200: PausedOfWorkflow},
    problems=("unknown_workflow", "malformed_cursor"),
)
async def list_paused(call: Request[None, PausedPageQuery]) -> Response:
    """List the executions of a workflow that people are awaited in, the one that has waited longest first.

    With the `status` `fully_resumed` or `expired`, those that no person is awaited in any more, the newest first: all
    that they had asked was answered, or something was not answered in time. Such a page looks at no more than a
    thousand executions, and may have few of them while its `next` says that more are left.
    """
    workflow, query, settings = call.path["workflow"], call.query, call.services.settings
    if not workflow.isprintable() or await call.services.store.definitions.find_latest(workflow) is None:
        raise Refusal("unknown_workflow", f"There is no workflow `{workflow[:255]}`.")
    after = parsed(query.cursor) if query.cursor is not None else None
    most = min(query.limit or settings.page, settings.longest_page)
    status = _statuses(query.status)
    if status and _ENDED.issuperset(status):
        return Response(await once_paused(call, workflow, status, _execution_cursor(after), most))
    found = await paused(call, workflow, after, most)
    if status:
        found = replace(found, executions=tuple(one for one in found.executions if one.status in status))
    return Response(found)


def _statuses(given: Iterable[str]) -> frozenset[str]:
    status = frozenset(one for text in given for one in text.split(","))
    if not (_WAITING.issuperset(status) or _ENDED.issuperset(status)):
        message = "status: give `paused` and `partially_resumed`, or `fully_resumed` and `expired`."
        raise Refusal("invalid_parameter", message)
    return status


def _execution_cursor(after: tuple[int, str] | None) -> tuple[int, str] | None:
    if after is None:
        return None
    try:
        return after[0], checked_id(after[1])
    except InvalidInput as error:
        raise malformed_cursor() from error


async def _find_point(call: Request[Any, Any]) -> PointRow:
    """Return the newest point at a place of an execution."""
    workflow, execution_id, context = call.path["workflow"], checked_id(call.path["execution"]), call.path["context"]
    execution = await call.services.store.queries.find_execution(execution_id)
    if execution is None or execution.info.workflow != workflow:
        raise Refusal("unknown_execution", f"The workflow `{workflow[:255]}` has no execution {execution_id}.")
    return await call.service.points.row_at(execution_id, context)


async def _resumed(runtime: Opened, taken: AnswerOutcome) -> Resumed:
    """Return how an answer was taken: started if no instance drove the execution and nothing was ahead of it."""
    row, reserved = taken.row, taken.reserved
    place = (await runtime.points.queue(row.execution_id)).get(row.point.id) if row.status == "answered" else None
    was_free = place == 1 and reserved is not None and reserved.owner is None
    started = place is None or (was_free and not await _is_held(runtime, row))
    return Resumed(
        status="started" if started else "queued",
        queue_position=None if started else place,
        execution_id=row.execution_id,
        context_id=context_of(row.point),
        leg_id=resume_leg_id(row.execution_id, row.point.id),
    )


async def _is_held(runtime: Opened, row: PointRow) -> bool:
    """Return whether an operator holds the execution, so that nothing starts."""
    return any(reason.kind == "operator" for reason in (await runtime.queries.why(row.execution_id)).reasons)
