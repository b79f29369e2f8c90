"""Approvals: the pause points where people decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.api.answer_problems import DELEGATION_PROBLEMS, PROBLEMS
from layover.api.pinned_views import seen_by, tagged
from layover.api.point_lists import ApprovalsQuery, listed
from layover.api.request import Response
from layover.api.routing import Routes
from layover.interface.requests import PointAnswer
from layover.model.points import DecisionBody, DelegateBody, PausePoint
from layover.model.shared import Page
from layover.service import answers
from layover.service.answers import DECIDING, point_row

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery

routes = Routes("Approvals", "The pause points where people decide.", prefix="/api/v1")

_PROBLEMS = tuple(code for code in PROBLEMS if code not in ("not_answerable", "decision_required"))


@routes.get(
    "/approvals",
    needs=("execution:read",),
    query=ApprovalsQuery,
    answers={200: Page[PausePoint]},
    problems=("malformed_id", "malformed_cursor"),
)
async def list_approvals(call: Request[None, ApprovalsQuery]) -> Response:
    """List approvals, the oldest first; if no status is named, those that are open."""
    query = call.query if call.query.status else replace(call.query, status=["open"])
    return Response(await listed(call, query, "approval"))


@routes.get(
    "/approvals/{id}",
    needs=("execution:read",),
    answers={200: PausePoint},
    tagged=True,
    problems=("unknown_point",),
)
async def get_approval(call: Request[None, NoQuery]) -> Response:
    """Return an approval; its ETag is the view that a decision may name by If-Match."""
    return tagged(await call.service.points.get(call.path["id"], "approval"))


@routes.post(
    "/approvals/{id}/approve",
    needs=DECIDING,
    body=DecisionBody,
    body_required=False,
    answers={201: PausePoint, 200: PausePoint},
    pinned=True,
    problems=_PROBLEMS,
)
async def approve(call: Request[DecisionBody, NoQuery]) -> Response:
    """Approve, as the user that the credentials name; said again, it changes nothing."""
    return await _decide(call, approved=True)


@routes.post(
    "/approvals/{id}/reject",
    needs=DECIDING,
    body=DecisionBody,
    body_required=False,
    answers={201: PausePoint, 200: PausePoint},
    pinned=True,
    problems=_PROBLEMS,
)
async def reject(call: Request[DecisionBody, NoQuery]) -> Response:
    """Reject, as the user that the credentials name; said again, it changes nothing."""
    return await _decide(call, approved=False)


@routes.post(
    "/approvals/{id}/delegate",
    needs=DECIDING,
    body=DelegateBody,
    answers={200: PausePoint},
    problems=DELEGATION_PROBLEMS,
)
async def delegate(call: Request[DelegateBody, NoQuery]) -> Response:
    """Let another user decide in one's place."""
    body = call.body
    return Response(await call.service.points.delegate(call.path["id"], body.to, body.comment or "", call.key))


async def _decide(call: Request[DecisionBody, NoQuery], *, approved: bool) -> Response:
    service, body = call.service, call.body
    row = await point_row(service.actor, call.path["id"], "approval")
    request = PointAnswer(
        data=body.data,
        approved=approved,
        comment=body.comment or "",
        seen=seen_by(call),
        idempotency_key=call.key,
    )
    taken = await answers.answer(service.actor, row, request)
    return Response(await service.points.describe(taken.row), 200 if taken.is_repeated else 201)
