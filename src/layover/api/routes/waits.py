"""Waits for time: what operators do about delays and scheduled retries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from msgspec import Meta

from layover.api.request import Response
from layover.api.routes.executions import Cursor, Limit
from layover.api.routing import Routes
from layover.api.shown import bounded
from layover.model.executions import Execution
from layover.model.scheduled_retries import CancelRetryBody, RunNowBody, ScheduledRetry
from layover.model.shared import Page, WorkflowName

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery

routes = Routes("Waits for time", "Delays and retries: run them now, list and cancel retries.", prefix="/api/v1")

_NEEDS: Final = ("execution:cancel",)
_PROBLEMS: Final = ("malformed_id", "unknown_execution", "wrong_state", "unknown_node")


class RetriesQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which retries to list."""

    workflow: Annotated[WorkflowName, Meta(description="Those of this workflow.")] | None = None
    limit: Limit = 50
    cursor: Cursor | None = None


@routes.post(
    "/executions/{id}/run-now",
    needs=_NEEDS,
    body=RunNowBody,
    body_required=False,
    answers={200: Execution},
    problems=_PROBLEMS,
)
async def run_now(call: Request[RunNowBody, NoQuery]) -> Response:
    """Let a node go on that waits for time: a delay, a sleep of a function, or another attempt.

    Without a `context_id`, all of them go on, or the start that was delayed.
    """
    body = call.body
    found = await call.service.executions.run_now(call.path["id"], body.context_id, body.reason or "", call.key)
    return Response(bounded(found))


@routes.post(
    "/executions/{id}/cancel-retry",
    needs=_NEEDS,
    body=CancelRetryBody,
    answers={200: Execution},
    problems=_PROBLEMS,
)
async def cancel_retry(call: Request[CancelRetryBody, NoQuery]) -> Response:
    """Make no further attempt of a node that is to be tried again: its last failure is final."""
    body = call.body
    found = await call.service.executions.cancel_retry(call.path["id"], body.context_id, body.reason or "", call.key)
    return Response(bounded(found))


@routes.get(
    "/retries",
    needs=("execution:read",),
    query=RetriesQuery,
    answers={200: Page[ScheduledRetry]},
    problems=("malformed_cursor",),
)
async def list_retries(call: Request[None, RetriesQuery]) -> Response:
    """List the attempts that open executions are to make later, those of the newest execution first.

    A page looks at a hundred executions: it may have fewer retries than asked for, or none, and still a `next`.
    """
    query = call.query
    return Response(await call.service.executions.retries(query.workflow, query.limit, query.cursor))
