"""Starting executions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.api.durations import milliseconds_of, wait_of
from layover.api.idempotency import REPLAYED
from layover.api.request import Response
from layover.api.routing import Routes
from layover.api.shown import bounded
from layover.interface.requests import StartRequest
from layover.model.executions import Execution, StartBody

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery

routes = Routes("Executions", "Start executions, and see what became of them.", prefix="/api/v1")


def _scope(call: Request[StartBody, NoQuery]) -> str:
    """Return what an idempotency key belongs to: the workflow, so that it is started once for an order."""
    return f"start {call.body.workflow}"


def _same(call: Request[StartBody, NoQuery]) -> object:
    """Return what a start under the same key has to have in common: how long it is waited for may be another."""
    return [call.body.workflow, call.body.id, call.body.input]


@routes.post(
    "/executions",
    needs=("execution:start",),
    body=StartBody,
    answers={202: Execution, 200: Execution},
    problems=(
        "malformed_id",
        "unknown_workflow",
        "unknown_version",
        "already_exists",
        "limit_reached",
        "workflow_inactive",
        "invalid_input",
        "payload_reserved",
    ),
    scope=_scope,
    same=_same,
)
async def start_execution(call: Request[StartBody, NoQuery]) -> Response:
    """Start an execution.

    With `wait`, the answer comes when it has ended (200) or waits for a person, or is as `until` says; or when the time
    is over or the server stops, or when it needs a function that no instance has (202). With an `Idempotency-Key` that
    another caller has started this workflow with, the answer is that execution, but only its id and status.
    """
    body = call.body
    wait, delay = wait_of(call, body.wait), milliseconds_of("delay", body.delay)
    found = await call.service.executions.start(
        StartRequest(
            workflow=body.workflow,
            input=body.input,
            id=body.id,
            idempotency_key=call.key,
            on_conflict=body.on_conflict,
            version=body.version,
            tags=tuple(body.tags),
            priority=body.priority,
            correlation_id=body.correlation_id,
            trigger=body.trigger,
            delay=delay,
            until=body.until if wait else None,
            timeout=wait / 1000 if wait else None,
        )
    )
    headers = {"location": f"{call.base}/api/v1/executions/{found.id}"}
    if found.user != call.caller.user:  # the key is another caller's
        headers[REPLAYED] = "true"
    return Response(bounded(found), 200 if wait and found.closed else 202, headers)
