"""Webhooks: deliveries of other systems, each of which proves by a signature who sent it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from layover.api.bodies import check_nesting
from layover.api.problems import Refusal
from layover.api.request import Response
from layover.api.routing import Routes
from layover.errors import NotFound, WaitTimeout
from layover.interface.backend import PointQuery
from layover.model.shared import Value
from layover.model.triggers import HookReceipt
from layover.runtime.triggers.webhooks import LARGEST_BODY, HookName, HookRequest
from layover.service.actor import Actor
from layover.service.service import UserService

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery
    from layover.interface.arguments import Until
    from layover.runtime.triggers.webhooks import HookResult

routes = Routes(
    "Webhooks", "Deliveries of other systems. A trigger of the type `webhook` has an address of its own.", prefix=""
)

_LONGEST_WAIT: Final = 60.0  # seconds that a sender waits for a result


async def _admit(call: Request[None, NoQuery]) -> None:
    """Refuse what is for no webhook, or comes too often from one address, before any of it is read.

    Each address is counted by itself: else strangers could use up what the sender may deliver.
    """
    settings = call.services.settings
    try:
        id_ = await call.services.runtime.instance.webhooks.exists(_hook(call))
    except NotFound:
        await _count(call, call.counted_as, settings.rate_limit)
        raise
    await _count(call, f"hook/{id_} {call.counted_as}", settings.webhook_limit)


async def _count(call: Request[Any, NoQuery], name: str, rate: tuple[int, float] | None) -> None:
    if rate is None:
        return
    wait = await call.services.limiter.take(name, *rate)
    if wait is not None:
        headers = {"retry-after": str(max(1, math.ceil(wait)))}
        raise Refusal("rate_limited", f"At most {rate[0]} deliveries in {rate[1]:g} s.", headers=headers)


_DELIVERY: Final[dict[str, Any]] = {
    "open": "sender",
    "admit": _admit,
    "body": bytes,
    "body_required": False,
    "largest_body": LARGEST_BODY,
    "media_types": ("application/json", "application/x-www-form-urlencoded", "text/plain"),
    "answers": {200: Value, 202: Value},  # a receipt, or what the workflow gives its sender
    "problems": ("unknown_trigger", "bad_signature", "malformed", "payload_reserved", "trigger_full"),
}


@routes.post("/hooks/{workflow}/{name}", **_DELIVERY)
async def take_delivery(call: Request[bytes, NoQuery]) -> Response:
    """Take a delivery of a webhook: it starts an execution. The same delivery again gets the same answer."""
    return await _take(call)


@routes.post("/hooks/t/{token}", **_DELIVERY)
async def take_delivery_by_token(call: Request[bytes, NoQuery]) -> Response:
    """Take a delivery of a webhook whose sender cannot sign: the token in the address proves who it is."""
    return await _take(call)


def _hook(call: Request[Any, NoQuery]) -> HookName:
    path = call.path
    return HookName.of_token(path["token"]) if "token" in path else HookName(path["workflow"], path["name"])


async def _take(call: Request[bytes, NoQuery]) -> Response:
    body = call.body or b""
    check_nesting(body, call.services.settings)

    async def admit(id_: str) -> None:
        await _count(call, f"hook/{id_}", call.services.settings.webhook_limit)

    request = HookRequest(_hook(call), call.headers, body)
    result = await call.services.runtime.instance.webhooks.take(request, admit)
    return await _answer(call, result)


async def _answer(call: Request[bytes, NoQuery], result: HookResult) -> Response:
    if result.status == "challenge":
        return Response(result.challenge.encode(), 200, media_type="text/plain")
    receipt = HookReceipt(
        input_id=result.input_id, execution_id=result.execution_id, status=result.status, reason=result.reason
    )
    if result.status == "filtered":
        return Response(receipt, 200)
    if result.status != "started" or result.respond == "accepted" or result.execution_id is None:
        return Response(receipt, 202)
    service = UserService(Actor(call.services.runtime, stopping=call.services.stopping))
    return await _outcome(service, result.execution_id, result.respond, receipt)


async def _outcome(service: UserService, execution_id: str, respond: str, receipt: HookReceipt) -> Response:
    """Return what a sender waits for: the output of the execution, or the response of its first pause."""
    until: Until = "end" if respond == "result" else "people"
    try:
        found = await service.executions.wait(execution_id, until, _LONGEST_WAIT)
    except WaitTimeout:
        return Response(receipt, 202)
    if respond == "result":
        return Response(found.output, 200) if found.status == "completed" else Response(receipt, 202)
    page = await service.points.list(PointQuery(execution_id=execution_id, status=("open",)), 10, None)
    responses = [point.response for point in page.items if point.response is not None]
    return Response(responses[0] if responses else receipt, 202)
