"""Pause points: what is waited for, and how it is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.api.answers import ANSWERING, PROBLEMS, Given, answer, cancel, found, shown, shown_without_data
from layover.api.inbox import PointsQuery, listed
from layover.api.request import Reply
from layover.api.resources.points import AnswerBody, PausePoint
from layover.api.resources.shared import Page, ReasonBody
from layover.api.routing import Routes

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
async def list_pause_points(call: Request[None, PointsQuery]) -> Reply:
    """List pause points, the oldest first; with `for=me`, those that the caller may answer."""
    return Reply(await listed(call, call.query, call.query.kind))


@routes.get("/pause-points/{id}", needs=("execution:read",), answers={200: PausePoint}, problems=("unknown_point",))
async def get_pause_point(call: Request[None, NoQuery]) -> Reply:
    """Return a pause point."""
    return Reply(await shown(call, await found(call, call.path["id"])))


@routes.post(
    "/pause-points/{id}/answer",
    needs=ANSWERING,
    body=AnswerBody,
    body_required=False,
    answers={201: PausePoint, 200: PausePoint},
    problems=PROBLEMS,
)
async def answer_pause_point(call: Request[AnswerBody, NoQuery]) -> Reply:
    """Answer a pause point; the same answer by the same person again changes nothing."""
    row, body = await found(call, call.path["id"]), call.body
    taken = await answer(call, row, Given(data=body.data, approved=body.approved, comment=body.comment or ""))
    return Reply(await shown(call, taken.row), taken.status)


@routes.post(
    "/pause-points/{id}/cancel",
    needs=("execution:cancel",),
    body=ReasonBody,
    body_required=False,
    answers={200: PausePoint},
    problems=("unknown_point", "expired", "already_answered", "point_closed"),
)
async def cancel_pause_point(call: Request[ReasonBody, NoQuery]) -> Reply:
    """Give up waiting at a pause point; its node fails with `pause_cancelled`."""
    row = await cancel(call, await found(call, call.path["id"]), call.body.reason or "")
    return Reply(await shown_without_data(call, row))
