"""Answering pause points: one way for every surface.

A user who may not answer is told so first, then whether the point is still open, then what is wrong with the answer.
The store takes one answer to a point, the first; all others learn who was first. A user who says the same again has
not answered twice.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

import msgspec

from layover.core.approval_rules import ApprovalRules, may_decide
from layover.core.engine.point_view import view_of
from layover.core.moments import Moment
from layover.core.payloads import is_same_json, plain
from layover.errors import AnswerRefused, LayoverError, NotAllowed, NotFound, WrongState
from layover.model.problems import Winner
from layover.ports.records import PointRow, Reserved
from layover.runtime.ids import is_point_id
from layover.runtime.queries.views import context_of
from layover.runtime.results.points import answer_of, answered_at, answered_by
from layover.service.absences import stand_in
from layover.service.actor import READ

if TYPE_CHECKING:
    from layover.core.engine.events import PointKind
    from layover.core.engine.state import Point
    from layover.interface.requests import PointAnswer
    from layover.ports.records import AuditRow
    from layover.service.actor import Actor

DECIDING: Final = ("approval:decide",)
ANSWERING: Final = ("approval:decide", "execution:cancel")
_NOT_ASKED: Final = frozenset({"not_allowed", "requester_excluded", "user_required"})
_DECISION: Final = {True: "approval.approve", False: "approval.reject"}
_LONGEST_DATA: Final = 16_384  # bytes of an answer that stand in its audit entry
# What is refused since the point was over, or there is none: its row says how.
_IS_OVER: Final = frozenset({"already_answered", "execution_closed", "point_closed", "point_expired", "unknown_point"})


class AnswerOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an answer: the point, and how the runtime took it; nothing of that if it was taken before."""

    row: PointRow
    reserved: Reserved | None = None

    @property
    def is_repeated(self) -> bool:
        """Whether it had been given before."""
        return self.reserved is None or self.reserved.repeated


async def point_row(actor: Actor, point_id: str, kind: PointKind | None = None) -> PointRow:
    """Return the row of a pause point; one of another kind does not exist."""
    row = await actor.runtime.instance.store.queries.find_point(point_id) if is_point_id(point_id) else None
    if row is None or kind not in (None, row.point.kind):
        raise NotFound(f"There is no {kind or 'pause point'} {str(point_id)[:100]}.", code="unknown_point")
    return row


async def answer(
    actor: Actor,
    row: PointRow,
    request: PointAnswer,
    *,
    variables: dict[str, object] | None = None,
    target: str | None = None,
) -> AnswerOutcome:
    """Answer a pause point; `variables` are set when the answer is applied.

    `target` is what its idempotency key belongs to, if that is not the point.
    """
    point = row.point
    if point.kind not in ("approval", "form"):
        raise AnswerRefused("not_answerable", f"A {point.kind} is not answered by a person.")
    actor.require(*needs_of(point))
    row = await stand_in(actor, row)
    point = row.point
    refused = may_decide(point.rules or ApprovalRules(), actor.person, ())
    if refused is not None and refused.code in _NOT_ASKED:
        raise NotAllowed(refused.message, code=refused.code)
    act = _act(point, request)
    if target is None:  # else the key belongs to the whole act of which this is a part
        given = request.idempotency_key
        await actor.check_key("answer", point.id, given, request.data, request.approved, request.comment)
    key = actor.key(act, target or point.id, request.idempotency_key)
    entry = actor.entry(
        act,
        point.id,
        execution_id=row.execution_id,
        key=key,
        context_id=context_of(point),
        comment=request.comment or None,
        seen=request.seen,
        after=given_by(request),
        document=view.document() if (view := view_of(point, row.schema)) is not None else None,
    )
    return await take(actor, point.id, request, variables=variables, key=key, audit=entry)


async def take(
    actor: Actor,
    point_id: str,
    request: PointAnswer,
    *,
    variables: dict[str, object] | None = None,
    key: str | None = None,
    audit: AuditRow | None = None,
) -> AnswerOutcome:
    """Take an answer, if its user may give it."""
    try:
        taken = await actor.runtime.answers.answer(
            point_id,
            request.data,
            by=actor.caller.user,
            roles=tuple(actor.caller.roles),
            approved=request.approved,
            comment=request.comment,
            variables=variables,
            seen=request.seen,
            key=key,
            audit=audit,
        )
    except (AnswerRefused, WrongState) as error:
        if error.code in _NOT_ASKED:
            raise NotAllowed(error.message, code=error.code) from error
        if error.code not in _IS_OVER:
            raise
        over = await point_row(actor, point_id)
        if error.code != "already_answered" or not _said_before(over, actor, request):
            raise why_over(over) from error
        return AnswerOutcome(row=over)
    return AnswerOutcome(row=await point_row(actor, point_id) if taken.repeated else taken.row, reserved=taken)


