"""What was done by whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from layover.api.request import Response
from layover.api.routing import Routes
from layover.interface.requests import AuditSearch
from layover.model.access import AuditEntry
from layover.model.proofs import AuditKeySet
from layover.model.shared import Page

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery

routes = Routes("Audit", "What was done by whom.")


published = Routes("Audit", "What was done by whom.", prefix="")


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
async def audit(call: Request[None, AuditQuery]) -> Response:
    """List what people did, the newest first."""
    settings, query = call.services.settings, call.query
    wanted = AuditSearch(user=query.user, act=query.act, target=query.target, execution_id=query.execution_id)
    limit = min(query.limit or settings.page, settings.longest_page)
    return Response(await call.service.access.audit(wanted, limit, query.cursor))


@published.get("/.well-known/layover-keys.json", open="anybody", limited=False, answers={200: AuditKeySet})
async def audit_keys(call: Request[None, NoQuery]) -> Response:
    """Return the public keys that prove seals and receipts, as a JWK set."""
    return Response(await call.service.access.audit_keys())
