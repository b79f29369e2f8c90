"""Starting executions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from layover.api.audit_entries import entry_of, is_done
from layover.api.idempotency import REPLAYED, mismatch
from layover.api.problems import Refusal
from layover.api.request import Reply
from layover.api.resources.executions import Execution, StartBody
from layover.api.resources.problems import FieldError
from layover.api.routing import Routes
from layover.api.serializers.executions import brief_execution_of, execution_of
from layover.api.serializers.points import point_of
from layover.core.definitions.durations import format_duration, parse_duration
from layover.core.payloads import plain
from layover.runtime.errors import AlreadyExists, MissingFunctions
from layover.runtime.ids import checked_id, id_from_key, new_id
from layover.runtime.operations.executions import Options
from layover.runtime.operations.timeouts import WaitTimeout

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.resources.points import PausePoint
    from layover.api.routing import NoQuery
    from layover.runtime.engine import Engine
    from layover.runtime.queries import views

routes = Routes("Executions", "Start executions, and see what became of them.", prefix="/api/v1")

_ACT: Final = "execution.start"
_AT_REST: Final = frozenset({"waiting", "paused"})


def _scope(call: Request[StartBody, NoQuery]) -> str:
    """Return what an idempotency key belongs to: the workflow, so that whoever starts it for an order does so once."""
    return f"start {call.body.workflow}"


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
)
async def start_execution(call: Request[StartBody, NoQuery]) -> Reply:
    """Start an execution.

    With `wait`, the answer comes when it has ended (200) or waits for a person, or when the time is over or the server
    stops, or when it needs a function that no instance has (202). With an `Idempotency-Key` that another caller has
    started this workflow with, the answer is that execution, but only its id and status.
    """
    body = call.body
    wait, delay = _duration(call, "wait"), _duration(call, "delay")
    longest = int(call.services.settings.longest_wait * 1000)
    if wait > longest:
        raise _misfit("wait", f"At most {format_duration(longest)}.")
    options = Options(
        user=call.caller.user,
        tags=tuple(body.tags),
        priority=body.priority,
        correlation_id=body.correlation_id,
        delay=delay,
        trigger=body.trigger,
    )
    view = await _started(call, options)
    if wait:
        limit = WaitTimeout(wait / 1000, call.services.stopping)
        view = await _waited(call.engine, view.id, limit)
    elif view.version is None:
        view = await call.engine.get(view.id)  # which of the versions it has is only known to the store
    status = 200 if wait and view.closed else 202
    headers = {"location": f"{call.base}/api/v1/executions/{view.id}"}
    if view.user != call.caller.user:  # the key is another caller's: what they sent and got is not told
        return Reply(brief_execution_of(view), status, {**headers, REPLAYED: "true"})
    return Reply(await _told(call.engine, view), status, headers)


async def _waited(engine: Engine, execution_id: str, limit: WaitTimeout) -> views.Execution:
    """Return an execution when nothing more is to be waited for, or when the time is over."""
    try:
        view = await limit.keep(engine.wait(execution_id, "people"))
    except MissingFunctions:
        view = None
    return view or await engine.get(execution_id)


async def _started(call: Request[StartBody, NoQuery], options: Options) -> views.Execution:
    """Start it under its own id, or under one that belongs to the idempotency key, or under any."""
    body, engine = call.body, call.engine
    if body.id is not None:
        id_ = checked_id(body.id)
    elif call.key is not None:
        id_ = id_from_key(body.workflow, call.key)
    else:
        id_ = new_id(engine.instance.clock.now())
    try:
        view = await engine.start(
            body.workflow,
            body.input,
            id=id_,
            version=body.version,
            on_conflict="return" if body.id is None else "reject",
            options=options,
            audit=entry_of(call, _ACT, execution_id=id_, workflow=body.workflow),
        )
    except AlreadyExists:
        if not await is_done(call, _ACT, id_):
            raise
        view = await engine.get(id_)
    if call.key is not None and _encoded(view.input) != _encoded(plain(body.input)):
        raise mismatch()
    return view


def _encoded(value: object) -> bytes:
    return msgspec.json.encode(value, order="sorted")  # compared as JSON: to Python, true is 1


async def _told(engine: Engine, view: views.Execution) -> Execution:
    """Return an execution; if it rests, with its open points, and what the first of them that says something says."""
    told = execution_of(view)
    if view.status not in _AT_REST:
        return told
    points = sorted((point_of(row) for row in await engine.points(view.id)), key=_place)
    told = replace(told, pause_points=points)
    response = next((point.response for point in points if point.response is not None), None)
    return told if response is None else replace(told, response=response)


def _place(point: PausePoint) -> tuple[str, int, str]:
    """Return where a point stands among others: of those opened at the same moment, as their branches do."""
    branch = point.parallel_scope
    return point.opened_at, branch.index if branch is not None else -1, point.context_id


def _duration(call: Request[StartBody, NoQuery], field: str) -> int:
    """Return how long the body says, in milliseconds."""
    text: str | None = getattr(call.body, field)
    try:
        return parse_duration(text) if text is not None else 0
    except ValueError as error:
        raise _misfit(field, f"{str(error).capitalize()}.") from error


def _misfit(field: str, message: str) -> Refusal:
    return Refusal("invalid_body", "The body is not as it should be.", errors=[FieldError(path=field, message=message)])
