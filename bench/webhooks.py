"""Webhooks: `bench/webhooks.py [--postgres] [--quick | --small] [PART …]`; without a PART, both of them.

`deliveries`: signed deliveries, each of which is a durable execution when it is answered, beside a bare "hello" of the
same stack; both servers are processes of their own, asked over 32 connections by the same light client in turn.

`flood`: a sender delivers steadily to one webhook, alone and then beside a second process that sends 1,000 anonymous
requests a second to the same server, from the same address: unsigned deliveries to its own webhook and to another one,
unknown webhooks, unknown tokens. Told are how many of its deliveries were answered, and how long they took.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import statistics
import sys
from contextlib import nullcontext
from time import perf_counter
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
import uvloop

from http_servers import ask_all, hello, surface
from layover.core.webhooks import HookCheck, sign
from measure import Size, size_of, table
from sites import SqliteSite
from sites_postgres import postgres_site

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.load.wire import Heard

    from http_servers import Server
    from sites import Site

MANY: Final = 32
HOOKS: Final = 100  # each takes 600 deliveries a minute
FLOODED: Final = 2  # the webhook of the sender beside a flood
KEY: Final = "the-key-of-a-bench"
ENVIRONMENT: Final = {"LAYOVER_SECRET_HOOK_KEY": KEY, "LAYOVER_ALLOW_SECRETS": '{"paid": ["HOOK_KEY"]}'}
GITHUB: Final = HookCheck("github")
PAID: Final = "\n".join(
    [
        "name: paid",
        "secrets: [HOOK_KEY]",
        "nodes: [{id: done, type: end}]",
        "triggers:",
        *(f"  - {{name: h{n}, type: webhook, verify: {{scheme: github, secret: HOOK_KEY}}}}" for n in range(HOOKS)),
    ]
)


def delivery(url: str, number: int, hook: int) -> bytes:
    """Return a signed delivery as it is sent."""
    body = msgspec.json.encode({"number": number, "order": "A-1", "total": 12.5})
    headers = {
        "host": url.removeprefix("http://"),
        "content-type": "application/json",
        "content-length": str(len(body)),
        **sign(GITHUB, KEY, body, 0),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST /hooks/paid/h{hook} HTTP/1.1\r\n{lines}\r\n".encode() + body


# Deliveries beside a hello


async def deliveries(site: Site, size: Size) -> None:
    """Measure how many deliveries become executions in a second."""
    rounds, count = size.of((7, 1_000), quick=(3, 300), small=(1, 4))
    taken: dict[str, list[float]] = {"hello": [], "webhook": []}
    cpu: dict[str, list[float]] = {"hello": [], "webhook": []}
    with hello() as least:
        async with (
            site.empty() as address,
            surface(address, {"paid": PAID}, ENVIRONMENT) as layover,
            least.wires(MANY) as bare,
            layover.wires(MANY) as ours,
        ):
            for turn in range(rounds + 1):  # the first warms up
                greetings = [bare[0].request("GET", "/hello")] * count
                sent = [delivery(layover.url, turn * count + n, n % HOOKS) for n in range(count)]
                for name, server, wires, requests, status in (
                    ("hello", least, bare, greetings, 200),
                    ("webhook", layover, ours, sent, 202),
                ):
                    used, began = server.cpu(), perf_counter()
                    answers = await ask_all(wires, requests)
                    if turn:
                        taken[name].append((perf_counter() - began) / count)
                        cpu[name].append((server.cpu() - used) / count)
                    _check(answers, status)
    seconds, used_cpu = _medians(taken), _medians(cpu)
    rows: list[tuple[str, ...]] = [("", "median", "of hello", "server's CPU", "of hello")]
    for name in ("hello", "webhook"):
        compared = seconds[name] / seconds["hello"], used_cpu[name] / used_cpu["hello"]
        rate, processor = f"{1 / seconds[name]:,.0f}/s", f"{used_cpu[name] * 1e6:.0f} µs"
        rows.append((name, rate, f"{compared[0]:.1f} x", processor, f"{compared[1]:.1f} x"))
    print(table(f"Webhooks on {site.name}, {MANY} connections (load {os.getloadavg()[0]:.1f})", rows), flush=True)


def _check(answers: list[Heard], status: int) -> None:
    wrong = next((heard for heard in answers if heard.status != status), None)
    assert wrong is None, wrong


def _medians(taken: dict[str, list[float]]) -> dict[str, float]:
    return {name: statistics.median(samples) for name, samples in taken.items()}


# A working webhook beside a flood


class Steady(NamedTuple):
    """How long deliveries took, and how many were not answered as they should be."""

    seconds: list[float]
    refused: int

    def row(self, name: str) -> tuple[str, ...]:
        """Return what is shown of it."""
        ordered = sorted(self.seconds)
        shown = [ordered[min(int(len(ordered) * share), len(ordered) - 1)] * 1e3 for share in (0.5, 0.95, 0.99)]
        return (name, str(len(ordered)), str(self.refused), *(f"{one:.1f} ms" for one in shown))


async def flood(site: Site, size: Size) -> None:
    """Compare a working webhook alone with the same beside a flood."""
    seconds = size.of(20.0, quick=5.0, small=0.3)
    each = size.of(1_000, quick=1_000, small=50)
    async with site.empty() as address, surface(address, {"paid": PAID}, ENVIRONMENT) as layover:
        await _steady(layover, min(seconds, 2.0), 0, first=0)  # to warm up
        alone = await _steady(layover, seconds, 1, first=10_000)
        results = multiprocessing.get_context("spawn").Queue()
        process = multiprocessing.get_context("spawn").Process(
            target=_flooding, args=(layover.url, seconds, each, results)
        )
        process.start()
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, results.get)  # it has begun
        beside = await _steady(layover, seconds, FLOODED, first=20_000)
        sent, statuses, took = await loop.run_in_executor(None, results.get)
        await loop.run_in_executor(None, process.join)
    rows = [("", "deliveries", "not answered", "median", "p95", "p99"), alone.row("alone"), beside.row("beside")]
    told = ", ".join(f"{count:,} x {status}" for status, count in sorted(statuses.items()))
    title = f"A working webhook on {site.name} beside {sent / took:,.0f} anonymous requests a second ({told})"
    print(table(f"{title}; load {os.getloadavg()[0]:.1f}", rows), flush=True)
    assert not alone.refused, alone
    assert not beside.refused, beside


async def _steady(server: Server, seconds: float, hook: int, *, first: int) -> Steady:
    """Deliver eight times a second, whatever the last one took: less than what one webhook takes in a minute."""
    taken: list[float] = []
    refused = 0
    async with server.wires(4) as wires:

        async def one(number: int) -> None:
            nonlocal refused
            began = perf_counter()
            heard = await wires[number % 4].send(delivery(server.url, first + number, hook))
            taken.append(perf_counter() - began)
            refused += heard.status != 202

        began = perf_counter()
        for number in range(max(int(seconds * 8), 2)):
            await asyncio.sleep(max(0.0, began + number / 8 - perf_counter()))
            await one(number)
    return Steady(taken, refused)


def _flooding(url: str, seconds: float, each: int, results: multiprocessing.Queue[object]) -> None:
    """Send anonymous requests at a rate; tell what was answered."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_flood(url, seconds, each, results))


