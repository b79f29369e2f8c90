"""Approvals: the pause points where people decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.api.answers import DECIDING, PROBLEMS, Given, answer, found, pass_on, shown
from layover.api.inbox import ApprovalsQuery, listed
from layover.api.request import Reply
from layover.api.resources.points import DecisionBody, DelegateBody, PausePoint
from layover.api.resources.shared import Page
from layover.api.routing import Routes

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
async def list_approvals(call: Request[None, ApprovalsQuery]) -> Reply:
    """List approvals, the oldest first; if no status is named, those that are open."""
    query = call.query if call.query.status else replace(call.query, status=["open"])
    return Reply(await listed(call, query, "approval"))


@routes.get("/approvals/{id}", needs=("execution:read",), answers={200: PausePoint}, problems=("unknown_point",))
async def get_approval(call: Request[None, NoQuery]) -> Reply:
    """Return an approval."""
    return Reply(await shown(call, await found(call, call.path["id"], "approval")))


@routes.post(
    "/approvals/{id}/approve",
    needs=DECIDING,
    body=DecisionBody,
    body_required=False,
    answers={201: PausePoint, 200: PausePoint},
    problems=_PROBLEMS,
)
async def approve(call: Request[DecisionBody, NoQuery]) -> Reply:
    """Approve, as whoever the credentials name; said again, it changes nothing."""
    return await _decide(call, approved=True)


@routes.post(
    "/approvals/{id}/reject",
    needs=DECIDING,
    body=DecisionBody,
    body_required=False,
    answers={201: PausePoint, 200: PausePoint},
    problems=_PROBLEMS,
)
async def reject(call: Request[DecisionBody, NoQuery]) -> Reply:
    """Reject, as whoever the credentials name; said again, it changes nothing."""
    return await _decide(call, approved=False)


@routes.post(
    "/approvals/{id}/delegate",
    needs=DECIDING,
    body=DelegateBody,
    answers={200: PausePoint},
    problems=("unknown_point", "not_allowed", "requester_excluded", "already_decided", "expired", "point_closed"),
)
async def delegate(call: Request[DelegateBody, NoQuery]) -> Reply:
    """Let somebody else decide in one's place."""
    row = await found(call, call.path["id"], "approval")
    return Reply(await shown(call, await pass_on(call, row, call.body.to)))


async def _decide(call: Request[DecisionBody, NoQuery], *, approved: bool) -> Reply:
    row, body = await found(call, call.path["id"], "approval"), call.body
    taken = await answer(call, row, Given(data=body.data, approved=approved, comment=body.comment or ""))
    return Reply(await shown(call, taken.row), taken.status)
