"""What triggers cost: `python bench/triggers.py [--postgres] [--small] [PART …]`; without a PART, all of them.

`polled`: a source has many items, and each starts an execution. Beside the rate it tells that of starts by the program,
of the same workflow in the same round, and for both the processor time of this process and on PostgreSQL the statements
of each execution.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import nullcontext
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, NamedTuple

from engines import Engine
from layover import Batch, Item, source
from layover.stores.postgres import PostgresStore
from measure import size_of, table
from sites import SqliteSite
from sites_postgres import postgres_site

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover.nodes.source import SourceFunction
    from measure import Size
    from sites import Site

AT_ONCE = 1_000
NODES = [{"id": "done", "type": "end", "output": "${input.n}"}]


class Cost(NamedTuple):
    """What each of many executions took."""

    seconds: float
    processor: float
    statements: float


# Polled items


async def polled(site: Site, size: Size) -> None:
    """Compare executions of polled items with executions that a program starts."""
    count = size.of(10_000, quick=3_000, small=50)
    rows: list[tuple[str, ...]] = [("round", "items/s", "starts/s", "of it", "CPU µs", "of a start", "statements", "")]
    for number in range(size.of(3, quick=2, small=1)):
        async with site.empty() as address:
            plain = await _measured(address, count, [], _starts)
        async with site.empty() as address:
            items = await _measured(address, count, [_items_of(count)], _polls)
        compared = (f"{1 / items.seconds:,.0f}", f"{1 / plain.seconds:,.0f}", f"{plain.seconds / items.seconds:.0%}")
        used = (f"{items.processor * 1e6:.0f}", f"{plain.processor * 1e6:.0f}")
        rows.append((str(number + 1), *compared, *used, f"{items.statements:.2f}", f"{plain.statements:.2f}"))
    print(table(f"{count:,} polled items on {site.name}; load {os.getloadavg()[0]:.1f}", rows))


def _items_of(count: int) -> SourceFunction[..., Any]:
    """Return a source with so many items, at most as many at once as a batch may have."""

    @source
    async def numbers(cursor: str | None) -> Batch:
        begin = int(cursor or 0)
        end = min(begin + AT_ONCE, count)
        return Batch([Item(str(n), {"n": n}) for n in range(begin, end)], cursor=str(end), more=end < count)

    return numbers


async def _starts(engine: Engine, count: int) -> None:
    await engine.register({"name": "taken", "nodes": NODES})
    left = iter(range(count))

    async def start() -> None:
        for n in left:
            await engine.start("taken", {"n": n})

    await asyncio.gather(*(start() for _ in range(100)))
    await _all_ended(engine, count)


async def _polls(engine: Engine, count: int) -> None:
    poll = {"name": "numbers", "type": "poll", "source": "numbers"}
    await engine.register({"name": "taken", "nodes": NODES, "triggers": [poll]})
    await _all_ended(engine, count)


async def _all_ended(engine: Engine, count: int) -> None:
    while (await engine.counts()).get("completed", 0) < count:  # noqa: ASYNC110 - nothing tells
        await asyncio.sleep(0.05)


async def _measured(
    address: str, count: int, nodes: list[SourceFunction[..., Any]], work: Callable[[Engine, int], Awaitable[None]]
) -> Cost:
    async with Engine(address, nodes=nodes) as engine:
        store = engine.instance.store
        statements = store.statements if isinstance(store, PostgresStore) else 0
        began, used = perf_counter(), process_time()
        await work(engine, count)
        taken, processor = perf_counter() - began, process_time() - used
        sent = store.statements - statements if isinstance(store, PostgresStore) else 0
        return Cost(taken / count, processor / count, sent / count)


PARTS: dict[str, Callable[[Site, Size], Awaitable[None]]] = {"polled": polled}


async def _measure(site: Site, size: Size, parts: list[str]) -> None:
    for name, part in PARTS.items():
        if not parts or name in parts:
            await part(site, size)


def main(words: list[str]) -> None:
    with postgres_site() if "--postgres" in words else nullcontext(SqliteSite()) as site:
        asyncio.run(_measure(site, size_of(words), [word for word in words if not word.startswith("--")]))


if __name__ == "__main__":
    main(sys.argv[1:])
