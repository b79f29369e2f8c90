"""`layover doctor`: what keeps a database, or the executions in it, from working, and what to do about it."""

from __future__ import annotations

import asyncio

from layover.admin import doctor
from layover.cli.definitions import File  # noqa: TC001 - cyclopts reads the annotations
from layover.cli.exits import DONE, FAILED
from layover.cli.loading import load_definitions
from layover.cli.options import IN, In, Json, Nodes
from layover.cli.screen import print_json, say

_STYLES = {"ok": "green", "warning": "yellow", "problem": "red"}


def examine(*files: File, nodes: Nodes = (), at: In = IN, json: Json = False) -> int:
    """Look for what keeps a database or its executions from working, and say what to do; nothing is changed.

    It looks at the settings, this machine, the database and its executions. With workflows in Python or `--nodes`, as a
    worker is given them, it also names functions that open executions may call and that are not among them. Exit code
    1 if there is a problem; warnings alone are none.
    """
    functions = load_definitions(files, nodes).functions if files or nodes else None
    found = asyncio.run(doctor(at.db, nodes=functions, config=at.config))
    if json:
        print_json({"ok": found.ok, "findings": found.findings})
        return DONE if found.ok else FAILED
    for one in found.findings:
        say(f"{one.health:7}  {one.what}: {one.text}", _STYLES[one.health])
        if one.hint:
            say(f"         {one.hint}")
    return DONE if found.ok else FAILED
