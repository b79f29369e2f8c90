"""Answers to pause points: the rules that all stores share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.core.engine.answers import Refused
from layover.core.engine.conversations import reserve_act
from layover.ports.records import CLOSED, Reserved
from layover.stores.refusals import execution_closed, point_closed

if TYPE_CHECKING:
    from layover.core.engine.commands import PointAct
    from layover.core.engine.state import Point
    from layover.ports.records import AuditRow, Claimed, Head, PointRow, Refusal


def judge_answer(
    found: PointRow, head: Head, before: int | None, answer: PointAct, now: int
) -> Point | Reserved | Refusal:
    """Return a pause point with an answer or another act of a person, to be written; else what the caller gets.

    `before` is the number of the command by which the same answer came before, if it did.
    """
    if before is not None:
        return reserved(head, found, found.point, before, repeated=True)
    if found.closed_at is not None:
        return point_closed(found.status)
    if head.status in CLOSED:
        return execution_closed(head.status)
    point = reserve_act(found.point, found.schema, answer, now)
    if isinstance(point, Refused):
        return point
    if point is found.point:  # the same user gave the same answer before
        return reserved(head, found, point, head.commands_seq, repeated=True)
    return point


def reserved(
    head: Head, found: PointRow, point: Point, n: int, *, repeated: bool = False, claimed: Claimed | None = None
) -> Reserved:
    """Return the reservation of a pause point by the command with a number; `found` is the point as it was before."""
    return Reserved(
        execution_id=head.execution_id,
        point=point,
        n=n,
        owner=head.owner,
        repeated=repeated,
        claimed=claimed,
        workflow=head.workflow,
        schema=found.schema,
    )


def audit_of_answer(audit: AuditRow | None, execution_id: str) -> AuditRow | None:
    """Return the entry of an answer, so that it is found by its execution: a program knows only the point."""
    if audit is None or audit.execution_id:
        return audit
    return replace(audit, execution_id=execution_id)
