"""What people do at a pause point besides answering it, and what the caller may do there.

A claim, a question and a reply are taken by the store like an answer: in one transaction with the point, so that the
caller learns at once whether it counts, whatever others do at the same moment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from layover.core.approval_rules import ApprovalRules, Approver, may_decide
from layover.core.engine import commands as cmd
from layover.core.engine.answers import refuse_claimed
from layover.core.engine.state import PEOPLE
from layover.core.moments import Moment
from layover.core.payloads import plain
from layover.core.point_claims import CLAIMED_FOR, claim_of_another, standing_claim
from layover.errors import AnswerRefused, WrongState
from layover.model.points import May, WhyNot
from layover.runtime.queries.views import context_of
from layover.service.absences import stand_in
from layover.service.answers import needs_of, point_row, refused_act, why_over

if TYPE_CHECKING:
    from layover.core.engine.conversations import TalkCommand
    from layover.model.access import Caller
    from layover.model.points import PausePoint
    from layover.ports.records import PointRow
    from layover.service.actor import Actor

REPLYING: Final = ("execution:read", "approval:decide")


async def claim(actor: Actor, row: PointRow, *, take: bool, idempotency_key: str | None) -> PointRow:
    """Claim a pause point for the user who acts."""
    actor.require(*needs_of(row.point))
    row = await stand_in(actor, row)
    now = actor.runtime.instance.clock.now()
    caller = actor.caller
    act = cmd.ClaimPoint(
        point=row.point.id, by=caller.user, roles=tuple(caller.roles), take=take, at=now, until=now + CLAIMED_FOR
    )
    return await _done(actor, row, act, "point.claim", idempotency_key)


async def release(actor: Actor, row: PointRow) -> PointRow:
    """Give back the claim of the user who acts."""
    actor.require(*needs_of(row.point))
    act = cmd.ReleaseClaim(point=row.point.id, by=actor.caller.user, at=actor.runtime.instance.clock.now())
    return await _done(actor, row, act, "point.release", None)


async def ask(actor: Actor, row: PointRow, question: str, to: str | None, idempotency_key: str | None) -> PointRow:
    """Ask back before answering."""
    actor.require(*needs_of(row.point))
    row = await stand_in(actor, row)
    caller = actor.caller
    plain((question, to))
    act = cmd.AskBack(
        point=row.point.id,
        by=caller.user,
        roles=tuple(caller.roles),
        question=question,
        to=to,
        at=actor.runtime.instance.clock.now(),
    )
    return await _done(actor, row, act, "point.ask", idempotency_key)


async def reply(actor: Actor, row: PointRow, text: str, number: int | None, idempotency_key: str | None) -> PointRow:
    """Reply to a question that was asked back."""
    actor.require(*REPLYING)
    plain(text)
    at = actor.runtime.instance.clock.now()
    act = cmd.ReplyBack(point=row.point.id, by=actor.caller.user, text=text, number=number, at=at)
    return await _done(actor, row, act, "point.reply", idempotency_key)


async def _done(actor: Actor, row: PointRow, act: TalkCommand, name: str, idempotency_key: str | None) -> PointRow:
    """Do an act, with its audit entry; the same key again is the same act."""
    point = row.point
    await actor.check_key(name, point.id, idempotency_key, *_said(act))
    key = actor.key(name, point.id, idempotency_key)
    context = context_of(point)
    entry = actor.entry(
        name,
        point.id,
        execution_id=row.execution_id,
        key=key,
        context_id=context,
        take=getattr(act, "take", False) or None,
        to=getattr(act, "to", None),
        question=getattr(act, "question", None),
        reply=getattr(act, "text", None),
        number=getattr(act, "number", None),
    )
    try:
        taken = await actor.runtime.answers.talk(act, key=key, audit=entry, within=actor.within)
    except (AnswerRefused, WrongState) as error:
        raise await refused_act(actor, point.id, error) from error
    return await point_row(actor, point.id) if taken.repeated else taken.row


def _said(act: TalkCommand) -> tuple[object, ...]:
    """Return what makes an act another one under the same idempotency key."""
    match act:
        case cmd.ClaimPoint():
            return (act.take,)
        case cmd.ReleaseClaim() | cmd.StandIn():
            return ()
        case cmd.AskBack():
            return act.question, act.to
        case cmd.ReplyBack():
            return act.text, act.number


def shown_to(found: PausePoint, caller: Caller, row: PointRow, now: int) -> PausePoint:
    """Return a pause point with what depends on the reader and the moment: what they may do, and who has claimed it."""
    point = row.point
    if point.kind not in PEOPLE:
        return found
    claim = standing_claim(point.claim, now) if row.status == "open" else None
    return replace(
        found,
        claimed_by=claim.by if claim is not None else None,
        claimed_until=Moment.of(claim.until) if claim is not None else None,
        may=may_of(caller, row, now),
    )


def may_of(caller: Caller, row: PointRow, now: int) -> May:
    """Return what a user may do at a pause point at a moment."""
    why_not = _why_not(caller, row, now)
    return May(answer=why_not is None, why_not=why_not, reply=_may_reply(caller, row))


def _why_not(caller: Caller, row: PointRow, now: int) -> WhyNot | None:
    point = row.point
    if row.status != "open":
        over = why_over(row, may_see=False)
        return WhyNot(code=over.code, message=over.message)
    needs = needs_of(point)
    if not caller.may(needs):
        return WhyNot(code="forbidden", message=f"This needs the permission {' or '.join(needs)}.")
    person = Approver(caller.user, tuple(caller.roles))
    refused = may_decide(point.rules or ApprovalRules(), person, point.decisions)
    if refused is not None:
        return WhyNot(code=refused.code, message=refused.message)
    other = claim_of_another(point.claim, caller.user, now)
    if other is not None:
        return WhyNot(code="claimed", message=refuse_claimed(other).message)
    return None


def _may_reply(caller: Caller, row: PointRow) -> bool:
    point = row.point
    if row.status != "open" or not point.questions or not caller.user or not caller.may(REPLYING):
        return False
    return any(one.reply is None and caller.user in (one.to, point.requester) for one in point.questions)
