"""See what became of executions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, get_args

import msgspec
from msgspec import Meta

from layover.api.cursors import cursor_of, parsed
from layover.api.pages import fitting
from layover.api.problems import Refusal
from layover.api.request import Reply
from layover.api.resources.executions import (
    Event,
    Execution,
    ExecutionSummary,
    Graph,
    Leg,
    NodeExecution,
    PausedExecutions,
    Why,
)
from layover.api.resources.shared import ExecutionId, Page, WorkflowName
from layover.api.routing import Routes
from layover.api.serializers.executions import event_of, execution_of, leg_of, node_of, summary_of, why_of
from layover.api.serializers.graphs import graph_of
from layover.core.engine.state import ExecutionStatus
from layover.runtime.ids import MalformedId, checked_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from layover.api.request import Request
    from layover.api.routing import NoQuery

routes = Routes("Executions", "Start executions, and see what became of them.", prefix="/api/v1")

MOST: Final = 100
_READ: Final = ("execution:read",)
_OF_ONE: Final = ("malformed_id", "unknown_execution")
_STATUS: Final = frozenset(get_args(ExecutionStatus))

Limit = Annotated[int, Meta(ge=1, description="How many at most; more than 100 are not given.")]
Cursor = Annotated[str, Meta(max_length=400, description="The `next` of the page before.")]
_OfWorkflow = Annotated[WorkflowName, Meta(description="Those of this workflow.")]
Text = Annotated[str, Meta(min_length=1, max_length=255, pattern=r"^[^\x00]*$")]


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
    parent_id: Annotated[ExecutionId, Meta(description="Those that this execution began.")] | None = None
    limit: Limit = 50
    cursor: Cursor | None = None


class PausedQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many paused executions to list, and of which workflow."""

    workflow: _OfWorkflow | None = None
    limit: Limit = 50
    cursor: Cursor | None = None


class HistoryQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which events to list: those from the number `since` on."""

    since: Annotated[int, Meta(ge=0, description="The number of the first event.")] = 0
    limit: Limit = 100
    cursor: Cursor | None = None


class PartsQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which page of the parts of an execution to list."""

    limit: Limit = 50
    cursor: Cursor | None = None


@routes.get(
    "/executions",
    needs=_READ,
    query=ExecutionsQuery,
    answers={200: Page[ExecutionSummary]},
    problems=("malformed_id", "malformed_cursor", "invalid_filter"),
)
async def list_executions(call: Request[None, ExecutionsQuery]) -> Reply:
    """List executions, the newest first.

    A condition of `where` is a path, an operator (`=`, `!=`, `>`, `>=`, `<`, `<=`, `~` for contains) and a value; paths
    begin with `input`, `output`, `vars`, `trigger` or `nodes.<id>`. All conditions have to hold.
    """
    query = call.query
    found = await call.engine.find(
        workflow=query.workflow,
        status=_statuses(query.status),
        tag=query.tag,
        parent_id=query.parent_id,
        conditions=query.where,
        after=_after(query.cursor),
        limit=min(query.limit, MOST),
    )
    after = cursor_of(*found.after) if found.after is not None else None
    return Reply(Page[ExecutionSummary](items=[summary_of(row) for row in found.rows], next=after))


@routes.get(
    "/executions/paused",
    needs=_READ,
    query=PausedQuery,
    answers={200: PausedExecutions},
    problems=("malformed_cursor",),
)
async def list_paused_executions(call: Request[None, PausedQuery]) -> Reply:
    """List executions that are paused, by an operator or until a person answers, the one paused longest first."""
    query, limit = call.query, min(call.query.limit, MOST)
    found = await call.engine.paused(query.workflow, _after(query.cursor), limit + 1)
    items = fitting([execution_of(one) for one in found[:limit]], call.services.settings.page_bytes)
    last = found[len(items) - 1] if len(items) < len(found) else None
    after = cursor_of(last.paused_at or 0, last.id) if last is not None else None
    return Reply(PausedExecutions(executions=items, count=len(items), next=after))


@routes.get("/executions/{id}", needs=_READ, answers={200: Execution}, problems=_OF_ONE)
async def get_execution(call: Request[None, NoQuery]) -> Reply:
    """Return an execution as it is now."""
    return Reply(execution_of(await call.engine.get(call.path["id"])))


