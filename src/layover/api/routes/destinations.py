"""Destinations: where deliveries go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from msgspec import Meta
from msgspec.structs import asdict

from layover.api.request import Response
from layover.api.routing import Routes
from layover.model.deliveries import (
    Delivery,
    Destination,
    DestinationBody,
    DisableBody,
    SendTestBody,
    UpdateDestinationBody,
)
from layover.model.shared import EmptyBody, Page

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery

routes = Routes(
    "Destinations",
    "Where deliveries go: mail servers, webhooks, chats, and functions of a program. Those of the settings and of a "
    "program are listed here, too, and change there.",
)

_NEEDS: Final = ("admin",)
_PROBLEMS: Final = ("unknown_destination",)
_CHANGES: Final = (*_PROBLEMS, "managed_by_settings")


class DestinationsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One page of destinations."""

    limit: Annotated[int, Meta(ge=1, description="How many at most; more than 100 are 100.")] | None = None
    cursor: Annotated[str, Meta(description="The `next` of the page before.")] | None = None


@routes.get(
    "/destinations",
    needs=_NEEDS,
    query=DestinationsQuery,
    answers={200: Page[Destination]},
    problems=("malformed_cursor",),
)
async def list_destinations(call: Request[None, DestinationsQuery]) -> Response:
    """List destinations by name."""
    settings, query = call.services.settings, call.query
    limit = min(query.limit or settings.page, settings.longest_page)
    return Response(await call.service.destinations.list(limit, query.cursor))


@routes.post(
    "/destinations",
    needs=_NEEDS,
    body=DestinationBody,
    answers={201: Destination},
    problems=("destination_exists", "invalid_definition"),
)
async def create_destination(call: Request[DestinationBody, NoQuery]) -> Response:
    """Make a destination: mail, webhook or chat. Secrets in it are named, not given."""
    made = await call.service.destinations.create(call.body, call.key)
    return Response(made, 201, {"location": f"{call.base}/api/v1/destinations/{made.name}"})


@routes.get("/destinations/{name}", needs=_NEEDS, answers={200: Destination}, problems=_PROBLEMS)
async def get_destination(call: Request[None, NoQuery]) -> Response:
    """Show a destination; never values of secrets, and never the address of a chat."""
    return Response(await call.service.destinations.get(call.path["name"]))


@routes.put(
    "/destinations/{name}",
    needs=_NEEDS,
    body=UpdateDestinationBody,
    answers={200: Destination},
    problems=(*_CHANGES, "invalid_definition"),
)
async def update_destination(call: Request[UpdateDestinationBody, NoQuery]) -> Response:
    """Replace a destination by another one of its name; its breaker is closed."""
    name, given = call.path["name"], asdict(call.body)
    body = DestinationBody(**{**given, "name": given["name"] or name})
    return Response(await call.service.destinations.update(name, body))


@routes.delete("/destinations/{name}", needs=_NEEDS, answers={204: None}, problems=_CHANGES)
async def delete_destination(call: Request[None, NoQuery]) -> Response:
    """Delete a destination; what is pending for it stays pending."""
    await call.service.destinations.delete(call.path["name"])
    return Response(status=204)


@routes.post(
    "/destinations/{name}/test",
    needs=_NEEDS,
    body=SendTestBody,
    body_required=False,
    answers={200: Delivery},
    problems=_PROBLEMS,
)
async def test_destination(call: Request[SendTestBody, NoQuery]) -> Response:
    """Send a test once, and answer what became of it; mail needs an address in `to`."""
    return Response(await call.service.destinations.test(call.path["name"], call.body.to))


@routes.post(
    "/destinations/{name}/enable",
    needs=_NEEDS,
    body=EmptyBody,
    body_required=False,
    answers={200: Destination},
    problems=_PROBLEMS,
)
async def enable_destination(call: Request[EmptyBody, NoQuery]) -> Response:
    """Send to a destination again, at once; its breaker is closed."""
    return Response(await call.service.destinations.enable(call.path["name"], call.key))


@routes.post(
    "/destinations/{name}/disable",
    needs=_NEEDS,
    body=DisableBody,
    body_required=False,
    answers={200: Destination},
    problems=_PROBLEMS,
)
async def disable_destination(call: Request[DisableBody, NoQuery]) -> Response:
    """Send nothing to a destination; what is for it stays pending."""
    return Response(await call.service.destinations.disable(call.path["name"], call.body.reason or "", call.key))
