"""Answering pause points: one way for all routes that do it.

Who may not answer is told so first, then whether the point is still open, then what is wrong with the answer. The store
takes one answer to a point, whoever comes first; all others learn who that was. Who says the same again has not
answered twice.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import msgspec

from layover.api.audit_entries import entry_of, key_of
from layover.api.problems import Refusal
from layover.api.resources.problems import Winner
from layover.api.serializers.points import point_of
from layover.core.approval_rules import ApprovalRules, Person, may_decide
from layover.core.payloads import plain
from layover.ports.records import PointRow, Reserved
from layover.runtime.errors import AnswerRefused, WrongState

if TYPE_CHECKING:
    from layover.api.permissions import Caller
    from layover.api.request import Request
    from layover.api.resources.points import PausePoint
    from layover.core.engine.events import PointKind
    from layover.core.engine.state import Point

# What answering a point may be refused with.
PROBLEMS: Final = (
    "unknown_point",
    "not_answerable",
    "not_allowed",
    "requester_excluded",
    "expired",
    "already_answered",
    "already_decided",
    "not_your_turn",
    "point_closed",
    "decision_required",
    "comment_required",
    "invalid_answer",
    "payload_reserved",
)
DECIDING: Final = ("approval:decide",)
ANSWERING: Final = ("approval:decide", "execution:cancel")
READING: Final = ("execution:read",)

_NOT_ASKED: Final = frozenset({"not_allowed", "requester_excluded"})
_POINT_ID: Final = re.compile(r"[!-~]{1,200}")


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody answers; for an approval `approved` decides. The variables are set when it is applied."""

    data: object = None
    approved: bool | None = None
    comment: str = ""
    variables: dict[str, object] = {}


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an answer: the point, and how the engine took it; nothing of that if it was taken before."""

    row: PointRow
    reserved: Reserved | None = None

    @property
    def status(self) -> int:
        """Of the reply: whether something came of it."""
        return 200 if self.reserved is None or self.reserved.repeated else 201


async def found(call: Request[Any, Any], point_id: str, kind: PointKind | None = None) -> PointRow:
    """Return a pause point; one of another kind is none."""
    row = await call.services.store.point(point_id) if _POINT_ID.fullmatch(point_id) else None
    if row is None or kind not in (None, row.point.kind):
        raise Refusal("unknown_point", f"There is no {kind or 'pause point'} {point_id[:100]}.")
    return row


async def shown(call: Request[Any, Any], row: PointRow) -> PausePoint:
    """Return a pause point, with its place in line if it is answered and not applied yet."""
    position = None
    if row.status == "answered":
        position = (await call.engine.queue(row.execution_id)).get(row.point.id)
    return point_of(row, position)


async def shown_without_data(call: Request[Any, Any], row: PointRow) -> PausePoint:
    """Return a pause point to a caller who was not asked: what is said there only if they may read executions."""
    point = await shown(call, row)
    if call.caller.may(READING):
        return point
    return msgspec.structs.replace(
        point, title="", schema=None, shown=None, response=None, failure=None, decisions=[], answer=None
    )


async def answer(call: Request[Any, Any], row: PointRow, given: Given) -> Taken:
    """Answer a pause point as the caller."""
    point, caller = row.point, call.caller
    if point.kind not in ("approval", "form"):
        raise Refusal("not_answerable", f"A {point.kind} is not answered by a person.")
    needed = needs_of(point)
    if not caller.may(needed):
        raise Refusal("forbidden", f"This needs the permission {' or '.join(needed)}.")
    refused = may_decide(point.rules or ApprovalRules(), person_of(caller), ())
    if refused is not None and refused.code in _NOT_ASKED:
        raise Refusal(refused.code, refused.message)
    act = _act(point, given)
    context = point_of(row).context_id
    try:
        taken = await call.engine.answer(
            point.id,
            given.data,
            by=caller.user,
            roles=caller.roles,
            approved=given.approved,
            comment=given.comment,
            variables=given.variables,
            key=key_of(call, act),
            audit=entry_of(
                call, act, point.id, execution_id=row.execution_id, context_id=context, comment=given.comment or None
            ),
        )
    except AnswerRefused as error:
        if error.code not in ("already_answered", "execution_closed"):
            raise
        over = await found(call, point.id)
        if error.code != "already_answered" or not _said_before(over, caller, given):
            raise _over(over) from error
        return Taken(row=over)
    return Taken(row=await found(call, point.id), reserved=taken)


def needs_of(point: Point) -> tuple[str, ...]:
    """Return the permissions of which one is needed to answer a point."""
    return DECIDING if point.kind == "approval" else ANSWERING


def person_of(caller: Caller) -> Person:
    """Return a caller as those who made the rules know them."""
    return Person(caller.user, caller.roles)


async def cancel(call: Request[Any, Any], row: PointRow, reason: str) -> PointRow:
    """Give up waiting at a point; whoever was faster is told. It stays open until something drives its execution."""
    point, caller = row.point, call.caller
    act = "point.cancel"
    try:
        await call.engine.cancel_point(
            point.id,
            reason,
            by=caller.user,
            key=key_of(call, act),
            audit=entry_of(
                call,
                act,
                point.id,
                execution_id=row.execution_id,
                context_id=point_of(row).context_id,
                reason=reason or None,
            ),
            within=call.within,
        )
    except (AnswerRefused, WrongState) as error:
        raise _over(await found(call, point.id), may_see=caller.may(READING)) from error
    after = await found(call, point.id)
    if after.status not in ("cancelled", "open"):
        raise _over(after, may_see=caller.may(READING))
    return after


async def pass_on(call: Request[Any, Any], row: PointRow, to: str) -> PointRow:
    """Let somebody else decide at an approval in the caller's place."""
    point, caller, act = row.point, call.caller, "approval.delegate"
    context = point_of(row).context_id
    audit = entry_of(call, act, point.id, execution_id=row.execution_id, context_id=context, to=to)
    try:
        await call.engine.delegate(
            point.id, to, by=caller.user, roles=caller.roles, key=key_of(call, act), audit=audit, within=call.within
        )
    except WrongState as error:
        raise _over(await found(call, point.id), may_see=caller.may(READING)) from error
    return await found(call, point.id)


def _over(row: PointRow, *, may_see: bool = True) -> Refusal:
    """Return what came before whoever wants to answer a point, or to cancel it; the answer itself if they `may_see`."""
    if row.status == "expired":
        return Refusal("expired", "The time to answer has passed.")
    if row.status in ("answered", "applied"):
        told = point_of(row)
        winner = Winner(by=told.answered_by, at=told.answered_at, answer=told.answer if may_see else None)
        return Refusal("already_answered", "It has been answered already.", winner=winner)
    return Refusal("point_closed", f"The pause point is {row.status}.")


def _said_before(row: PointRow, caller: Caller, given: Given) -> bool:
    """Return whether the caller has answered just this; a decision is the same whatever is said with it."""
    point = row.point
    if point.kind == "approval":
        return any(one.by == caller.user and one.approved == given.approved for one in point.decisions)
    return point.by == caller.user and _written(point.output) == _written(plain(given.data))


def _written(value: object) -> bytes:
    return msgspec.json.encode(value, order="sorted")  # by what is written: to Python, true is 1


def _act(point: Point, given: Given) -> str:
    if point.kind != "approval":
        return "point.answer"
    return "approval.approve" if given.approved else "approval.reject"
