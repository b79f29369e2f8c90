"""What the HTTP surface costs beside a bare "hello" of the same stack: `bench/http_surface.py [--postgres]`.

Both are processes of their own, and the same light client asks them in turn: over one connection, which tells how long
a request takes, and over 32, which tells how many there are in a second. Medians of rounds; the time of the processor
that the server used for a request is shown, too, since it depends less on what else the machine does. Then lists of 50
among 100 and among 100,000 paused executions (`--lists SIZE` does that alone, `--acts` the rest alone). `--quick` and
`--small` measure less.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
from contextlib import nullcontext
from time import perf_counter
from typing import TYPE_CHECKING, Final, NamedTuple

import uvloop

import http_lists
from http_servers import Server, ask_all, hello, surface
from measure import Size, size_of, table
from sites import SqliteSite
from sites_postgres import postgres_site

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.load.wire import Heard, Wire

    from sites import Site

ASKING: Final = """
name: asking
nodes:
  - {id: ask, type: form, schema: {type: object}, response: {message: Which size?}, next: done}
  - {id: done, type: end, output: "${nodes.ask}"}
"""
ACTS: Final = ("hello", "get", "list 50", "start", "answer")
HEADER: Final = ("", "median", "of hello", "server's CPU", "of hello")
MANY: Final = 32


class Sample(NamedTuple):
    """One round of one act: how long a request took, and the time of the processor that the server used for it."""

    seconds: float
    cpu: float


class Rounds:
    """Acts taken in turn over some connections."""

    def __init__(self, wires: dict[str, list[Wire]], servers: dict[str, Server], count: int) -> None:
        self._wires = wires
        self._servers = servers
        self._count = count
        self._listed = self._started = ""

    async def prepare(self) -> None:
        """Start as many executions as are listed."""
        started = await self._asked("layover", self._starts(max(self._count, 50)), 202)
        self._started = started[0].json["id"]

    async def take(self, act: str) -> Sample:
        """Take a round of one act."""
        requests: Callable[[], Awaitable[list[bytes]]] = {
            "hello": self._hellos,
            "get": self._gets,
            "list 50": self._lists,
            "start": self._new_ones,
            "answer": self._answers,
        }[act]
        sent = await requests()
        server = self._servers["hello" if act == "hello" else "layover"]
        used, began = server.cpu(), perf_counter()
        status = {"start": 202, "answer": 201}.get(act, 200)
        await self._asked("hello" if act == "hello" else "layover", sent, status)
        return Sample((perf_counter() - began) / len(sent), (server.cpu() - used) / len(sent))

    async def _asked(self, whom: str, requests: list[bytes], status: int) -> list[Heard]:
        answers = await ask_all(self._wires[whom], requests)
        wrong = next((heard for heard in answers if heard.status != status), None)
        assert wrong is None, wrong
        return answers

    def _same(self, whom: str, path: str) -> list[bytes]:
        return [self._wires[whom][0].request("GET", path)] * self._count

    async def _hellos(self) -> list[bytes]:
        return self._same("hello", "/hello")

    async def _gets(self) -> list[bytes]:
        return self._same("layover", f"/api/v1/executions/{self._started}")

    async def _lists(self) -> list[bytes]:
        return self._same("layover", "/api/v1/executions?limit=50")

    async def _new_ones(self) -> list[bytes]:
        return self._starts(self._count)

    def _starts(self, count: int) -> list[bytes]:
        body = {"workflow": "asking", "input": {"order": "A-1", "total": 12.5}}
        return [self._wires["layover"][0].request("POST", "/api/v1/executions", body)] * count

    async def _answers(self) -> list[bytes]:
        """Return answers to points that are still open; there are some, since starts come before."""
        wire, found, cursor = self._wires["layover"][0], list[str](), ""
        while len(found) < self._count:
            page = (await wire.ask("GET", f"/api/v1/pause-points?status=open&limit=100{cursor}")).json
            found += [one["id"] for one in page["items"]]
            if page["next"] is None:
                break
            cursor = f"&cursor={page['next']}"
        body = {"data": {"size": "large"}}
        return [wire.request("POST", f"/api/v1/pause-points/{id_}/answer", body) for id_ in found[: self._count]]


async def acts(site: Site, size: Size) -> None:
    """Measure single acts."""
    rounds = size.of(7, quick=3, small=1)
    counts = size.of((300, 1_000), quick=(50, 200), small=(2, 2))
    with hello() as least:
        for connections, count in zip((1, MANY), counts, strict=True):
            async with site.empty() as address, surface(address, {"asking": ASKING}) as layover:
                servers = {"hello": least, "layover": layover}
                async with least.wires(connections) as bare, layover.wires(connections) as ours:
                    taken = await _taken(Rounds({"hello": bare, "layover": ours}, servers, count), rounds)
            _show(site, connections, taken)


async def _taken(rounds: Rounds, count: int) -> dict[str, list[Sample]]:
    await rounds.prepare()
    taken: dict[str, list[Sample]] = {act: [] for act in ACTS}
    for act in ACTS:
        await rounds.take(act)  # to warm up
    for _ in range(count):
        for act in ACTS:
            taken[act].append(await rounds.take(act))
    return taken


def _show(site: Site, connections: int, taken: dict[str, list[Sample]]) -> None:
    seconds = {act: statistics.median(one.seconds for one in samples) for act, samples in taken.items()}
    cpu = {act: statistics.median(one.cpu for one in samples) for act, samples in taken.items()}
    rows: list[tuple[str, ...]] = [HEADER]
    for act in ACTS:
        median = f"{seconds[act] * 1e6:.0f} µs" if connections == 1 else f"{1 / seconds[act]:,.0f}/s"
        ratio = seconds[act] / seconds["hello"]
        used = cpu[act] / cpu["hello"]
        rows.append((act, median, f"{ratio:.1f} x", f"{cpu[act] * 1e6:.0f} µs", f"{used:.1f} x"))
    at = f"{connections} connection{'s' if connections > 1 else ''}"
    print(table(f"HTTP on {site.name}, {at} (load {os.getloadavg()[0]:.1f})", rows), flush=True)


async def measure(site: Site, words: list[str]) -> None:
    size = size_of(words)
    if "--lists" not in words:
        await acts(site, size)
    if "--acts" not in words:
        given = next((int(word) for word in words if word.isdecimal()), None)
        count, rounds = size.of((http_lists.SIZE, 100), quick=(5_000, 20), small=(120, 1))
        await http_lists.measure(site, count if given is None else given, rounds)


def main(words: list[str]) -> None:
    postgres = "--postgres" in words
    runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
    with postgres_site() if postgres else nullcontext(SqliteSite()) as site, runner:
        runner.run(measure(site, words))


if __name__ == "__main__":
    main(sys.argv[1:])
