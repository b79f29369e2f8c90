"""Answers to pause points. Each is judged and written inside one transaction of the writer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.core.engine.state import Point
from layover.ports.errors import StoreUnusable
from layover.ports.records import ChangedPoint, Enqueue
from layover.stores.answers import audit_of_answer, judge_answer, reserved
from layover.stores.checks import check_texts
from layover.stores.ids import key
from layover.stores.leases import lasting
from layover.stores.refusals import unknown_point
from layover.stores.sqlite.appends import change_point
from layover.stores.sqlite.audit import write_audit
from layover.stores.sqlite.commands import seen_before, take, take_claiming
from layover.stores.sqlite.queries import head_by_id, point_by_id

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from layover.core.engine.commands import PointAct
    from layover.ports.records import AuditRow, Claim, Refusal, Reserved
    from layover.stores.sqlite.session import SqliteSession


class SqliteAnswers:
    """Answers to the pause points of a file."""

    def __init__(self, session: SqliteSession, clock: Callable[[], int]) -> None:
        self._session = session
        self._clock = clock

    async def reserve(
        self, answer: PointAct, source: str, now: int, claim: Claim | None = None, audit: AuditRow | None = None
    ) -> Reserved | Refusal:
        """Reserve a pause point for an answer, and enqueue it."""
        check_texts(answer.point, source)

        def take_lasting(db: apsw.Connection) -> Reserved | Refusal:
            lasts = lasting(claim, self._clock()) if claim is not None else None
            return take_answer(db, answer, source, now, lasts, audit)

        return await self._session.write(take_lasting)


def take_answer(
    db: apsw.Connection, answer: PointAct, source: str, now: int, claim: Claim | None, audit: AuditRow | None
) -> Reserved | Refusal:
    """Take an answer if its point is open, the user may answer it, and the answer is valid."""
    found = point_by_id(db, answer.point)
    if found is None:
        return unknown_point(answer.point)
    id_ = key(found.execution_id)
    head = head_by_id(db, id_)
    if head is None:
        raise StoreUnusable(f"The pause point {answer.point} belongs to no execution.", code="corrupt")
    point = judge_answer(found, head, seen_before(db, id_, source, 0), answer, now)
    if not isinstance(point, Point):
        return point
    change_point(db.cursor(), id_, now, ChangedPoint(point=point))
    write_audit(db, audit_of_answer(audit, found.execution_id))
    body = msgspec.json.encode(answer)
    command = Enqueue(execution_id=head.execution_id, kind=type(answer).__name__, body=body, source=source, source_n=0)
    if claim is None or head.owner is not None:
        return reserved(head, found, point, take(db, head, command, now))
    claimed = take_claiming(db, head, command, claim, now)
    return reserved(head, found, point, claimed.head.commands_seq, claimed=claimed)
