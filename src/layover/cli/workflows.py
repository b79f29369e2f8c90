"""`layover workflows`: list the workflows of a database, see where one rests, hold it as a whole, and let it go on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from layover.cli.doors import door_to_act, door_to_read
from layover.cli.exits import DONE, Stop
from layover.cli.operate import (
    Before,
    Never,
    OfNode,
    OnFilter,
    OnKey,
    OnSignal,
    ResumeAt,
    ResumeCron,
    Until,
    UntilCron,
    UntilSignal,
    Zone,
    given_moment,
    given_signal,
)
from layover.cli.options import HERE, At, By, Json, Reason, acting
from layover.cli.screen import plural, print_json, print_table, print_text, say
from layover.model.shared import Page

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover import Resting, WorkflowChange, WorkflowHandle, WorkflowSource, WorkflowVersion
    from layover.cli.options import Target, Who

workflows = App(name="workflows", help="Whole workflows: list them, hold one, and let it go on.")

Name = Annotated[str, Parameter(help="The name of the workflow.")]
OfVersion = Annotated[int | None, Parameter(help="The number of a version; the newest if it is not given.")]
Running = Annotated[
    bool, Parameter(negative="", show_default=False, help="Pause what has begun, too, and not only what starts.")
]


@workflows.command(name="ls")
def list_workflows(*, at: At = HERE, json: Json = False) -> int:
    """List workflows by name, with their states."""

    async def found() -> list[WorkflowVersion]:
        async with door_to_read(at) as door:
            return await door.workflows().all()

    listed = asyncio.run(found())
    if json:
        print_json(Page(items=tuple(listed)))
    elif not listed:
        say("No workflows.")
    else:
        rows = [[one.name, str(one.version), f"{one.state}{_end(one)}", one.state_reason] for one in listed]
        print_table([["WORKFLOW", "VERSION", "STATE", "REASON"], *rows])
    return DONE


@workflows.command
def resting(name: Name, /, *, at: At = HERE, json: Json = False) -> int:
    """Show where the executions of a workflow rest that have not ended: by status, and by the node where they wait."""

    async def found() -> Resting:
        async with door_to_read(at) as door:
            return await (await door.workflow(name)).resting()

    rests = asyncio.run(found())
    if json:
        print_json(rests)
        return DONE
    if not rests.executions:
        say(f"Nothing of {name} is under way.")
    else:
        say(", ".join(f"{count} {status}" for status, count in rests.executions.items()))
    if rests.nodes:
        rows = [[one.id, one.kind, str(one.count), str(one.since)] for one in rests.nodes]
        print_table([["NODE", "WAITS FOR", "COUNT", "SINCE"], *rows])
    if rests.more:
        say("There are many: not all were counted.")
    return DONE


@workflows.command
def source(name: Name, /, *, version: OfVersion = None, at: At = HERE, json: Json = False) -> int:
    """Print the text of a workflow as it was written, with its comments.

    Of one that was never given as text, such as one that is built in Python, the definition is written as YAML.
    """

    async def found() -> WorkflowSource:
        async with door_to_read(at) as door:
            return await (await door.workflow(name, version=version)).source()

    kept = asyncio.run(found())
    if json:
        print_json(kept)
    else:
        print_text(kept.text)
    return DONE


@workflows.command
def pause(  # noqa: PLR0913 - each is a flag
    name: Name,
    /,
    *,
    before: Before = None,
    running: Running = False,
    until: Until = None,
    until_cron: UntilCron = None,
    zone: Zone = None,
    until_signal: UntilSignal = None,
    signal_key: OnKey = None,
    signal_filter: OnFilter = None,
    reason: Reason = "",
    by: By = "",
    at: At = HERE,
    json: Json = False,
) -> int:
    """Hold what starts of a workflow from now on, until it is resumed; or pause each execution before a node."""
    end, on = given_moment("--until", until), given_signal("--until-signal", until_signal, signal_key, signal_filter)
    return _act(
        name,
        at,
        acting(at, by),
        lambda one: one.pause(
            reason, before=before, running=running, until=end, until_cron=until_cron, zone=zone, resume_on=on
        ),
        json=json,
    )


@workflows.command
def clear_breakpoint(name: Name, node: OfNode = None, /, *, by: By = "", at: At = HERE, json: Json = False) -> int:
    """Let executions of a workflow no longer pause before a node; those that are paused stay so."""
    return _act(name, at, acting(at, by), lambda one: one.clear_breakpoint(node), json=json)


@workflows.command
def resume(  # noqa: PLR0913 - each is a flag
    name: Name,
    /,
    *,
    resume_at: ResumeAt = None,
    cron: ResumeCron = None,
    zone: Zone = None,
    on: OnSignal = None,
    signal_key: OnKey = None,
    signal_filter: OnFilter = None,
    only_by_hand: Never = False,
    by: By = "",
    at: At = HERE,
    json: Json = False,
) -> int:
    """Let a workflow go on, and what was held with it."""
    who = acting(at, by)
    if only_by_hand:
        if any(one is not None for one in (resume_at, cron, zone, on, signal_key, signal_filter)):
            raise Stop("--only-by-hand: give no --at, --cron, --zone or --on with it.")
        return _act(name, at, who, lambda one: one.clear_resume(), json=json)
    when, signal = given_moment("--at", resume_at), given_signal("--on", on, signal_key, signal_filter)
    return _act(name, at, who, lambda one: one.resume(at=when, cron=cron, zone=zone, on=signal), json=json)


def _act(
    name: str,
    at: Target,
    who: Who,
    act: Callable[[WorkflowHandle], Awaitable[WorkflowChange]],
    *,
    json: bool,
) -> int:
    async def acted() -> WorkflowChange:
        async with door_to_act(at, who) as door:
            return await act(await door.workflow(name))

    change = asyncio.run(acted())
    if json:
        print_json(change)
        return DONE
    told = f"; {plural(change.executions, 'execution')} with it" if change.executions else ""
    more = " There are more: give the same command again." if change.more else ""
    stops = f" Its executions pause before {', '.join(sorted(change.breakpoints))}." if change.breakpoints else ""
    say(f"The workflow {change.name} is {change.state}{_end(change)}{told}.{more}{stops}")
    return DONE


def _end(one: WorkflowVersion | WorkflowChange) -> str:
    """Return when a pause ends by itself, if it does."""
    if one.resume_at is not None:
        return f" until {one.resume_at}"
    return f" until the signal {one.resume_on.signal}" if one.resume_on is not None else ""
