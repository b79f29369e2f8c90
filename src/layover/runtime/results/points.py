"""Pause points as callers get them, built from rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.core.approval_rules import ApprovalRules, outcome
from layover.core.engine.approvals import plain_decision
from layover.core.engine.point_view import leads_to_of, view_of
from layover.core.moments import Moment, moment
from layover.model.points import Approvers, Decision, LoopScope, ParallelScope, PausePoint, Question
from layover.runtime.queries.views import context_of
from layover.runtime.results.failures import failure_of

if TYPE_CHECKING:
    from layover.core import approval_rules
    from layover.core.engine.state import Point
    from layover.core.point_questions import PointQuestion
    from layover.ports.records import PointRow

__all__ = ["answer_of", "answered_at", "answered_by", "context_of", "point_of", "title_of"]

_ANSWERED = frozenset({"answered", "applied"})


def point_of(row: PointRow, position: int | None = None) -> PausePoint:
    """Return one pause point; `position` is its place among the answers that wait for their turn."""
    point, rules = row.point, row.point.rules
    branch, round_, details = point.branch, point.round, point.details
    found = PausePoint(
        id=point.id,
        execution_id=row.execution_id,
        workflow=row.workflow,
        context_id=context_of(point),
        node=point.node.partition(":")[0],
        kind=point.kind,
        status=row.shown_status,  # type: ignore[arg-type]  # stores write no other
        title=str(details.get("title") or ""),
        schema=row.schema,
        shown=details.get("shown"),
        response=details.get("response"),
        failure=failure_of(point.failure),
        opened_at=Moment.of(point.opened_at),
        deadline=Moment.maybe(point.deadline),
        on_deadline=point.on_deadline,
        requester=point.requester,
        leads_to=leads_to_of(point),
        view=view.hash() if (view := view_of(point, row.schema)) is not None else None,
    )
    is_open = row.status == "open"
    more = rules or branch or round_ or point.decisions or point.questions or point.taken_back
    if is_open and position is None and not more:
        return found
    return replace(
        found,
        approvers=_approvers_of(rules) if rules is not None else None,
        need=rules.need if rules is not None else None,
        reject_need=rules.reject_need if rules is not None else None,
        order=rules.order if rules is not None else None,
        comment_required=rules.comment_required if rules is not None else False,
        decisions=tuple([_decision_of(one) for one in point.decisions]) if point.decisions else (),
        answer=None if is_open else answer_of(row),
        answered_by=None if is_open else answered_by(row),
        answered_at=None if is_open else Moment.maybe(answered_at(row)),
        seen=None if is_open else _seen(point),
        final_at=None if is_open else Moment.maybe(point.final_at),
        taken_back_by=_taken_back_by(point) if point.taken_back else (),
        applied_at=Moment.maybe(row.closed_at) if row.status == "applied" else None,
        queue_position=position,
        parallel_scope=ParallelScope(node=branch.node, index=branch.index, count=branch.count) if branch else None,
        loop_scope=LoopScope(node=round_.node, iteration=round_.iteration) if round_ else None,
        questions=tuple([_question_of(n, one) for n, one in enumerate(point.questions, start=1)]),
    )


def _taken_back_by(point: Point) -> tuple[str, ...]:
    """Return who took an answer back, without those who have answered since."""
    said = {one.by for one in point.decisions} | ({point.by} if point.status != "open" else set())
    return tuple([one for one in point.taken_back if one not in said])


def title_of(point: Point) -> str:
    """Return what a person is asked."""
    return str(point.details.get("title") or "")


def answer_of(row: PointRow) -> object:
    """Return what was answered; an approval whose end was not written apart is told by its decisions."""
    point = row.point
    if point.kind != "approval":
        return point.output
    if point.output is not None:
        return _with_moments(point.output)
    if row.status not in _ANSWERED or not point.decisions:
        return None
    last = point.decisions[-1]
    return {
        "approved": outcome(point.rules or ApprovalRules(), point.decisions) == "approved",
        "by": last.by,
        "at": moment(last.at),
        "comment": last.comment,
        "data": last.data,
        "decisions": [_with_moments(plain_decision(one)) for one in point.decisions],
    }


def _with_moments(answer: object) -> object:
    """Return what an approval gave, or one of its decisions, with its times as readers of the interface have them."""
    if not isinstance(answer, dict):
        return answer
    told = dict(answer)
    if isinstance(told.get("at"), int):
        told["at"] = moment(told["at"])
    if isinstance(told.get("decisions"), list):
        told["decisions"] = [_with_moments(one) for one in told["decisions"]]
    return told


def answered_by(row: PointRow) -> str | None:
    """Return who answered; of an approval, who decided last."""
    point = row.point
    if point.by is None and row.status in _ANSWERED and point.decisions:
        return point.decisions[-1].by
    return point.by


def answered_at(row: PointRow) -> int | None:
    """Return when it was answered; what went on at once was answered at that moment."""
    point = row.point
    if row.status not in _ANSWERED or point.answered_at is not None:
        return point.answered_at
    if point.kind == "approval" and point.decisions:
        return point.decisions[-1].at
    return row.closed_at


def _seen(point: Point) -> str | None:
    """Return what the person who answered had seen; of an approval, the person who decided last."""
    return point.decisions[-1].seen if point.kind == "approval" and point.decisions else point.seen


def _approvers_of(rules: approval_rules.ApprovalRules) -> Approvers:
    """Return who is asked, with those whom an escalation has added."""
    return Approvers(users=(*rules.users, *rules.escalated_users), roles=(*rules.roles, *rules.escalated_roles))


def _question_of(number: int, asked: PointQuestion) -> Question:
    return Question(
        number=number,
        by=asked.by,
        to=asked.to,
        at=Moment.of(asked.at),
        question=asked.question,
        reply=asked.reply,
        replied_by=asked.replied_by,
        replied_at=Moment.maybe(asked.replied_at),
    )


def _decision_of(decision: approval_rules.RecordedDecision) -> Decision:
    return Decision(
        by=decision.by,
        approved=decision.approved,
        at=Moment.of(decision.at),
        comment=decision.comment,
        data=decision.data,
        on_behalf_of=decision.on_behalf_of,
        seen=decision.seen,
        final_at=Moment.maybe(decision.final_at),
    )
