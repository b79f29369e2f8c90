"""Forks of executions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.api.request import Response
from layover.api.routing import Routes
from layover.api.shown import bounded
from layover.interface.requests import ForkRequest
from layover.model.executions import Execution
from layover.model.forks import ForkBody, ForkPlan

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery

routes = Routes("Forks", "Another execution that begins with results of one.", prefix="/api/v1")

_PROBLEMS: Final = (
    *("malformed_id", "unknown_execution", "wrong_state", "unknown_node"),
    *("unknown_workflow", "unknown_version", "workflow_inactive"),
)


@routes.post(
    "/executions/{id}/fork",
    needs=("execution:start",),
    body=ForkBody,
    body_required=False,
    answers={200: ForkPlan, 201: Execution},
    problems=(
        *(*_PROBLEMS, "already_exists", "invalid_input", "payload_reserved", "limit_reached"),
        "requester_excluded",
    ),
)
async def fork_execution(call: Request[ForkBody, NoQuery]) -> Response:
    """Begin another execution with results of one, which stays as it is; both have to be allowed to the caller.

    It goes on `from` a node (its context id), or after the event of a number; without either, after the newest event.
    Nodes that are done before that keep their results; everything else is run again, with points, children and calls
    of its own. Variables are as if the dropped nodes had not run. With `dry_run` the answer (200) is what it would keep
    and repeat, and nothing is changed.
    """
    body = call.body
    wanted = ForkRequest(
        start=body.start,
        input=body.input,
        version=body.version,
        id=body.id,
        reason=body.reason or "",
        idempotency_key=call.key,
    )
    if body.dry_run:
        return Response(await call.service.executions.plan_fork(call.path["id"], wanted))
    found = await call.service.executions.fork(call.path["id"], wanted)
    return Response(bounded(found), 201)
