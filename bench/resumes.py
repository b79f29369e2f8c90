"""Resumes as a user of the README makes them: `python bench/resumes.py [--postgres] [--small]`.

Many executions wait at a form; 50 at once, each is found by `points`, given an `answer`, and its `result` is awaited.
Besides the rate and how long one takes, it tells what depends less on the machine: how the rate compares with that of
`floor.py`, which writes the same rows and decides nothing, in the same round; and for each resume the processor
time of this process, replays of a log, and on PostgreSQL statements.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import nullcontext
from time import perf_counter, process_time
from typing import TYPE_CHECKING

from engines import Engine
from layover.stores.postgres import PostgresStore
from measure import size_of, table
from runtime_figures import percentile
from runtime_pauses import asked_of, floor_round_of
from sites import SqliteSite
from sites_postgres import postgres_site

if TYPE_CHECKING:
    from measure import Size
    from sites import Site

AT_ONCE = 50
ROUNDS = 5
FLOW = {
    "name": "ask",
    "nodes": [
        {"id": "ask", "type": "form", "title": "Say it", "schema": {"type": "object"}, "next": "done"},
        {"id": "done", "type": "end", "output": "${nodes.ask.x}"},
    ],
}


async def _round(address: str, size: int) -> tuple[float, list[float], float, float, float]:
    """Return the seconds for all, those of each, and the processor time, replays and statements of one."""
    async with Engine(address) as engine:
        await engine.register(FLOW)
        starts = [engine.start("ask", until="rest") for _ in range(size)]
        left = iter(await asyncio.gather(*starts))
        driver, store = engine.instance.driver, engine.instance.store
        replays, latencies, replay = 0, list[float](), driver.state_of

        async def counted(loaded: object) -> object:
            nonlocal replays
            replays += 1
            return await replay(loaded)  # type: ignore[arg-type]  # as it comes

        driver.state_of = counted  # type: ignore[assignment, method-assign]  # nothing else counts them
        statements = store.statements if isinstance(store, PostgresStore) else 0

        async def resume() -> None:
            for execution in left:
                began = perf_counter()
                assert await engine.resume(execution, {"x": 1}) == 1
                latencies.append(perf_counter() - began)

        began, used = perf_counter(), process_time()
        await asyncio.gather(*(resume() for _ in range(AT_ONCE)))
        taken, cpu = perf_counter() - began, process_time() - used
        sent = store.statements - statements if isinstance(store, PostgresStore) else 0
        return taken, latencies, cpu / size, replays / size, sent / size


async def _measure(site: Site, size: Size) -> None:
    count = size.of(1_000, quick=500, small=60)
    heads = ("round", "resumes/s", "floor", "of it", "p50 ms", "p99 ms", "CPU µs", "replays", "statements")
    rows: list[tuple[str, ...]] = [heads]
    steps, asked = await asked_of(site, FLOW)
    for number in range(size.of(ROUNDS, quick=3, small=1)):
        async with site.empty() as address:
            taken, each, cpu, replays, sent = await _round(address, count)
        floor = (await floor_round_of(site, steps, asked, count)).resumes.seconds
        p50, p99 = (f"{percentile(each, percent) * 1000:.1f}" for percent in (50, 99))
        of_each = (f"{cpu * 1e6:.0f}", f"{replays:.2f}", f"{sent:.2f}")
        compared = (f"{count / taken:,.0f}", f"{count / floor:,.0f}", f"{floor / taken:.0%}")
        rows.append((str(number + 1), *compared, p50, p99, *of_each))
    print(table(f"Resumes through points, answer and result on {site.name}; load {os.getloadavg()[0]:.1f}", rows))


def main(words: list[str]) -> None:
    with postgres_site() if "--postgres" in words else nullcontext(SqliteSite()) as site:
        asyncio.run(_measure(site, size_of(words)))


if __name__ == "__main__":
    main(sys.argv[1:])
