"""What a test of a workflow costs: `python bench/kit.py [--quick] [--small]`.

One small test (a call, a form, an answer, the end) on each database that the test kit could have: the store in memory,
SQLite in a file in memory (`/dev/shm`, where there is one), and SQLite in a file on the disk. And a year of a nightly
schedule, which a test skips.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING

from layover.testing import Layover
from measure import size_of, table

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

FLOW = {
    "name": "parcel",
    "nodes": [
        {"id": "weigh", "type": "weigh", "input": {"parcel": "${input}"}, "next": "ask"},
        {"id": "ask", "type": "form", "title": "Send it?", "schema": {"type": "object"}, "next": "done"},
        {"id": "done", "type": "end", "output": "${nodes.ask.x + nodes.weigh}"},
    ],
}
NIGHTLY = {
    "name": "nightly",
    "triggers": [{"name": "nightly", "type": "schedule", "cron": "30 2 * * *", "zone": "Europe/Berlin"}],
    "nodes": [{"id": "done", "type": "end", "output": "ok"}],
}
IN_MEMORY = Path("/dev/shm")  # noqa: S108 - a file system in memory, if there is one


async def weigh(parcel: str) -> int:
    """Return how heavy a parcel is."""
    return len(parcel)


async def one_test(folder: Path | None) -> None:
    """Do what a small test does, from its fixture to the end of that."""
    layover = Layover(folder)
    try:
        layover.nodes(weigh)
        execution = await layover.start(FLOW, "abc")
        await execution.answer("ask", {"x": 1})
        if execution.output != 4:
            raise AssertionError(execution.output)
    finally:
        await layover.close()


async def skip_nights(folder: Path | None, days: int) -> None:
    """Let a nightly schedule start an execution for each of many days."""
    async with Layover(folder) as layover:
        await layover.register(NIGHTLY)
        await layover.skip(f"{days}d")
        started = len(await layover.executions(workflow="nightly").all())
        if started != days:
            raise AssertionError(started)


def measured(where: Path | None, test: Callable[[Path | None], Awaitable[None]]) -> tuple[float, float]:
    """Return the seconds of a test, and those of the processor."""
    with tempfile.TemporaryDirectory(dir=where) as folder:
        began, used = perf_counter(), process_time()
        asyncio.run(_awaited(test(Path(folder) if where is not None else None)))
        return perf_counter() - began, process_time() - used


async def _awaited(test: Awaitable[None]) -> None:
    await test


def main() -> None:
    """Measure each in turn."""
    size = size_of(sys.argv)
    count, days = size.of((200, 365), quick=(50, 365), small=(2, 5))
    places: dict[str, Path | None] = {"store in memory": None, "SQLite on the disk": Path.cwd()}
    if IN_MEMORY.is_dir():
        places["SQLite in memory"] = IN_MEMORY
    tests: dict[str, Callable[[Path | None], Awaitable[None]]] = {
        "One small test": one_test,
        f"{days} nights": lambda folder: skip_nights(folder, days),
    }
    for title, test in tests.items():
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in places}
        for _ in range(count if test is one_test else size.of(5, quick=3, small=1)):
            for name, where in places.items():
                taken[name].append(measured(where, test))
        rows: list[tuple[str, ...]] = [("", "ms", "ms of the processor")]
        for name, times in taken.items():
            rows.append((name, *(f"{statistics.median(column) * 1000:.1f}" for column in zip(*times, strict=True))))
        print(table(title, rows))


if __name__ == "__main__":
    main()
