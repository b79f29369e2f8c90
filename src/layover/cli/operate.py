"""What operators do to executions: `layover pause`, `resume`, `cancel`, `retry`, `rewind`; and `signal`."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from layover.cli.acknowledgement import say_stored
from layover.cli.doors import door_to_act, is_applied
from layover.cli.exits import DONE, Stop
from layover.cli.id_prefix import execution_named
from layover.cli.json_argument import given_data
from layover.cli.options import HERE, At, By, ExecutionName, Json, Reason, acting
from layover.cli.screen import plural, print_json, say

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover import Execution, ExecutionHandle, SignalReceipt
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
Never = Annotated[
    bool,
    Parameter(name="--only-by-hand", negative="", help="Not by itself: a moment that was set for it is cleared."),
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
    until: Until = None,
    until_cron: UntilCron = None,
    zone: Zone = None,
    reason: Reason = "",
    by: By = "",
    at: At = HERE,
    json: Json = False,
) -> int:
    """Hold an execution: nothing of it starts until it is resumed, and what is running comes to its end."""
    who, end = acting(at, by), _moment("--until", until)
    return _act(
        execution,
        at,
        who,
        "Pause",
        lambda one: one.pause(reason, until=end, until_cron=until_cron, zone=zone),
        json=json,
    )


def resume(  # noqa: PLR0913 - each is a flag
    execution: ExecutionName,
    /,
    *,
    data: ResumeData = None,
    resume_at: ResumeAt = None,
    cron: ResumeCron = None,
    zone: Zone = None,
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
        if given is not None or resume_at is not None or cron is not None or zone is not None:
            raise Stop("--only-by-hand: give no --data, --at, --cron or --zone with it.")
        return _act(execution, at, who, "The end of the pause", lambda one: one.clear_resume(), json=json)
    when = _moment("--at", resume_at)
    return _act(
        execution,
        at,
        who,
        "Resume",
        lambda one: one.resume(given, reason=reason, at=when, cron=cron, zone=zone),
        json=json,
    )


def cancel(execution: ExecutionName, /, *, reason: Reason = "", by: By = "", at: At = HERE, json: Json = False) -> int:
    """End an execution: running calls are asked to stop, and its pause points are closed."""
    who = acting(at, by)
    return _act(execution, at, who, "Cancel", lambda one: one.cancel(reason), json=json)


def retry(execution: ExecutionName, /, *, reason: Reason = "", by: By = "", at: At = HERE, json: Json = False) -> int:
    """Go on with a failed execution, or with what waits for an operator, from what failed."""
    who = acting(at, by)
    return _act(execution, at, who, "Retry", lambda one: one.retry(reason=reason), json=json)


def rewind(
    execution: ExecutionName,
    node: Node,
    /,
    *,
    reason: Reason = "",
    by: By = "",
    at: At = HERE,
    json: Json = False,
) -> int:
    """Drop the results of a node and of all that came after it, and go on from there."""
    who = acting(at, by)
    return _act(execution, at, who, "Rewind", lambda one: one.rewind(node, reason=reason), json=json)


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


def _moment(flag: str, text: str | None) -> datetime | None:
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


def _act(
    name: str,
    at: Target,
    who: Who,
    what: str,
    act: Callable[[ExecutionHandle], Awaitable[ExecutionHandle]],
    *,
    json: bool,
) -> int:
    async def acted() -> tuple[Execution, bool]:
        async with door_to_act(at, who) as door:
            return (await act(await execution_named(door, name))).info, is_applied(door)

    execution, applied = asyncio.run(acted())
    if json:
        print_json(execution)
        return DONE
    ends = f", and goes on by itself at {execution.resume_at}" if execution.resume_at is not None else ""
    say_stored(f"{what} of {execution.id} is stored; it is {execution.status}{ends}.", at, applied=applied)
    return DONE
