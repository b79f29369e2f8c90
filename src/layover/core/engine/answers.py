"""Whether an answer may be taken: the one place that decides it, for the engine, the stores and the API.

Nothing is changed here. A refusal has a stable code and a sentence; a refused answer leaves its point open. A store
that takes an answer while no instance drives the execution has only the point: it stores the point's schema beside it
and calls `reserve`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from layover.core.approval_rules import (
    ApprovalRules,
    Approver,
    DecisionAllowed,
    DecisionRefused,
    RecordedDecision,
    Repeated,
    check_decision,
    may_decide,
    outcome,
)
from layover.core.definitions.node_types import Approval, Form
from layover.core.engine.in_doubt import answer_schema
from layover.core.engine.point_view import PointView, view_of
from layover.core.engine.undo_windows import end_of_window, final_at
from layover.core.point_claims import PointClaim, claim_of_another
from layover.core.schemas import misfits

if TYPE_CHECKING:
    from layover.core.approval_rules import Verdict
    from layover.core.engine.commands import Answer
    from layover.core.engine.state import ExecutionState, Point


_MISFIT: Final = "invalid_answer"


class ViewDifference(msgspec.Struct, frozen=True, kw_only=True):
    """The hash of the view that a person had seen, that of the point as it is, and what the point shows now."""

    seen: str
    now: str
    view: PointView


class Refused(msgspec.Struct, frozen=True):
    """The reason why an answer is not taken; `errors` are the places in its data that do not fit the schema.

    `claim` is that of another person, if it stands in the way.
    `difference` tells how the point differs from what the person had seen.
    """

    code: str
    message: str
    errors: tuple[tuple[str, str], ...] = ()
    claim: PointClaim | None = None
    difference: ViewDifference | None = None


def refusal(state: ExecutionState, answer: Answer) -> Refused | None:
    """Return why an answer is refused, or None if it may be taken."""
    point = state.points.get(answer.point)
    if point is None:
        return Refused("point_closed", "This pause point is closed and takes no more answers.")
    return judge(point, schema_of(state, point), answer)


def schema_of(state: ExecutionState, point: Point) -> object:
    """Return the JSON Schema that the data of an answer has to fit, or None if there is none."""
    if point.doubt:
        return answer_schema(point.details)
    if point.key:  # a question of a function has its own schema
        return point.details.get("schema")
    node = state.planned(point.node).node
    return node.schema if isinstance(node, Approval | Form) else None


def schema_problem(schema: object) -> str | None:
    """Return why a schema cannot be used, or None if it can."""
    try:
        misfits(schema, None)
    except ValueError as error:
        return str(error).split("\n", maxsplit=1)[0]
    return None


def judge(point: Point, schema: object, answer: Answer) -> Refused | None:
    """Return why a point refuses an answer, or None if it may be taken."""
    if point.kind not in ("approval", "form"):
        return Refused("not_answerable", f"A pause point of kind `{point.kind}` does not take answers from people.")
    if point.status != "open":
        return Refused("already_answered", "This pause point has been answered already.")
    if point.kind == "approval":
        return _approval_refusal(point, schema, answer)
    if point.rules is not None:  # without any, every user may answer
        refused = may_decide(point.rules, _person(answer), ())
        if refused is not None:
            return _refused_of(refused)
    return _claim_refusal(point, answer) or _misfit(schema, answer.data)


def reserve(point: Point, schema: object, answer: Answer, now: int) -> Refused | Point:
    """Return a point with an answer taken, or why it is refused; a repeated answer changes nothing.

    The engine records the same once the answer reaches it. Until then the returned point reserves it. What the person
    had seen is compared here and not by the engine, so that an answer which was taken is never dropped for it.
    """
    refused = judge(point, schema, answer)
    if refused is not None and refused.code != _MISFIT:
        return refused
    decision = decision_of(point, answer, now) if point.kind == "approval" else None
    if point.kind == "form" or decision is not None:  # else it was made before, having seen the same
        refused = _changed(point, schema, answer) or refused
    if refused is not None:
        return refused
    if point.kind == "form":
        return replace(
            point,
            status="answered",
            output=answer.data,
            by=answer.by,
            answered_at=now,
            seen=answer.seen,
            final_at=end_of_window(point, now),
            claim=None,
        )
    if decision is None:
        return point
    return settled(replace(point, decisions=(*point.decisions, decision), claim=None), now)


def settled(point: Point, now: int) -> Point:
    """Return an open point, or an answered one if it is an approval whose decisions settle it."""
    if point.kind != "approval" or outcome(point.rules or ApprovalRules(), point.decisions) == "open":
        return point
    return replace(point, status="answered", answered_at=now, final_at=final_at(point.decisions))


def decision_of(point: Point, answer: Answer, now: int) -> RecordedDecision | None:
    """Return the decision to record for an answer to an approval that is not refused; None if it was made before."""
    found = _verdict(point, answer)
    if not isinstance(found, DecisionAllowed):
        return None
    return RecordedDecision(
        by=answer.by,
        approved=bool(answer.approved),
        at=now,
        comment=answer.comment,
        data=answer.data,
        on_behalf_of=found.on_behalf_of,
        seen=answer.seen,
        final_at=end_of_window(point, now),
    )


def _approval_refusal(point: Point, schema: object, answer: Answer) -> Refused | None:
    if answer.approved is None:
        return Refused("decision_required", "An answer to an approval needs `approved`: true or false.")
    found = _verdict(point, answer)
    if isinstance(found, DecisionRefused):
        return _refused_of(found)
    if isinstance(found, Repeated):
        return None
    return _claim_refusal(point, answer) or _misfit(schema, answer.data)


def _verdict(point: Point, answer: Answer) -> Verdict:
    return check_decision(
        point.rules or ApprovalRules(),
        _person(answer),
        point.decisions,
        approved=bool(answer.approved),
        comment=answer.comment,
    )


def _person(answer: Answer) -> Approver:
    return Approver(answer.by, answer.roles)


def _refused_of(refused: DecisionRefused) -> Refused:
    return Refused(refused.code, refused.message)


def _claim_refusal(point: Point, answer: Answer) -> Refused | None:
    if point.claim is None:  # by far the most frequent
        return None
    other = claim_of_another(point.claim, answer.by, answer.at)
    return refuse_claimed(other) if other is not None else None


def refuse_claimed(claim: PointClaim) -> Refused:
    """Return the refusal of a person who comes to a point that another one has claimed."""
    return Refused("claimed", f"{claim.by} has claimed it. Claim it with `take` to go on instead.", claim=claim)


def _changed(point: Point, schema: object, answer: Answer) -> Refused | None:
    """Return how a point differs from what the person who answers had seen, if they said what that was."""
    view = view_of(point, schema) if answer.seen is not None else None
    if view is None or answer.seen is None or view.hash() == answer.seen:
        return None
    message = "The pause point is not what you had seen: read it again, and then decide."
    return Refused("point_changed", message, difference=ViewDifference(seen=answer.seen, now=view.hash(), view=view))


def _misfit(schema: object, data: object) -> Refused | None:
    errors = misfits(schema, data)
    return Refused(_MISFIT, "The answer does not fit the form.", errors) if errors else None
