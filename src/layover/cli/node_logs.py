"""`layover logs`: what the nodes of an execution have logged."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from layover.cli.doors import door_to_read
from layover.cli.exits import DONE
from layover.cli.id_prefix import execution_named
from layover.cli.json_lines import print_json_line
from layover.cli.options import HERE, At, ExecutionName, Json
from layover.cli.screen import note, say

if TYPE_CHECKING:
    from layover import LogLine
    from layover.cli.options import Target

_LONGEST = 2_000

Node = Annotated[str | None, Parameter(name="--node", help="Only lines of this node; in a scope, its context id.")]
Follow = Annotated[
    bool,
    Parameter(name=["--follow", "-f"], negative="", show_default=False, help="Stay until its end."),
]


def print_logs(
    execution: ExecutionName, /, *, node: Node = None, follow: Follow = False, at: At = HERE, json: Json = False
) -> int:
    """Print what the nodes of an execution have logged, if that is kept: with the setting `node_logs`.

    `--json` prints one JSON object for each line.
    """
    count = asyncio.run(_print(at, execution, node, follow=follow, json=json))
    if not count and not json:
        of = f"its node `{node}`" if node is not None else "it"
        note(f"No lines of {of} are kept. An engine keeps what its nodes log if it runs with LAYOVER_NODE_LOGS=true.")
    return DONE


async def _print(at: Target, name: str, node: str | None, *, follow: bool, json: bool) -> int:
    count = 0
    async with door_to_read(at) as door:
        async for line in (await execution_named(door, name)).logs(node=node, follow=follow):
            count += 1
            if json:
                print_json_line(line)
            else:
                _say(line)
    return count


def _say(line: LogLine) -> None:
    attempt = f"#{line.attempt}" if line.attempt > 1 else ""
    first, *more = line.text.splitlines() or [""]
    say(f"{line.at}  {line.level:<7}  {line.context_id}{attempt}  {first}", most=_LONGEST)
    for text in more:
        say(f"    {text}", most=_LONGEST)
