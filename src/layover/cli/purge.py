"""`layover purge`: delete executions some time after their end."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Annotated

import msgspec
from cyclopts import Parameter

from layover.bootstrap import inspectable_store
from layover.cli.exits import DONE, Stop
from layover.cli.options import DEFAULT_DB, Json
from layover.cli.screen import ERR, plural, print_json, say
from layover.cli.verify import Database  # noqa: TC001 - cyclopts reads the annotations
from layover.core.definitions.durations import parse_duration
from layover.runtime.dispatch.purger import horizons, purge_workflow
from layover.runtime.plans import Plans

if TYPE_CHECKING:
    from collections.abc import Callable

_ALL = 2**31

OlderThan = Annotated[
    str | None,
    Parameter(help="How long ago it must have ended, such as 30d. Without it only workflows with a retention count."),
]
DryRun = Annotated[bool, Parameter(name="--dry-run", negative="", help="Only say what would be deleted.")]


def purge_database(
    db: Database = DEFAULT_DB, *, older_than: OlderThan = None, dry_run: DryRun = False, json: Json = False
) -> int:
    """Delete executions that ended some time ago, with all that belongs to them; never one that is open.

    A workflow's own retention counts before `--older-than`. It works in small batches while engines are running.
    """
    try:
        kept_for = parse_duration(older_than) if older_than is not None else None
    except ValueError as error:
        raise Stop(f"--older-than: {error}") from error
    status = ERR.status("") if ERR.is_terminal and not json else None

    def tell(count: int) -> None:
        if status is not None:
            status.start()
            status.update(f"{count:,} deleted")

    try:
        counts = asyncio.run(_purge(db, kept_for, tell, dry_run=dry_run))
    except msgspec.MsgspecError as error:
        raise Stop(f"{db}: {error}") from error
    finally:
        if status is not None:
            status.stop()
    if json:
        print_json({"dry_run": dry_run, "executions": sum(counts.values()), "workflows": counts})
        return DONE
    verb = "would be deleted" if dry_run else "deleted"
    for workflow, count in counts.items():
        if count:
            say(f"{workflow}: {count:,} {verb}")
    say(f"{plural(sum(counts.values()), 'execution')} {verb}")
    return DONE


async def _purge(db: str, kept_for: int | None, tell: Callable[[int], None], *, dry_run: bool) -> dict[str, int]:
    """Return how many executions of each workflow were deleted, or would be."""
    store = inspectable_store(db)
    await store.open_to_read()  # a file that is not there is not made, to find nothing in it
    try:
        before = await horizons(store, Plans(store), await store.now(), kept_for)
        if dry_run:
            return {name: len(await store.expendable(moment, _ALL, name)) for name, moment in before}
    finally:
        await store.close()
    await store.open(f"purge-{os.getpid()}")
    try:
        counts = {name: 0 for name, _ in before}
        for name, moment in before:
            async for deleted in purge_workflow(store, name, moment):
                counts[name] += deleted
                tell(sum(counts.values()))
        return counts
    finally:
        await store.close()
