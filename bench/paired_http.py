"""HTTP of this tree beside another: `bench/paired_http.py SRC [--logs] [--quick | --small] [act …]`, SRC its `src`.

Each tree serves a file of its own (`layover serve`, one process), and the same light client sends both the same
requests, which have not changed: over 32 connections, in rounds that the two take in turn, now one first and now the
other, in several processes one after the other. What is shown, and why, is as in bench/paired.py; the processor time is
that of the server. Trees before the access log wrote no line for a request, so this one writes none either; with
`--logs` it does.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import uvloop

from http_servers import surface
from http_surface import ASKING, MANY, Rounds, Sample
from measure import Size, size_of, table
from paired import HEADER, cells
from sites import SqliteSite

ACTS: Final = ("get", "list 50", "start", "answer")


async def rounds_of(source: Path, more: dict[str, str], count: int, stack: AsyncExitStack) -> Rounds:
    """Serve a tree, with these variables as well, and return rounds of requests to it."""
    address = await stack.enter_async_context(SqliteSite().empty())
    environment = {"PYTHONPATH": str(source), "PYTHONHASHSEED": "0", **more}
    server = await stack.enter_async_context(surface(address, {"asking": ASKING}, environment))
    wires = await stack.enter_async_context(server.wires(MANY))
    rounds = Rounds({"layover": wires}, {"layover": server}, count)
    await rounds.prepare()
    return rounds


async def compare(source: Path, acts: list[str], size: Size, more: dict[str, str]) -> None:
    lives, turns, warm, count = size.of((6, 15, 3, 300), quick=(2, 10, 2, 200), small=(1, 1, 0, 2))
    pairs: dict[str, list[tuple[Sample, Sample]]] = {act: [] for act in acts}
    for _ in range(lives):
        async with AsyncExitStack() as stack:
            before = await rounds_of(source, {}, count, stack)
            now = await rounds_of(Path(__file__).parents[1] / "src", more, count, stack)
            for turn in range(turns + warm):
                order = (before, now) if turn % 2 else (now, before)
                for act in ACTS:  # all of them: answers need points that starts have opened
                    taken = {id(tree): await tree.take(act) for tree in order}
                    if turn >= warm and act in acts:
                        pairs[act].append((taken[id(before)], taken[id(now)]))
    rows: list[tuple[str, ...]] = [HEADER]
    for act, found in pairs.items():
        seconds, cpu = ([(getattr(a, kind), getattr(b, kind)) for a, b in found] for kind in ("seconds", "cpu"))
        rows.append((act, *cells(seconds), *cells(cpu)))
    title = (
        f"HTTP: medians of {lives * turns} pairs in {lives} servers of each on SQLite; load {os.getloadavg()[0]:.1f}"
    )
    print(table(title, rows))


def main(words: list[str]) -> None:
    source, *acts = [word for word in words if not word.startswith("--")]
    if unknown := [act for act in acts if act not in ACTS]:
        sys.exit(f"There is no act {', '.join(unknown)}; there are: {', '.join(ACTS)}.")
    more = {} if "--logs" in words else {"LAYOVER_LOG": "warning"}
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(compare(Path(source).resolve(), acts or list(ACTS), size_of(words), more))


if __name__ == "__main__":
    main(sys.argv[1:])
