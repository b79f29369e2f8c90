"""Lists of pause points; the inbox is those that wait for one person.

Whose answer a point waits for is the core's to say, so it cannot be asked of a database: the open points are gone
through, a bounded number for one page. A page may therefore be short, or empty, and still have a next one.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from layover.api.answers import needs_of, person_of
from layover.api.cursors import cursor_of, parsed
from layover.api.pages import fitting
from layover.api.resources.shared import ExecutionId, Page, WorkflowName
from layover.api.serializers.points import point_of
from layover.core.approval_rules import ApprovalRules, may_decide
from layover.core.engine.events import PointKind
from layover.ports.records import PointFilter
from layover.runtime.ids import checked_id

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from layover.api.permissions import Caller
    from layover.api.request import Request
    from layover.api.resources.points import PausePoint
    from layover.ports.records import PointRow

PointStatus = Literal["open", "answered", "applied", "completed", "expired", "cancelled", "superseded"]

_PAGE: Final = 100
_MOST_PAGES: Final = 10
FOR_PEOPLE: Final[tuple[PointKind, ...]] = ("approval", "form")

_OfExecution = Annotated[ExecutionId, Meta(description="Those of this execution.")]
_OfWorkflow = Annotated[WorkflowName, Meta(description="Those of this workflow.")]
_Status = Annotated[list[PointStatus], Meta(description="Those that are this, or one of these.")]
_For = Annotated[Literal["me"], Meta(description="Those that the caller may answer.")]
_Limit = Annotated[int, Meta(ge=1, description="How many at most; more than 100 are 100.")]
_Cursor = Annotated[str, Meta(description="The `next` of the page before.")]


class ApprovalsQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which approvals to list, the oldest first. With `for=me`, those that the caller may decide."""

    execution_id: _OfExecution | None = None
    workflow: _OfWorkflow | None = None
    status: _Status = []
    for_: _For | None = msgspec.field(name="for", default=None)
    limit: _Limit | None = None
    cursor: _Cursor | None = None


class PointsQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which points to list, the oldest first. With `for=me`, those that the caller may answer."""

    execution_id: _OfExecution | None = None
    workflow: _OfWorkflow | None = None
    kind: Annotated[PointKind, Meta(description="What is waited for.")] | None = None
    status: _Status = []
    for_: _For | None = msgspec.field(name="for", default=None)
    limit: _Limit | None = None
    cursor: _Cursor | None = None


async def listed(
    call: Request[Any, Any], query: ApprovalsQuery | PointsQuery, kind: PointKind | None
) -> Page[PausePoint]:
    """Return a page of points."""
    settings = call.services.settings
    most = min(query.limit or settings.page, settings.longest_page)
    wanted = PointFilter(
        execution_id=checked_id(query.execution_id) if query.execution_id is not None else None,
        workflow=query.workflow,
        kind="timer" if kind is None and query.status == ["completed"] else kind,
        status=_stored(query.status),
        after=parsed(query.cursor) if query.cursor is not None else None,
        limit=most + 1,
    )
    if query.for_ == "me":
        rows, cursor = await _inbox(call, wanted, most)
    elif len({"completed", "expired"}.intersection(query.status)) == 1:
        rows, cursor = await _chosen(call, wanted, most, query.status)
    else:
        rows, cursor = await _page(call, wanted, most)
    items = fitting(await _shown(call, rows), settings.page_bytes)
    return Page(items=items, next=_behind(rows[len(items) - 1]) if len(items) < len(rows) else cursor)


def _stored(status: Sequence[PointStatus]) -> tuple[str, ...]:
    """Return the statuses under which a store finds what is asked for: a completed timer is stored as expired."""
    return tuple(dict.fromkeys("expired" if one == "completed" else one for one in status))


async def _chosen(
    call: Request[Any, Any], wanted: PointFilter, most: int, status: Sequence[PointStatus]
) -> tuple[list[PointRow], str | None]:
    """Return those of a status that a store does not tell from another, and where to go on looking."""
    return await _sifted(call.services.store.points, wanted, most, lambda row: row.shown_status in status)


async def _sifted(
    read: Callable[[PointFilter], Awaitable[list[PointRow]]],
    wanted: PointFilter,
    most: int,
    fits: Callable[[PointRow], bool],
) -> tuple[list[PointRow], str | None]:
    """Return those of a list that fit, and where to go on looking: only so many pages of it are read at once."""
    wanted = replace(wanted, limit=_PAGE)
    found: list[PointRow] = []
    for _ in range(_MOST_PAGES):
        rows = await read(wanted)
        found += filter(fits, rows)
        if len(found) > most:
            return found[:most], _behind(found[most - 1])
        if len(rows) < _PAGE:
            return found, None
        wanted = replace(wanted, after=age(rows[-1]))
    return found, cursor_of(*wanted.after) if wanted.after is not None else None


async def _page(call: Request[Any, Any], wanted: PointFilter, most: int) -> tuple[list[PointRow], str | None]:
    rows = await call.services.store.points(wanted)
    return rows[:most], _behind(rows[most - 1]) if len(rows) > most else None


async def _inbox(call: Request[Any, Any], wanted: PointFilter, most: int) -> tuple[list[PointRow], str | None]:
    """Return what waits for the caller, and where to go on looking."""
    if (wanted.status and "open" not in wanted.status) or wanted.kind not in (None, *FOR_PEOPLE):
        return [], None
    of_caller = partial(_waits_for, call.caller)
    return await _sifted(partial(of_people, call), replace(wanted, status=("open",)), most, of_caller)


async def of_people(call: Request[Any, Any], wanted: PointFilter) -> list[PointRow]:
    """Return points at which people are awaited, the oldest first, however many others there are beside them."""
    kinds = FOR_PEOPLE if wanted.kind is None else (wanted.kind,)
    pages = [await call.services.store.points(replace(wanted, kind=kind)) for kind in kinds]
    return sorted((row for page in pages for row in page), key=age)[: wanted.limit]


def age(row: PointRow) -> tuple[int, str]:
    """Return what points are ordered by."""
    return row.point.opened_at, row.point.id


def _waits_for(caller: Caller, row: PointRow) -> bool:
    point = row.point
    return (
        caller.may(needs_of(point))
        and may_decide(point.rules or ApprovalRules(), person_of(caller), point.decisions) is None
    )


def _behind(row: PointRow) -> str:
    return cursor_of(*age(row))


async def _shown(call: Request[Any, Any], rows: list[PointRow]) -> list[PausePoint]:
    """Return points as they are told; those that are answered and not applied yet have a place in line."""
    places: dict[str, int] = {}
    for execution_id in {row.execution_id: None for row in rows if row.status == "answered"}:
        places |= await call.engine.queue(execution_id)
    return [point_of(row, places.get(row.point.id)) for row in rows]
