"""The resume queue of an execution as readers have it: what its log tells, and the answers that are not in it yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.moments import Moment
from layover.model.resumes import ResumeEntry
from layover.ports.view_records import PointFilter
from layover.runtime.queries.legs import resume_leg_id
from layover.runtime.queries.resumes import NEVER_APPLIED
from layover.runtime.queries.views import context_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from layover.core.engine.state import ExecutionState
    from layover.model.executions import Leg
    from layover.model.resumes import ResumeStatus
    from layover.ports.records import Head, PointRow
    from layover.ports.store import Store
    from layover.runtime.queries.resumes import ResumeDraft

_PAGE: Final = 1_000  # points that are read at a time
_AT_REST: Final = frozenset({"waiting", "paused"})


def resume_queue(  # noqa: PLR0913 - everything that an entry is made of
    head: Head,
    state: ExecutionState,
    resumes: Iterable[ResumeDraft],
    legs: Iterable[Leg],
    places: Mapping[str, int],
    answered: Iterable[PointRow],
    *,
    last_at: int,
    is_retried: bool,
) -> list[ResumeEntry]:
    """Return all entries, in the order in which the answers came.

    `answered` are the points whose answers wait for their turn, and those that were closed before it came.
    `last_at` is the moment of the last event: what it released has come to rest by then, if the execution is at rest
    and no node `is_retried`.
    """
    by_point = {leg.point_id: leg for leg in legs if leg.point_id is not None}
    drafts = list(resumes)
    known = {one.point for one in drafts}
    came_to_rest = last_at if head.status in _AT_REST and not is_retried else None
    found = [_entry(head, state, one, by_point.get(one.point), places.get(one.point), came_to_rest) for one in drafts]
    unread = [row for row in answered if row.point.id in places and row.point.id not in known]
    unread.sort(key=lambda row: places[row.point.id])
    for row in answered:
        if row.closed_at is not None and row.point.id not in known:
            lost = _never_applied(head.execution_id, row)
            later = (n for n, entry in enumerate(found) if entry.queued_at > lost.queued_at)
            found.insert(next(later, len(found)), lost)
    return [*found, *(_unread(head.execution_id, row, places[row.point.id]) for row in unread)]


def _entry(
    head: Head, state: ExecutionState, one: ResumeDraft, leg: Leg | None, position: int | None, came_to_rest: int | None
) -> ResumeEntry:
    status, ended_at, reason = one.status, one.ended_at, one.failure_reason
    if status == "claimed" and came_to_rest is not None:
        status, ended_at = "completed", came_to_rest
    elif status == "pending" and one.point not in state.points:  # such as by a rewind
        status, ended_at, reason = "failed", None, NEVER_APPLIED
    return ResumeEntry(
        point_id=one.point,
        execution_id=head.execution_id,
        context_id=one.context_id,
        status=status,
        position=position if status == "pending" else None,
        answer=one.answer,
        answered_by=one.by,
        queued_at=Moment.of(one.queued_at),
        claimed_at=Moment.maybe(one.applied_at),
        completed_at=Moment.maybe(ended_at),
        failure_reason=reason or None,
        leg_id=resume_leg_id(head.execution_id, one.point),
        parent_leg_id=leg.parent if leg is not None else None,
        depth=leg.depth if leg is not None else None,
    )


async def closed_answers(store: Store, execution_id: str, closed: frozenset[str]) -> list[PointRow]:
    """Return the points among some that are closed whose answer was stored and never had its turn.

    Such as behind a rewind: the answer is in no event then. Only the row of the point still has it.
    """
    found: list[PointRow] = []
    after, left = None, len(closed)
    while left > 0:
        wanted = PointFilter(execution_id=execution_id, status=("cancelled", "expired"), after=after, limit=_PAGE)
        rows = await store.queries.list_points(wanted)
        mine = [row for row in rows if row.point.id in closed]
        found += [row for row in mine if row.point.status == "answered"]
        left = left - len(mine) if len(rows) == _PAGE else 0
        after = (rows[-1].point.opened_at, rows[-1].point.id) if rows else None
    return found


def _unread(execution_id: str, row: PointRow, position: int) -> ResumeEntry:
    """Return an answer that the execution has not read yet."""
    return _from_row(execution_id, row, "pending", position=position)


def _never_applied(execution_id: str, row: PointRow) -> ResumeEntry:
    """Return an answer whose point was closed before the execution read it."""
    return _from_row(
        execution_id, row, "failed", completed_at=Moment.maybe(row.closed_at), failure_reason=NEVER_APPLIED
    )


def _from_row(
    execution_id: str,
    row: PointRow,
    status: ResumeStatus,
    *,
    position: int | None = None,
    completed_at: Moment | None = None,
    failure_reason: str | None = None,
) -> ResumeEntry:
    point = row.point
    last = point.decisions[-1] if point.decisions else None
    return ResumeEntry(
        point_id=point.id,
        execution_id=execution_id,
        context_id=context_of(point),
        status=status,
        position=position,
        answer=point.output if last is None else last.data,
        answered_by=point.by if last is None else last.by,
        queued_at=Moment.of(point.opened_at if point.answered_at is None else point.answered_at),
        completed_at=completed_at,
        failure_reason=failure_reason,
        leg_id=resume_leg_id(execution_id, point.id),
    )
