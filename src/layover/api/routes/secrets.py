"""Which secrets there are; never their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from layover.api.request import Response
from layover.api.routing import Routes
from layover.model.access import SecretStatus
from layover.model.shared import Page

if TYPE_CHECKING:
    from layover.api.request import Request

routes = Routes("Secrets", "Which secrets workflows declare, and whether they are there; never their values.")


class SecretsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One page of the secrets."""

    limit: Annotated[int, Meta(ge=1, description="How many at most; more than 100 are 100.")] | None = None
    cursor: Annotated[str, Meta(description="The `next` of the page before.")] | None = None


@routes.get(
    "/secrets", needs=("admin",), query=SecretsQuery, answers={200: Page[SecretStatus]}, problems=("malformed_cursor",)
)
async def list_secrets(call: Request[None, SecretsQuery]) -> Response:
    """List the secrets that workflows declare by name: where each is from, or what is wrong; never values."""
    settings, query = call.services.settings, call.query
    limit = min(query.limit or settings.page, settings.longest_page)
    return Response(await call.service.access.secrets(limit, query.cursor))
