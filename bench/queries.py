"""Every search among many executions against among few: `python bench/queries.py [--postgres] [--small] [SIZE]`.

Both databases hold the same 120 executions that are searched for, the oldest of all: 60 were resumed, and failed, and
60 have other values than all that come later. Then come so many that have completed, with inputs, variables, triggers,
outputs and correlation ids of their own. All are indexed before they are searched. Each search is made in both in
turn, so that both meet the same noise, and returns the same; without a size, 1,000 and 100,000 are compared.
"""

from __future__ import annotations

import asyncio
import logging
import os
import statistics
import sys
from contextlib import AsyncExitStack
from time import perf_counter
from typing import TYPE_CHECKING, Any

from layover import Engine
from layover.bootstrap import open_runtime
from layover.runtime.operations.start_options import Options
from measure import size_of, table
from runtime_workloads import many
from sites import SqliteSite

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from sites import Site

FEW, SIZE, ROUNDS = size_of(sys.argv[1:]).of((1_000, 100_000, 50), quick=(1_000, 10_000, 20), small=(130, 140, 1))
RARE = 60
LISTED = 50
PLAIN = {
    "name": "plain",
    "nodes": [
        {"id": "keep", "type": "set", "values": {"n": "${input.n}", "kind": "${input.kind}"}, "next": "work"},
        {"id": "work", "type": "work", "input": {"n": "${input.n}", "kind": "${input.kind}"}, "next": "out"},
        {"id": "out", "type": "end", "output": "${nodes.work}"},
    ],
}
FAILING = {
    "name": "failing",
    "nodes": [
        {"id": "ask", "type": "form", "title": "How many?", "next": "divide"},
        {"id": "divide", "type": "compute", "output": "${1 / int(nodes.ask.by)}"},
    ],
}


async def work(n: int, kind: str) -> dict[str, object]:
    """Return what it got."""
    return {"n": n, "kind": kind}


async def main(site: Site, size: int) -> None:
    async with site.empty() as small, site.empty() as large, AsyncExitStack() as stack:
        addresses = {FEW: small, size: large}
        for count, address in addresses.items():
            await _fill(address, count)
        await site.settle()
        engines = {
            count: await stack.enter_async_context(Engine(address, nodes=[work]))
            for count, address in addresses.items()
        }
        rows: list[tuple[str, ...]] = [("", f"among {FEW:,}", f"among {size:,}", "ratio")]
        for name, search in _searches().items():
            medians = await _medians(engines, search)
            few, most = medians[FEW], medians[size]
            rows.append((name, f"{few * 1e6:.0f} µs", f"{most * 1e6:.0f} µs", f"{most / few:.2f}"))
        print(table(f"Searches on {site.name} (load {os.getloadavg()[0]:.1f})", rows))


async def _fill(address: str, count: int) -> None:
    numbers = iter(range(count))
    async with Engine(address) as engine:
        await engine.register(FAILING)
        for n in range(RARE):
            started = await engine.start(
                "failing", {"rare": True, "n": n}, tags=["rare"], correlation_id=f"rare-{n % 3}", until="people"
            )
            await started.pause()
            await started.resume()
            await started.answer("ask", {"by": 0})
            await started.wait("end")

    async with open_runtime(address, nodes=[work]) as runtime:

        async def start(n: int, kind: str) -> None:
            options = Options(trigger={"kind": kind, "n": n}, correlation_id=f"{kind}-{n}")
            await runtime.executions.start("plain", {"n": n, "kind": kind}, wait="end", options=options)

        async def one() -> None:
            n = next(numbers)
            await start(n, f"plain-{n % 10}")

        await runtime.workflows.register(PLAIN)
        for n in range(RARE):
            await start(-1 - n, "odd")
        await many(one, count - 2 * RARE, 100)
        began = perf_counter()
        indexed = await runtime.instance.indexer.index_all()
        took = perf_counter() - began
        print(f"{count:,}: {indexed:,} executions were left to be indexed, {indexed / took:,.0f} a second")


def _searches() -> dict[str, Callable[[Engine], Awaitable[object]]]:
    def listed(**wanted: Any) -> Callable[[Engine], Awaitable[object]]:
        async def search(engine: Engine) -> object:
            return len((await engine.executions(**wanted).page(LISTED)).items)

        return search

    def ran(**wanted: Any) -> Callable[[Engine], Awaitable[object]]:
        async def search(engine: Engine) -> object:
            return len((await engine.node_executions(**wanted).page(LISTED)).items)

        return search

    async def nodes(engine: Engine) -> object:
        found = engine.node_executions(workflow="failing", status="failed", error_code="division_by_zero")
        return len((await found.page(LISTED)).items)

    async def resumes(engine: Engine) -> object:
        (one, *_) = (await engine.executions(workflow="failing").page(1)).items
        return len((await (await engine.execution(one.id)).resume_queue().page(LISTED)).items)

    async def events(engine: Engine) -> object:
        (one, *_) = (await engine.executions(workflow="failing").page(1)).items
        found = (await engine.execution(one.id)).history(type="NodeFailed", order="newest")
        return len((await found.page(LISTED)).items)

    return {
        "newest": listed(),
        "by workflow": listed(workflow="failing"),
        "failed": listed(status="failed"),
        "failed after a resume": listed(status="failed", min_resumes=1),
        "by error code": listed(error_code="division_by_zero"),
        "by tag": listed(tag="rare"),
        "by correlation id": listed(correlation_id="rare-1"),
        "by the beginning of a correlation id": listed(q="rare-"),
        "by a part of the input, and the tag": listed(tag="rare", contains={"rare": True}),
        "by a part of the input": listed(contains={"rare": True}),
        "by input": listed(where="input.kind=odd"),
        "by a range of an input": listed(where="input.n<0"),
        "by input, one of all": listed(where="input.n=-7"),
        "by output": listed(where="output.kind=odd"),
        "by a range of an output": listed(where="output.n<0"),
        "by output, and the workflow": listed(where="output.kind=odd", workflow="plain"),
        "by trigger": listed(where="trigger.kind=odd"),
        "by a variable": listed(where="vars.kind=odd"),
        "by the output of a node": listed(where="nodes.work.kind=odd"),
        "nodes by their input": ran(node="work", where="input.kind=odd"),
        "nodes by a range of their output": ran(node="work", where="output.n<0"),
        "nodes of a workflow that failed": nodes,
        "the resume queue of one": resumes,
        "events of one by type, newest first": events,
    }


async def _medians(engines: dict[int, Engine], search: Callable[[Engine], Awaitable[object]]) -> dict[int, float]:
    taken: dict[int, list[float]] = {count: [] for count in engines}
    found = {count: await search(engine) for count, engine in engines.items()}
    assert len(set(found.values())) == 1, found
    assert all(found.values()), found
    for _ in range(ROUNDS):
        for count, engine in engines.items():
            began = perf_counter()
            await search(engine)
            taken[count].append(perf_counter() - began)
    return {count: statistics.median(times) for count, times in taken.items()}


def run(words: list[str]) -> None:
    logging.disable(logging.CRITICAL)  # executions that fail say so
    sizes = [int(word) for word in words if not word.startswith("--")]
    size = sizes[0] if sizes else SIZE
    if "--postgres" in words:
        from sites_postgres import postgres_site  # noqa: PLC0415 - it needs a server

        with postgres_site(settles_itself=False) as site:
            asyncio.run(main(site, size))
        return
    asyncio.run(main(SqliteSite(), size))


if __name__ == "__main__":
    run(sys.argv[1:])
