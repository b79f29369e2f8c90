"""`layover top`: what runs, what waits and for what, and how fast, drawn again and again; or once."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import msgspec
from cyclopts import Parameter
from rich.console import Group
from rich.live import Live
from rich.text import Text

from layover import ExecutionSummary
from layover.admin import OperatorEngine, WorkQueue, queue_of, without_password
from layover.cli.doors import door_to_read, page_of
from layover.cli.exits import DONE, Stop
from layover.cli.log_options import AS_USUAL, DRAWING
from layover.cli.options import HERE, At, Json
from layover.cli.screen import OUT, STYLES, print_json, say_pieces, styled
from layover.core.definitions.durations import brief_duration, parse_duration
from layover.core.moments import Moment
from layover.errors import LayoverError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from layover.cli.options import Target
    from layover.cli.screen import Pieces
    from layover.interface.door import Door

_CLOSED = ("completed", "failed", "cancelled")
_OPEN = ("pending", "running", "pausing", "waiting", "paused")
_POINTS = 1_000  # that are looked at in a database
_POINTS_OF_SERVER = 100  # of a server, which counts requests
_SHOWN = 10

Once = Annotated[
    bool, Parameter(name="--once", negative="", show_default=False, help="Print one picture and end; so without a tty.")
]
Every = Annotated[str, Parameter(name="--every", help="How long between two pictures.")]


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """Executions a second between two looks."""

    started: float
    ended: float


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """What runs and what waits at one moment.

    `waits` counts open pause points by kind: of the oldest ones only, if there are `more`. What only a database can
    tell (`queue`) is missing from a server; `rates` are those since the look before.
    """

    at: Moment
    executions: dict[str, int]
    waits: dict[str, int]
    more: bool
    running: tuple[ExecutionSummary, ...]
    longest_pause: ExecutionSummary | None = None
    queue: WorkQueue | None = None
    rates: Rates | None = None


def top(*, once: Once = False, every: Every = "5s", at: At = HERE, json: Json = False) -> int:
    """Show live how many executions there are, what runs, what waits and for what, and how fast work is done.

    Ctrl-C ends it. Due executions and instances are known to a database only, not to a server.
    """
    try:
        seconds = parse_duration(every) / 1000
    except ValueError as error:
        raise Stop(f"--every: {error}.") from error
    if seconds <= 0:
        raise Stop("--every: above zero, such as 5s.")
    AS_USUAL.configure(at.configuration, DRAWING)
    if once or json or not OUT.is_terminal:
        found = asyncio.run(_once(at))
        if json:
            print_json(found)
        else:
            for line in _lines(found, _place(at)):
                say_pieces(line)
        return DONE
    with suppress(KeyboardInterrupt):
        asyncio.run(_live(at, seconds))
    return DONE


async def _once(at: Target) -> Overview:
    async with door_to_read(at) as door:
        return await look(door)


async def _live(at: Target, seconds: float) -> None:
    async with door_to_read(at) as door:
        shown = await look(door)

        def draw(told: str = "") -> None:
            live.update(_draw(shown, at, told), refresh=True)

        with Live(_draw(shown, at), console=OUT, screen=True, auto_refresh=False) as live:
            live.refresh()
            while True:
                await asyncio.sleep(seconds)
                try:
                    shown = since(shown, await _look_again(door, draw))
                except LayoverError as error:  # it may be away for a while: the last picture stays
                    draw(error.message)
                else:
                    draw()


async def _look_again(door: Door, tell: Callable[[str], None]) -> Overview:
    """Look once, and tell every second how long there has been no answer."""
    looking = asyncio.ensure_future(look(door))
    began = time.monotonic()
    try:
        while not (await asyncio.wait([looking], timeout=1.0))[0]:
            tell(f"no answer for {brief_duration(round(time.monotonic() - began) * 1000)}")
    finally:
        looking.cancel()
    return looking.result()


async def look(door: Door) -> Overview:
    """Look once."""
    is_database = isinstance(door, OperatorEngine)
    points = await page_of(door.points(), _POINTS if is_database else _POINTS_OF_SERVER)
    running = await door.executions(status=("running", "pausing")).page(_SHOWN)
    paused = await door.executions(order="paused").page(1)
    return Overview(
        at=Moment.of(time.time_ns() // 1_000_000),
        executions=dict((await door.counts()).items()),
        waits=dict(Counter(point.kind for point in points.items).most_common()),
        more=points.next is not None,
        running=running.items,
        longest_pause=paused.items[0] if paused.items else None,
        queue=await queue_of(door) if isinstance(door, OperatorEngine) else None,
    )


def since(before: Overview, now: Overview) -> Overview:
    """Return what is seen now, with how fast it came about."""
    seconds = max(now.at.milliseconds - before.at.milliseconds, 1) / 1000

    def change(*statuses: str) -> int:
        return sum(now.executions.get(one, 0) - before.executions.get(one, 0) for one in statuses)

    # Deleted executions would count against what was done meanwhile.
    ended, all_ = max(change(*_CLOSED), 0), max(change(*_CLOSED, *_OPEN), 0)
    return msgspec.structs.replace(now, rates=Rates(started=all_ / seconds, ended=ended / seconds))


def _place(at: Target) -> str:
    return at.server or without_password(at.database)


def _draw(found: Overview, at: Target, error: str = "") -> Group:
    room = max(OUT.height - 1, 1)
    told = [styled([(error, "red")])] if error else []
    lines = [*told, *(styled(line) for line in _lines(found, _place(at)))][:room]
    for line in lines:
        line.no_wrap, line.overflow = True, "ellipsis"
    return Group(*(lines or [Text()]))


def _lines(found: Overview, place: str) -> Iterator[Pieces]:
    yield [("layover top  ", "bold"), (f"{place}  ", ""), (str(found.at)[:19].replace("T", " "), "dim")]
    yield [("", "")]
    counts = [(status, found.executions.get(status, 0)) for status in (*_OPEN, *_CLOSED)]
    yield [("executions  ", "bold"), *((f"{count:,} {status}  ", _style(status, count)) for status, count in counts)]
    rates = found.rates
    told = f"{rates.started:.1f} started/s  {rates.ended:.1f} ended/s" if rates is not None else "-"
    yield [("throughput  ", "bold"), (told, "")]
    if found.queue is not None:
        queue = found.queue
        late = "yellow" if queue.due else ""
        commands = f"{queue.commands:,} commands not applied"
        since_due = found.at.milliseconds - queue.oldest_due.milliseconds if queue.oldest_due is not None else 0
        oldest = f", the oldest for {brief_duration(max(since_due, 0))}" if queue.due else ""
        yield [("queue       ", "bold"), (f"{queue.due:,} due{oldest}  ", late), (commands, "")]
        yield [("instances   ", "bold"), _instances(queue.instances)]
    waits = "  ".join(f"{count:,} {kind}" for kind, count in found.waits.items()) or "nothing"
    yield [("waits for   ", "bold"), (f"{waits}{'  (the oldest of them)' if found.more else ''}", "")]
    if found.longest_pause is not None and found.longest_pause.paused_at is not None:
        one, since_ = found.longest_pause, found.longest_pause.paused_at
        length = brief_duration(max(found.at.milliseconds - since_.milliseconds, 0))
        yield [("longest     ", "bold"), (f"{one.workflow} {one.id} paused for {length}", "yellow")]
    yield [("", "")]
    yield [("running" if found.running else "nothing runs", "bold")]
    for one in found.running:
        age = brief_duration(max(found.at.milliseconds - one.created_at.milliseconds, 0))
        yield [(f"  {one.id}  {one.workflow}  ", ""), (one.status, STYLES.get(one.status, "")), (f"  {age} old", "dim")]


def _instances(alive: tuple[str, ...] | None) -> tuple[str, str]:
    if alive is None:
        return "not seen by this user", "yellow"
    return f"{len(alive)}: {', '.join(alive) or 'none is alive'}", "" if alive else "yellow"


def _style(status: str, count: int) -> str:
    return STYLES.get(status, "") if count else "dim"
