"""What deliveries cost: `python bench/deliveries.py [--postgres] [--quick | --small] [PART …]`; without a PART, both.

`sent`: executions end, and each is told of: to a function of the program, and to a receiver of webhooks in a process of
its own. The rates are from the first start to the last delivery. Beside them stands a bare loop with as many requests
in flight that posts to the same receiver in the same round.

`backlog`: many executions pause at once, and their receiver takes 50 deliveries a second. Told are how many other
executions end in a second before and while that goes on, and the memory of this process.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engines import Engine
from http_servers import Server, ask_all
from layover import Notification, Settings, notifier
from measure import size_of, table
from sites import SqliteSite
from sites_postgres import postgres_site

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from multiprocessing.sharedctypes import Synchronized

    from measure import Size
    from sites import Site

IN_FLIGHT: Final = 4  # of one destination
AT_ONCE: Final = 50
SLOW: Final = 50  # deliveries a second
END: Final = [{"id": "done", "type": "end"}]
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
    """Compare executions before and beside a long row of deliveries."""
    pauses, others, rounds = size.of((10_000, 2_000, 5), quick=(1_000, 500, 3), small=(10, 5, 1))
    ask = [{"id": "ask", "type": "form", "title": "Well?", "schema": {"type": "object"}, "next": "done"}, *END]
    notify = [{"on": ["pause.opened"], "via": "hook"}]
    rows: list[tuple[str, ...]] = [("", "executions/s", "delivered", "memory")]
    with receiver(IN_FLIGHT / SLOW) as to:
        async with site.empty() as address, Engine(address, settings=to.settings()) as engine:
            await engine.register({"name": "quiet", "nodes": END})
            await engine.register({"name": "asks", "notify": notify, "nodes": ask})
            await _ended(engine, others)  # to warm up
            rows += [await _row(f"before {n + 1}", engine, others, to) for n in range(rounds)]
            await _start(engine, "asks", pauses)
            rows += [await _row(f"beside {n + 1}", engine, others, to) for n in range(rounds)]
            if size is size.SMALL:
                await _until(lambda: to.had.value >= pauses)
    print(table(f"{pauses:,} pauses on {site.name}, {SLOW}/s; load {os.getloadavg()[0]:.1f}", rows), flush=True)


async def _row(name: str, engine: Engine, others: int, to: Receiver) -> tuple[str, ...]:
    rate = await _ended(engine, others)
    return (name, f"{rate:,.0f}", f"{to.had.value:,}", _memory())


def _memory() -> str:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return f"{pages * os.sysconf('SC_PAGE_SIZE') / 2**20:,.0f} MiB"


PARTS: dict[str, Callable[[Site, Size], Awaitable[None]]] = {"sent": sent, "backlog": backlog}


async def _measure(site: Site, size: Size, parts: list[str]) -> None:
    for name, part in PARTS.items():
        if not parts or name in parts:
            await part(site, size)


def main(words: list[str]) -> None:
    with postgres_site() if "--postgres" in words else nullcontext(SqliteSite()) as site:
        asyncio.run(_measure(site, size_of(words), [word for word in words if not word.startswith("--")]))


if __name__ == "__main__":
    main(sys.argv[1:])
