"""Pause points: what is waited for, and how it is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from layover.api.answer_problems import DELEGATION_PROBLEMS, PROBLEMS
from layover.api.durations import milliseconds_of
from layover.api.pinned_views import seen_by, tagged
from layover.api.point_lists import PointsQuery, listed
from layover.api.request import Response
from layover.api.routing import Routes
from layover.interface.requests import PointAnswer
from layover.model.executions import Why
from layover.model.points import (
    AnswerBody,
    AskBackBody,
    ClaimBody,
    DelegateBody,
    LinkBody,
    PausePoint,
    PointLink,
    ReplyBody,
    RevokedLinks,
)
from layover.model.proofs import Receipt
from layover.model.shared import Page, ReasonBody
from layover.service import answers
from layover.service.answers import ANSWERING, DECIDING, point_row
from layover.service.conversations import REPLYING
from layover.service.proofs import OWN_RECEIPT

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery

_TALK = (
    *("unknown_point", "not_answerable", "not_allowed", "requester_excluded", "expired", "already_answered"),
    *("already_decided", "point_closed"),
)

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


@routes.get(
    "/pause-points/{id}",
    needs=("execution:read",),
    answers={200: PausePoint},
    tagged=True,
    problems=("unknown_point",),
)
async def get_pause_point(call: Request[None, NoQuery]) -> Response:
    """Return a pause point; its ETag is the view that an answer may name by If-Match."""
    return tagged(await call.service.points.get(call.path["id"]))


@routes.get(
    "/pause-points/{id}/receipts/{user}",
    needs=OWN_RECEIPT,
    answers={200: Receipt},
    problems=("unknown_receipt", "not_final"),
)
async def get_receipt(call: Request[None, NoQuery]) -> Response:
    """Return the proof of what a user has decided at a pause point; that of another user needs `audit:read`."""
    return Response(await call.service.points.receipt(call.path["id"], call.path["user"]))


@routes.get(
    "/pause-points/{id}/receipt",
    needs=OWN_RECEIPT,
    answers={200: Receipt},
    problems=("unknown_receipt", "not_final"),
)
async def get_own_receipt(call: Request[None, NoQuery]) -> Response:
    """Return the proof of what the caller has decided at a pause point.

    A caller who has decided nothing there and may read the audit log gets that of the only one who has.
    """
    return Response(await call.service.points.receipt(call.path["id"], None))


@routes.get("/pause-points/{id}/why", needs=("execution:read",), answers={200: Why}, problems=("unknown_point",))
async def why_pause_point(call: Request[None, NoQuery]) -> Response:
    """Tell what a pause point waits for, and whom it told, when and by what, or why not yet."""
    return Response(await call.service.points.why(call.path["id"]))


@routes.get(
    "/executions/{id}/pause-points/{context:path}",
    needs=("execution:read",),
    answers={200: PausePoint},
    tagged=True,
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
    return tagged(await call.service.points.at(call.path["id"], call.path["context"]))


@routes.post(
    "/pause-points/{id}/answer",
    needs=ANSWERING,
    body=AnswerBody,
    body_required=False,
    answers={201: PausePoint, 200: PausePoint},
    pinned=True,
    problems=PROBLEMS,
)
async def answer_pause_point(call: Request[AnswerBody, NoQuery]) -> Response:
    """Answer a pause point; the same answer by the same person again changes nothing."""
    service, body = call.service, call.body
    row = await point_row(service.actor, call.path["id"])
    request = PointAnswer(
        data=body.data,
        approved=body.approved,
        comment=body.comment or "",
        seen=seen_by(call),
        idempotency_key=call.key,
    )
    taken = await answers.answer(service.actor, row, request)
    return Response(await service.points.describe(taken.row), 200 if taken.is_repeated else 201)


class LinksQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whose links to revoke."""

    user: Annotated[str, Meta(min_length=1, max_length=255, description="Only the links of this user.")] | None = None


def _not_shown_again(reply: Response) -> Response:
    """Return what is kept of an answer with a link: all but its address."""
    made = reply.value
    return Response(msgspec.structs.replace(made, url=None) if isinstance(made, PointLink) else None, reply.status)


