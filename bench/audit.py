"""What audited acts cost the steps beside them: `python bench/audit.py [--quick | --small] [--postgres]`.

Executions of ten steps run to their end in three ways, in turn: alone; beside a thousand acts in a second that are not
audited (a program that names no user sends signals); and beside the same acts of a user, which are audited and sealed.
What auditing and sealing cost is the difference between the last two. Told are the medians of steps and acts in a
second, the time of the processor, and the longest that an entry has waited for its seal; the chain is verified. And the
time of the processor that it takes to build the entry of an act, with its salt and leaf.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
from contextlib import nullcontext
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Literal, NamedTuple

from layover import Engine
from layover.admin import verify_audit
from layover.bootstrap import open_store
from layover.ports.audit_entries import SALT_BYTES, audit_row
from measure import size_of, table
from sites import SqliteSite
from sites_postgres import postgres_site

if TYPE_CHECKING:
    from sites import Site

STEPS = 10
ACTS = 1_000  # in a second
AT_ONCE = 50
ID = "0195f2a6-7c00-7000-8000-5d1e0f3a9b42"
NODES: list[dict[str, object]] = [{"id": f"s{n}", "type": "step", "next": f"s{n + 1}"} for n in range(STEPS - 1)]
FLOW = {"name": "chain", "nodes": [*NODES, {"id": f"s{STEPS - 1}", "type": "step"}]}


Kind = Literal["alone", "beside acts", "beside audited acts"]
KINDS: tuple[Kind, ...] = ("alone", "beside acts", "beside audited acts")


class Round(NamedTuple):
    """What one round has done."""

    steps: float
    acts: float
    processor: float
    latest: float  # seconds until the last entry was sealed


async def step() -> None:
    """Do nothing."""


async def _act(engine: Engine, is_over: asyncio.Event) -> int:
    """Send as many signals in a second as were asked for, or as can be; return how many they were."""
    done, began = 0, perf_counter()
    while not is_over.is_set():
        due = int((perf_counter() - began) * ACTS) - done
        await asyncio.gather(*(engine.signal("nobody-waits", key=str(done + n)) for n in range(min(due, AT_ONCE))))
        done += min(due, AT_ONCE)
        await asyncio.sleep(0.005)
    return done


async def _round(site: Site, count: int, kind: Kind) -> Round:
    async with site.empty() as address:
        return await _measured(address, count, kind)


async def _measured(address: str, count: int, kind: Kind) -> Round:
    async with Engine(address, nodes=[step]) as engine:
        await engine.register(FLOW)
        actor = engine.as_user("ada", ["admin"]) if kind == "beside audited acts" else engine
        is_over = asyncio.Event()
        began, used = perf_counter(), process_time()
        acting = asyncio.ensure_future(_act(actor, is_over)) if kind != "alone" else None
        started = [await engine.start("chain") for _ in range(count)]
        for one in started:
            await one.wait()
        taken, processor = perf_counter() - began, process_time() - used
        is_over.set()
        done = await acting if acting is not None else 0
    return Round(count * STEPS / taken, done / taken, processor, await _latest(address))


async def _latest(address: str) -> float:
    """Return how many seconds an entry has waited for its seal at most; all have one, and the chain is whole."""
    found = await verify_audit(address)
    if found.findings or found.waiting:
        raise SystemExit(f"The chain is not whole: {found}")
    store = open_store(address)
    await store.open("bench")
    try:
        waits = [
            seal.at - row.at
            for seal in await store.seals.list_seals(0, 10_000)
            for row in await store.seals.list_entries(seal.n, None, 1)
        ]
    finally:
        await store.close()
    return max(waits, default=0) / 1000


def build() -> None:
    """Build the entry of a decision."""
    audit_row(
        id=ID,
        at=1_800_000_000_000,
        user="ada",
        act="approval.approve",
        salt=os.urandom(SALT_BYTES),
        target=ID,
        execution_id=ID,
        credential="key k1",
        address="10.0.0.1",
        request_id="7615b63b73255690",
        details={"comment": "fine"},
        after={"approved": True},
    )


def _built(count: int) -> float:
    """Return the seconds of the processor that an entry takes."""
    began = process_time()
    for _ in range(count):
        build()
    return (process_time() - began) / count


def main() -> None:
    """Measure all ways in turn, and the entry."""
    size, postgres = size_of(sys.argv), "--postgres" in sys.argv
    count, rounds = size.of((600, 7), quick=(300, 5), small=(3, 1))
    found: dict[Kind, list[Round]] = {kind: [] for kind in KINDS}
    with postgres_site() if postgres else nullcontext(SqliteSite()) as site:
        for n in range(rounds):
            for kind in KINDS if n % 2 == 0 else KINDS[::-1]:
                found[kind].append(asyncio.run(_round(site, count, kind)))
    rows: list[tuple[str, ...]] = [("", "steps/s", "acts/s", "s of the processor", "sealed after s")]
    for kind in KINDS:
        steps, done, processor, latest = (statistics.median(column) for column in zip(*found[kind], strict=True))
        rows.append((kind, f"{steps:,.0f}", f"{done:,.0f}", f"{processor:.2f}", f"{latest:.1f}"))
    print(table(f"Steps beside acts on {site.name}, load {os.getloadavg()[0]:.0f}", rows))
    taken = statistics.median(_built(size.of(20_000, quick=20_000, small=100)) for _ in range(9))
    print(f"The entry of an act: {taken * 1e6:.1f} µs of the processor")


if __name__ == "__main__":
    main()
