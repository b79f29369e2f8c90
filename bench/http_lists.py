"""Lists of 50 over HTTP, among few paused executions and among many: the same asked of two servers in turn."""

from __future__ import annotations

import os
import statistics
from time import perf_counter
from typing import TYPE_CHECKING, Final

from http_servers import surface
from layover.bootstrap import Engine
from measure import table
from runtime_workloads import many, question

if TYPE_CHECKING:
    from tests.load.wire import Wire

    from sites import Site

SMALL: Final = 100
SIZE: Final = 100_000
LISTS: Final = (
    "/api/v1/executions?status=paused",
    "/api/v1/executions/paused",
    "/api/v1/pause-points",
    "/api/v1/pause-points?status=open",
    "/api/workflows/question/paused",
)
_LISTED: Final = 50
_AIM: Final = 1.5


async def measure(site: Site, size: int, *, quick: bool) -> None:
    """Fill two databases, and list."""
    async with site.empty() as few, site.empty() as most:
        for address, count in ((few, SMALL), (most, size)):
            await _fill(address, count)
        await site.settle()
        rows: list[tuple[str, ...]] = [("list 50", f"among {SMALL:,}", f"among {size:,}", "ratio", "")]
        async with (
            surface(few) as small,
            surface(most) as large,
            small.wires(1) as (one,),
            large.wires(1) as (other,),
        ):
            for path in LISTS:
                a, b = await _compared([one, other], path, 20 if quick else 100)
                verdict = "" if b / a <= _AIM else f"more than {_AIM}"
                rows.append((f"GET {path}", f"{a * 1e6:.0f} µs", f"{b * 1e6:.0f} µs", f"{b / a:.2f}", verdict))
        print(table(f"Lists over HTTP on {site.name} (load {os.getloadavg()[0]:.1f})", rows), flush=True)


async def _fill(address: str, count: int) -> None:
    async with Engine(address) as engine:
        await engine.register(question())

        async def pause() -> None:
            await engine.start("question", wait="rest")

        await many(pause, count, 100)


async def _compared(wires: list[Wire], path: str, rounds: int) -> tuple[float, float]:
    requests = [wire.request("GET", path) for wire in wires]
    taken: list[list[float]] = [[], []]
    for turn in range(rounds + 5):
        for place in (0, 1) if turn % 2 == 0 else (1, 0):
            began = perf_counter()
            heard = await wires[place].send(requests[place])
            seconds = perf_counter() - began
            assert heard.status == 200, heard
            assert len(heard.json.get("items", heard.json.get("executions"))) == _LISTED
            if turn >= 5:  # the first ones warm up
                taken[place].append(seconds)
    few, most = (statistics.median(times) for times in taken)
    return few, most
