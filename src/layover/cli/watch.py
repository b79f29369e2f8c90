"""`layover watch`: one execution, or all of them, as they go on."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, TypeVar

from cyclopts import Parameter

from layover import Event
from layover.cli.doors import door_to_read, page_of
from layover.cli.exits import DONE, FAILED
from layover.cli.follow import Following
from layover.cli.id_prefix import execution_named
from layover.cli.json_lines import print_json_line
from layover.cli.live_view import Lines, Picture
from layover.cli.log_options import AS_USUAL, WATCHING
from layover.cli.options import HERE, At, Json
from layover.cli.screen import OUT, STYLES, moment, note, say_pieces
from layover.cli.tree import now
from layover.core.moments import Moment
from layover.errors import RateLimited, Unavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover import ExecutionHandle, ExecutionSummary
    from layover.cli.live_view import View
    from layover.cli.options import Target
    from layover.errors import LayoverError
    from layover.interface.door import Door

T = TypeVar("T")

_BETWEEN_LOOKS = 1.0  # seconds
_NEWEST = 200  # executions that are looked at each time
_OPEN = ("pending", "running", "pausing", "waiting", "paused")

Name = Annotated[
    str | None, Parameter(help="The id of an execution, or its first characters; without it, all are followed.")
]


def watch(execution: Name = None, /, *, at: At = HERE, json: Json = False) -> int:
    """Follow an execution until its end, also while it rests: its events, and the progress that its nodes report.

    Without an id, a line is printed whenever an execution changes its status, until Ctrl-C: the newest 200 executions,
    and the newest 200 that are open. `--json` prints one JSON object for each line. If the database or the server goes
    away meanwhile, it waits until that is back.
    """
    AS_USUAL.configure(at.configuration, WATCHING)
    if execution is None:
        asyncio.run(_watch_all(at, json=json))
        return DONE
    return asyncio.run(_watch_one(at, execution, json=json))


async def _watch_one(at: Target, name: str, *, json: bool) -> int:
    async with door_to_read(at) as door:
        execution = await execution_named(door, name)
        if json:
            await _print_events(execution)
        else:
            is_live = OUT.is_terminal
            title = f"{execution.workflow} {execution.id}"
            view = Picture(title, await execution.graph()) if is_live else Lines()
            try:
                await _follow(door, execution, view)
            finally:
                view.end()
        await _once_it_is_there(execution.refresh)
        if not json:
            say_pieces([(f"{execution.id} ", ""), (execution.status, STYLES.get(execution.status, ""))])
        return DONE if execution.status == "completed" else FAILED


async def _follow(door: Door, execution: ExecutionHandle, view: View) -> None:
    """Follow an execution to its end, across outages of its server."""
    since = 0
    while True:
        following = Following(door, execution, view, stay=True, since=since)
        try:
            await following.follow()
        except (Unavailable, RateLimited) as error:
            since = following.next_seq
            await _once_it_is_there(execution.refresh, error)
        else:
            return


async def _print_events(execution: ExecutionHandle) -> None:
    since = 0
    while True:
        try:
            async for one in execution.watch(since=since):
                print_json_line(one)
                since = one.seq + 1 if isinstance(one, Event) else since
        except (Unavailable, RateLimited) as error:
            await _once_it_is_there(execution.refresh, error)
        else:
            return


async def _watch_all(at: Target, *, json: bool) -> None:
    seen: dict[str, str] = {}
    async with door_to_read(at) as door:
        found = await _newest(door)  # what cannot be reached at first is told, and not waited for
        with suppress(BrokenPipeError):
            while True:
                for one in found:
                    if seen.get(one.id) != one.status:
                        _print(one, json=json, changed=one.id in seen)
                        seen[one.id] = one.status
                await asyncio.sleep(_BETWEEN_LOOKS)
                found = await _once_it_is_there(lambda: _newest(door))


async def _once_it_is_there(read: Callable[[], Awaitable[T]], error: LayoverError | None = None) -> T:
    """Return what is read, when the database or the server can be reached; say once that it cannot (`error`)."""
    is_told = False
    while True:
        if error is not None and not is_told:
            note(f"{error.message} It is tried again.", "yellow")
            is_told = True
        if error is not None:
            await asyncio.sleep(_BETWEEN_LOOKS)
        try:
            found = await read()
        except (Unavailable, RateLimited) as again:
            error = again
        else:
            if is_told:
                note("It is there again.", "green")
            return found


async def _newest(door: Door) -> list[ExecutionSummary]:
    """Return the newest executions, and the newest that are open, the oldest first."""
    newest = (await page_of(door.executions(), _NEWEST)).items
    still_open = (await page_of(door.executions(status=_OPEN), _NEWEST)).items
    found = {one.id: one for one in (*newest, *still_open)}
    return sorted(found.values(), key=lambda one: (one.created_at.milliseconds, one.id))


def _print(one: ExecutionSummary, *, json: bool, changed: bool) -> None:
    if json:
        print_json_line(one)
        return
    at = one.finished_at or one.paused_at or (Moment.of(now()) if changed else one.created_at)
    status = (one.status, STYLES.get(one.status, ""))
    say_pieces([(f"{moment(at)}  {one.id}  {one.workflow}  ", ""), status])
