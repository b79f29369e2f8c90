"""`layover fork`: another execution that begins with results of one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from msgspec import UNSET

from layover.cli.acknowledgement import say_stored
from layover.cli.doors import door_to_act, door_to_read, is_applied
from layover.cli.exits import DONE
from layover.cli.id_prefix import execution_named
from layover.cli.json_argument import given_data
from layover.cli.options import HERE, At, By, ExecutionName, Json, Reason, acting
from layover.cli.screen import print_json, say

if TYPE_CHECKING:
    from layover import Execution, ForkPlan
    from layover.cli.options import Target

From = Annotated[
    str | None,
    Parameter(
        name="--from",
        help="Go on from this node, whose result and all behind it are dropped, or after the event of this number. "
        "Default: after the newest event.",
    ),
]
NewInput = Annotated[
    str | None,
    Parameter(
        name="--input",
        help="Another input, as JSON, @file, or - for standard input. Default: that of the origin.",
        allow_leading_hyphen=True,
    ),
]
NewVersion = Annotated[
    int | None, Parameter(name="--version", help="Another version of the workflow. Default: that of the origin.")
]
DryRun = Annotated[
    bool, Parameter(name="--dry-run", negative="", show_default=False, help="Only say what would be repeated.")
]


def fork(  # noqa: PLR0913 - each is a flag
    execution: ExecutionName,
    /,
    *,
    from_: From = None,
    input: NewInput = None,  # noqa: A002 - the word of the field
    version: NewVersion = None,
    dry_run: DryRun = False,
    reason: Reason = "",
    by: By = "",
    at: At = HERE,
    json: Json = False,
) -> int:
    """Begin another execution with results of one, which stays as it is."""
    start = int(from_) if from_ is not None and from_.isdecimal() else from_
    if dry_run:
        return _show(execution, start, version, by, at, json=json)
    given = UNSET if input is None else given_data(input, "--input")
    who = acting(at, by)

    async def forked() -> tuple[Execution, bool]:
        async with door_to_act(at, who) as door:
            origin = await execution_named(door, execution)
            made = await origin.fork(start, input=given, version=version, reason=reason)
            return made.info, is_applied(door)

    made, applied = asyncio.run(forked())
    if json:
        print_json(made)
        return DONE
    say_stored(f"{made.id} is a fork of {made.forked_from}; it is {made.status}.", at, applied=applied)
    return DONE


def _show(execution: str, start: str | int | None, version: int | None, by: str, at: Target, *, json: bool) -> int:
    async def planned() -> ForkPlan:
        async with door_to_read(at, acting(at, by)) as door:
            return await (await execution_named(door, execution)).plan_fork(start, version=version)

    found = asyncio.run(planned())
    if json:
        print_json(found)
        return DONE
    for what, names in (
        ("Kept", found.kept),
        ("Repeated", found.repeated),
        ("Results dropped", found.dropped),
        ("Called again", found.calls),
    ):
        say(f"{what}: {', '.join(names) or 'none'}")
    say("Nothing was changed.")
    return DONE
