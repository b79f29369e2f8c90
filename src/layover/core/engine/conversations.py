"""What people do at an open point besides answering it: claim it, give the claim back, ask back, reply.

Like an answer, each is judged on the stored point first, in the transaction that enqueues it, so that its sender learns
at once whether it counts; the execution comes to the same when it reads the command. That holds since both compare with
the moment inside the command and not with their own clocks. `judge_act` returns the event of an act; `change_point` is
what the event does to a point, in a row and in the state alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from layover.core.approval_rules import ApprovalRules, Approver, DecisionRefused, check_delegation, may_decide
from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.answers import Refused, refuse_claimed, reserve
from layover.core.engine.take_backs import reserve_take_back
from layover.core.point_claims import PointClaim, claim_of_another, standing_claim
from layover.core.point_questions import LONGEST_QUESTION, MOST_QUESTIONS, PointQuestion
from layover.core.trigger_limits import REQUESTER

if TYPE_CHECKING:
    from layover.core.engine.decision_context import DecisionContext
    from layover.core.engine.state import ExecutionState, Point

TalkCommand: TypeAlias = cmd.ClaimPoint | cmd.ReleaseClaim | cmd.StandIn | cmd.AskBack | cmd.ReplyBack
TalkEvent: TypeAlias = (
    ev.PausePointClaimed | ev.PausePointClaimEnded | ev.PausePointDelegated | ev.PausePointAsked | ev.PausePointReplied
)


def reserve_act(point: Point, schema: object, act: cmd.PointAct, now: int) -> Refused | Point:
    """Return a point with an act of a person done to it, or why it is refused; a repeated one changes nothing."""
    if isinstance(act, cmd.Answer):
        return reserve(point, schema, act, now)
    if isinstance(act, cmd.TakeBack):
        return reserve_take_back(point, act, now)
    event = judge_act(point, act)
    if event is None or isinstance(event, Refused):
        return point if event is None else event
    return change_point(point, event, act.at)


def talk(context: DecisionContext, command: TalkCommand) -> None:
    """Record an act; one that is refused, or that changes nothing, leaves nothing behind."""
    point = context.state.points.get(command.point)
    if point is None:
        return
    event = judge_act(point, command)
    if event is None or isinstance(event, Refused):
        return
    if isinstance(event, ev.PausePointAsked | ev.PausePointReplied) and command.at != context.now:
        event = replace(event, at=command.at)
    context.emit(event)


def judge_act(point: Point, act: TalkCommand) -> Refused | TalkEvent | None:
    """Return the event of an act at a point, or why it is refused; None if it changes nothing."""
    if point.kind not in ("approval", "form"):
        return Refused("not_answerable", f"A pause point of kind `{point.kind}` does not take answers from people.")
    if point.status != "open":
        return Refused("already_answered", "This pause point has been answered already.")
    if not act.by:
        return Refused("user_required", "This is done by a person: act as one, with `as_user(…)` or `--by`.")
    match act:
        case cmd.ClaimPoint():
            return _judge_claim(point, act)
        case cmd.ReleaseClaim():
            return _judge_release(point, act)
        case cmd.StandIn():
            return _judge_substitute(point, act)
        case cmd.AskBack():
            return _judge_question(point, act)
        case cmd.ReplyBack():
            return _judge_reply(point, act)


def change_point(point: Point, event: TalkEvent, at: int) -> Point:
    """Return a point after an event of these."""
    if isinstance(event, ev.PausePointAsked | ev.PausePointReplied) and event.at is not None:
        at = event.at
    match event:
        case ev.PausePointClaimed():
            return replace(point, claim=PointClaim(event.by, event.until))
        case ev.PausePointClaimEnded():
            return replace(point, claim=None)
        case ev.PausePointDelegated():
            rules = point.rules or ApprovalRules()
            delegates = (*rules.delegates, (event.giver, event.taker))
            return replace(point, rules=replace(rules, delegates=delegates))
        case ev.PausePointAsked():
            asked = PointQuestion(by=event.by, to=event.to, at=at, question=event.question)
            return replace(point, questions=(*point.questions, asked))
        case ev.PausePointReplied():
            questions = list(point.questions)
            questions[event.number - 1] = replace(
                questions[event.number - 1], reply=event.reply, replied_by=event.by, replied_at=at
            )
            return replace(point, questions=tuple(questions))


def applied(state: ExecutionState, event: TalkEvent, at: int) -> None:
    """Apply an event; no time of the point changes with it."""
    state.points.put(event.point, change_point(state.points[event.point], event, at))


def _judge_claim(point: Point, act: cmd.ClaimPoint) -> Refused | ev.PausePointClaimed | None:
    refused = may_decide(point.rules or ApprovalRules(), Approver(act.by, act.roles), point.decisions)
    if refused is not None:
        return Refused(refused.code, refused.message)
    other = claim_of_another(point.claim, act.by, act.at)
    if other is not None and not act.take:
        return refuse_claimed(other)
    if point.claim == PointClaim(act.by, act.until):
        return None
    return ev.PausePointClaimed(point=point.id, by=act.by, until=act.until)


def _judge_release(point: Point, act: cmd.ReleaseClaim) -> Refused | ev.PausePointClaimEnded | None:
    standing = standing_claim(point.claim, act.at)
    if standing is None:
        return None
    if standing.by != act.by:
        return Refused("claimed", f"{standing.by} has claimed it, and only they give that back.", claim=standing)
    return ev.PausePointClaimEnded(point=point.id, by=act.by)


def _judge_substitute(point: Point, act: cmd.StandIn) -> Refused | ev.PausePointDelegated | None:
    rules = point.rules or ApprovalRules()
    found = check_delegation(rules, Approver(act.by, act.roles), point.decisions, act.to)
    if isinstance(found, DecisionRefused):
        return Refused(found.code, found.message)
    if found in rules.delegates:
        return None
    return ev.PausePointDelegated(point=point.id, giver=found[0], taker=found[1], absence=True)


def _judge_question(point: Point, act: cmd.AskBack) -> Refused | ev.PausePointAsked | None:
    refused = may_decide(point.rules or ApprovalRules(), Approver(act.by, act.roles), point.decisions)
    if refused is not None and refused.code != "not_your_turn":  # a person who decides later may ask now
        return Refused(refused.code, refused.message)
    to = act.to or point.requester
    if not to or (act.to is None and to.startswith(REQUESTER)):
        return Refused("no_requester", "No person is known to have started this: say `to` whom the question goes.")
    if any((one.by, one.at, one.question) == (act.by, act.at, act.question) for one in point.questions):
        return None
    if len(point.questions) >= MOST_QUESTIONS:
        return Refused("too_many_questions", f"A pause point takes {MOST_QUESTIONS} questions at most.")
    if not 0 < len(act.question) <= LONGEST_QUESTION:
        return Refused("invalid_answer", f"A question has from 1 to {LONGEST_QUESTION:,} characters.")
    return ev.PausePointAsked(point=point.id, by=act.by, to=to, question=act.question)


def _judge_reply(point: Point, act: cmd.ReplyBack) -> Refused | ev.PausePointReplied | None:
    if any((one.replied_by, one.replied_at, one.reply) == (act.by, act.at, act.text) for one in point.questions):
        return None
    open_ones = [n for n, one in enumerate(point.questions, start=1) if one.reply is None]
    number = act.number if act.number is not None else next(iter(open_ones), 0)
    if not 0 < number <= len(point.questions):
        return Refused("no_question", "There is no question here that waits for a reply.")
    question = point.questions[number - 1]
    if act.by not in (question.to, point.requester):
        return Refused("not_allowed", f"The question went to {question.to}: they reply, or the requester.")
    if question.reply is not None:
        return Refused("already_replied", f"{question.replied_by} has replied already.")
    if not 0 < len(act.text) <= LONGEST_QUESTION:
        return Refused("invalid_answer", f"A reply has from 1 to {LONGEST_QUESTION:,} characters.")
    return ev.PausePointReplied(point=point.id, number=number, by=act.by, reply=act.text)
