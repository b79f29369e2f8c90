"""What systems outside tell executions: signals, and replies to callbacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.api.audit_entries import entry_of, key_of
from layover.api.bodies import decoded
from layover.api.request import Reply
from layover.api.resources.shared import EmptyBody
from layover.api.resources.signals_and_callbacks import Accepted, CallbackFailure, Delivered, SignalBody
from layover.api.routing import Routes
from layover.core.ids import uuid8

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery

routes = Routes("Signals and callbacks", "What systems outside tell executions.", prefix="/api/v1")

_TOKEN_PROBLEMS = ("unknown_token", "token_used")


@routes.post(
    "/signals",
    needs=("execution:start",),
    body=SignalBody,
    answers={202: Delivered, 200: Delivered},
    problems=("payload_reserved",),
)
async def send_signal(call: Request[SignalBody, NoQuery]) -> Reply:
    """Send a signal: whoever waits for it goes on. One with an id that is known is ignored."""
    body, act = call.body, "signal.send"
    key = key_of(call, act)
    signal_id = body.id if body.id is not None or key is None else uuid8(key)
    audit = entry_of(call, act, body.name, signal=signal_id)
    delivered = await call.engine.deliver(body.name, body.key, body.data, id=signal_id, audit=audit)
    told = Delivered(id=delivered.id, matched=list(delivered.matched), repeated=delivered.repeated)
    return Reply(told, 200 if delivered.repeated else 202)


@routes.post(
    "/callbacks/{token}",
    open="token",
    body=bytes,
    body_required=False,
    answers={202: Accepted},
    problems=("malformed", "invalid_body", *_TOKEN_PROBLEMS, "payload_reserved"),
)
async def call_back(call: Request[bytes, NoQuery]) -> Reply:
    """Give the output that a callback waits for: any JSON, or nothing for null. The token is the credential."""
    output = decoded(call.body or b"null", object, call.services.settings)
    await call.engine.call_back(call.path["token"], output)
    return Reply(Accepted(), 202)


@routes.post(
    "/callbacks/{token}/fail",
    open="token",
    body=CallbackFailure,
    body_required=False,
    answers={202: Accepted},
    problems=_TOKEN_PROBLEMS,
)
async def fail_callback(call: Request[CallbackFailure, NoQuery]) -> Reply:
    """Say that what a callback waits for has failed."""
    await call.engine.fail_callback(call.path["token"], call.body.message, retryable=call.body.retryable)
    return Reply(Accepted(), 202)


@routes.post(
    "/callbacks/{token}/heartbeat",
    open="token",
    body=EmptyBody,
    body_required=False,
    answers={202: Accepted},
    problems=_TOKEN_PROBLEMS,
)
async def beat(call: Request[EmptyBody, NoQuery]) -> Reply:
    """Say that what a callback waits for is still being worked at."""
    await call.engine.beat(call.path["token"])
    return Reply(Accepted(), 202)
