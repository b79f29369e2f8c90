"""`layover nodes`: nodes of all executions."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from layover.cli.doors import door_to_read, page_of
from layover.cli.execution_filters import (
    MaxDuration,
    MinDuration,
    MinResumes,
    Since,
    Tag,
    Until,
    Workflow,
    given_filters,
    moment_or_ago,
)
from layover.cli.exits import DONE
from layover.cli.options import HERE, At, Cursor, Json, Limit
from layover.cli.screen import STYLES, moment, note, print_json, print_table, say

if TYPE_CHECKING:
    from layover import FoundNode, Page

NodeId = Annotated[str | None, Parameter(name="--node", help="Only nodes with this id in their definition.")]
NodeType = Annotated[str | None, Parameter(name="--type", help="Only nodes of this type.")]
Conditions = Annotated[
    tuple[str, ...],
    Parameter(
        name="--where",
        consume_multiple=False,
        negative="",
        show_default=False,
        help="Only nodes for whose input and output this holds, such as input.total>100 or output.ok=true; repeatable.",
    ),
]
States = Annotated[
    tuple[str, ...],
    Parameter(
        name="--status",
        consume_multiple=False,
        negative="",
        show_default=False,
        help="Only nodes in this state, such as failed; repeatable.",
    ),
]
ErrorOfNode = Annotated[str | None, Parameter(name="--error-code", help="Only nodes with an error of this code.")]


def list_nodes(  # noqa: PLR0913 - each is an option
    *,
    workflow: Workflow = None,
    tag: Tag = None,
    node: NodeId = None,
    type: NodeType = None,  # noqa: A002 - as everywhere
    where: Conditions = (),
    status: States = (),
    error_code: ErrorOfNode = None,
    since: Since = None,
    until: Until = None,
    min_duration: MinDuration = None,
    max_duration: MaxDuration = None,
    min_resumes: MinResumes = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    at: At = HERE,
    json: Json = False,
) -> int:
    """List nodes of all executions, those of the newest execution first."""
    given = given_filters(
        workflow=workflow,
        tag=tag,
        node=node,
        type=type,
        where=where,
        status=status,
        error_code=error_code,
        since=moment_or_ago("--since", since),
        until=moment_or_ago("--until", until),
        min_duration=min_duration,
        max_duration=max_duration,
        min_resumes=min_resumes,
    )

    async def found() -> Page[FoundNode]:
        async with door_to_read(at) as door:
            return await page_of(door.node_executions(**given), limit, cursor)

    page = asyncio.run(found())
    if json:
        print_json(page)
        return DONE
    if not page.items:
        say("No nodes.")
    else:
        table = [["EXECUTION", "WORKFLOW", "NODE", "TYPE", "STATUS", "ENDED", "ERROR"]]
        for one in page.items:
            ended = moment(one.node.finished_at) if one.node.finished_at is not None else "-"
            error = one.node.error.code if one.node.error is not None else "-"
            table.append(
                [one.execution_id, one.workflow, one.node.context_id, one.node.type, one.node.status, ended, error]
            )
        print_table(table, {4: STYLES})
    if page.next is not None:
        note(f"There may be more: --cursor {page.next}")
    return DONE
