"""What deliveries cost: `python bench/deliveries.py [--postgres] [--quick | --small] [PART …]`; without a PART, all.

`sent`: executions end, and each is told of: to a function of the program, and to a receiver of webhooks in a process of
its own. The rates are from the first start to the last delivery. Beside them stands a bare loop with as many requests
in flight that posts to the same receiver in the same round.

`backlog`: many executions pause at once, and their receiver takes 50 deliveries a second. Told are how many other
executions end in a second beside that, in pairs with an engine that has no backlog (both, and the ratio with its
quartiles), the memory of both, and how many deliveries wait: the engine makes them as the receiver takes them.

`steps`: what an engine with a destination and rules in its settings pays for executions that nobody is told of, in
pairs with an engine without; and for executions of which each is told, with everything until it is sent.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from delivery_backlog import AT_ONCE, END, ratio, worker
from engines import Engine
from http_servers import Server, ask_all
from layover import Notification, Settings, notifier
from measure import size_of, table
from sites import SqliteSite
from sites_postgres import postgres_site

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from multiprocessing.sharedctypes import Synchronized

    from delivery_backlog import Round, Worker
    from measure import Size
    from sites import Site

IN_FLIGHT: Final = 4  # of one destination
SLOW: Final = 50  # deliveries a second
TOLD: Final = b"HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n"
LONGEST: Final = 1 << 20


class Receiver(NamedTuple):
    """A receiver of webhooks, and how many it has had."""

    url: str
    had: Synchronized[int]

    def settings(self) -> Settings:
        """Return settings with this receiver as a destination."""
        return Settings(
            http_private=True,
            destinations={"hook": {"kind": "webhook", "address": f"{self.url}/hook", "timeout": "30s"}},
        )


@contextmanager
def receiver(seconds: float = 0.0) -> Iterator[Receiver]:
    """Run a receiver that takes so many seconds for each delivery."""
    context = multiprocessing.get_context("spawn")
    had, ports = context.Value("i", 0), context.Queue()
    process = context.Process(target=_receive, args=(seconds, had, ports), daemon=True)
    process.start()
    try:
        yield Receiver(f"http://127.0.0.1:{ports.get()}", had)
    finally:
        process.terminate()
        process.join()


def _receive(seconds: float, had: Synchronized[int], ports: multiprocessing.Queue[int]) -> None:
    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := (await reader.readuntil(b"\r\n\r\n")).lower():
            _, _, rest = head.partition(b"content-length:")
            await reader.readexactly(int(rest.split(b"\r\n", 1)[0] or 0))
            await asyncio.sleep(seconds)
            had.value += 1
            writer.write(TOLD)

    async def serve() -> None:
        async def until_closed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await take(reader, writer)
            except (asyncio.IncompleteReadError, ConnectionError):
                writer.close()

        server = await asyncio.start_server(until_closed, "127.0.0.1", 0, limit=LONGEST)
        ports.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serve())


async def _until(reached: Callable[[], bool]) -> None:
    while not reached():  # noqa: ASYNC110 - nothing tells
        await asyncio.sleep(0.005)


async def _start(engine: Engine, name: str, count: int) -> None:
    left = iter(range(count))

    async def start() -> None:
        for _ in left:
            await engine.start(name)

    await asyncio.gather(*(start() for _ in range(AT_ONCE)))


# Deliveries beside a bare loop


async def sent(site: Site, size: Size) -> None:
    """Compare what is delivered in a second with what a bare loop posts."""
    count = size.of(3_000, quick=500, small=10)
    rows: list[tuple[str, ...]] = [("round", "function/s", "webhook/s", "bare loop/s", "executions/s")]
    for number in range(size.of(3, quick=2, small=1)):
        with receiver() as to:
            rates = (
                await _to_a_function(site, count),
                await _to_a_webhook(site, count, to),
                await _bare(to, count),
                await _without(site, count),
            )
        rows.append((str(number + 1), *(f"{rate:,.0f}" for rate in rates)))
    print(table(f"{count:,} deliveries on {site.name}; load {os.getloadavg()[0]:.1f}", rows), flush=True)


async def _to_a_function(site: Site, count: int) -> float:
    had: set[str] = set()

    @notifier(on=["execution.completed"])
    async def tell(notification: Notification) -> None:
        had.add(notification.id)

    nodes: list[Any] = [tell]
    async with site.empty() as address, Engine(address, nodes=nodes) as engine:
        await engine.register({"name": "told", "nodes": END})
        began = perf_counter()
        await _start(engine, "told", count)
        await _until(lambda: len(had) >= count)
        return count / (perf_counter() - began)


async def _to_a_webhook(site: Site, count: int, to: Receiver) -> float:
    until = to.had.value + count
    notify = [{"on": ["execution.completed"], "via": "hook"}]
    async with site.empty() as address, Engine(address, settings=to.settings()) as engine:
        await engine.register({"name": "told", "notify": notify, "nodes": END})
        began = perf_counter()
        await _start(engine, "told", count)
        await _until(lambda: to.had.value >= until)
        return count / (perf_counter() - began)


async def _bare(to: Receiver, count: int) -> float:
    async with Server(to.url, 0).wires(IN_FLIGHT) as wires:
        requests = [wires[0].request("POST", "/hook", {"n": n, "text": "x" * 300}) for n in range(count)]
        began = perf_counter()
        await ask_all(wires, requests)
        return count / (perf_counter() - began)


async def _without(site: Site, count: int) -> float:
    """Return how many executions end in a second when nobody is told."""
    async with site.empty() as address, Engine(address) as engine:
        await engine.register({"name": "quiet", "nodes": END})
        return await _ended(engine, count)


async def _ended(engine: Engine, count: int) -> float:
    before, began = (await engine.counts()).get("completed", 0), perf_counter()
    await _start(engine, "quiet", count)
    while (await engine.counts()).get("completed", 0) < before + count:  # noqa: ASYNC110 - nothing tells
        await asyncio.sleep(0.005)
    return count / (perf_counter() - began)


# Others beside many that wait to be told


async def backlog(site: Site, size: Size) -> None:
    """Compare executions beside a long row of deliveries with those of an engine that has none."""
    pauses, seconds, rounds = size.of((10_000, 3.0, 12), quick=(1_000, 1.0, 6), small=(10, 0.02, 1))
    with receiver(IN_FLIGHT / SLOW) as to:
        async with site.empty() as one, site.empty() as other:
            await asyncio.to_thread(_backlog, site.name, (one, other), to, (pauses, seconds, rounds))


def _backlog(name: str, addresses: tuple[str, str], to: Receiver, much: tuple[int, float, int]) -> None:
    pauses, seconds, rounds = much
    hook = f"{to.url}/hook"
    with worker(addresses[0], hook) as beside, worker(addresses[1], hook) as alone:
        for one in (beside, alone):
            one.run(seconds)  # to warm up
            one.pause(1)  # to load the HTTP client, which takes memory
        pairs = _Pairs(beside, alone, seconds)
        rows = [
            ("", "executions/s", "of alone", "CPU µs each", "of alone", "MiB", "waiting", "delivered"),
            pairs.row("no backlog", rounds, to),
        ]
        beside.pause(pauses)
        rows += [pairs.row(when, rounds, to) for when in ("right after the burst", "later")]
        had = to.had.value
        with ThreadPoolExecutor() as at_once:  # in the same seconds
            resting = [at_once.submit(one.rest, 4 * seconds) for one in (beside, alone)]
            ours, theirs = (one.result().cpu for one in resting)
        cost = (ours - theirs) / max(to.had.value - had, 1) * 1e6
    load = f"load {os.getloadavg()[0]:.1f}"
    print(table(f"{pauses:,} pauses on {name}, {SLOW}/s, rounds of {seconds:g} s; {load}", rows))
    print(f"  with nothing else to do, {cost:,.0f} µs of CPU to expand and send one", flush=True)


class _Pairs:
    """Rounds of both processes, one after the other."""

    def __init__(self, beside: Worker, alone: Worker, seconds: float) -> None:
        self._beside = beside
        self._alone = alone
        self._seconds = seconds

    def row(self, name: str, rounds: int, to: Receiver, workflow: str = "quiet") -> tuple[str, ...]:
        """Measure so many rounds; a workflow other than the quiet one is that of the first process."""
        beside: list[Round] = []
        alone: list[Round] = []
        while len(beside) < rounds:
            turns = [(beside, self._beside, workflow), (alone, self._alone, "quiet")]
            for found, one, run in turns if len(beside) % 2 else reversed(turns):
                found.append(one.run(self._seconds, run))
        rates = (f"{statistics.median(one.rate for one in found):,.0f}" for found in (beside, alone))
        costs = (f"{statistics.median(one.cost for one in found):,.0f}" for found in (beside, alone))
        memory = " / ".join(f"{found[-1].memory:,.0f}" for found in (beside, alone))
        return (
            name,
            " / ".join(rates),
            ratio(beside, alone, "rate"),
            " / ".join(costs),
            ratio(beside, alone, "cost"),
            memory,
            f"{beside[-1].waiting:,}",
            f"{to.had.value:,}",
        )


# Executions that nobody is told of


async def steps(site: Site, size: Size) -> None:
    """Compare executions on an engine that may notify with those on one that cannot."""
    seconds, rounds = size.of((2.0, 20), quick=(1.0, 8), small=(0.02, 1))
    with receiver() as to:
        async with site.empty() as one, site.empty() as other:
            await asyncio.to_thread(_steps, site.name, (one, other), to, (seconds, rounds))


def _steps(name: str, addresses: tuple[str, str], to: Receiver, much: tuple[float, int]) -> None:
    seconds, rounds = much
    with worker(addresses[0], f"{to.url}/hook") as ready, worker(addresses[1], "") as bare:
        for one in (ready, bare):
            one.run(seconds)
        pairs = _Pairs(ready, bare, seconds)
        header = ("", "executions/s", "of bare", "CPU µs each", "of bare", "MiB", "waiting", "delivered")
        quiet = pairs.row("not told of", rounds, to)
        ready.run(seconds, "tells")
        rows = [header, quiet, pairs.row("told of", max(rounds // 4, 1), to, "tells")]
    load = f"load {os.getloadavg()[0]:.1f}"
    print(table(f"executions on {name}, rounds of {seconds:g} s; {load}", rows), flush=True)


PARTS: dict[str, Callable[[Site, Size], Awaitable[None]]] = {"sent": sent, "backlog": backlog, "steps": steps}


async def _measure(site: Site, size: Size, parts: list[str]) -> None:
    for name, part in PARTS.items():
        if not parts or name in parts:
            await part(site, size)


def main(words: list[str]) -> None:
    with postgres_site() if "--postgres" in words else nullcontext(SqliteSite()) as site:
        asyncio.run(_measure(site, size_of(words), [word for word in words if not word.startswith("--")]))


if __name__ == "__main__":
    main(sys.argv[1:])
