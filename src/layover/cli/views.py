"""`layover views`: filters of `layover ls` that are kept under a name."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from layover.cli.doors import door_to_act, door_to_read
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
)
from layover.cli.exits import DONE
from layover.cli.options import HERE, At, By, Json, acting
from layover.cli.screen import brief, moment, print_json, print_table, say
from layover.cli.where import filters_of
from layover.model.shared import Page, builtins

if TYPE_CHECKING:
    from layover import SavedView

views = App(name="views", help="Saved views: filters of `layover ls` under a name. Each user has their own.")

Name = Annotated[str, Parameter(help="The name of the view.")]


@views.command(name="ls")
def list_views(*, by: By = "", at: At = HERE, json: Json = False) -> int:
    """List your views by name."""

    async def found() -> tuple[SavedView, ...]:
        async with door_to_read(at, acting(at, by)) as door:
            return await door.views()

    listed = asyncio.run(found())
    if json:
        print_json(Page(items=listed))
    elif not listed:
        say("No views.")
    else:
        rows = [[one.name, brief(builtins(one.filter)), moment(one.changed_at)] for one in listed]
        print_table([["NAME", "FILTER", "CHANGED"], *rows])
    return DONE


@views.command
def save(  # noqa: PLR0913 - each is an option
    name: Name,
    /,
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
    by: By = "",
    at: At = HERE,
    json: Json = False,
) -> int:
    """Save filters of `layover ls` under a name, in the place of what you have under it."""
    given = given_filters(
        workflow=workflow,
        status=status,
        tag=tag,
        **filters_of(where),
        correlation_id=correlation_id,
        error_code=error_code,
        since=since,
        until=until,
        min_duration=min_duration,
        max_duration=max_duration,
        min_resumes=min_resumes,
        resumed=resumed,
        user=user,
        on=on,
        node_type=node_type,
        q=q,
    )

    async def saved() -> SavedView:
        async with door_to_act(at, acting(at, by)) as door:
            return await door.save_view(name, **given)

    found = asyncio.run(saved())
    if json:
        print_json(found)
    else:
        say(f"Saved. `layover ls --view {found.name}` lists what it shows.")
    return DONE


@views.command
def delete(name: Name, /, *, by: By = "", at: At = HERE) -> int:
    """Delete one of your views."""

    async def deleted() -> None:
        async with door_to_act(at, acting(at, by)) as door:
            await door.delete_view(name)

    asyncio.run(deleted())
    say(f"Deleted: {name}")
    return DONE
