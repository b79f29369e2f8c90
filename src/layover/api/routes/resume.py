"""Resuming at a pause point by where it stands: the paths that speak camelCase."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
from msgspec import Meta

from layover.api.answers import ANSWERING, PROBLEMS, Given, Taken, answer, cancel, shown_without_data
from layover.api.cursors import parsed
from layover.api.paused import paused
from layover.api.problems import Refusal
from layover.api.request import Reply
from layover.api.resources.points import PausedOfWorkflow, PausePoint, Resumed, ResumePointBody
from layover.api.routing import Routes
from layover.api.serializers.points import context_of
from layover.api.unreached_points import not_there
from layover.core.ids import uuid8
from layover.runtime.errors import AnswerRefused
from layover.runtime.ids import checked_id

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery
    from layover.ports.records import PointRow
    from layover.runtime.engine import Engine

routes = Routes("Resuming", "Resume at a pause point by where it stands.", prefix="/api")

_PATH: Final = "/resume/{workflow}/{execution}/{context:path}"
_FINDING: Final = (
    "malformed_id",
    "malformed_context_id",
    "unknown_execution",
    "unknown_point",
    "not_answerable",
    "snapshot_pending",
    "execution_closed",
)
_PAST: Final = frozenset({"completed", "failed", "skipped", "stopped"})


class PausedQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which page."""

    limit: Annotated[int, Meta(ge=1, description="How many at most; more than 100 are 100.")] | None = None
    cursor: Annotated[str, Meta(description="The `next` of the page before.")] | None = None


@routes.post(
    _PATH,
    needs=ANSWERING,
    body=ResumePointBody,
    body_required=False,
    answers={202: Resumed},
    problems=tuple(dict.fromkeys((*_FINDING, *PROBLEMS))),
)
async def resume_point(call: Request[ResumePointBody, NoQuery]) -> Reply:
    """Resume at a pause point: it is started at once, or waits in line."""
    body, row = call.body, await _found(call)
    data = body.data if row.point.kind == "approval" and body.data is not None else body.input
    try:
        taken = await answer(call, row, Given(data=data, approved=body.approved, comment=body.comment or ""))
    except AnswerRefused as error:
        if error.code == "decision_required" and isinstance(data, dict) and "approved" in data:
            message = f"{error.message} `approved` belongs at the top of the body, beside `input`."
            raise Refusal(error.code, message) from error
        raise
    return Reply(await _resumed(call.engine, taken), 202)


@routes.delete(
    _PATH,
    needs=("execution:cancel",),
    answers={200: PausePoint},
    problems=(*_FINDING, "expired", "already_answered", "point_closed"),
)
async def cancel_point(call: Request[None, NoQuery]) -> Reply:
    """Give up waiting at a pause point; its node fails with `pause_cancelled`."""
    return Reply(await shown_without_data(call, await cancel(call, await _found(call), "")))


@routes.get(
    "/workflows/{workflow}/paused",
    needs=("execution:read",),
    query=PausedQuery,
    answers={200: PausedOfWorkflow},
    problems=("unknown_workflow", "malformed_cursor"),
)
async def list_paused(call: Request[None, PausedQuery]) -> Reply:
    """List the executions of a workflow that people are awaited in, the one that has waited longest first."""
    workflow, query, settings = call.path["workflow"], call.query, call.services.settings
    if not workflow.isprintable() or await call.services.store.latest(workflow) is None:
        raise Refusal("unknown_workflow", f"There is no workflow `{workflow[:255]}`.")
    after = parsed(query.cursor) if query.cursor is not None else None
    most = min(query.limit or settings.page, settings.longest_page)
    return Reply(await paused(call, workflow, after, most))


async def _found(call: Request[Any, Any]) -> PointRow:
    """Return the newest point at a place of an execution."""
    workflow, execution_id, context = call.path["workflow"], checked_id(call.path["execution"]), call.path["context"]
    execution = await call.services.store.get(execution_id)
    if execution is None or execution.info.workflow != workflow:
        raise Refusal("unknown_execution", f"The workflow `{workflow[:255]}` has no execution {execution_id}.")
    row = await call.engine.find_point(execution_id, context)
    if row is not None:
        return row
    refusal = not_there(await call.engine.instance.plans.of(execution.info.hash), context, execution.head.status)
    if refusal.code == "snapshot_pending" and await _is_past(call.engine, execution_id, context):
        raise Refusal("unknown_point", f"The execution went on without a pause point at {context[:200]}.")
    raise refusal


async def _is_past(engine: Engine, execution_id: str, context: str) -> bool:
    """Return whether an execution has left a node behind; of one in rounds there may always be another."""
    nodes = (await engine.graph(execution_id)).nodes
    return any(node.id == context and node.status in _PAST for node in nodes)


async def _resumed(engine: Engine, taken: Taken) -> Resumed:
    """Return how an answer was taken: started if nobody drove the execution and nothing was ahead of it."""
    row, reserved = taken.row, taken.reserved
    place = (await engine.queue(row.execution_id)).get(row.point.id) if row.status == "answered" else None
    was_free = place == 1 and reserved is not None and reserved.owner is None
    started = place is None or (was_free and not await _is_held(engine, row))
    return Resumed(
        status="started" if started else "queued",
        queue_position=None if started else place,
        execution_id=row.execution_id,
        context_id=context_of(row.point),
        leg_id=await _leg(engine, taken),
    )


async def _is_held(engine: Engine, row: PointRow) -> bool:
    """Return whether an operator holds the execution, so that nothing starts."""
    return any(reason.kind == "operator" for reason in (await engine.why(row.execution_id)).reasons)


async def _leg(engine: Engine, taken: Taken) -> str | None:
    """Return the id of the leg that applies an answer, if the execution is driven here, or was for this answer."""
    execution_id, reserved = taken.row.execution_id, taken.reserved
    driven = engine.instance.driver.active.get(execution_id)
    if driven is not None:
        return uuid8(f"{execution_id}\0leg\0{driven.state.facts.legs}")
    if reserved is None or reserved.claimed is None:
        return None
    before = reserved.claimed.head.last_seq
    legs = await engine.legs(execution_id, limit=sys.maxsize)
    return next((leg.id for leg in legs if leg.from_seq > before), None)
