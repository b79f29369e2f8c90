"""What an item of a batch costs: `python bench/batches.py [--postgres] [--small] [ACT …]`; without an ACT, all of them.

Beside it stands what the same act costs that the same user does to as many executions one by one, 16 at once as a batch
does: the processor time of this process, and on PostgreSQL the statements. All executions wait for a person.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import nullcontext
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from layover import Engine
from layover.stores.postgres import PostgresStore
from measure import size_of, table
from sites import SqliteSite
from sites_postgres import postgres_site

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover import ExecutionHandle
    from measure import Size
    from sites import Site

FLOW: Final = {"name": "asking", "nodes": [{"id": "ask", "type": "form", "schema": {"type": "object"}}]}
AT_ONCE: Final = 16


class Act(NamedTuple):
    """An act: how a batch is asked for it, and how it is done to one execution."""

    options: dict[str, Any]
    one: Callable[[ExecutionHandle], Awaitable[object]]


ACTS: Final = {
    "pause": Act({}, lambda execution: execution.pause()),
    "resume": Act({}, lambda execution: execution.resume()),
    "rewind": Act({"to": "ask"}, lambda execution: execution.rewind("ask")),
    "answer": Act({"data": {}}, lambda execution: execution.answer("ask", {})),
}


class Cost(NamedTuple):
    """What each of many acts took."""

    seconds: float
    processor: float
    statements: float | None


Work: TypeAlias = "Callable[[Engine, list[ExecutionHandle]], Awaitable[None]]"


async def compare(site: Site, size: Size, name: str) -> None:
    """Compare items of a batch with acts one by one."""
    count, act = size.of(5_000, quick=1_000, small=40), ACTS[name]
    rows: list[tuple[str, ...]] = [("round", "items/s", "acts/s", "CPU µs", "of an act", "statements", "of an act")]
    for number in range(size.of(3, quick=2, small=1)):
        items = await _measured(site, count, name, _in_a_batch(name, act))
        acts = await _measured(site, count, name, _one_by_one(act))
        rates = (f"{1 / items.seconds:,.0f}", f"{1 / acts.seconds:,.0f}")
        used = (f"{items.processor * 1e6:.0f}", f"{acts.processor * 1e6:.0f}")
        sent = ["" if one.statements is None else f"{one.statements:.2f}" for one in (items, acts)]
        rows.append((str(number + 1), *rates, *used, *sent))
    print(table(f"{name} of {count:,} executions on {site.name}; load {os.getloadavg()[0]:.1f}", rows))


async def _measured(site: Site, count: int, name: str, work: Work) -> Cost:
    async with site.empty() as address, Engine(address, user="ann", roles=["operator", "approver", "admin"]) as engine:
        await engine.register(FLOW)
        executions: list[ExecutionHandle] = []
        while len(executions) < count:
            executions += await asyncio.gather(
                *(engine.start("asking", until="people") for _ in range(min(100, count)))
            )
        if name == "resume":
            await _one_by_one(ACTS["pause"])(engine, executions)
        store = engine._runtime.instance.store  # noqa: SLF001 - for what only a bench counts
        statements = store.statements if isinstance(store, PostgresStore) else 0
        began, used = perf_counter(), process_time()
        await work(engine, executions)
        taken, processor = perf_counter() - began, process_time() - used
        sent = (store.statements - statements) / count if isinstance(store, PostgresStore) else None
        return Cost(taken / count, processor / count, sent)


def _in_a_batch(name: str, act: Act) -> Work:
    where = {"workflow": "asking"} if name != "answer" else {"workflow": "asking", "node": "ask"}

    async def work(engine: Engine, _executions: list[ExecutionHandle]) -> None:
        batch = await engine.batch(name, where, **act.options)
        await batch.wait()
        if batch.failed or batch.status != "completed":
            raise SystemExit(f"The batch is {batch.info}.")

    return work


def _one_by_one(act: Act) -> Work:
    async def work(_engine: Engine, executions: list[ExecutionHandle]) -> None:
        left = iter(executions)

        async def go() -> None:
            for one in left:
                await act.one(one)

        await asyncio.gather(*(go() for _ in range(AT_ONCE)))

    return work


async def _measure(site: Site, size: Size, acts: list[str]) -> None:
    for name in acts or ACTS:
        await compare(site, size, name)


def main(words: list[str]) -> None:
    with postgres_site() if "--postgres" in words else nullcontext(SqliteSite()) as site:
        asyncio.run(_measure(site, size_of(words), [word for word in words if not word.startswith("--")]))


if __name__ == "__main__":
    main(sys.argv[1:])
