"""What metrics cost: `python bench/metrics.py [--postgres] [--quick | --small]`.

Of the Python functions that are called in one step of a chain of calls, how many are those of metrics; what a scrape
costs that has as many workflows as may be; and how long it takes to read the numbers of the database when very much
waits in it: half of all executions are paused, a quarter is due, and as many messages are not delivered.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import apsw

import layover
from layover.bootstrap import open_runtime, open_store
from layover.metrics.labels import MOST_VALUES
from layover.metrics.text import render
from layover.runtime.instance_metrics import instance_samples
from layover.stores.postgres.address import read_address
from layover.stores.postgres.connections import connect
from layover.stores.postgres.statements import in_schema
from measure import compare, size_of, table
from sites import SqliteSite

if TYPE_CHECKING:
    from types import FrameType

    from layover.runtime.runtime import Runtime
    from measure import Size
    from sites import Site

_PACKAGE = Path(layover.__file__).parent
_OURS = {str(path) for path in _PACKAGE.rglob("*.py") if "metrics" in str(path.relative_to(_PACKAGE))}
STEPS = 200
ROUNDS = 5
_HEADS = """
INSERT INTO layover.heads (
    execution_id, workflow, status, priority, last_seq, last_epoch, epoch, wake_at, commands_seq, commands_done,
    takeovers, paused_at, created_at
)
SELECT
    {id}, 'w' || (i % 20), CASE i % 4 WHEN 0 THEN 'completed' WHEN 2 THEN 'waiting' ELSE 'paused' END, 0, 1, 1, 1,
    CASE i % 4 WHEN 2 THEN i END, 1, 0, 0, CASE WHEN i % 2 = 1 THEN i END, i
FROM {numbers}
"""
_MESSAGES = """
INSERT INTO layover.outbox (sender, destination, n, kind, body, due_at)
SELECT {id}, 'd', i, 'k', {body}, i FROM {numbers}
"""


async def work() -> int:
    return 1


async def main(site: Site, size: Size) -> None:
    rows: list[tuple[str, ...]] = []
    async with site.empty() as address, open_runtime(address, nodes=[work]) as engine:
        every, ours = await _calls(engine)
        rows.append(("Python functions called in a step", f"{every:.1f}"))
        rows.append(("of these, of metrics", f"{ours:.1f}"))
        for n in range(MOST_VALUES):
            await engine.workflows.register({"name": f"flow-{n}", "nodes": [{"id": "a", "type": "work"}]})
            await engine.executions.start(f"flow-{n}", wait="end")
        text = render(instance_samples(engine))
        seconds = compare({"scrape": lambda: render(instance_samples(engine))}, rounds=3)["scrape"]
        rows.append((f"a scrape with {MOST_VALUES} workflows", f"{seconds * 1000:.1f} ms, {len(text):,} bytes"))
    count = size.of(1_000_000, quick=100_000, small=1_000)
    async with site.empty() as address:
        rows.append(
            (f"numbers of a database with {count:,} executions", f"{await _gauges(address, count) * 1000:.0f} ms")
        )
    print(table(f"Metrics on {site.name}", rows))


async def _calls(engine: Runtime) -> tuple[float, float]:
    """Return how many Python functions are called in a step, and how many of them in modules of metrics."""
    nodes = [{"id": f"n{n}", "type": "work", **({"next": f"n{n + 1}"} if n + 1 < STEPS else {})} for n in range(STEPS)]
    await engine.workflows.register({"name": "chain", "nodes": nodes})
    found: list[tuple[int, int]] = []
    for _ in range(ROUNDS):
        every = ours = 0

        def count(frame: FrameType, event: str, _: object) -> None:
            nonlocal every, ours
            if event == "call":
                every += 1
                ours += frame.f_code.co_filename in _OURS

        sys.setprofile(count)
        await engine.executions.start("chain", wait="end")
        sys.setprofile(None)
        found.append((every, ours))
    every, ours = min(found)
    return every / STEPS, ours / STEPS


async def _gauges(address: str, count: int) -> float:
    """Return the median seconds that it takes to read the numbers of a database."""
    store = open_store(address)
    await store.open("bench")
    await (_fill_postgres if address.startswith("postgres") else _fill_sqlite)(address, count)
    taken = []
    for _ in range(ROUNDS):
        began = perf_counter()
        await store.queries.read_gauges(count + 1, count // 2, MOST_VALUES)
        taken.append(perf_counter() - began)
    await store.close()
    return statistics.median(taken)


async def _fill_sqlite(address: str, count: int) -> None:
    numbers = f"(WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) SELECT i FROM n)"  # noqa: S608 - a number of ours
    db = apsw.Connection(address.removeprefix("sqlite:///"))
    for statement in (_HEADS, _MESSAGES):
        db.execute(statement.replace("layover.", "").format(id="randomblob(16)", body="x'00'", numbers=numbers))
    db.close()


async def _fill_postgres(address: str, count: int) -> None:
    read = read_address(address)
    db = await connect(read)
    for statement in (_HEADS, _MESSAGES):
        text = statement.format(
            id="md5(i::text)::uuid", body="'\\x00'", numbers=f"generate_series(1, {count}) AS n (i)"
        )
        await db.execute(in_schema(text, read.schema), timeout=600)
    await db.execute(in_schema("VACUUM ANALYZE layover.heads, layover.outbox", read.schema), timeout=600)
    await db.close()


def run(words: list[str]) -> None:
    if "--postgres" in words:
        from sites_postgres import postgres_site  # noqa: PLC0415 - only when it is measured

        with postgres_site() as site:
            asyncio.run(main(site, size_of(words)))
        return
    asyncio.run(main(SqliteSite(), size_of(words)))


if __name__ == "__main__":
    run(sys.argv[1:])
