"""Lists of 50 over HTTP, among few paused executions, among many, and where many have ended since: asked in turn."""

from __future__ import annotations

import os
import statistics
from contextlib import AsyncExitStack
from time import perf_counter
from typing import TYPE_CHECKING, Final

from engines import Engine
from http_servers import surface
from measure import table
from runtime_workloads import many, question

if TYPE_CHECKING:
    from tests.load.wire import Wire

    from sites import Site

SMALL: Final = 100
SIZE: Final = 100_000
LISTS: Final = (
    "/api/v1/executions?status=paused",
    "/api/v1/executions?workflow=question",
    "/api/v1/executions/paused",
    "/api/v1/pause-points",
    "/api/v1/pause-points?status=open",
    "/api/workflows/question/paused",
)
AT_ONCE: Final = {"name": "at_once", "nodes": [{"id": "done", "type": "end"}]}
_LISTED: Final = 50
_WARM: Final = 5


async def measure(site: Site, size: int, rounds: int) -> None:
    """Fill databases, and list."""
    filled = ((SMALL, 0), (size, 0), (SMALL, size))
    titles = (f"{SMALL:,} paused", f"{size:,} paused", f"{SMALL:,}, then {size:,} that ended")
    async with AsyncExitStack() as stack:
        addresses = [await stack.enter_async_context(site.empty()) for _ in filled]
        for address, (paused, done) in zip(addresses, filled, strict=True):
            await _fill(address, paused, done)
        await site.settle()
        servers = [await stack.enter_async_context(surface(address)) for address in addresses]
        wires = [(await stack.enter_async_context(server.wires(1)))[0] for server in servers]
        rows: list[tuple[str, ...]] = [("list 50", titles[0], titles[1], "ratio", titles[2], "ratio")]
        for path in LISTS:
            few, most, since = await _compared(wires, path, rounds)
            times = [f"{one * 1e6:,.0f} µs" for one in (few, most, since)]
            rows.append((f"GET {path}", *times[:2], f"{most / few:.2f}", times[2], f"{since / few:.2f}"))
    print(table(f"Lists over HTTP on {site.name} (load {os.getloadavg()[0]:.1f})", rows), flush=True)


async def _fill(address: str, paused: int, done: int) -> None:
    async with Engine(address) as engine:
        await engine.register(question())
        await engine.register(AT_ONCE)

        async def pause() -> None:
            await engine.start("question", until="rest")

        async def run_through() -> None:
            await engine.start("at_once", until="end")

        await many(pause, paused, 100)
        await many(run_through, done, 100)


async def _compared(wires: list[Wire], path: str, rounds: int) -> list[float]:
    requests = [wire.request("GET", path) for wire in wires]
    taken: list[list[float]] = [[] for _ in wires]
    for turn in range(rounds + _WARM):
        places = range(len(wires))
        for place in places if turn % 2 == 0 else reversed(places):
            began = perf_counter()
            heard = await wires[place].send(requests[place])
            seconds = perf_counter() - began
            assert heard.status == 200, heard
            assert len(heard.json.get("items", heard.json.get("executions"))) == _LISTED
            if turn >= _WARM:
                taken[place].append(seconds)
    return [statistics.median(times) for times in taken]
