"""`layover audit`: what people did."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from layover.cli.doors import door_to_read
from layover.cli.exits import DONE, Stop
from layover.cli.options import HERE, At, Json
from layover.cli.screen import note, print_json, print_table, say

if TYPE_CHECKING:
    from layover import AuditEntry, Page

_MOST = 100

audit = App(name="audit", help="What people did, and when.")

User = Annotated[str | None, Parameter(help="Only what this user did.")]
Act = Annotated[str | None, Parameter(help="Only acts of this kind, such as execution.pause.")]
Target = Annotated[str | None, Parameter(help="Only what was done to this: an id, or a name.")]
ExecutionId = Annotated[str | None, Parameter(name="--execution", help="Only what was done to this execution.")]
Limit = Annotated[int, Parameter(help="How many at most.")]
Cursor = Annotated[str | None, Parameter(help="Where to continue a list: the cursor that the end of the list names.")]


@audit.command(name="ls")
def list_acts(  # noqa: PLR0913 - each is an option
    *,
    user: User = None,
    act: Act = None,
    target: Target = None,
    execution: ExecutionId = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    at: At = HERE,
    json: Json = False,
) -> int:
    """List what people did, newest first."""
    if not 0 < limit <= _MOST:
        raise Stop(f"--limit: from 1 to {_MOST}, not {limit}.")

    async def page() -> Page[AuditEntry]:
        async with door_to_read(at) as door:
            return await door.audit(user=user, act=act, target=target, execution_id=execution).page(limit, cursor)

    found = asyncio.run(page())
    if json:
        print_json(found)
        return DONE
    if not found.items:
        say("No audit entries.")
        return DONE
    table = [["AT", "USER", "ACT", "TARGET", "BY"]]
    table += [[str(one.at), one.user or "-", one.act, one.target, one.credential or "-"] for one in found.items]
    print_table(table)
    if found.next is not None:
        note(f"There may be more: --cursor {found.next}")
    return DONE
