"""`layover verify`: check a whole database against everything that must hold of it, without changing anything."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from layover.admin import verify
from layover.cli.exits import DONE, FAILED
from layover.cli.options import Config, DatabaseOption, Json
from layover.cli.progress_line import ProgressLine
from layover.cli.screen import plural, print_json, say

if TYPE_CHECKING:
    from layover.admin import Verification, Violation

DatabaseName = Annotated[
    str | None,
    Parameter(
        show_default=False,
        help="The path of a database, or its address such as sqlite:///app.db. Environment: LAYOVER_DB.",
    ),
]


def verify_database(db: DatabaseName = None, *, config: Config = None, json: Json = False) -> int:
    """Check everything that must hold of a database. Exit code 0, 1 if something does not, 2 if it cannot be read.

    It only reads, and may be used while engines are running.
    """
    place = DatabaseOption(db, config).address
    with ProgressLine(json=json) as line:
        found = asyncio.run(verify(place, on_progress=line.tell, on_violation=None if json else _say_violation))
    if json:
        print_json({"ok": found.ok, **_fields(found)})
    else:
        _say_sum(found)
    return DONE if found.ok else FAILED


def _fields(found: Verification) -> dict[str, object]:
    return {name: getattr(found, name) for name in found.__struct_fields__}


def _say_violation(violation: Violation) -> None:
    say(f"{violation.execution_id or 'database'}: {violation.message} [{violation.code}]", "red")


def _say_sum(found: Verification) -> None:
    sum_ = "no violations" if found.ok else plural(len(found.violations), "violation")
    line = f"{plural(found.executions, 'execution')}, {plural(found.events, 'event')}: {sum_}"
    say(line, "green" if found.ok else "red")
    if found.moving:
        told = f"{plural(found.moving, 'execution')} changed too fast: their points and commands were not checked"
        say(told, "yellow")
