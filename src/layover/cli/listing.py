"""`layover ls` and `layover inbox`: executions, and what waits for people."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from layover.cli.client import to_look
from layover.cli.exits import DONE, Stop
from layover.cli.options import DEFAULT_DB, Db, Json
from layover.cli.resources import context_of, point_resource, row_resource, title_of
from layover.cli.screen import STYLES, moment, note, print_json, print_table, say
from layover.cli.story import lasted
from layover.cli.where import wanted
from layover.core.people import Person, Rules, may_decide
from layover.runtime.ids import MalformedId, checked_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import ExecutionRow, PointRow

_MOST = 10_000

Status = Literal["pending", "running", "pausing", "waiting", "paused", "completed", "failed", "cancelled"]
Workflow = Annotated[str | None, Parameter(help="Only those of this workflow.")]
Statuses = Annotated[
    tuple[Status, ...],
    Parameter(
        name="--status",
        consume_multiple=False,
        negative="",
        show_default=False,
        help="Only those with this status; repeatable.",
    ),
]
Tag = Annotated[str | None, Parameter(help="Only those with this tag.")]
Where = Annotated[
    tuple[str, ...],
    Parameter(
        name="--where",
        consume_multiple=False,
        negative="",
        show_default=False,
        help="Only those that began with this: a path in the input and its value, customer.tier=gold; repeatable.",
    ),
]
Limit = Annotated[int, Parameter(help="How many at most.")]
Cursor = Annotated[str | None, Parameter(help="Go on behind what was listed, as the end of a list says.")]
User = Annotated[str | None, Parameter(help="Only what this person may answer.")]
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
    limit: Limit = 50,
    cursor: Cursor = None,
    db: Db = DEFAULT_DB,
    json: Json = False,
) -> int:
    """List executions, newest first."""
    if not 0 < limit <= _MOST:
        raise Stop(f"--limit: from 1 to {_MOST:,}, not {limit}.")

    after, began_with = _parsed(cursor), wanted(where)

    async def rows() -> Sequence[ExecutionRow]:
        async with to_look(db) as client:
            return await client.list(
                workflow=workflow, status=status, tag=tag, where=began_with, after=after, limit=limit
            )

    found = asyncio.run(rows())
    following = _cursor_of(found[-1]) if len(found) == limit else None
    if json:
        print_json({"items": [row_resource(row) for row in found], "next": following})
        return DONE
    if not found:
        say("No executions.")
        return DONE
    table = [["ID", "WORKFLOW", "STATUS", "CREATED", "TOOK", "OUTCOME"]]
    for row in found:
        took = lasted(row.info.created_at, row.finished_at)
        status_ = row.head.status
        table.append([row.head.execution_id, row.info.workflow, status_, moment(row.info.created_at), took, _end(row)])
    print_table(table, {2: STYLES})
    if following is not None:
        note(f"There may be more: --cursor {following}")
    return DONE


def inbox(*, user: User = None, role: Roles = (), db: Db = DEFAULT_DB, json: Json = False) -> int:
    """List the pause points that wait for people, oldest first; with a person, those that they may answer."""

    async def rows() -> Sequence[PointRow]:
        async with to_look(db) as client:
            return await client.open_points()

    open_ = [row for row in asyncio.run(rows()) if row.point.kind in ("approval", "form")]
    found = [row for row in open_ if _may(row, user, role)] if user is not None or role else open_
    if json:
        print_json({"items": [point_resource(row) for row in found], "next": None})
        return DONE
    if not found:
        say("Nothing waits for anybody." if not (user or role) else "Nothing waits for this person.")
        return DONE
    for row in found:
        until = f", until {moment(row.point.deadline)}" if row.point.deadline is not None else ""
        say(f"{row.execution_id}:{context_of(row)}  {row.point.kind}", "bold")
        say(f"  {title_of(row) or context_of(row)}  ({row.workflow}, {asked(row)}{until})")
        say(f"  point {row.point.id}")
    return DONE


def asked(row: PointRow) -> str:
    """Return who may answer a point."""
    rules = row.point.rules
    names = [*rules.users, *(f"role {role}" for role in rules.roles)] if rules is not None else []
    need = f"{rules.need} of " if rules is not None and rules.need > 1 else ""
    return f"{need}{', '.join(names)}" if names else f"{need}anybody"


def _may(row: PointRow, user: str | None, roles: tuple[str, ...]) -> bool:
    return may_decide(row.point.rules or Rules(), Person(user or "", roles), row.point.decisions) is None


def _cursor_of(row: ExecutionRow) -> str:
    return f"{row.info.created_at}.{row.head.execution_id}"


def _parsed(cursor: str | None) -> tuple[int, str] | None:
    """Return what a cursor stands for: the time and the id of the last execution that was listed."""
    if cursor is None:
        return None
    at, _, id_ = cursor.partition(".")
    try:
        return int(at), checked_id(id_)
    except (ValueError, MalformedId) as error:
        raise Stop(f"--cursor: `{cursor}` is not what the end of a list says.") from error


def _end(row: ExecutionRow) -> str:
    if row.closed is None:
        return "-"
    return row.closed.error_code or row.closed.outcome or "-"