async def _flood(url: str, seconds: float, each: int, results: multiprocessing.Queue[object]) -> None:
    from http_servers import Server as Target  # noqa: PLC0415 - in a process of its own

    statuses: dict[int, int] = {}
    hooks = (f"/hooks/paid/h{FLOODED}", "/hooks/paid/h3")
    paths: Sequence[str] = (*hooks, "/hooks/nobody/knows", f"/hooks/t/1{'A' * 43}", "/hooks/t/short")
    async with Target(url, 0).wires(MANY) as wires:
        requests = [wires[0].request("POST", path, {"n": 1}) for path in paths]
        results.put("begun")
        began, sent = perf_counter(), 0

        async def send(wire: int) -> None:
            nonlocal sent
            while (now := perf_counter() - began) < seconds:
                if sent >= now * each:
                    await asyncio.sleep(0.005)
                    continue
                sent += 1
                heard = await wires[wire].send(requests[sent % len(requests)])
                statuses[heard.status] = statuses.get(heard.status, 0) + 1

        await asyncio.gather(*(send(wire) for wire in range(MANY)))
        results.put((sent, statuses, perf_counter() - began))


async def measure(site: Site, words: list[str]) -> None:
    size, parts = size_of(words), [word for word in words if not word.startswith("-")]
    for name, part in (("deliveries", deliveries), ("flood", flood)):
        if not parts or name in parts:
            await part(site, size)


def main(words: list[str]) -> None:
    runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
    with postgres_site() if "--postgres" in words else nullcontext(SqliteSite()) as site, runner:
        runner.run(measure(site, words))


if __name__ == "__main__":
    main(sys.argv[1:])
