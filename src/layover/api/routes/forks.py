"""Forks of executions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from msgspec import Meta

from layover.api.request import Response
from layover.api.routing import Routes
from layover.api.shown import bounded
from layover.errors import InvalidInput
from layover.interface.requests import ForkRequest
from layover.model.executions import Execution
from layover.model.forks import ForkBody, ForkPlan

if TYPE_CHECKING:
    from layover.api.request import Request

routes = Routes("Forks", "Another execution that begins with results of one.", prefix="/api/v1")

_PROBLEMS: Final = (
    *("malformed_id", "unknown_execution", "wrong_state", "unknown_node"),
    *("unknown_workflow", "unknown_version", "workflow_inactive"),
)


class ForkQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a fork would go on."""

    node: Annotated[str, Meta(min_length=1, max_length=4096, description="From this node on.")] | None = None
    at: Annotated[int, Meta(ge=0, description="After the event of this number.")] | None = None
    version: Annotated[int, Meta(ge=1, description="In this version of the workflow.")] | None = None


@routes.post(
    "/executions/{id}/fork",
    needs=("execution:start",),
    body=ForkBody,
    body_required=False,
    answers={201: Execution},
    problems=(
        *(*_PROBLEMS, "already_exists", "invalid_input", "payload_reserved", "limit_reached"),
        "requester_excluded",
    ),
)
async def fork_execution(call: Request[ForkBody, ForkQuery]) -> Response:
    """Begin another execution with results of one, which stays as it is; both have to be allowed to the caller.

    It goes on from a `node`, or after the event `at`; without either, after the newest event. Nodes that are done
    before that keep their results; everything else is run again, with points, children and calls of its own. Variables
    are as if the dropped nodes had not run.
    """
    body = call.body
    wanted = _request(body.node, body.at, body.version)
    wanted = msgspec.structs.replace(
        wanted, input=body.input, id=body.id, reason=body.reason or "", idempotency_key=call.key
    )
    found = await call.service.executions.fork(call.path["id"], wanted)
    return Response(bounded(found), 201)


@routes.get(
    "/executions/{id}/fork",
    needs=("execution:read",),
    query=ForkQuery,
    answers={200: ForkPlan},
    problems=(*_PROBLEMS, "invalid_input"),
)
async def plan_fork(call: Request[None, ForkQuery]) -> Response:
    """Say what a fork would keep and repeat; nothing is changed. It is refused as the fork would be."""
    query = call.query
    wanted = _request(query.node, query.at, query.version)
    return Response(await call.service.executions.plan_fork(call.path["id"], wanted))


def _request(node: str | None, at: int | None, version: int | None) -> ForkRequest:
    if node is not None and at is not None:
        message = "A fork goes on from a node or after an event: give one of them"
        raise InvalidInput(f"`at`: {message}.", (("at", message),))
    return ForkRequest(node=node, at=at, version=version)
