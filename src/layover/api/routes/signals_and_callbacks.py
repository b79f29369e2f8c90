"""What systems outside tell executions: signals, and replies to callbacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.api.bodies import decoded
from layover.api.request import Response
from layover.api.routing import Routes
from layover.model.shared import EmptyBody
from layover.model.signals import Accepted, CallbackFailure, SignalBody, SignalReceipt

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery

routes = Routes("Signals and callbacks", "What systems outside tell executions.", prefix="/api/v1")

_TOKEN_PROBLEMS = ("unknown_token", "token_used")


@routes.post(
    "/signals",
    needs=("execution:start",),
    body=SignalBody,
    answers={202: SignalReceipt, 200: SignalReceipt},
    problems=("payload_reserved",),
)
async def send_signal(call: Request[SignalBody, NoQuery]) -> Response:
    """Send a signal: executions that wait for it go on. One with a known id is ignored."""
    body = call.body
    receipt = await call.service.signals.send(body.name, body.data, body.key, body.id, call.key)
    return Response(receipt, 200 if receipt.repeated else 202)


@routes.post(
    "/callbacks/{token}",
    open="token",
    body=bytes,
    body_required=False,
    answers={202: Accepted},
    problems=("malformed", "invalid_body", *_TOKEN_PROBLEMS, "payload_reserved"),
)
async def call_back(call: Request[bytes, NoQuery]) -> Response:
    """Give the output that a callback waits for: any JSON, or nothing for null. The token is the credential."""
    output = decoded(call.body or b"null", object, call.services.settings)
    await call.service.signals.complete(call.path["token"], None, output)
    return Response(Accepted(), 202)


@routes.post(
    "/callbacks/{token}/fail",
    open="token",
    body=CallbackFailure,
    body_required=False,
    answers={202: Accepted},
    problems=_TOKEN_PROBLEMS,
)
async def fail_callback(call: Request[CallbackFailure, NoQuery]) -> Response:
    """Say that what a callback waits for has failed."""
    await call.service.signals.fail(call.path["token"], None, call.body.message, retryable=call.body.retryable)
    return Response(Accepted(), 202)


@routes.post(
    "/callbacks/{token}/heartbeat",
    open="token",
    body=EmptyBody,
    body_required=False,
    answers={202: Accepted},
    problems=_TOKEN_PROBLEMS,
)
async def beat(call: Request[EmptyBody, NoQuery]) -> Response:
    """Say that what a callback waits for is still being worked at."""
    await call.service.signals.heartbeat(call.path["token"], None)
    return Response(Accepted(), 202)
