"""What a failed attempt costs, and that a successful one pays nothing: python bench/failures.py [--calls] [--small]."""

from __future__ import annotations

import asyncio
import cProfile
import logging
import sys
import tempfile
import time
from pathlib import Path

import layover
from layover import Engine, node
from measure import Size, size_of

FLOWS = 5 if size_of(sys.argv) is Size.SMALL else 300
ATTEMPTS = 10
RETRY = {"max_attempts": ATTEMPTS, "delay": "1ms", "multiplier": 1}


@node
async def well() -> int:
    return 1


def inner(depth: int) -> int:
    prices: dict[str, int] = {}
    return inner(depth - 1) if depth else prices["x"]


@node
async def failing() -> int:
    try:
        return inner(3)
    except KeyError as error:
        raise ValueError("no price for x") from error


async def run(kind: str, times: int, path: Path) -> None:
    definition = {"name": kind, "nodes": [{"id": "a", "type": kind, "retry": RETRY}]}
    async with Engine(f"sqlite:///{path}", nodes=[well, failing]) as engine:
        await engine.register(definition)
        for _ in range(times):
            execution = await engine.start(kind)
            await execution.wait("end")


def measure(kind: str, times: int) -> tuple[float, int]:
    """Return the processor time of one execution in microseconds, and the bytes of the database."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        path, began = Path(folder, "layover.db"), time.process_time()
        asyncio.run(run(kind, times, path))
        return (time.process_time() - began) / times * 1e6, path.stat().st_size


def calls(kind: str, times: int) -> int:
    """Return how many functions are called for so many executions."""
    profile = cProfile.Profile()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        profile.enable()
        asyncio.run(run(kind, times, Path(folder, "layover.db")))
        profile.disable()
    return sum(entry.callcount for entry in profile.getstats())


def main() -> None:
    logging.getLogger("layover").addHandler(logging.NullHandler())
    logging.getLogger("layover").propagate = False
    print(Path(layover.__file__).parent)
    if "--calls" in sys.argv:
        few, many = calls("well", FLOWS // 5), calls("well", FLOWS // 5 + FLOWS)
        print(f"function calls of a successful execution: {(many - few) / FLOWS:.1f}")
        return
    measure("well", 20)
    for kind, attempts in (("well", 1), ("failing", ATTEMPTS)):
        found = sorted(measure(kind, FLOWS if attempts == 1 else FLOWS // 5) for _ in range(5))
        cost, size = found[0]
        executions = (FLOWS if attempts == 1 else FLOWS // 5) * attempts
        print(f"{kind}: {cost / attempts:.0f} µs of processor time, {size / executions:.0f} bytes for an attempt")


if __name__ == "__main__":
    main()
