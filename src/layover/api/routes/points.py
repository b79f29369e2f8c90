"""Pause points: what is waited for, and how it is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.api.answer_problems import PROBLEMS
from layover.api.point_lists import PointsQuery, listed
from layover.api.request import Response
from layover.api.routing import Routes
from layover.interface.backend import PointAnswer
from layover.model.executions import Why
from layover.model.points import AnswerBody, PausePoint
from layover.model.shared import Page, ReasonBody
from layover.service import answers
from layover.service.answers import ANSWERING, point_row

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery

routes = Routes("Pause points", "What is waited for, and how it is answered.", prefix="/api/v1")


@routes.get(
    "/pause-points",
    needs=("execution:read",),
    query=PointsQuery,
    answers={200: Page[PausePoint]},
    problems=("malformed_id", "malformed_cursor"),
)
async def list_pause_points(call: Request[None, PointsQuery]) -> Response:
    """List pause points, the oldest first; with `for=me`, those that the caller may answer."""
    return Response(await listed(call, call.query, call.query.kind))


@routes.get("/pause-points/{id}", needs=("execution:read",), answers={200: PausePoint}, problems=("unknown_point",))
async def get_pause_point(call: Request[None, NoQuery]) -> Response:
    """Return a pause point."""
    return Response(await call.service.points.get(call.path["id"]))


@routes.get("/pause-points/{id}/why", needs=("execution:read",), answers={200: Why}, problems=("unknown_point",))
async def why_pause_point(call: Request[None, NoQuery]) -> Response:
    """Tell what a pause point waits for, and whom it told, when and by what, or why not yet."""
    return Response(await call.service.points.why(call.path["id"]))


@routes.get(
    "/executions/{id}/pause-points/{context:path}",
    needs=("execution:read",),
    answers={200: PausePoint},
    problems=(
        "malformed_id",
        "malformed_context_id",
        "unknown_execution",
        "unknown_point",
        "not_answerable",
        "snapshot_pending",
        "execution_closed",
    ),
)
async def get_pause_point_at(call: Request[None, NoQuery]) -> Response:
    """Return the newest pause point of an execution at a context id."""
    return Response(await call.service.points.at(call.path["id"], call.path["context"]))


@routes.post(
    "/pause-points/{id}/answer",
    needs=ANSWERING,
    body=AnswerBody,
    body_required=False,
    answers={201: PausePoint, 200: PausePoint},
    problems=PROBLEMS,
)
async def answer_pause_point(call: Request[AnswerBody, NoQuery]) -> Response:
    """Answer a pause point; the same answer by the same person again changes nothing."""
    service, body = call.service, call.body
    row = await point_row(service.actor, call.path["id"])
    request = PointAnswer(data=body.data, approved=body.approved, comment=body.comment or "", idempotency_key=call.key)
    taken = await answers.answer(service.actor, row, request)
    return Response(await service.points.describe(taken.row), 200 if taken.is_repeated else 201)


@routes.post(
    "/pause-points/{id}/cancel",
    needs=("execution:cancel",),
    body=ReasonBody,
    body_required=False,
    answers={200: PausePoint},
    problems=("unknown_point", "expired", "already_answered", "point_closed"),
)
async def cancel_pause_point(call: Request[ReasonBody, NoQuery]) -> Response:
    """Give up waiting at a pause point; its node fails with `pause_cancelled`."""
    return Response(await call.service.points.cancel(call.path["id"], call.body.reason or "", call.key))
