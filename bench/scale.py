"""What depends on how many executions stand still: `python bench/scale.py [--postgres] [--small] [SIZE]`, or
`memory FEW SIZE`.

The same is done among 100 paused executions and among SIZE of them, in turn, so that both meet the same noise: resuming
one, claiming one that is due, listing 50. Then, on SQLite, a process of its own begins 1,000 and SIZE, and tells what
its memory has grown by for each of those in between; `memory` does that alone.
"""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from engines import Engine
from layover.bootstrap import open_store
from layover.core.engine.command_codec import encode_command
from layover.core.engine.commands import Wake
from layover.ports.records import Claim, Enqueue, LeaseRow
from layover.ports.view_records import PointFilter
from measure import size_of, table
from runtime_workloads import many, question
from sites import FOLDER, SqliteSite

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from sites import Site

SMALL, SIZE, ROUNDS, IN_MEMORY = size_of(sys.argv[1:]).of(
    (100, 100_000, 100, 1_000), quick=(100, 10_000, 20, 1_000), small=(55, 60, 1, 5)
)
LISTED = 50
KB = 1024


async def main(site: Site, size: int) -> None:
    async with site.empty() as small, site.empty() as large:
        addresses = {SMALL: small, size: large}
        for count, address in addresses.items():
            await _fill(address, count + 2 * ROUNDS)
        rows: list[tuple[str, ...]] = [("", f"among {SMALL:,}", f"among {size:,}", "ratio")]
        just_filled = {f"{name}, just filled": medians for name, medians in (await _lists(addresses)).items()}
        await site.settle()
        found = {**await _claims(addresses), **await _resumes(addresses), **await _lists(addresses), **just_filled}
        for name, medians in found.items():
            few, most = medians[SMALL], medians[size]
            rows.append((name, f"{few * 1e6:.0f} µs", f"{most * 1e6:.0f} µs", f"{most / few:.2f}"))
        print(table(f"Paused executions on {site.name} (load {os.getloadavg()[0]:.1f})", rows))


async def _fill(address: str, count: int) -> None:
    async with Engine(address) as engine:
        await engine.register(question())
        await many(lambda: _pause(engine), count, 100)


async def _pause(engine: Engine) -> None:
    await engine.start("question", until="rest")


@asynccontextmanager
async def _engines(addresses: dict[int, str]) -> AsyncIterator[dict[int, Engine]]:
    async with AsyncExitStack() as stack:
        yield {count: await stack.enter_async_context(Engine(address)) for count, address in addresses.items()}


async def _resumes(addresses: dict[int, str]) -> dict[str, dict[int, float]]:
    async with _engines(addresses) as engines:
        waiting = {count: await _oldest(engine, 2 * ROUNDS) for count, engine in engines.items()}

        async def resume(count: int) -> None:
            point, execution_id = waiting[count].pop()
            await engines[count].answer(point, {"n": 1})
            await engines[count].wait(execution_id)

        return {"resume one": await _compared(resume, list(addresses))}


async def _lists(addresses: dict[int, str]) -> dict[str, dict[int, float]]:
    async with _engines(addresses) as engines:

        async def list_executions(count: int) -> None:
            assert len(await engines[count].listed(LISTED, ["paused"])) == LISTED

        async def list_points(count: int) -> None:
            assert len(await _oldest(engines[count], LISTED)) == LISTED

        return {
            "list 50 paused, newest first": await _compared(list_executions, list(addresses)),
            "list 50 pause points, oldest first": await _compared(list_points, list(addresses)),
        }


async def _oldest(engine: Engine, most: int) -> list[tuple[str, str]]:
    rows = await engine.instance.store.queries.list_points(PointFilter(status=("open",), limit=most))
    return [(row.point.id, row.execution_id) for row in rows]


async def _claims(addresses: dict[int, str]) -> dict[str, dict[int, float]]:
    """Measure a claim of the only one that is due, and nothing else: without an engine that would take it up."""
    stores = {count: open_store(address) for count, address in addresses.items()}
    for store in stores.values():
        await store.open("bench")
    try:
        ids = {
            count: [
                row.execution_id for row in await store.queries.list_points(PointFilter(status=("open",), limit=SMALL))
            ]
            for count, store in stores.items()
        }
        kind, body = encode_command(Wake())

        async def make_due(count: int) -> None:
            store, id_ = stores[count], ids[count][0]
            ids[count].append(ids[count].pop(0))
            await store.commands.enqueue([Enqueue(execution_id=id_, kind=kind, body=body)], await store.now())

        async def claim(count: int) -> None:
            store = stores[count]
            now = await store.now()
            (taken,) = (
                await store.claims.claim(Claim(instance="bench", now=now, lease_until=now + 60_000, most=1))
            ).claimed
            leases[count].append(LeaseRow(execution_id=taken.head.execution_id, epoch=taken.head.epoch))

        leases: dict[int, list[LeaseRow]] = {count: [] for count in addresses}
        return {"claim one that is due": await _compared(claim, list(addresses), make_due)}
    finally:
        for store in stores.values():
            await store.close()


async def _compared(
    act: Callable[[int], Awaitable[None]],
    counts: list[int],
    before: Callable[[int], Awaitable[None]] | None = None,
) -> dict[int, float]:
    taken: dict[int, list[float]] = {count: [] for count in counts}
    for turn in range(ROUNDS):
        for count in counts if turn % 2 == 0 else reversed(counts):
            if before is not None:
                await before(count)
            started = perf_counter()
            await act(count)
            taken[count].append(perf_counter() - started)
    return {count: statistics.median(times) for count, times in taken.items()}


async def memory(few: int, size: int) -> None:
    """Tell what the memory of a process grows by for each execution that it has paused, from `few` on."""
    place = Path(tempfile.mkdtemp(dir=FOLDER))
    try:
        async with Engine(f"sqlite:///{place / 'memory.db'}") as engine:
            await engine.register(question())
            await many(lambda: _pause(engine), few, 100)
            before = _resident()
            await many(lambda: _pause(engine), size - few, 100)
            after = _resident()
        slope = (after - before) / (size - few)
        print(
            f"memory: {before / KB**2:.1f} MB with {few:,}, {after / KB**2:.1f} MB with {size:,}: "
            f"{slope:.1f} bytes for each"
        )
    finally:
        shutil.rmtree(place)


def _resident() -> int:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def run(words: list[str]) -> None:
    if words[:1] == ["memory"]:
        asyncio.run(memory(int(words[1]), int(words[2])))
        return
    sizes = [int(word) for word in words if not word.startswith("--")]
    size = sizes[0] if sizes else SIZE
    if "--postgres" in words:
        from sites_postgres import postgres_site  # noqa: PLC0415 - not with what measures memory

        with postgres_site(settles_itself=False) as site:  # or it may have counted its rows while it was filled
            asyncio.run(main(site, size))
        return
    asyncio.run(main(SqliteSite(), size))
    subprocess.run([sys.executable, __file__, "memory", str(IN_MEMORY), str(size)], check=True)  # noqa: S603 - ourselves


if __name__ == "__main__":
    run(sys.argv[1:])
