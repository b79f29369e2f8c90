"""`layover resume-queue`: the resume queue of an execution."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from layover.cli.doors import door_to_read, page_of
from layover.cli.exits import DONE
from layover.cli.id_prefix import execution_named
from layover.cli.options import HERE, At, Cursor, ExecutionName, Json, Limit
from layover.cli.screen import STYLES, brief, moment, note, print_json, say, say_pieces

if TYPE_CHECKING:
    from layover import ResumeEntry


def print_resume_queue(
    execution: ExecutionName, /, *, limit: Limit = 50, cursor: Cursor = None, at: At = HERE, json: Json = False
) -> int:
    """List what was answered at the pause points of an execution, in that order, and what became of it."""

    async def run() -> int:
        async with door_to_read(at) as door:
            page = await page_of((await execution_named(door, execution)).resume_queue(), limit, cursor)
        if json:
            print_json(page)
            return DONE
        for entry in page.items:
            _print_entry(entry)
        if not page.items:
            say("Nothing was answered yet.")
        if page.next is not None:
            note(f"There may be more: --cursor {page.next}")
        return DONE

    return asyncio.run(run())


def _print_entry(entry: ResumeEntry) -> None:
    position = f" (position {entry.position})" if entry.position is not None else ""
    by = f" by {entry.answered_by}" if entry.answered_by else ""
    say_pieces(
        [
            (f"{moment(entry.queued_at)}  ", ""),
            (f"{entry.status}{position}", STYLES.get(entry.status, "")),
            (f"  {entry.context_id}{by}: {brief(entry.answer)}", ""),
        ]
    )
    if entry.failure_reason is not None:
        say(f"    {entry.failure_reason}", "red")