async def take_of_program(actor: Actor, point_id: str, request: PointAnswer) -> AnswerOutcome:
    """Take an answer of the program: it may answer all, so the store alone judges, and no point is read before."""
    act = "point.answer" if request.approved is None else _DECISION[request.approved]
    entry = actor.entry(act, str(point_id), comment=request.comment or None, after=given_by(request))
    return await take(actor, point_id, request, audit=entry)


def given_by(request: PointAnswer) -> dict[str, object]:
    """Return what an answer says, for the audit log: its data, or the hash of data that is too long for an entry."""
    said: dict[str, object] = {} if request.approved is None else {"approved": request.approved}
    if request.data is None:
        return said
    data = msgspec.json.encode(plain(request.data), order="sorted")
    if len(data) > _LONGEST_DATA:
        return {**said, "data_sha256": hashlib.sha256(data).hexdigest()}
    return {**said, "data": msgspec.Raw(data)}


async def cancel(actor: Actor, row: PointRow, reason: str, idempotency_key: str | None) -> PointRow:
    """Give up waiting at a point. It stays open until an instance drives its execution."""
    actor.require("execution:cancel")
    point, act = row.point, "point.cancel"
    await actor.check_key(act, point.id, idempotency_key, reason)
    key = actor.key(act, point.id, idempotency_key)
    entry = actor.entry(
        act,
        point.id,
        execution_id=row.execution_id,
        key=key,
        context_id=context_of(point),
        reason=reason or None,
    )
    try:
        await actor.runtime.answers.cancel_point(
            point.id, reason, by=actor.by, key=key, audit=entry, within=actor.within
        )
    except (AnswerRefused, WrongState) as error:
        raise why_over(await point_row(actor, point.id), may_see=actor.caller.may(READ)) from error
    after = await point_row(actor, point.id)
    if after.status not in ("cancelled", "open"):
        raise why_over(after, may_see=actor.caller.may(READ))
    return after


async def delegate(actor: Actor, row: PointRow, to: str, comment: str, idempotency_key: str | None) -> PointRow:
    """Let another user decide at an approval in the place of the one who acts."""
    actor.require(*DECIDING)
    point, act = row.point, "approval.delegate"
    await actor.check_key(act, point.id, idempotency_key, to, comment)
    key = actor.key(act, point.id, idempotency_key)
    context = context_of(point)
    entry = actor.entry(
        act, point.id, execution_id=row.execution_id, key=key, context_id=context, to=to, comment=comment or None
    )
    caller = actor.caller
    try:
        await actor.runtime.answers.delegate(
            point.id, to, by=caller.user, roles=tuple(caller.roles), key=key, audit=entry, within=actor.within
        )
    except WrongState as error:
        raise why_over(await point_row(actor, point.id), may_see=caller.may(READ)) from error
    return await point_row(actor, point.id)


async def refused_act(actor: Actor, point_id: str, error: AnswerRefused | WrongState) -> LayoverError:
    """Return an error of the runtime as a user gets it who did something else than answer."""
    if error.code in _NOT_ASKED:
        return NotAllowed(error.message, code=error.code)
    if error.code in _IS_OVER:
        return why_over(await point_row(actor, point_id), may_see=actor.caller.may(READ))
    return error


def needs_of(point: Point) -> tuple[str, ...]:
    """Return the permissions of which one is needed to answer a point."""
    return DECIDING if point.kind == "approval" else ANSWERING


def why_over(row: PointRow, *, may_see: bool = True) -> LayoverError:
    """Return why a point can be neither answered nor cancelled any more; the winning answer only if they `may_see`."""
    if row.status == "expired":
        return AnswerRefused("expired", "The time to answer has passed.")
    if row.status in ("answered", "applied"):
        at, answer = Moment.maybe(answered_at(row)), answer_of(row) if may_see else None
        winner = Winner(by=answered_by(row), at=at, answer=answer)
        return AnswerRefused("already_answered", "It has been answered already.", winner=winner)
    return AnswerRefused("point_closed", f"The pause point is {row.status}.")


def _said_before(row: PointRow, actor: Actor, request: PointAnswer) -> bool:
    """Return whether the user has answered just this; a decision is the same whatever is said with it."""
    point, user = row.point, actor.caller.user
    if point.kind == "approval":
        return any(one.by == user and one.approved == request.approved for one in point.decisions)
    return point.by == user and is_same_json(point.output, plain(request.data))


def _act(point: Point, request: PointAnswer) -> str:
    if point.kind != "approval":
        return "point.answer"
    return _DECISION[bool(request.approved)]
