"""Saved views of the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.api.request import Response
from layover.api.routing import Routes
from layover.model.shared import Page
from layover.model.views import SavedView, ViewBody

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery

routes = Routes("Views", "Filters of the list of executions that the caller keeps under a name; nobody else sees them.")

_NEEDS: Final = ("execution:read",)


@routes.get("/me/views", needs=_NEEDS, answers={200: Page[SavedView]})
async def list_views(call: Request[None, NoQuery]) -> Response:
    """List the views of the caller by name; there are 100 at most, all on one page."""
    return Response(await call.service.views.list())


@routes.get("/me/views/{name}", needs=_NEEDS, answers={200: SavedView}, problems=("unknown_view",))
async def get_view(call: Request[None, NoQuery]) -> Response:
    """Return a view of the caller."""
    return Response(await call.service.views.get(call.path["name"]))


@routes.put(
    "/me/views/{name}",
    needs=_NEEDS,
    body=ViewBody,
    body_required=False,
    answers={200: SavedView},
    problems=("too_many_views",),
)
async def save_view(call: Request[ViewBody, NoQuery]) -> Response:
    """Create or replace a view of the caller."""
    return Response(await call.service.views.save(call.path["name"], call.body))


@routes.delete("/me/views/{name}", needs=_NEEDS, answers={204: None}, problems=("unknown_view",))
async def delete_view(call: Request[None, NoQuery]) -> Response:
    """Delete a view of the caller."""
    await call.service.views.delete(call.path["name"])
    return Response(status=204)
