"""`layover ls` and `layover inbox`: executions, and what waits for people."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from layover.cli.doors import door_to_read, page_of
from layover.cli.execution_filters import (
    CorrelationId,
    ErrorCode,
    MaxDuration,
    MinDuration,
    MinResumes,
    NodeType,
    On,
    Q,
    Resumed,
    Since,
    StartedBy,
    Statuses,
    Tag,
    Until,
    Where,
    Workflow,
    given_filters,
    moment_or_ago,
)
from layover.cli.exits import DONE, Stop
from layover.cli.options import HERE, At, Cursor, Json, Limit, Who, acting, person
from layover.cli.screen import STYLES, between, brief, moment, note, print_json, print_table, say
from layover.cli.where import filters_of
from layover.model.shared import Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover import ExecutionSummary, PausePoint
    from layover.cli.options import Target

_MOST = 10_000
_FOR_PEOPLE = ("approval", "form")

View = Annotated[str | None, Parameter(help="The filters of this saved view; other flags replace those of the view.")]
User = Annotated[str | None, Parameter(help="Only pause points that this person may answer.")]
Mine = Annotated[bool, Parameter(negative="", show_default=False, help="Only pause points that you may answer.")]
Roles = Annotated[
    tuple[str, ...],
    Parameter(
        name="--role",
        consume_multiple=False,
        negative="",
        show_default=False,
        help="A role that the person has; repeatable.",
    ),
]


def list_executions(  # noqa: PLR0913 - each is an option
    *,
    workflow: Workflow = None,
    status: Statuses = (),
    tag: Tag = None,
    where: Where = (),
    correlation_id: CorrelationId = None,
    error_code: ErrorCode = None,
    since: Since = None,
    until: Until = None,
    min_duration: MinDuration = None,
    max_duration: MaxDuration = None,
    min_resumes: MinResumes = None,
    resumed: Resumed = None,
    user: StartedBy = None,
    on: On = (),
    node_type: NodeType = None,
    q: Q = None,
    view: View = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    at: At = HERE,
    json: Json = False,
) -> int:
    """List executions, newest first."""
    if not 0 < limit <= _MOST:
        raise Stop(f"--limit: from 1 to {_MOST:,}, not {limit}.")
    conditions = filters_of(where)
    begins, ends = moment_or_ago("--since", since), moment_or_ago("--until", until)

    async def page() -> Page[ExecutionSummary]:
        async with door_to_read(at, acting(at, "") if view is not None else None) as door:
            saved = (await door.view(view)).arguments() if view is not None else {}
            given = given_filters(
                workflow=workflow,
                status=status,
                tag=tag,
                **conditions,
                correlation_id=correlation_id,
                error_code=error_code,
                since=begins,
                until=ends,
                min_duration=min_duration,
                max_duration=max_duration,
                min_resumes=min_resumes,
                resumed=resumed,
                user=user,
                on=on,
                node_type=node_type,
                q=q,
            )
            found = door.executions(**saved | given)
            return await page_of(found, limit, cursor)

    found = asyncio.run(page())
    if json:
        print_json(found)
        return DONE
    if not found.items:
        say("No executions.")
        return DONE
    table = [["ID", "WORKFLOW", "STATUS", "CREATED", "TOOK", "OUTCOME"]]
    for one in found.items:
        took = between(one.created_at, one.finished_at)
        table.append([one.id, one.workflow, one.status, moment(one.created_at), took, _end(one)])
    print_table(table, {2: STYLES})
    if found.next is not None:
        note(f"There may be more: --cursor {found.next}")
    return DONE


def inbox(*, user: User = None, role: Roles = (), mine: Mine = False, at: At = HERE, json: Json = False) -> int:
    """List the pause points that wait for people, oldest first; with a person, those that they may answer."""
    who = _whose(at, user, role, mine=mine)

    async def points() -> Sequence[PausePoint]:
        async with door_to_read(at, who) as door:
            if who is not None:
                return [point.info async for point in door.inbox()]
            found = [point.info for kind in _FOR_PEOPLE async for point in door.points(kind=kind)]
            return sorted(found, key=lambda point: (point.opened_at, point.id))

    found = asyncio.run(points())
    if json:
        print_json(Page(items=tuple(found)))
        return DONE
    if not found:
        say("No pause point waits for a person." if who is None else "No pause point waits for this person.")
        return DONE
    for point in found:
        until = f", until {moment(point.deadline)}" if point.deadline is not None else ""
        say(f"{point.execution_id}:{point.context_id}  {point.kind}", "bold")
        say(f"  {point.title or point.context_id}  ({point.workflow}, {approvers_of(point)}{until})")
        for line in shown_lines(point):
            say(f"  {line}")
        say(f"  point {point.id}")
    return DONE


def shown_lines(point: PausePoint) -> list[str]:
    """Return what a point shows to those who answer it, a line for each field."""
    if point.shown is None:
        return []
    if not isinstance(point.shown, dict):
        return [f"shown: {brief(point.shown)}"]
    return [f"{name}: {brief(value)}" for name, value in point.shown.items()]


def approvers_of(point: PausePoint) -> str:
    """Return who may answer a point."""
    who = point.approvers
    names = [*who.users, *(f"role {role}" for role in who.roles)] if who is not None else []
    need = f"{point.need} of " if point.need is not None and point.need > 1 else ""
    return f"{need}{', '.join(names)}" if names else f"{need}anybody"


def _whose(at: Target, user: str | None, roles: tuple[str, ...], *, mine: bool) -> Who | None:
    """Return the person whose inbox it is, if it is one person's."""
    if at.server is not None:
        if user is not None or roles:
            raise Stop("A server knows who you are by your key; --mine lists the pause points that you may answer.")
        return Who() if mine else None
    if mine:
        return Who(user or person(""), roles)
    return Who(user or "", roles) if user is not None or roles else None


def _end(one: ExecutionSummary) -> str:
    return (one.error.code if one.error is not None else one.outcome) or "-"
