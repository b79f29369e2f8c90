"""Whether an answer may be taken: the one place that decides it, for the engine, the stores and the API.

Nothing is changed here. A refusal has a stable code and a sentence; a refused answer leaves its point open. A store
that takes an answer while no instance drives the execution has only the point: it stores the point's schema beside it
and calls `reserve`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from layover.core.engine.in_doubt import ANSWER
from layover.core.schemas import misfits

if TYPE_CHECKING:
    from layover.core.approval_rules import Verdict
    from layover.core.engine.commands import Answer
    from layover.core.engine.state import ExecutionState, Point


class Refused(msgspec.Struct, frozen=True):
    """The reason why an answer is not taken; `errors` are the places in its data that do not fit the schema."""

    code: str
    message: str
    errors: tuple[tuple[str, str], ...] = ()


def refusal(state: ExecutionState, answer: Answer) -> Refused | None:
    """Return why an answer is refused, or None if it may be taken."""
    point = state.points.get(answer.point)
    if point is None:
        return Refused("point_closed", "This pause point is closed and takes no more answers.")
    return judge(point, schema_of(state, point), answer)


def schema_of(state: ExecutionState, point: Point) -> object:
    """Return the JSON Schema that the data of an answer has to fit, or None if there is none."""
    if point.doubt:
        return ANSWER
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
    return _misfit(schema, answer.data)


def reserve(point: Point, schema: object, answer: Answer, now: int) -> Refused | Point:
    """Return a point with an answer taken, or why it is refused; a repeated answer changes nothing.

    The engine records the same once the answer reaches it. Until then the returned point reserves it.
    """
    refused = judge(point, schema, answer)
    if refused is not None:
        return refused
    if point.kind == "form":
        return replace(point, status="answered", output=answer.data, by=answer.by, answered_at=now)
    decision = decision_of(point, answer, now)
    if decision is None:
        return point
    decisions = (*point.decisions, decision)
    still_open = outcome(point.rules or ApprovalRules(), decisions) == "open"
    if still_open:
        return replace(point, decisions=decisions)
    return replace(point, decisions=decisions, status="answered", answered_at=now)


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
    )


def _approval_refusal(point: Point, schema: object, answer: Answer) -> Refused | None:
    if answer.approved is None:
        return Refused("decision_required", "An answer to an approval needs `approved`: true or false.")
    found = _verdict(point, answer)
    if isinstance(found, DecisionRefused):
        return _refused_of(found)
    if isinstance(found, Repeated):
        return None
    return _misfit(schema, answer.data)


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


def _misfit(schema: object, data: object) -> Refused | None:
    errors = misfits(schema, data)
    return Refused("invalid_answer", "The answer does not fit the form.", errors) if errors else None
