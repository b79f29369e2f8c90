"""What operators do to executions: `layover pause`, `resume`, `cancel`, `retry`, `rewind`; and `signal`."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from layover import ResumeSignal
from layover.cli.acknowledgement import say_stored
from layover.cli.doors import door_to_act, door_to_read, is_applied
from layover.cli.exits import DONE, Stop
from layover.cli.id_prefix import execution_named
from layover.cli.json_argument import given_data
from layover.cli.options import HERE, At, By, ExecutionName, Json, Reason, acting
from layover.cli.screen import note, plural, print_json, say
from layover.errors import NotAllowed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover import Execution, ExecutionHandle, RepeatPlan, SignalReceipt
    from layover.cli.options import Target, Who

ResumeData = Annotated[
    str | None,
    Parameter(name="--data", help="Variables to set, as a JSON object, @file, or - for standard input."),
]
Until = Annotated[
    str | None, Parameter(name="--until", help="Go on by itself at this moment, such as 2026-11-20T08:00:00Z.")
]
UntilCron = Annotated[
    str | None,
    Parameter(name="--until-cron", help="Go on by itself at the next time of a cron line, such as '0 8 * * MON'."),
]
Zone = Annotated[str | None, Parameter(name="--zone", help="The time zone of the cron line. Default: UTC.")]
ResumeAt = Annotated[
    str | None, Parameter(name="--at", help="Not now, but by itself at this moment, such as 2026-11-20T08:00:00Z.")
]
ResumeCron = Annotated[
    str | None, Parameter(name="--cron", help="Not now, but by itself at the next time of a cron line.")
]
UntilSignal = Annotated[
    str | None, Parameter(name="--until-signal", help="Go on by itself when the signal of this name arrives.")
]
OnSignal = Annotated[
    str | None, Parameter(name="--on", help="Not now, but by itself when the signal of this name arrives.")
]
OnKey = Annotated[str | None, Parameter(name="--signal-key", help="The key of that signal.")]
OnFilter = Annotated[
    str | None,
    Parameter(name="--signal-filter", help="An expression that has to hold for it, such as 'signal.data.ok'."),
]
Never = Annotated[
    bool,
    Parameter(name="--only-by-hand", negative="", help="Not by itself: a moment that was set for it is cleared."),
]
Before = Annotated[
    str | None,
    Parameter(name="--before", help="Go on until it comes to this node, and pause there: an id, or a context id."),
]
OfNode = Annotated[str | None, Parameter(help="The node, as it was given. Default: all of them.")]
DryRun = Annotated[
    bool, Parameter(name="--dry-run", negative="", show_default=False, help="Only say what would be repeated.")
]
Node = Annotated[str, Parameter(help="The node to go back to; in a scope, its context id.")]
SignalName = Annotated[str, Parameter(help="The name of the signal.")]
SignalKey = Annotated[str, Parameter(show_default=False, help="Only executions that wait for the name with this key.")]
SignalData = Annotated[
    str | None,
    Parameter(name="--data", help="JSON, @file, or - for standard input.", allow_leading_hyphen=True),
]
SignalId = Annotated[str | None, Parameter(name="--id", help="The same id again is the same signal.")]


def pause(  # noqa: PLR0913 - each is a flag
    execution: ExecutionName,
    /,
    *,
    before: Before = None,
    until: Until = None,
    until_cron: UntilCron = None,
    zone: Zone = None,
    until_signal: UntilSignal = None,
    key: OnKey = None,
    filter: OnFilter = None,  # noqa: A002 - the word of the field
    reason: Reason = "",
    by: By = "",
    at: At = HERE,
    json: Json = False,
) -> int:
    """Hold an execution, at once or before a node: nothing of it starts until it is resumed.

    What is running comes to its end.
    """
    who, end, on = (
        acting(at, by),
        given_moment("--until", until),
        given_signal("--until-signal", until_signal, key, filter),
    )

    async def paused(one: ExecutionHandle) -> ExecutionHandle:
        held = await one.pause(reason, before=before, until=end, until_cron=until_cron, zone=zone, resume_on=on)
        if before is not None:
            await _note_if_passed(held, before)
        return held

    what = "Pause" if before is None else f"Breakpoint before {before}"
    return act_on(execution, at, who, what, paused, json=json)


async def _note_if_passed(execution: ExecutionHandle, node: str) -> None:
    """Say that an execution has come to a node already, to a user who may know."""
    with suppress(NotAllowed):
        async for one in execution.nodes(context_id=node):
            note(f"It has come to `{node}` already ({one.status}): it pauses there if a rewind or retry leads back.")


def clear_breakpoint(
    execution: ExecutionName, node: OfNode = None, /, *, by: By = "", at: At = HERE, json: Json = False
) -> int:
    """Do not pause an execution before a node; those of its workflow are cleared by `layover workflows`."""
    who = acting(at, by)
    return act_on(execution, at, who, "Clearing", lambda one: one.clear_breakpoint(node), json=json)


def resume(  # noqa: PLR0913 - each is a flag
    execution: ExecutionName,
    /,
    *,
    data: ResumeData = None,
    resume_at: ResumeAt = None,
    cron: ResumeCron = None,
    zone: Zone = None,
    on: OnSignal = None,
    key: OnKey = None,
    filter: OnFilter = None,  # noqa: A002 - the word of the field
    only_by_hand: Never = False,
    reason: Reason = "",
    by: By = "",
    at: At = HERE,
    json: Json = False,
) -> int:
    """Let an execution go on that was paused, or that waits for an operator after a failure."""
    who, given = acting(at, by), given_data(data, "--data")
    if given is not None and not isinstance(given, dict):
        raise Stop("--data: give a JSON object; its fields become variables.")
    if only_by_hand:
        if any(one is not None for one in (given, resume_at, cron, zone, on, key, filter)):
            raise Stop("--only-by-hand: give no --data, --at, --cron, --zone or --on with it.")
        return act_on(execution, at, who, "The end of the pause", lambda one: one.clear_resume(), json=json)
    when, signal = given_moment("--at", resume_at), given_signal("--on", on, key, filter)
    return act_on(
        execution,
        at,
        who,
        "Resume",
        lambda one: one.resume(given, reason=reason, at=when, cron=cron, zone=zone, on=signal),
        json=json,
    )


def cancel(execution: ExecutionName, /, *, reason: Reason = "", by: By = "", at: At = HERE, json: Json = False) -> int:
    """End an execution: running calls are asked to stop, and its pause points are closed."""
    who = acting(at, by)
    return act_on(execution, at, who, "Cancel", lambda one: one.cancel(reason), json=json)


def retry(
    execution: ExecutionName,
    /,
    *,
    dry_run: DryRun = False,
    reason: Reason = "",
    by: By = "",
    at: At = HERE,
    json: Json = False,
) -> int:
    """Go on with a failed execution, or with what waits for an operator, from what failed."""
    if dry_run:
        return show_plan(execution, at, by, lambda one: one.plan_retry(), json=json)
    who = acting(at, by)
    return act_on(execution, at, who, "Retry", lambda one: one.retry(reason=reason), json=json)


def rewind(  # noqa: PLR0913 - each is a flag
    execution: ExecutionName,
    node: Node,
    /,
    *,
    dry_run: DryRun = False,
    reason: Reason = "",
    by: By = "",
    at: At = HERE,
    json: Json = False,
) -> int:
    """Drop the results of a node and of all that came after it, and go on from there."""
    if dry_run:
        return show_plan(execution, at, by, lambda one: one.plan_rewind(node), json=json)
    who = acting(at, by)
    return act_on(execution, at, who, "Rewind", lambda one: one.rewind(node, reason=reason), json=json)


def signal(
    name: SignalName,
    key: SignalKey = "",
    /,
    *,
    data: SignalData = None,
    id: SignalId = None,  # noqa: A002 - the word of the field
    at: At = HERE,
    json: Json = False,
) -> int:
    """Send a signal: executions that wait for its name and key go on; it is stored for those that look back."""
    given = given_data(data, "--data")

    async def deliver() -> SignalReceipt:
        async with door_to_act(at, acting(at, "")) as door:
            return await door.signal(name, given, key=key, id=id)

    delivered = asyncio.run(deliver())
    if json:
        print_json(delivered)
    elif delivered.repeated:
        say(f"The signal {delivered.id} was sent before; nothing is changed.")
    elif delivered.matched:
        reached = plural(len(delivered.matched), "execution")
        say_stored(f"The signal {delivered.id} reached {reached}:", at, details=delivered.matched)
    else:
        say(f"The signal {delivered.id} is stored; no execution waits for it yet.")
    return DONE


def given_moment(flag: str, text: str | None) -> datetime | None:
    """Return the moment that a flag names."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise Stop(f"{flag}: `{text}` is not a moment with a time zone, such as 2026-11-20T08:00:00Z.")
    return found


