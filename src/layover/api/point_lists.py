"""Lists of pause points and of approvals: what can be asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from layover.core.engine.events import PointKind
from layover.interface.arguments import PointStatus
from layover.interface.backend import PointQuery
from layover.model.shared import ExecutionId, Page, WorkflowName
from layover.ports.view_records import PointFilter as StoredFilter
from layover.runtime.ids import checked_id
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


async def listed(call: Request[Any, Any], query: ApprovalsQuery, kind: PointKind | None) -> Page[PausePoint]:
    """Return a page of points."""
    settings, points = call.services.settings, call.service.points
    limit = min(query.limit or settings.page, settings.longest_page)
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
