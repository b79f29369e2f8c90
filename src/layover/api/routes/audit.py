"""What was done by whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from layover.api.cursors import cursor_of, parsed_uuid
from layover.api.request import Reply
from layover.api.resources.access import AuditEntry
from layover.api.resources.shared import Page
from layover.api.routing import Routes
from layover.api.serializers.access import audit_entry_of
from layover.ports.access import AuditFilter
from layover.runtime.ids import checked_id

if TYPE_CHECKING:
    from layover.api.request import Request

routes = Routes("Audit", "What was done by whom.")


class AuditQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which entries to list."""

    user: Annotated[str, Meta(description="Who did it.")] | None = None
    act: Annotated[str, Meta(description="What they did.", examples=["execution.pause"])] | None = None
    target: Annotated[str, Meta(description="The id or the name of what it was done to.")] | None = None
    execution_id: Annotated[str, Meta(description="The execution that it was done to, or in.")] | None = None
    limit: Annotated[int, Meta(ge=1, description="How many at most; more than 100 are 100.")] | None = None
    cursor: Annotated[str, Meta(description="The `next` of the page before.")] | None = None


@routes.get(
    "/audit",
    needs=("audit:read",),
    query=AuditQuery,
    answers={200: Page[AuditEntry]},
    problems=("malformed_id", "malformed_cursor"),
)
async def audit(call: Request[None, AuditQuery]) -> Reply:
    """List what people did, the newest first."""
    settings, query = call.services.settings, call.query
    most = min(query.limit or settings.page, settings.longest_page)
    wanted = AuditFilter(
        user=query.user,
        act=query.act,
        target=query.target,
        execution_id=checked_id(query.execution_id) if query.execution_id is not None else None,
        after=parsed_uuid(query.cursor) if query.cursor is not None else None,
        limit=most + 1,
    )
    rows = await call.services.store.audit(wanted)
    following = cursor_of(rows[most - 1].at, rows[most - 1].id) if len(rows) > most else None
    return Reply(Page(items=[audit_entry_of(row) for row in rows[:most]], next=following))