@routes.get(
    "/executions/{id}/history",
    needs=_READ,
    query=HistoryQuery,
    answers={200: Page[Event]},
    problems=(*_OF_ONE, "malformed_cursor"),
)
async def list_history(call: Request[None, HistoryQuery]) -> Reply:
    """List the events of an execution in their order; they are numbered from 0 without gaps."""
    query = call.query
    row = await call.engine.row(call.path["id"])
    head = row.head
    since, limit = query.since, min(query.limit, MOST)
    if query.cursor is not None:
        since, of = parsed(query.cursor)
        if of != head.execution_id:
            raise Refusal("malformed_cursor", "The cursor is that of another list.")
    found = await call.engine.history(head.execution_id, min(since, head.last_seq + 1), limit)
    items = fitting([event_of(one) for one in found], call.services.settings.page_bytes)
    last = items[-1].seq if items else head.last_seq
    after = cursor_of(last + 1, head.execution_id) if last < head.last_seq else None
    return Reply(Page[Event](items=items, next=after))


@routes.get(
    "/executions/{id}/nodes",
    needs=_READ,
    query=PartsQuery,
    answers={200: Page[NodeExecution]},
    problems=(*_OF_ONE, "malformed_cursor"),
)
async def list_nodes(call: Request[None, PartsQuery]) -> Reply:
    """List what became of the nodes that were reached, in the order in which they were."""
    id_, since, limit = _from(call)
    found = await call.engine.nodes(id_, since, limit + 1)
    items = fitting([node_of(one) for one in found[:limit]], call.services.settings.page_bytes)
    return Reply(Page[NodeExecution](items=items, next=_behind(items, since, len(found), id_)))


@routes.get(
    "/executions/{id}/legs",
    needs=_READ,
    query=PartsQuery,
    answers={200: Page[Leg]},
    problems=(*_OF_ONE, "malformed_cursor"),
)
async def list_legs(call: Request[None, PartsQuery]) -> Reply:
    """List the legs of an execution: the stretches of work between two rests, each with what it was taken up for."""
    id_, since, limit = _from(call)
    found = await call.engine.legs(id_, since, limit + 1)
    items = [leg_of(one) for one in found[:limit]]
    return Reply(Page[Leg](items=items, next=_behind(items, since, len(found), id_)))


@routes.get("/executions/{id}/graph", needs=_READ, answers={200: Graph}, problems=_OF_ONE)
async def get_graph(call: Request[None, NoQuery]) -> Reply:
    """Return the graph that an execution runs, with the states of its nodes."""
    return Reply(graph_of(await call.engine.graph(call.path["id"])))


@routes.get("/executions/{id}/why", needs=_READ, answers={200: Why}, problems=_OF_ONE)
async def get_why(call: Request[None, NoQuery]) -> Reply:
    """Tell why an execution stands still, followed through the executions that it waits for."""
    return Reply(why_of(await call.engine.why(call.path["id"])))


def _from(call: Request[None, PartsQuery]) -> tuple[str, int, int]:
    """Return the execution that is asked for, the position of the first of its parts that is, and how many are."""
    id_ = checked_id(call.path["id"])
    since, of = parsed(call.query.cursor) if call.query.cursor is not None else (0, id_)
    if of != id_:
        raise Refusal("malformed_cursor", "The cursor is that of another list.")
    return id_, since, min(call.query.limit, MOST)


def _behind(items: Sequence[object], since: int, found: int, id_: str) -> str | None:
    """Return the cursor behind a page, unless nothing was found that is not on it."""
    return cursor_of(since + len(items), id_) if found > len(items) else None


def _statuses(given: Iterable[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(one for text in given for one in text.split(",")))
    unknown = next((one for one in found if one not in _STATUS), None)
    if unknown is not None:
        raise Refusal(
            "invalid_parameter", f"status: `{unknown[:50]}` is none of {', '.join(get_args(ExecutionStatus))}."
        )
    return found


def _after(cursor: str | None) -> tuple[int, str] | None:
    if cursor is None:
        return None
    at, id_ = parsed(cursor)
    try:
        return at, checked_id(id_)
    except MalformedId as error:
        raise Refusal("malformed_cursor", "The cursor is that of another list.") from error
