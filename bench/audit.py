"""What audited acts cost the steps beside them: `python bench/audit.py [--quick | --small]`.

Executions of ten steps run to their end on SQLite, in pairs: alone, and beside one loop that acts all the time (it
pauses and resumes another workflow) while the engine seals. Told are the medians of steps and acts in a second and the
time of the processor, with the load of the machine. And the time of the processor that it takes to build the entry of
an act, with its salt and leaf.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
from time import perf_counter, process_time
from typing import NamedTuple

from layover import Engine
from layover.ports.audit_entries import SALT_BYTES, audit_row
from measure import size_of, table

STEPS = 10
ID = "0195f2a6-7c00-7000-8000-5d1e0f3a9b42"
NODES: list[dict[str, object]] = [{"id": f"s{n}", "type": "step", "next": f"s{n + 1}"} for n in range(STEPS - 1)]
FLOW = {"name": "chain", "nodes": [*NODES, {"id": f"s{STEPS - 1}", "type": "step"}]}


class Round(NamedTuple):
    """What one round has done."""

    steps: float
    acts: float
    processor: float


async def step() -> None:
    """Do nothing."""


async def _round(count: int, *, acts: bool) -> Round:
    with tempfile.TemporaryDirectory() as folder:
        async with Engine(f"sqlite:///{folder}/layover.db", nodes=[step], user="ada", roles=["admin"]) as engine:
            await engine.register(FLOW)
            done, is_over = 0, False

            async def act() -> None:
                nonlocal done
                while not is_over:
                    await (other.pause() if done % 2 == 0 else other.resume())
                    done += 1

            other = await engine.register({**FLOW, "name": "other"})
            began, used = perf_counter(), process_time()
            acting = asyncio.ensure_future(act()) if acts else None
            started = [await engine.start("chain") for _ in range(count)]
            for one in started:
                await one.wait()
            taken, processor = perf_counter() - began, process_time() - used
            is_over = True
            if acting is not None:
                await acting
            return Round(count * STEPS / taken, done / taken, processor)


def build() -> None:
    """Build the entry of a decision."""
    audit_row(
        id=ID,
        at=1_800_000_000_000,
        user="ada",
        act="approval.approve",
        salt=os.urandom(SALT_BYTES),
        target=ID,
        execution_id=ID,
        credential="key k1",
        address="10.0.0.1",
        request_id="7615b63b73255690",
        details={"comment": "fine"},
        after={"approved": True},
    )


def _built(count: int) -> float:
    """Return the seconds of the processor that an entry takes."""
    began = process_time()
    for _ in range(count):
        build()
    return (process_time() - began) / count


def main() -> None:
    """Measure pairs in turn, and the entry."""
    size = size_of(sys.argv)
    count, pairs = size.of((300, 9), quick=(100, 5), small=(3, 1))
    found: dict[bool, list[Round]] = {False: [], True: []}
    for n in range(pairs):
        for acts in (False, True) if n % 2 == 0 else (True, False):
            found[acts].append(asyncio.run(_round(count, acts=acts)))
    rows: list[tuple[str, ...]] = [("", "steps/s", "acts/s", "s of the processor")]
    for acts, name in ((False, "without acts"), (True, "beside acts")):
        steps, done, processor = (statistics.median(column) for column in zip(*found[acts], strict=True))
        rows.append((name, f"{steps:,.0f}", f"{done:,.0f}", f"{processor:.2f}"))
    print(table(f"Steps beside acts, load {os.getloadavg()[0]:.0f}", rows))
    taken = statistics.median(_built(size.of(20_000, quick=20_000, small=100)) for _ in range(9))
    print(f"The entry of an act: {taken * 1e6:.1f} µs of the processor")


if __name__ == "__main__":
    main()
