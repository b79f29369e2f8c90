"""What operators do to executions: `layover pause`, `resume`, `cancel`, `retry`, `rewind`; and `signal`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from layover.cli.acknowledgement import say_taken
from layover.cli.client import to_act
from layover.cli.exits import DONE, Stop
from layover.cli.id_prefix import execution_named
from layover.cli.json_argument import given_data
from layover.cli.options import HERE, At, By, ExecutionName, Json, Reason, acting
from layover.cli.screen import plural, print_json, say

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover.api.resources.executions import Execution
    from layover.api.resources.signals_and_callbacks import Delivered
    from layover.cli.client import Client
    from layover.cli.options import Target, Who

ResumeData = Annotated[
    str | None,
    Parameter(name="--data", help="Variables to set, as a JSON object, @file, or - for standard input."),
]
Node = Annotated[str, Parameter(help="The node to go back to; in a scope, its context id.")]
SignalName = Annotated[str, Parameter(help="The name of the signal.")]
SignalKey = Annotated[str, Parameter(show_default=False, help="Which one of those who wait for the name.")]
SignalData = Annotated[
    str | None,
    Parameter(name="--data", help="JSON, @file, or - for standard input.", allow_leading_hyphen=True),
]
SignalId = Annotated[str | None, Parameter(name="--id", help="The same id again is the same signal.")]


def pause(execution: ExecutionName, /, *, reason: Reason = "", by: By = "", at: At = HERE, json: Json = False) -> int:
    """Hold an execution: nothing of it starts until it is resumed, and what is running comes to its end."""
    who = acting(at, by)
    return _act(execution, at, who, "Pause", lambda client, id_: client.pause(id_, reason), json=json)


def resume(
    execution: ExecutionName,
    /,
    *,
    data: ResumeData = None,
    reason: Reason = "",
    by: By = "",
    at: At = HERE,
    json: Json = False,
) -> int:
    """Let an execution go on that was paused, or that waits for an operator after a failure."""
    who, given = acting(at, by), given_data(data, "--data")
    if given is not None and not isinstance(given, dict):
        raise Stop("--data: give a JSON object; its fields become variables.")
    return _act(execution, at, who, "Resume", lambda client, id_: client.resume(id_, given, reason), json=json)


def cancel(execution: ExecutionName, /, *, reason: Reason = "", by: By = "", at: At = HERE, json: Json = False) -> int:
    """End an execution: what is running is asked to stop, and nobody waits for anything any more."""
    who = acting(at, by)
    return _act(execution, at, who, "Cancel", lambda client, id_: client.cancel(id_, reason), json=json)


def retry(execution: ExecutionName, /, *, by: By = "", at: At = HERE, json: Json = False) -> int:
    """Go on with a failed execution, or with what waits for an operator, from what failed."""
    who = acting(at, by)
    return _act(execution, at, who, "Retry", lambda client, id_: client.retry(id_), json=json)


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
    return _act(execution, at, who, "Rewind", lambda client, id_: client.rewind(id_, node, reason), json=json)


def signal(
    name: SignalName,
    key: SignalKey = "",
    /,
    *,
    data: SignalData = None,
    id: SignalId = None,  # noqa: A002 - as everybody says
    at: At = HERE,
    json: Json = False,
) -> int:
    """Bring a signal: whoever waits for its name and key goes on, and it is kept for those who look back."""
    given = given_data(data, "--data")

    async def deliver() -> Delivered:
        async with to_act(at, acting(at, "")) as client:
            return await client.deliver(name, key, given, id)

    delivered = asyncio.run(deliver())
    if json:
        print_json(delivered)
    elif delivered.repeated:
        say(f"The signal {delivered.id} was known; nothing is changed.")
    elif delivered.matched:
        say_taken(f"The signal {delivered.id} reached {plural(len(delivered.matched), 'execution')}:", at)
        for id_ in delivered.matched:
            say(f"  {id_}")
    else:
        say(f"The signal {delivered.id} is stored; no execution waits for it yet.")
    return DONE


def _act(
    name: str, at: Target, who: Who, what: str, act: Callable[[Client, str], Awaitable[Execution]], *, json: bool
) -> int:
    async def acted() -> tuple[Execution, bool]:
        async with to_act(at, who) as client:
            return await act(client, await execution_named(client, name)), client.is_applied

    execution, applied = asyncio.run(acted())
    if json:
        print_json(execution)
        return DONE
    say_taken(f"{what} of {execution.id} is taken; it is {execution.status}.", at, applied=applied)
    return DONE
