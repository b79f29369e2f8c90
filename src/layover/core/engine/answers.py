"""Whether an answer may be taken: the one place that says so, for the engine, the stores and the API alike.

Nothing is changed here. A refusal has a stable code and a sentence; an answer that is refused leaves its point open.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from layover.core.definitions.node_types import Approval, Form
from layover.core.people import Person, Refusal, Repeated, Rules, check_decision, may_decide
from layover.core.schemas import validator_of

if TYPE_CHECKING:
    import jsonschema_rs

    from layover.core.engine.commands import Answer
    from layover.core.engine.state import Execution, Point
    from layover.core.people import Verdict


class Refused(msgspec.Struct, frozen=True):
    """Why an answer is not taken; `errors` are the places in its data that do not fit the schema."""

    code: str
    message: str
    errors: tuple[tuple[str, str], ...] = ()


def refusal(state: Execution, answer: Answer) -> Refused | None:
    """Return why an answer is not taken, or None if it is."""
    point = state.points.get(answer.point)
    if point is None:
        return Refused("point_closed", "Nobody waits for this answer any more.")
    if point.kind not in ("approval", "form"):
        return Refused("not_answerable", f"A {point.kind} is not answered by a person.")
    if point.status != "open":
        return Refused("already_answered", "It has been answered already.")
    if point.kind == "approval":
        return _approval_refusal(state, point, answer)
    refused = may_decide(point.rules or Rules(), _person(answer), ())
    return _told(refused) if refused is not None else _misfit(_schema(state, point), answer.data)


def verdict(point: Point, answer: Answer) -> Verdict:
    """Return what becomes of a decision that is not refused."""
    return check_decision(
        point.rules or Rules(),
        _person(answer),
        point.decisions,
        approved=bool(answer.approved),
        comment=answer.comment,
    )


def _approval_refusal(state: Execution, point: Point, answer: Answer) -> Refused | None:
    if answer.approved is None:
        return Refused("decision_required", "Say whether it is approved.")
    found = verdict(point, answer)
    if isinstance(found, Refusal):
        return _told(found)
    if isinstance(found, Repeated):
        return None
    return _misfit(_schema(state, point), answer.data)


def _person(answer: Answer) -> Person:
    return Person(answer.by, answer.roles)


def _told(refused: Refusal) -> Refused:
    return Refused(refused.code, refused.message)


def _schema(state: Execution, point: Point) -> object:
    node = state.planned(point.node).node
    return node.schema if isinstance(node, Approval | Form) else None


def _misfit(schema: object, data: object) -> Refused | None:
    """Return where data does not fit a schema."""
    if schema in (None, {}, True):
        return None
    errors = tuple(
        ("/".join(str(step) for step in error.instance_path), error.message.split("\n", maxsplit=1)[0])
        for error in _validator(msgspec.json.encode(schema, order="sorted")).iter_errors(data)
    )
    return Refused("invalid_answer", "The answer does not fit the form.", errors[:20]) if errors else None


@lru_cache(maxsize=256)
def _validator(schema: bytes) -> jsonschema_rs.Validator:
    return validator_of(msgspec.json.decode(schema))
