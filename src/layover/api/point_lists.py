"""Lists of pause points and of approvals: what can be asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from layover.core.engine.events import PointKind
from layover.errors import InvalidInput
from layover.interface.arguments import PointStatus
from layover.interface.requests import PointQuery
from layover.model.shared import ExecutionId, Page, WorkflowName
from layover.ports.view_records import PointFilter as StoredFilter
from layover.runtime.ids import checked_id
from layover.service.own_points import asked_for, decided
from layover.service.points import FOR_PEOPLE

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.model.points import PausePoint

_OfExecution = Annotated[ExecutionId, Meta(description="Those of this execution.")]
_OfWorkflow = Annotated[WorkflowName, Meta(description="Those of this workflow.")]
_Status = Annotated[list[PointStatus], Meta(description="Those that are this, or one of these.")]
_For = Annotated[Literal["me"], Meta(description="Those that the caller may answer.")]
_User = Annotated[
    str, Meta(min_length=1, max_length=255, description="Those that this user may answer; needs `admin`.")
]
_Roles = Annotated[list[str], Meta(max_length=50, description="A role of that user.")]
_RequestedBy = Annotated[
    Literal["me"], Meta(description="Those for people in what the caller started; not together with `for` or `user`.")
]
_DecidedBy = Annotated[
    Literal["me"],
    Meta(description="Those that the caller has answered or decided, the last one first; not together with others."),
]
_Limit = Annotated[int, Meta(ge=1, description="How many at most; more than 100 are 100.")]
_Cursor = Annotated[str, Meta(description="The `next` of the page before.")]


class ApprovalsQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which approvals to list, the oldest first. With `for=me`, those that the caller may decide."""

    execution_id: _OfExecution | None = None
    workflow: _OfWorkflow | None = None
    status: _Status = []
    for_: _For | None = msgspec.field(name="for", default=None)
    user: _User | None = None
    role: _Roles = []
    limit: _Limit | None = None
    cursor: _Cursor | None = None


class PointsQuery(ApprovalsQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which points to list, the oldest first. With `for=me`, those that the caller may answer."""

    kind: Annotated[PointKind, Meta(description="What is waited for.")] | None = None
    children: Annotated[bool, Meta(description="Of one execution: also those of the executions that it waits for.")] = (
        False
    )
    requested_by: _RequestedBy | None = None
    decided_by: _DecidedBy | None = None


async def listed(call: Request[Any, Any], query: ApprovalsQuery, kind: PointKind | None) -> Page[PausePoint]:
    """Return a page of points."""
    settings, points = call.services.settings, call.service.points
    limit = min(query.limit or settings.page, settings.longest_page)
    if isinstance(query, PointsQuery) and (query.requested_by or query.decided_by):
        return await _own(call, query, limit)
    if query.for_ == "me" or query.user is not None:
        if (query.status and "open" not in query.status) or kind not in (None, *FOR_PEOPLE):
            return Page(items=())
        execution_id = checked_id(query.execution_id) if query.execution_id is not None else None
        wanted = StoredFilter(execution_id=execution_id, workflow=query.workflow, kind=kind)
        return await points.inbox(query.user, query.role, None, limit, query.cursor, wanted)
    return await points.list(
        PointQuery(
            execution_id=query.execution_id,
            workflow=query.workflow,
            kind=kind,
            status=tuple(query.status),
            children=isinstance(query, PointsQuery) and query.children,
        ),
        limit,
        query.cursor,
    )


async def _own(call: Request[Any, Any], query: PointsQuery, limit: int) -> Page[PausePoint]:
    """Return a page of points that the caller has a part in."""
    asked = (query.for_ or query.user, query.requested_by, query.decided_by)
    if len([one for one in asked if one]) > 1:
        errors = (("decided_by", "name one of `for`, `user`, `requested_by` and `decided_by`"),)
        message = "Pause points are listed for one of `for`, `user`, `requested_by` and `decided_by` at a time."
        raise InvalidInput(message, errors, code="invalid_parameter")
    wanted = StoredFilter(
        execution_id=checked_id(query.execution_id) if query.execution_id is not None else None,
        workflow=query.workflow,
        kind=query.kind,
        status=tuple(query.status),
    )
    list_own = asked_for if query.requested_by else decided
    return await list_own(call.service.points, wanted, limit, query.cursor)
