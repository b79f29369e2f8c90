"""What logs and progress cost a step, beside the run without: python bench/logs.py [--quick | --small].

All kinds take turns in one process, on SQLite in memory-backed storage, so the noise of the machine meets all alike.
Shown are medians of processor time per step, and the ratio to the run without logs within the same round.
"""

from __future__ import annotations

import asyncio
import io
import logging
import statistics
import sys
import tempfile
import time
from pathlib import Path

from layover import Engine, NodeContext, Settings, configure_logging
from layover.logs.configuration import reset_logging
from measure import size_of, table

STEPS = 10
KINDS = {
    "without": ("quiet", None, False),
    "log at info": ("quiet", "info", False),
    "log at debug": ("quiet", "debug", False),
    "one line in each call": ("speaking", "info", False),
    "the same, kept": ("speaking", "info", True),
    "progress in each call": ("reporting", None, False),
}

_log = logging.getLogger("bench")


async def quiet(_context: NodeContext) -> int:
    return 1


async def speaking(_context: NodeContext) -> int:
    _log.info("charged order %d", 7, extra={"amount": 12})
    return 1


async def reporting(context: NodeContext) -> int:
    context.progress(1, 2, "half")
    return 1


async def run(kind: str, times: int, settings: Settings, folder: Path) -> None:
    nodes = [{"id": f"n{n}", "type": kind, "next": f"n{n + 1}"} for n in range(STEPS)]
    flow = {"name": "flow", "nodes": [*nodes, {"id": f"n{STEPS}", "type": "end"}]}
    async with Engine(f"sqlite:///{folder}/bench.db", nodes=[quiet, speaking, reporting], settings=settings) as engine:
        await engine.register(flow)
        for _ in range(times):
            await asyncio.gather(*(engine.run("flow") for _ in range(20)))


def measure(name: str, times: int) -> float:
    """Return microseconds of processor time for a step."""
    function, level, is_kept = KINDS[name]
    if level is not None:
        configure_logging(level, stream=io.StringIO())
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        began = time.process_time()
        asyncio.run(run(function, times, Settings(node_logs=is_kept), Path(folder)))
        taken = time.process_time() - began
    reset_logging()
    return taken / (times * 20 * STEPS) * 1e6


def main() -> None:
    size = size_of(sys.argv[1:])
    rounds, times = size.of((11, 10), quick=(5, 4), small=(1, 1))
    found: dict[str, list[float]] = {name: [] for name in KINDS}
    for turn in range(rounds):
        for name in KINDS if turn % 2 == 0 else reversed(KINDS):
            found[name].append(measure(name, times))
    ratios = {
        name: statistics.median(one / base for one, base in zip(found[name], found["without"], strict=True))
        for name in KINDS
    }
    rows: list[tuple[str, ...]] = [("a step with", "µs", "ratio")]
    rows += [(name, f"{statistics.median(found[name]):.0f}", f"{ratios[name]:.2f}") for name in KINDS]
    print(table("What logs cost", rows))


if __name__ == "__main__":
    main()
