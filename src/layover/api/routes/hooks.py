"""Webhooks: deliveries of other systems, each of which proves by a signature who sent it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from layover.api.bodies import check_nesting
from layover.api.problems import Refusal
from layover.api.request import Response
from layover.api.routing import Routes
from layover.errors import NotAllowed, NotFound, WaitTimeout
from layover.interface.requests import PointQuery
from layover.model.shared import Value
from layover.model.triggers import HookReceipt
from layover.ports.trigger_records import TriggerRow
from layover.runtime.triggers.webhooks import LARGEST_BODY, LARGEST_QUERY, HookName, HookRequest
from layover.service.actor import Actor
from layover.service.service import UserService

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.api.request import Request
    from layover.api.routing import NoQuery
    from layover.interface.arguments import Until
    from layover.runtime.triggers.webhooks import HookResult

routes = Routes(
    "Webhooks", "Deliveries of other systems. A trigger of the type `webhook` has an address of its own.", prefix=""
)

_SMALL: Final = 64_000  # bytes of a delivery that is verified however many come from its address
_LONGEST_WAIT: Final = 60.0  # seconds that a sender waits for a result


async def _admit(call: Request[None, NoQuery]) -> TriggerRow:
    """Refuse what is for no webhook before any of it is read; and what is large, if too much of it comes.

    A small delivery is always read and verified, which costs hardly more than to refuse it: else strangers who share an
    address with the sender, or with the proxy before the server, could use up what the sender may deliver.
    """
    settings = call.services.settings
    try:
        row = await call.services.runtime.instance.webhooks.find(_hook(call))
    except NotFound:
        await _count(call, call.counted_as, settings.rate_limit)
        raise
    if sum(len(name) + len(value) for name, value in call.pairs) > LARGEST_QUERY:
        raise Refusal("invalid_parameter", f"The parameters have more than {LARGEST_QUERY:,} characters.")
    if not _is_small(call.headers):
        await _count(call, f"hook/{row.id} large {call.counted_as}", settings.webhook_limit)
    return row


def _is_small(headers: Mapping[str, str]) -> bool:
    announced = headers.get("content-length", "")
    return len(announced) < 9 and announced.isdecimal() and int(announced) <= _SMALL


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
    "any_query": True,
    "body": bytes,
    "body_required": False,
    "largest_body": LARGEST_BODY,
    "media_types": ("application/json", "application/x-www-form-urlencoded", "text/plain"),
    "answers": {200: Value, 202: Value},  # a receipt, or what the workflow gives its sender
    "problems": ("unknown_trigger", "bad_signature", "malformed", "payload_reserved", "trigger_full"),
}


@routes.post("/hooks/{workflow}/{name}", **_DELIVERY)
async def take_delivery(call: Request[bytes, NoQuery]) -> Response:
    """Take a delivery of a webhook: it starts an execution. The same delivery again gets the same answer.

    Whatever parameters the address has are `trigger.query`.
    """
    return await _take(call)


@routes.post("/hooks/t/{token}", **_DELIVERY)
async def take_delivery_by_token(call: Request[bytes, NoQuery]) -> Response:
    """Take a delivery of a webhook whose sender cannot sign: the token in the address proves who it is.

    Whatever parameters the address has are `trigger.query`.
    """
    return await _take(call)


def _hook(call: Request[Any, NoQuery]) -> HookName:
    path = call.path
    return HookName.of_token(path["token"]) if "token" in path else HookName(path["workflow"], path["name"])


async def _take(call: Request[bytes, NoQuery]) -> Response:
    body, settings = call.body or b"", call.services.settings
    row = call.admitted if isinstance(call.admitted, TriggerRow) else None

    async def admit(id_: str) -> None:
        await _count(call, f"hook/{id_}", settings.webhook_limit)
        check_nesting(body, settings)

    request = HookRequest(_hook(call), call.headers, body, call.pairs, row)
    try:
        result = await call.services.runtime.instance.webhooks.take(request, admit)
    except NotAllowed:
        if row is not None:
            await _count(call, f"hook/{row.id} {call.counted_as}", settings.webhook_limit)
        raise
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
