"""Nodes found across executions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from layover.api.durations import queried_length, queried_moment
from layover.api.request import Response
from layover.api.routes.executions import Cursor, Limit, words_of
from layover.api.routing import Routes
from layover.interface.arguments import NODE_STATUSES
from layover.interface.requests import NodeSearch
from layover.model.node_searches import FoundNode
from layover.model.shared import Page, WorkflowName

if TYPE_CHECKING:
    from layover.api.request import Request

routes = Routes("Nodes", "What became of nodes, across executions.")

_Short = Annotated[str, Meta(min_length=1, max_length=255)]
_Words = Annotated[list[Annotated[str, Meta(max_length=500)]], Meta(max_length=20)]


class NodesSearchQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which nodes to list; all that is given has to hold."""

    workflow: Annotated[WorkflowName, Meta(description="Only nodes of executions of this workflow.")] | None = None
    tag: Annotated[_Short, Meta(description="A tag of the execution.")] | None = None
    node: Annotated[_Short, Meta(description="The id of a node in its definition, in whatever scope.")] | None = None
    type: Annotated[_Short, Meta(description="The type of a node.")] | None = None
    where: Annotated[
        list[Annotated[str, Meta(max_length=1_000, examples=["input.total>1000", "output.state=sent"])]],
        Meta(max_length=20, description="Nodes for whose input and output a condition holds; of several, all of them."),
    ] = []
    status: Annotated[
        _Words, Meta(description="States of nodes; several are separated by commas, or the parameter is repeated.")
    ] = []
    error_code: Annotated[_Short, Meta(description="The code of the error of the node.")] | None = None
    since: Annotated[str, Meta(description="In executions that were created at this moment or later.")] | None = None
    until: Annotated[str, Meta(description="In executions that were created before this moment.")] | None = None
    min_duration: Annotated[str, Meta(description="Nodes that ended, and took at least so long: `90s`.")] | None = None
    max_duration: Annotated[str, Meta(description="Nodes that ended, and took at most so long.")] | None = None
    min_resumes: Annotated[int, Meta(ge=0, description="In executions that were resumed at least so often.")] | None = (
        None
    )
    limit: Limit = 50
    cursor: Cursor | None = None


@routes.get(
    "/node-executions",
    needs=("execution:read",),
    query=NodesSearchQuery,
    answers={200: Page[FoundNode]},
    problems=("malformed_cursor", "invalid_filter"),
)
async def list_node_executions(call: Request[None, NodesSearchQuery]) -> Response:
    """List nodes of all executions, those of the newest execution first.

    A page reads the logs of a thousand executions at most: it may have few nodes, or none, while its `next` says that
    more are left.
    """
    query = call.query
    wanted = NodeSearch(
        workflow=query.workflow,
        tag=query.tag,
        node=query.node,
        type=query.type,
        where=tuple(query.where),
        status=words_of("status", query.status, NODE_STATUSES),
        error_code=query.error_code,
        since=queried_moment("since", query.since),
        until=queried_moment("until", query.until),
        min_duration=queried_length("min_duration", query.min_duration),
        max_duration=queried_length("max_duration", query.max_duration),
        min_resumes=query.min_resumes,
    )
    return Response(await call.service.executions.search_nodes(wanted, query.limit, query.cursor))
