"""Answers to pause points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from layover.core.engine.state import Point
from layover.ports.records import ChangedPoint, Enqueue
from layover.stores.answers import audit_of_answer, judge_answer, reserved
from layover.stores.checks import check_texts
from layover.stores.memory import claims, commands
from layover.stores.memory.appends import change_point
from layover.stores.memory.audit import write_audit
from layover.stores.refusals import unknown_point

if TYPE_CHECKING:
    from layover.core.engine.commands import PointAct
    from layover.ports.records import AuditRow, Claim, Refusal, Reserved
    from layover.stores.memory.database import MemoryDatabase
    from layover.stores.memory.session import MemorySession


class MemoryAnswers:
    """Answers to pause points in memory."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def reserve(
        self, answer: PointAct, source: str, now: int, claim: Claim | None = None, audit: AuditRow | None = None
    ) -> Reserved | Refusal:
        """Reserve a pause point for an answer, and enqueue it."""
        check_texts(answer.point, source)
        return take_answer(await self._session.turn(), answer, source, now, claim, audit)


def take_answer(
    db: MemoryDatabase, answer: PointAct, source: str, now: int, claim: Claim | None, audit: AuditRow | None
) -> Reserved | Refusal:
    """Take an answer if its point is open, the user may answer it, and the answer is valid."""
    found = db.points.get(answer.point)
    if found is None:
        return unknown_point(answer.point)
    head = db.heads[found.execution_id]
    point = judge_answer(found, head, commands.seen_before(db, found.execution_id, source, 0), answer, now)
    if not isinstance(point, Point):
        return point
    change_point(db, found.execution_id, now, ChangedPoint(point=point))
    write_audit(db, audit_of_answer(audit, found.execution_id))
    command = Enqueue(
        execution_id=found.execution_id, kind=type(answer).__name__, body=msgspec.json.encode(answer), source=source
    )
    taken = reserved(head, found, point, commands.take(db, head, command, now))
    if claim is None or head.owner is not None:
        return taken
    (claimed,) = claims.claim_executions(db, replace(claim, execution_id=head.execution_id)).claimed
    return replace(taken, claimed=claimed)
