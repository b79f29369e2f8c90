"""`layover purge`: delete executions some time after their end."""

from __future__ import annotations

import asyncio
from typing import Annotated

from cyclopts import Parameter

from layover.admin import purge
from layover.cli.exits import DONE
from layover.cli.options import Config, DatabaseOption, Json
from layover.cli.progress_line import ProgressLine
from layover.cli.screen import plural, print_json, say
from layover.cli.verify import DatabaseName  # noqa: TC001 - cyclopts reads the annotations

OlderThan = Annotated[
    str | None,
    Parameter(help="How long ago it must have ended, such as 30d. Without it only workflows with a retention count."),
]
DryRun = Annotated[bool, Parameter(name="--dry-run", negative="", help="Only say what would be deleted.")]


def purge_database(
    db: DatabaseName = None,
    *,
    older_than: OlderThan = None,
    dry_run: DryRun = False,
    config: Config = None,
    json: Json = False,
) -> int:
    """Delete executions that ended some time ago, with all that belongs to them; never one that is open.

    A workflow's own retention counts before `--older-than`. It works in small batches while engines are running.
    """
    place = DatabaseOption(db, config).address
    with ProgressLine(json=json) as line:
        done = asyncio.run(purge(place, older_than=older_than, dry_run=dry_run, on_progress=line.tell))
    if json:
        print_json({"dry_run": done.dry_run, "executions": done.executions, "workflows": done.workflows})
        return DONE
    verb = "would be deleted" if dry_run else "deleted"
    for workflow, count in done.workflows.items():
        if count:
            say(f"{workflow}: {count:,} {verb}")
    say(f"{plural(done.executions, 'execution')} {verb}")
    return DONE
