"""What is paused in a workflow: executions with the places where people are awaited, each as soon as it is reached.

An execution is found by its oldest place that is not done with, whatever its other branches are doing; there it stands
in the list, and once it waits for no person any more it is gone from there. From then on it is among those that were
paused: all its places were resumed, or one of them expired. They are found by their executions, the newest first.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from layover.core.moments import Moment
from layover.model.points import (
    CamelLoopScope,
    CamelParallelScope,
    PausedExecution,
    PausedOfWorkflow,
    PausedPoint,
)
from layover.model.shared import encode
from layover.ports.view_records import ExecutionFilter, PointFilter
from layover.runtime.queries.views import context_of
from layover.runtime.results.points import point_of
from layover.service.cursors import cursor_of
from layover.service.points import FOR_PEOPLE, age

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Literal

    from layover.api.request import Request
    from layover.model.points import PausedStatus
    from layover.ports.records import PointRow

    ResumeStatus = Literal["paused", "queued", "resumed", "expired", "cancelled"]

_NOT_DONE: Final = ("open", "answered")
_PAGE: Final = 100
_MOST_PAGES: Final = 10
_AHEAD: Final = 10  # executions that are read at once
_TOLD_AS: Final[dict[str, ResumeStatus]] = {
    "open": "paused",
    "answered": "queued",
    "applied": "resumed",
    "expired": "expired",
}


async def paused(call: Request[Any, Any], workflow: str, after: tuple[int, str] | None, most: int) -> PausedOfWorkflow:
    """Return executions of a workflow that people are awaited in, the one that has waited longest first."""
    known: dict[str, list[PointRow]] = {}
    found: list[PausedExecution] = []
    last, room = after, call.services.settings.page_bytes
    for _ in range(_MOST_PAGES):
        rows = await call.service.points.of_people(
            PointFilter(workflow=workflow, status=_NOT_DONE, after=after, limit=_PAGE)
        )
        for index, row in enumerate(rows):
            if row.execution_id not in known:
                await _read_ahead(call, rows[index:], min(_AHEAD, most - len(found) + 1), known)
            told = await _execution(call, row, known[row.execution_id])
            room -= len(encode(told)) if told is not None else 0
            if told is not None and (len(found) == most or (found and room < 0)):
                return PausedOfWorkflow(executions=tuple(found), next=cursor_of(*last) if last is not None else None)
            if told is not None:
                found.append(told)
                last = age(row)
        if len(rows) < _PAGE:
            return PausedOfWorkflow(executions=tuple(found))
        after = age(rows[-1])
    return PausedOfWorkflow(executions=tuple(found), next=cursor_of(*after) if after is not None else None)


async def once_paused(
    call: Request[Any, Any], workflow: str, status: Collection[str], after: tuple[int, str] | None, most: int
) -> PausedOfWorkflow:
    """Return executions of a workflow that no person is awaited in any more, the newest first."""
    queries, room = call.services.store.queries, call.services.settings.page_bytes
    found: list[PausedExecution] = []
    for _ in range(_MOST_PAGES):
        rows = await queries.list_executions(ExecutionFilter(workflow=workflow, after=after, limit=_PAGE))
        for start in range(0, len(rows), _AHEAD):
            part = rows[start : start + _AHEAD]
            places = await asyncio.gather(*(_of_execution(call, row.head.execution_id) for row in part))
            for row, points in zip(part, places, strict=True):
                told = _once_paused(row.head.execution_id, points, status)
                room -= len(encode(told)) if told is not None else 0
                if told is not None and (len(found) == most or (found and room < 0)):
                    return PausedOfWorkflow(executions=tuple(found), next=cursor_of(*after) if after else None)
                if told is not None:
                    found.append(told)
                after = row.info.created_at, row.head.execution_id
        if len(rows) < _PAGE:
            return PausedOfWorkflow(executions=tuple(found))
    return PausedOfWorkflow(executions=tuple(found), next=cursor_of(*after) if after is not None else None)


def _once_paused(execution_id: str, rows: Sequence[PointRow], wanted: Collection[str]) -> PausedExecution | None:
    """Return an execution whose places are all done with, if it ended as is wanted."""
    if any(row.status in _NOT_DONE for row in rows):
        return None
    ends = {row.status for row in rows}
    status: PausedStatus | None = "expired" if "expired" in ends else "fully_resumed" if "applied" in ends else None
    return _told(execution_id, rows, {}, status) if status is not None and status in wanted else None


async def _read_ahead(
    call: Request[Any, Any], rows: Sequence[PointRow], most: int, known: dict[str, list[PointRow]]
) -> None:
    """Read the next executions side by side, so that a page does not wait for each of them in turn."""
    ids = list(dict.fromkeys(row.execution_id for row in rows if row.execution_id not in known))[:most]
    places = await asyncio.gather(*(_of_execution(call, id_) for id_ in ids))
    known.update(zip(ids, places, strict=True))


async def _of_execution(call: Request[Any, Any], execution_id: str) -> list[PointRow]:
    """Return all places of an execution where people were asked, the oldest first."""
    wanted = PointFilter(execution_id=execution_id)
    found: list[PointRow] = []
    while True:
        page = await call.services.store.queries.list_points(wanted)
        found += [row for row in page if row.point.kind in FOR_PEOPLE]
        if len(page) < wanted.limit:
            return _without_superseded(found)
        wanted = replace(wanted, after=age(page[-1]))


def _without_superseded(rows: Sequence[PointRow]) -> list[PointRow]:
    """Return points without those that were closed and asked anew at the same place, by a move or a rewind."""
    last = {context_of(row.point): row.point.id for row in rows}
    return [row for row in rows if row.status != "cancelled" or last[context_of(row.point)] == row.point.id]


async def _execution(call: Request[Any, Any], row: PointRow, rows: Sequence[PointRow]) -> PausedExecution | None:
    """Return an execution, where its oldest place stands that is not done with; there is nothing at its others."""
    waiting = [one for one in rows if one.status in _NOT_DONE]
    if not waiting or age(waiting[0]) != age(row):
        return None
    answered = any(one.status == "answered" for one in waiting)
    places = await call.service.actor.runtime.points.queue(row.execution_id) if answered else {}
    resumed = any(one.status == "applied" for one in rows)
    return _told(row.execution_id, rows, places, "partially_resumed" if resumed else "paused")


def _told(
    execution_id: str, rows: Sequence[PointRow], places: Mapping[str, int], status: PausedStatus
) -> PausedExecution:
    waiting = [one for one in rows if one.status in _NOT_DONE]
    deadlines = [one.point.deadline for one in waiting if one.status == "open" and one.point.deadline is not None]
    points = tuple(_point(one, places.get(one.point.id)) for one in rows)
    in_branches = any(one.parallel_scope is not None for one in points) or len(waiting) > 1
    return PausedExecution(
        execution_id=execution_id,
        status=status,
        pause_scope="branch" if in_branches else "execution",
        total_pause_count=len(rows),
        resumed_count=sum(one.status == "applied" for one in rows),
        paused_at=Moment.of((waiting or rows)[0].point.opened_at),
        expires_at=Moment.maybe(min(deadlines, default=None)),
        pause_points=points,
    )


def _point(row: PointRow, position: int | None) -> PausedPoint:
    told = point_of(row, position)
    branch, round_ = told.parallel_scope, told.loop_scope
    return PausedPoint(
        context_id=told.context_id,
        point_id=told.id,
        kind=told.kind,
        resume_status=_TOLD_AS.get(row.status, "cancelled"),
        snapshot_ready=told.snapshot_ready,
        parallel_scope=CamelParallelScope(parallel_id=branch.node, branch_index=branch.index, branch_count=branch.count)
        if branch is not None
        else None,
        loop_scope=CamelLoopScope(loop_id=round_.node, iteration=round_.iteration) if round_ is not None else None,
        response=told.response,
        queue_position=told.queue_position,
        registered_at=told.opened_at,
        resumed_at=told.applied_at,
    )
