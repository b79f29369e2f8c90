"""Deliveries: what was sent to people and systems, and what is yet to be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from msgspec import Meta

from layover.api.request import Response
from layover.api.routing import Routes
from layover.model.deliveries import Delivery, DeliveryState, RedeliverBody, Redelivered
from layover.model.shared import EmptyBody, Page
from layover.service.deliveries import OPERATE

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery

routes = Routes(
    "Deliveries",
    "What was sent to people and systems, and what is yet to be: each to one addressee, at least once, under one id. "
    "What a delivery says is not shown; what its receiver replied needs `execution:debug`.",
)

_READ: Final = ("execution:read",)
_PROBLEMS: Final = ("malformed_id", "unknown_delivery")


class DeliveriesQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One page of deliveries."""

    state: Annotated[DeliveryState | None, Meta(description="Those in this state.")] = None
    destination: Annotated[str, Meta(max_length=255, description="Those for this destination.")] | None = None
    execution_id: Annotated[str, Meta(description="Those that tell of this execution.")] | None = None
    limit: Annotated[int, Meta(ge=1, description="How many at most; more than 100 are 100.")] | None = None
    cursor: Annotated[str, Meta(description="The `next` of the page before.")] | None = None


@routes.get(
    "/deliveries",
    needs=_READ,
    query=DeliveriesQuery,
    answers={200: Page[Delivery]},
    problems=("malformed_cursor", "malformed_id"),
)
async def list_deliveries(call: Request[None, DeliveriesQuery]) -> Response:
    """List deliveries, the newest first."""
    settings, query = call.services.settings, call.query
    limit = min(query.limit or settings.page, settings.longest_page)
    found = await call.service.deliveries.list(query.state, query.destination, query.execution_id, limit, query.cursor)
    return Response(found)


@routes.post(
    "/deliveries/redeliver",
    needs=OPERATE,
    body=RedeliverBody,
    body_required=False,
    answers={200: Redelivered},
    problems=("malformed_cursor", "malformed_id"),
)
async def redeliver_all(call: Request[RedeliverBody, NoQuery]) -> Response:
    """Send settled deliveries once more, the newest first; while the answer has a `next`, that is the next `cursor`."""
    return Response(await call.service.deliveries.redeliver_all(call.body.where))


@routes.get("/deliveries/{id}", needs=_READ, answers={200: Delivery}, problems=_PROBLEMS)
async def get_delivery(call: Request[None, NoQuery]) -> Response:
    """Show a delivery and its newest attempts."""
    return Response(await call.service.deliveries.get(call.path["id"]))


@routes.post(
    "/deliveries/{id}/redeliver",
    needs=OPERATE,
    body=EmptyBody,
    body_required=False,
    answers={200: Delivery},
    problems=(*_PROBLEMS, "wrong_state", "delivery_emptied"),
)
async def redeliver(call: Request[EmptyBody, NoQuery]) -> Response:
    """Send a settled delivery once more, under the same id, with new attempts."""
    return Response(await call.service.deliveries.redeliver(call.path["id"], call.key))


@routes.post(
    "/deliveries/{id}/discard",
    needs=OPERATE,
    body=EmptyBody,
    body_required=False,
    answers={200: Delivery},
    problems=(*_PROBLEMS, "wrong_state"),
)
async def discard_delivery(call: Request[EmptyBody, NoQuery]) -> Response:
    """Have a pending or dead delivery never be sent."""
    return Response(await call.service.deliveries.discard(call.path["id"], call.key))
