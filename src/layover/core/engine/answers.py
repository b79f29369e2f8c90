"""Whether an answer may be taken: the one place that says so, for the engine, the stores and the API alike.

Nothing is changed here. A refusal has a stable code and a sentence; an answer that is refused leaves its point open.
Whoever has a point but not the execution around it (a store that takes an answer while nobody drives) keeps the point's
schema beside it and asks `reserve`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from layover.core.approval_rules import (
    Accepted,
    ApprovalRules,
    Decision,
    Person,
    Refusal,
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
    from layover.core.engine.state import Execution, Point


class Refused(msgspec.Struct, frozen=True):
    """Why an answer is not taken; `errors` are the places in its data that do not fit the schema."""

    code: str
    message: str
    errors: tuple[tuple[str, str], ...] = ()


def refusal(state: Execution, answer: Answer) -> Refused | None:
    """Return why an answer is not taken, or None if it is."""
    point = state.points.get(answer.point)
    if point is None:
        return Refused("point_closed", "This pause point is closed and takes no more answers.")
    return judge(point, schema_of(state, point), answer)


def schema_of(state: Execution, point: Point) -> object:
    """Return the JSON Schema that the data of an answer has to fit, or None if any data does."""
    if point.doubt:
        return ANSWER
    if point.key:  # a function that asked brought its own
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
    """Return why an answer to a point is not taken, or None if it is."""
    if point.kind not in ("approval", "form"):
        return Refused("not_answerable", f"A {point.kind} is not answered by a person.")
    if point.status != "open":
        return Refused("already_answered", "It has been answered already.")
    if point.kind == "approval":
        return _approval_refusal(point, schema, answer)
    refused = may_decide(point.rules or ApprovalRules(), _person(answer), ())
    return _told(refused) if refused is not None else _misfit(schema, answer.data)


def reserve(point: Point, schema: object, answer: Answer, now: int) -> Refused | Point:
    """Return a point as it stands once an answer is taken, or why it is not; who repeats themselves changes nothing.

    The engine records the same when the answer reaches it: until then the point as returned here keeps the place.
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


def decision_of(point: Point, answer: Answer, now: int) -> Decision | None:
    """Return the decision to record for an answer to an approval that is not refused; None if it was made before."""
    found = _verdict(point, answer)
    if not isinstance(found, Accepted):
        return None
    return Decision(
        by=answer.by,
        approved=bool(answer.approved),
        at=now,
        comment=answer.comment,
        data=answer.data,
        on_behalf_of=found.on_behalf_of,
    )


def _approval_refusal(point: Point, schema: object, answer: Answer) -> Refused | None:
    if answer.approved is None:
        return Refused("decision_required", "Say whether it is approved.")
    found = _verdict(point, answer)
    if isinstance(found, Refusal):
        return _told(found)
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


def _person(answer: Answer) -> Person:
    return Person(answer.by, answer.roles)


def _told(refused: Refusal) -> Refused:
    return Refused(refused.code, refused.message)


def _misfit(schema: object, data: object) -> Refused | None:
    errors = misfits(schema, data)
    return Refused("invalid_answer", "The answer does not fit the form.", errors) if errors else None
