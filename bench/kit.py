"""What a test of a workflow costs: `python bench/kit.py [--quick] [--small]`.

One small test (a call, a form, an answer, the end) on each database that the test kit could have: the store in memory,
SQLite in a file in memory (`/dev/shm`, where there is one), and SQLite in a file on the disk.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

from layover.testing import Layover
from measure import size_of, table

FLOW = {
    "name": "parcel",
    "nodes": [
        {"id": "weigh", "type": "weigh", "input": {"parcel": "${input}"}, "next": "ask"},
        {"id": "ask", "type": "form", "title": "Send it?", "schema": {"type": "object"}, "next": "done"},
        {"id": "done", "type": "end", "output": "${nodes.ask.x + nodes.weigh}"},
    ],
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


def measured(where: Path | None) -> tuple[float, float]:
    """Return the seconds of a test, and those of the processor."""
    with tempfile.TemporaryDirectory(dir=where) as folder:
        began, used = perf_counter(), process_time()
        asyncio.run(one_test(Path(folder) if where is not None else None))
        return perf_counter() - began, process_time() - used


def main() -> None:
    """Measure each in turn."""
    count = size_of(sys.argv).of(200, quick=50, small=2)
    places: dict[str, Path | None] = {"store in memory": None, "SQLite on the disk": Path.cwd()}
    if IN_MEMORY.is_dir():
        places["SQLite in memory"] = IN_MEMORY
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in places}
    for _ in range(count):
        for name, where in places.items():
            taken[name].append(measured(where))
    rows: list[tuple[str, ...]] = [("", "ms", "ms of the processor")]
    for name, times in taken.items():
        rows.append((name, *(f"{statistics.median(column) * 1000:.1f}" for column in zip(*times, strict=True))))
    print(table("One small test", rows))


if __name__ == "__main__":
    main()
