"""`layover doctor`: what keeps a database, or the executions in it, from working, and what to do about it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from layover.admin import doctor
from layover.cli.definitions import File  # noqa: TC001 - cyclopts reads the annotations
from layover.cli.doors import door_to_read
from layover.cli.exits import DONE, FAILED, Stop
from layover.cli.loading import load_definitions
from layover.cli.options import HERE, At, Json, Nodes
from layover.cli.screen import print_json, say

if TYPE_CHECKING:
    from layover.admin import Diagnosis
    from layover.cli.options import Target

_STYLES = {"ok": "green", "warning": "yellow", "problem": "red"}


def examine(*files: File, nodes: Nodes = (), at: At = HERE, json: Json = False) -> int:
    """Look for what keeps a database or its executions from working, and say what to do; nothing is changed.

    It looks at the settings, this machine, the database and its executions. With workflows in Python or `--nodes`, as a
    worker is given them, it also names functions that open executions may call and that are not among them. Exit code
    1 if there is a problem; warnings alone are none.

    With `--url`, a server examines itself, its database and the newest 10,000 open executions; that takes the key of an
    admin.
    """
    if at.server is not None:
        if files or nodes:
            raise Stop("A server examines itself; workflows and --nodes are for databases.")
        found = asyncio.run(_examined_by(at))
    else:
        functions = load_definitions(files, nodes).functions if files or nodes else None
        found = asyncio.run(doctor(at.db, nodes=functions, config=at.config))
    if json:
        print_json(found)
        return DONE if found.ok else FAILED
    for one in found.findings:
        say(f"{one.health:7}  {one.what}: {one.text}", _STYLES[one.health])
        if one.hint:
            say(f"         {one.hint}")
    return DONE if found.ok else FAILED


async def _examined_by(server: Target) -> Diagnosis:
    async with door_to_read(server) as door:
        return await door.doctor()
