"""Taking an answer back: while its undo window is open, by the user who gave it.

The execution decides, in the order of its commands: an answer that has become final meanwhile stays. The user is told
what has come of it; if no instance drives the execution in time, the point is returned as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine.take_backs import take_back_refusal
from layover.errors import AnswerRefused, LayoverError, NotAllowed, WrongState
from layover.runtime.queries.views import context_of
from layover.service.answers import needs_of, point_row, why_over

if TYPE_CHECKING:
    from layover.ports.records import PointRow
    from layover.service.actor import Actor

_ACT = "point.take_back"


async def take_back(actor: Actor, row: PointRow, reason: str, idempotency_key: str | None) -> PointRow:
    """Take back what the user who acts has answered."""
    point = row.point
    if point.kind not in ("approval", "form"):
        raise AnswerRefused("not_answerable", f"A {point.kind} is not answered by a person.")
    actor.require(*needs_of(point))
    user = actor.caller.user
    await actor.check_key(_ACT, point.id, idempotency_key, reason)
    key = actor.key(_ACT, point.id, idempotency_key)
    entry = actor.entry(
        _ACT,
        point.id,
        execution_id=row.execution_id,
        key=key,
        context_id=context_of(point),
        reason=reason or None,
    )
    try:
        await actor.runtime.answers.take_back(point.id, reason, by=user, key=key, audit=entry, within=actor.within)
    except (AnswerRefused, WrongState) as error:
        raise await _reason_of(actor, point.id, error) from error
    after, now = await point_row(actor, point.id), actor.runtime.instance.clock.now()
    given = [one for one in point.decisions if one.by == user]
    stayed = any(one.at == given[0].at for one in after.point.decisions if one.by == user) if given else _stayed(after)
    if stayed and (after.closed_at is not None or take_back_refusal(after.point, user, now) is not None):
        raise AnswerRefused("already_applied", "It is final, and cannot be taken back any more.")
    return after


def _stayed(after: PointRow) -> bool:
    return after.status in ("answered", "applied")


async def _reason_of(actor: Actor, point_id: str, error: AnswerRefused | WrongState) -> LayoverError:
    """Return why nothing was taken back: a point that ended otherwise says how it did."""
    if error.code == "not_allowed":
        return NotAllowed(error.message, code=error.code)
    row = await point_row(actor, point_id)
    if row.status in ("expired", "cancelled"):
        return why_over(row)
    if error.code in ("already_applied", "not_answerable"):
        return error
    return AnswerRefused("already_applied", "It is final, and cannot be taken back any more.")