@routes.post(
    "/pause-points/{id}/links",
    needs=("admin",),
    body=LinkBody,
    answers={201: PointLink},
    problems=("unknown_point",),
    kept=_not_shown_again,
)
async def create_link(call: Request[LinkBody, NoQuery]) -> Response:
    """Make a link by which a user reaches the page of a pause point. Its address is shown this once."""
    lasts = milliseconds_of("expires_in", call.body.expires_in, least=1)
    return Response(await call.service.points.create_link(call.path["id"], call.body.user, lasts), 201)


@routes.delete(
    "/pause-points/{id}/links",
    needs=("admin",),
    query=LinksQuery,
    answers={200: RevokedLinks},
    problems=("unknown_point",),
)
async def revoke_links(call: Request[None, LinksQuery]) -> Response:
    """Let the links to a pause point lead nowhere from now on: all of them, or those of one user."""
    return Response(RevokedLinks(revoked=await call.service.points.revoke_links(call.path["id"], call.query.user)))


@routes.post(
    "/pause-points/{id}/claim",
    needs=ANSWERING,
    body=ClaimBody,
    body_required=False,
    answers={200: PausePoint},
    problems=(*_TALK, "claimed", "not_your_turn"),
)
async def claim_pause_point(call: Request[ClaimBody, NoQuery]) -> Response:
    """Claim a pause point for 15 minutes: others can neither answer nor claim it, unless they `take` it over."""
    return Response(await call.service.points.claim(call.path["id"], take=call.body.take, idempotency_key=call.key))


@routes.delete(
    "/pause-points/{id}/claim",
    needs=ANSWERING,
    answers={200: PausePoint},
    problems=("unknown_point", "not_answerable", "expired", "already_answered", "point_closed", "claimed"),
)
async def release_pause_point(call: Request[None, NoQuery]) -> Response:
    """Give back one's claim; without one, nothing changes."""
    return Response(await call.service.points.release(call.path["id"]))


@routes.post(
    "/pause-points/{id}/delegate",
    needs=DECIDING,
    body=DelegateBody,
    answers={200: PausePoint},
    problems=DELEGATION_PROBLEMS,
)
async def delegate_pause_point(call: Request[DelegateBody, NoQuery]) -> Response:
    """Let another user decide at an approval in one's place."""
    body = call.body
    return Response(await call.service.points.delegate(call.path["id"], body.to, body.comment or "", call.key))


@routes.post(
    "/pause-points/{id}/ask",
    needs=ANSWERING,
    body=AskBackBody,
    answers={200: PausePoint},
    problems=(*_TALK, "no_requester", "too_many_questions"),
)
async def ask_back(call: Request[AskBackBody, NoQuery]) -> Response:
    """Ask the requester something before answering, or the user in `to`; the point stays open, its deadline runs."""
    body = call.body
    return Response(await call.service.points.ask(call.path["id"], body.question, body.to, call.key))


@routes.post(
    "/pause-points/{id}/reply",
    needs=REPLYING,
    body=ReplyBody,
    answers={200: PausePoint},
    problems=(
        *("unknown_point", "not_answerable", "not_allowed", "expired", "already_answered", "point_closed"),
        *("no_question", "already_replied"),
    ),
)
async def reply_back(call: Request[ReplyBody, NoQuery]) -> Response:
    """Reply to a question, as the user whom it went to or as the requester."""
    body = call.body
    return Response(await call.service.points.reply(call.path["id"], body.text, body.number, call.key))


@routes.post(
    "/pause-points/{id}/take-back",
    needs=ANSWERING,
    body=ReasonBody,
    body_required=False,
    answers={200: PausePoint},
    problems=("unknown_point", "not_answerable", "not_allowed", "already_applied", "expired", "point_closed"),
)
async def take_back_answer(call: Request[ReasonBody, NoQuery]) -> Response:
    """Take back what the caller has answered, as long as that is not final (`final_at`); the point is open again."""
    return Response(await call.service.points.take_back(call.path["id"], call.body.reason or "", call.key))


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
