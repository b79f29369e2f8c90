"""See what became of executions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from msgspec import Meta

from layover.api.bodies import check_nesting
from layover.api.durations import queried_length, queried_moment, queried_wait_of
from layover.api.problems import Refusal
from layover.api.request import Response
from layover.api.routing import Routes
from layover.api.shown import bounded
from layover.errors import WaitTimeout
from layover.interface.arguments import (
    EVENT_TYPES,
    EXECUTION_STATUSES,
    NODE_STATUSES,
    WAITS_ON,
    EventOrder,
    Order,
    Until,
)
from layover.interface.requests import EventQuery, ExecutionQuery, NodeQuery
from layover.model.executions import (
    Event,
    Execution,
    ExecutionCounts,
    ExecutionSummary,
    Graph,
    Leg,
    LogLine,
    NodeExecution,
    PausedExecutions,
    ReplayStep,
    Why,
)
from layover.model.resumes import ResumeEntry
from layover.model.shared import ExecutionId, Page, WorkflowName

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from layover.api.request import Request
    from layover.api.routing import NoQuery

routes = Routes("Executions", "Start executions, and see what became of them.", prefix="/api/v1")

_READ: Final = ("execution:read",)
_OF_ONE: Final = ("malformed_id", "unknown_execution")

Limit = Annotated[int, Meta(ge=1, description="How many at most; more than 100 are not given.")]
Cursor = Annotated[str, Meta(max_length=400, description="The `next` of the page before.")]
_OfWorkflow = Annotated[WorkflowName, Meta(description="Those of this workflow.")]
Text = Annotated[str, Meta(min_length=1, max_length=255, pattern=r"^[^\x00]*$")]
_Moment = Annotated[str, Meta(max_length=50, examples=["2026-11-20T08:00:00Z"])]
_Length = Annotated[str, Meta(max_length=50, examples=["90s", "1h30m"])]


class ExecutionsQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which executions to list; each thing said narrows it down."""

    workflow: _OfWorkflow | None = None
    status: Annotated[
        list[Annotated[str, Meta(max_length=200, examples=["running,waiting"])]],
        Meta(
            max_length=20,
            description="Those that are this, or one of these: with commas between them, or each by itself.",
        ),
    ] = []
    tag: Annotated[Text, Meta(description="Those with this tag.")] | None = None
    where: Annotated[
        list[Annotated[str, Meta(max_length=1_000, examples=["input.total>1000", "input.tier=gold"])]],
        Meta(max_length=20, description="Those for which a condition holds; of several, all of them."),
    ] = []
    contains: (
        Annotated[str, Meta(max_length=10_000, description="Those whose input contains this JSON object.")] | None
    ) = None
    parent_id: Annotated[ExecutionId, Meta(description="Those that this execution began.")] | None = None
    correlation_id: Annotated[Text, Meta(description="Those with this correlation id.")] | None = None
    error_code: Annotated[Text, Meta(description="Those that failed with this code.")] | None = None
    since: Annotated[_Moment, Meta(description="Those created at this moment or later.")] | None = None
    until: Annotated[_Moment, Meta(description="Those created before this moment.")] | None = None
    min_duration: Annotated[_Length, Meta(description="Those that took at least so long, and have ended.")] | None = (
        None
    )
    max_duration: Annotated[_Length, Meta(description="Those that took at most so long, and have ended.")] | None = None
    min_resumes: (
        Annotated[int, Meta(ge=0, le=2_147_483_647, description="Those that were resumed at least so often.")] | None
    ) = None
    resumed: Annotated[bool, Meta(description="Those that were resumed, or never were.")] | None = None
    user: Annotated[Text, Meta(description="Those that this user has started.")] | None = None
    on: Annotated[
        list[Annotated[str, Meta(max_length=200, examples=["person", "timer,retry"])]],
        Meta(
            max_length=20,
            description="Those that wait for this, or one of these: the kind of an open pause point, `person` for an "
            "`approval` or a `form`, `retry` for another attempt, `operator` for the end of a pause.",
        ),
    ] = []
    node_type: Annotated[Text, Meta(description="Those whose graph has a node of this type.")] | None = None
    q: (
        Annotated[
            Text,
            Meta(description="The beginning of an id (8 characters at least) or of a correlation id, or a tag."),
        ]
        | None
    ) = None
    order: Annotated[Order, Meta(description="The newest first; or those that are paused, the longest first.")] = (
        "created"
    )
    limit: Limit = 50
    cursor: Cursor | None = None


class WaitQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long to wait, and for what."""

    wait: Annotated[str, Meta(max_length=50, description="A length of time, at most 60s.")] | None = None
    until: Annotated[Until, Meta(description="What is waited for.")] = "people"


class PausedQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many paused executions to list, and of which workflow."""

    workflow: _OfWorkflow | None = None
    limit: Limit = 50
    cursor: Cursor | None = None


class ReplayQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which states to list: those after the events from the number `since` on."""

    since: Annotated[int, Meta(ge=0, description="The number of the first event.")] = 0
    limit: Limit = 100
    cursor: Cursor | None = None


class HistoryQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which events to list; all that is given has to hold."""

    since: Annotated[int, Meta(ge=0, description="The lowest number of an event.")] = 0
    until: Annotated[int, Meta(ge=0, description="The highest number of an event.")] | None = None
    context_id: (
        Annotated[str, Meta(min_length=1, max_length=4096, description="Of this node and its points.")] | None
    ) = None
    type: Annotated[
        list[Annotated[str, Meta(max_length=500)]],
        Meta(
            max_length=20,
            description="Such as `NodeFailed`; several are separated by commas, or the parameter is repeated.",
        ),
    ] = []
    order: Annotated[EventOrder, Meta(description="Which come first.")] = "oldest"
    limit: Limit = 100
    cursor: Cursor | None = None


class PartsQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which page of the parts of an execution to list."""

    limit: Limit = 50
    cursor: Cursor | None = None


class NodesQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which nodes of an execution to list; each thing said narrows it down."""

    parent: (
        Annotated[
            str,
            Meta(max_length=4096, description="Those right in this container: its context id; empty: in no container."),
        ]
        | None
    ) = None
    status: Annotated[
        list[Annotated[str, Meta(max_length=200, examples=["failed,incident"])]],
        Meta(max_length=20, description="Those in this state, or one of these: with commas, or each by itself."),
    ] = []
    context_id: Annotated[str, Meta(max_length=4096, description="The one with this context id.")] | None = None
    limit: Limit = 50
    cursor: Cursor | None = None


class LogsQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which log lines to list."""

    node: (
        Annotated[str, Meta(max_length=4096, description="Only those of this node; in a scope, its context id.")] | None
    ) = None
    cursor: Cursor | None = None


@routes.get(
    "/executions",
    needs=_READ,
    query=ExecutionsQuery,
    answers={200: Page[ExecutionSummary]},
    problems=("malformed_id", "malformed_cursor", "invalid_filter"),
)
async def list_executions(call: Request[None, ExecutionsQuery]) -> Response:
    """List executions, the newest first.

    A condition of `where` is a path, an operator (`=`, `!=`, `>`, `>=`, `<`, `<=`, `~` for contains) and a value; paths
    begin with `input`, `output`, `vars`, `trigger` or `nodes.<id>`. All conditions have to hold.
    """
    query = call.query
    wanted = ExecutionQuery(
        workflow=query.workflow,
        status=_statuses(query.status),
        tag=query.tag,
        parent_id=query.parent_id,
        where=tuple(query.where),
        contains=_contains(call, query.contains),
        correlation_id=query.correlation_id,
        error_code=query.error_code,
        since=queried_moment("since", query.since),
        until=queried_moment("until", query.until),
        min_duration=queried_length("min_duration", query.min_duration),
        max_duration=queried_length("max_duration", query.max_duration),
        min_resumes=query.min_resumes,
        resumed=query.resumed,
        user=query.user,
        on=words_of("on", query.on, WAITS_ON),
        node_type=query.node_type,
        q=query.q,
        order=query.order,
    )
    return Response(await call.service.executions.list(wanted, query.limit, query.cursor))


@routes.get("/executions/counts", needs=_READ, answers={200: ExecutionCounts})
async def count_executions(call: Request[None, NoQuery]) -> Response:
    """Count executions by status, and `on` what they wait; of each kind, 10,000 are looked at."""
    return Response(await call.service.executions.waiting_counts())


@routes.get(
    "/executions/paused",
    needs=_READ,
    query=PausedQuery,
    answers={200: PausedExecutions},
    problems=("malformed_cursor",),
)
async def list_paused_executions(call: Request[None, PausedQuery]) -> Response:
    """List executions that are paused, by an operator or until a person answers, the one paused longest first."""
    query = call.query
    page = await call.service.executions.paused(query.workflow, query.limit, query.cursor)
    return Response(PausedExecutions(executions=tuple(map(bounded, page.items)), count=len(page.items), next=page.next))


@routes.get(
    "/executions/{id}",
    needs=_READ,
    query=WaitQuery,
    answers={200: Execution, 202: Execution},
    problems=(*_OF_ONE, "missing_functions"),
)
async def get_execution(call: Request[None, WaitQuery]) -> Response:
    """Return an execution as it is now.

    With `wait`, the answer comes once it has ended or is as `until` says (200), or when the time is over or the server
    stops (202). If its end is waited for and no instance has a function that it needs, that is `missing_functions`.
    """
    wait, id_ = queried_wait_of(call, call.query.wait), call.path["id"]
    executions = call.service.executions
    if not wait:
        return Response(bounded(await executions.get(id_)))
    try:
        return Response(bounded(await executions.wait(id_, call.query.until, wait / 1000)))
    except WaitTimeout:
        return Response(bounded(await executions.peek(id_)), 202)


@routes.get(
    "/executions/{id}/history",
    needs=_READ,
    query=HistoryQuery,
    answers={200: Page[Event]},
    problems=(*_OF_ONE, "malformed_cursor"),
)
async def list_history(call: Request[None, HistoryQuery]) -> Response:
    """List the events of an execution in their order; they are numbered from 0 without gaps.

    A page with `context_id` or `type` looks at no more than 10,000 events: it may have few, or none, while its `next`
    says that more are left.
    """
    query = call.query
    wanted = EventQuery(
        since=query.since,
        until=query.until,
        context_id=query.context_id,
        type=words_of("type", query.type, EVENT_TYPES),
        order=query.order,
    )
    return Response(await call.service.executions.history(call.path["id"], wanted, query.limit, query.cursor))


@routes.get(
    "/executions/{id}/nodes",
    needs=_READ,
    query=NodesQuery,
    answers={200: Page[NodeExecution]},
    problems=(*_OF_ONE, "malformed_cursor"),
)
async def list_nodes(call: Request[None, NodesQuery]) -> Response:
    """List what became of the nodes that were reached, in the order in which they were."""
    query = call.query
    wanted = NodeQuery(parent=query.parent, status=_statuses(query.status, NODE_STATUSES), context_id=query.context_id)
    return Response(await call.service.executions.nodes(call.path["id"], wanted, query.limit, query.cursor))


@routes.get(
    "/executions/{id}/legs",
    needs=_READ,
    query=PartsQuery,
    answers={200: Page[Leg]},
    problems=(*_OF_ONE, "malformed_cursor"),
)
async def list_legs(call: Request[None, PartsQuery]) -> Response:
    """List the legs of an execution, each with its cause: the work between two rests, or what one answer released."""
    return Response(await call.service.executions.legs(call.path["id"], call.query.limit, call.query.cursor))


@routes.get(
    "/executions/{id}/resume-queue",
    needs=_READ,
    query=PartsQuery,
    answers={200: Page[ResumeEntry]},
    problems=(*_OF_ONE, "malformed_cursor"),
)
async def list_resume_queue(call: Request[None, PartsQuery]) -> Response:
    """List the resume queue of an execution: answers to its pause points, in their order, and what became of each."""
    return Response(await call.service.executions.resume_queue(call.path["id"], call.query.limit, call.query.cursor))


@routes.get(
    "/executions/{id}/replay",
    needs=_READ,
    query=ReplayQuery,
    answers={200: Page[ReplayStep]},
    problems=(*_OF_ONE, "malformed_cursor"),
)
async def replay_execution(call: Request[None, ReplayQuery]) -> Response:
    """List the states of an execution after each of its events: how it came to be as it is, step by step."""
    query = call.query
    return Response(await call.service.executions.replay(call.path["id"], query.since, query.limit, query.cursor))


@routes.get(
    "/executions/{id}/logs",
    needs=("execution:debug",),
    query=LogsQuery,
    answers={200: Page[LogLine]},
    problems=(*_OF_ONE, "malformed_cursor"),
)
async def list_logs(call: Request[None, LogsQuery]) -> Response:
    """List what nodes have logged, the oldest first, if it is kept (`node_logs`).

    `next` is where to go on, also for lines that are yet to come: a page without lines is behind all that there is.
    """
    return Response(await call.service.executions.logs(call.path["id"], call.query.node, call.query.cursor))


@routes.get("/executions/{id}/graph", needs=_READ, answers={200: Graph}, problems=_OF_ONE)
async def get_graph(call: Request[None, NoQuery]) -> Response:
    """Return the graph that an execution runs, with the states of its nodes."""
    return Response(await call.service.executions.graph(call.path["id"]))


@routes.get("/executions/{id}/why", needs=_READ, answers={200: Why}, problems=_OF_ONE)
async def get_why(call: Request[None, NoQuery]) -> Response:
    """Tell why an execution stands still, followed through the executions that it waits for."""
    return Response(await call.service.executions.why(call.path["id"]))


def _statuses(given: Iterable[str], known: tuple[str, ...] = EXECUTION_STATUSES) -> tuple[str, ...]:
    return words_of("status", given, known)


def words_of(name: str, given: Iterable[str], known: tuple[str, ...]) -> tuple[str, ...]:
    """Return words that a parameter names, separated by commas or repeated; refuse those that are not known."""
    found = tuple(dict.fromkeys(one for text in given for one in text.split(",")))
    unknown = next((one for one in found if one not in known), None)
    if unknown is not None:
        raise Refusal("invalid_parameter", f"{name}: `{unknown[:50]}` is none of {', '.join(known)}.")
    return found


def _contains(call: Request[None, ExecutionsQuery], text: str | None) -> Mapping[str, object] | None:
    """Return the part of an input that is looked for."""
    if text is None:
        return None
    check_nesting(text.encode(), call.services.settings)
    try:
        return msgspec.json.decode(text, type=dict[str, object])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise Refusal("invalid_parameter", "contains: not a JSON object.") from error