def given_signal(flag: str, name: str | None, key: str | None, filter: str | None) -> ResumeSignal | None:  # noqa: A002 - the word of the field
    """Return the signal that flags name."""
    if name is None:
        if key is not None or filter is not None:
            raise Stop(f"--signal-key and --signal-filter belong to {flag}.")
        return None
    return ResumeSignal(signal=name, key=key or "", filter=filter or "")


def act_on(
    name: str,
    at: Target,
    who: Who,
    what: str,
    act: Callable[[ExecutionHandle], Awaitable[ExecutionHandle]],
    *,
    json: bool,
) -> int:
    """Do something to an execution, and say that it is stored."""

    async def acted() -> tuple[Execution, bool]:
        async with door_to_act(at, who) as door:
            return (await act(await execution_named(door, name))).info, is_applied(door)

    execution, applied = asyncio.run(acted())
    if json:
        print_json(execution)
        return DONE
    say_stored(f"{what} of {execution.id} is stored; it is {execution.status}{_end(execution)}.", at, applied=applied)
    return DONE


def show_plan(
    name: str, at: Target, by: str, plan: Callable[[ExecutionHandle], Awaitable[RepeatPlan]], *, json: bool
) -> int:
    """Say what an act would repeat."""

    async def planned() -> RepeatPlan:
        async with door_to_read(at, acting(at, by)) as door:
            return await plan(await execution_named(door, name))

    found = asyncio.run(planned())
    if json:
        print_json(found)
        return DONE
    for what, names in (
        ("Repeated", found.repeated),
        ("Results dropped", found.dropped),
        ("Points closed", found.superseded),
        ("Called again", found.calls),
        ("Variables taken back", found.variables),
    ):
        say(f"{what}: {', '.join(names) or 'none'}")
    say("Nothing was changed.")
    return DONE


def _end(execution: Execution) -> str:
    if execution.resume_at is not None:
        return f", and goes on by itself at {execution.resume_at}"
    return f", and goes on with the signal {execution.resume_on.signal}" if execution.resume_on is not None else ""
