"""A process that polls a source, and which dies or stands still when it is told to.

`python -m tests.runtime.crashes.poll_worker FOLDER OPTIONS`. The source repeats items and returns them in any order.
Each execution writes its item and its id outside of the engine, and so does what acknowledges cursors. At `stop_at` the
process may also stand still at `ASKED`: inside the source, with a batch in its hands.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec

from layover import Batch, Item, source
from layover.bootstrap import open_runtime
from layover.core.ids import trigger_id
from layover.runtime.settings import RuntimeSettings
from tests.runtime.crashes.worker import PROMPT, Options, Reaper, say

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.ports.commit_points import CommitPoint

ITEMS = 7
AT_ONCE = 3
ASKED = cast("CommitPoint", "source_asked")
FLOW = """
name: polled
triggers:
  - {name: numbers, type: poll, source: numbers, every: 1s, timeout: 1s}
nodes: [{id: a, type: write_line, input: {text: "${trigger.id} ${execution.id}"}}]
"""
NUMBERS = trigger_id("polled", "numbers")
PROMPT_LEASE = {"lease_ttl": 500}


def lines_in(folder: Path) -> list[tuple[str, str]]:
    """Return the item and the execution of each call that was made."""
    path = folder / "lines"
    lines = path.read_text().splitlines() if path.exists() else []
    return [(item, execution) for item, _, execution in (line.partition(" ") for line in lines)]


def acknowledged_in(folder: Path) -> list[str]:
    """Return the cursors that were acknowledged."""
    path = folder / "acknowledged"
    return path.read_text().split() if path.exists() else []


async def serve(
    folder: Path, address: str, settings: dict[str, int], asked: Callable[[], None], polls: int = 0
) -> None:
    """Poll until each item has left its line, the last cursor is acknowledged, and so many polls were made here."""
    made = 0

    async def write_line(text: str) -> None:
        with (folder / "lines").open("a") as file:
            file.write(f"{text}\n")

    @source
    async def numbers(cursor: str | None) -> Batch:
        nonlocal made
        made += 1
        begin = int(cursor or 0)
        if begin == ITEMS:
            return Batch()
        end = min(begin + AT_ONCE, ITEMS)
        found = [Item(f"n{n}", n) for n in range(end - 1, max(begin - 2, 0) - 1, -1)]
        batch = Batch([*found, *found[:1]], cursor=str(end), more=end < ITEMS)
        asked()
        return batch

    @numbers.acknowledge
    def note(cursor: str) -> None:
        with (folder / "acknowledged").open("a") as file:
            file.write(f"{cursor}\n")

    chosen = msgspec.convert({**PROMPT, **PROMPT_LEASE, **settings}, RuntimeSettings)
    async with open_runtime(address, nodes=[write_line, numbers], settings=chosen) as engine:
        await engine.workflows.register(FLOW)
        while made < polls or not _is_all_done(folder):
            await engine.instance.store.triggers.find(NUMBERS)  # nothing tells when all has happened


def _is_all_done(folder: Path) -> bool:
    return len({item for item, _ in lines_in(folder)}) == ITEMS and str(ITEMS) in acknowledged_in(folder)


async def main(folder: Path, options: Options) -> None:
    reaper = Reaper(folder, options)
    reaper.watch_from(asyncio.get_running_loop())
    polls = options.stop_at[1] + 1 if options.stop_at is not None else 0  # what it stood still with is over then
    await serve(folder, options.address, options.settings, lambda: reaper.reached(ASKED), polls)
    say("done []")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), msgspec.json.decode(sys.argv[2], type=Options)))
