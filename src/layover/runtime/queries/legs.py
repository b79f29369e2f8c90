"""The legs of an execution, derived from its log: each is the work between two rests, or what one answer released.

Several answers may be applied without a rest in between: from its own on, each of them has a leg of its own. A leg that
was begun for an answer, with nothing before it, is the leg of that answer.

A closed execution begins a leg when it is reopened, so the leg before it ends with the end. Earlier releases recorded
the start of that leg later, behind what the reopening led to, and as `woken` or `recovered`.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from layover.core.engine.events import ExecutionReopened, LegStarted
from layover.core.ids import uuid8
from layover.core.moments import Moment
from layover.model.executions import Leg

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.core.engine.events import AnyEvent
    from layover.runtime.queries.resumes import ResumeDraft


def leg_id(execution_id: str, number: int) -> str:
    """Return the id of a leg by its number, counted from 1: the number alone gives the id."""
    return uuid8(f"{execution_id}\0leg\0{number}")


def resume_leg_id(execution_id: str, point: str) -> str:
    """Return the id of the leg that applies the answer to a pause point; it is known before there is such a leg."""
    return uuid8(f"{execution_id}\0leg\0{point}")


class _Start(NamedTuple):
    seq: int
    at: int
    cause: str
    instance: str
    id: str
    point: str | None


def legs(
    execution_id: str, events: Iterable[tuple[int, int, AnyEvent]], resumes: Iterable[ResumeDraft] = ()
) -> list[Leg]:
    """Return the legs that events with their numbers and times tell of; the last one goes to the end of them."""
    applied = {one.leg: one for one in resumes if one.leg is not None}
    starts: list[_Start] = []
    reopened: tuple[int, int, ExecutionReopened] | None = None
    last_seq = -1
    for seq, at, event in events:
        last_seq = seq
        if isinstance(event, ExecutionReopened):
            reopened = (seq, at, event)
        elif isinstance(event, LegStarted):
            begun = applied.pop(seq, None)
            point = begun.point if begun is not None else None
            id_ = leg_id(execution_id, len(starts) + 1) if point is None else resume_leg_id(execution_id, point)
            if reopened is None:
                starts.append(_Start(seq, at, event.cause, event.instance, id_, point))
            else:
                starts.append(_Start(*reopened[:2], reopened[2].why, event.instance, id_, point))
            reopened = None
    starts = _with_answers(execution_id, starts, applied.values())
    ends = [*(start.seq - 1 for start in starts[1:]), last_seq]
    return [
        Leg(
            id=start.id,
            parent=starts[depth - 1].id if depth else None,
            depth=depth,
            cause=start.cause,
            instance=start.instance,
            from_seq=start.seq,
            to_seq=end,
            started_at=Moment.of(start.at),
            point_id=start.point,
        )
        for depth, (start, end) in enumerate(zip(starts, ends, strict=False))
    ]


def _with_answers(execution_id: str, starts: list[_Start], applied: Iterable[ResumeDraft]) -> list[_Start]:
    """Add the legs of answers that were applied in the midst of one."""
    seqs = [start.seq for start in starts]
    added = [
        _Start(one.leg, one.applied_at, "answered", around.instance, resume_leg_id(execution_id, one.point), one.point)
        for one in applied
        if one.leg is not None and one.applied_at is not None and seqs
        for around in [starts[max(bisect_right(seqs, one.leg) - 1, 0)]]
    ]
    return sorted([*starts, *added], key=lambda start: start.seq) if added else starts
