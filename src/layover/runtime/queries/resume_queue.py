"""The resume queue of an execution as readers have it: what its log tells, and the answers that are not in it yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.moments import Moment
from layover.model.resumes import ResumeEntry
from layover.runtime.queries.legs import resume_leg_id
from layover.runtime.queries.resumes import NEVER_APPLIED
from layover.runtime.queries.views import context_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from layover.core.engine.state import ExecutionState
    from layover.model.executions import Leg
    from layover.ports.records import Head, PointRow
    from layover.runtime.queries.resumes import ResumeDraft

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
    """Return all entries, in the order in which the answers came; `answered` are the points that wait for their turn.

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


def _unread(execution_id: str, row: PointRow, position: int) -> ResumeEntry:
    """Return an answer that the execution has not read yet."""
    point = row.point
    last = point.decisions[-1] if point.decisions else None
    return ResumeEntry(
        point_id=point.id,
        execution_id=execution_id,
        context_id=context_of(point),
        status="pending",
        position=position,
        answer=point.output if last is None else last.data,
        answered_by=point.by if last is None else last.by,
        queued_at=Moment.of(point.opened_at if point.answered_at is None else point.answered_at),
        leg_id=resume_leg_id(execution_id, point.id),
    )
