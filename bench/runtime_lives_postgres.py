"""What depends on how long something lives, on PostgreSQL: restarts, bytes on disk, start-up, idling."""

from __future__ import annotations

import asyncio
import os
import statistics
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, NamedTuple

from floor import Lease
from floor_postgres import PostgresFloor
from layover.stores.postgres.address import read_address
from layover.stores.postgres.statements import in_schema
from runtime_children import STUCK_AT, STUCK_LEASE
from runtime_figures import Figure
from runtime_lives import FEW_IN_FLIGHT, IN_FLIGHT, child, leave_stuck, long_chain
from runtime_workloads import STEPS, all_completed, chain, engine_at, many, question, recorded, verify
from sites import folder
from sites_postgres import PostgresSite

if TYPE_CHECKING:
    from decimal import Decimal

    from floor import Id, Step
    from measure import Size
    from runtime_figures import Measure
    from sites import Site

MOST_RESTART_S = 1.0
MOST_IDLE = 2.0
_FOR_LOCKS = "XDG_RUNTIME_DIR"


def _on_server(site: Site) -> PostgresSite:
    assert isinstance(site, PostgresSite)
    return site


# A restart after a kill


class _Restarted(NamedTuple):
    here: float  # on the same machine, where it is known at once that the other has died
    waited: float  # on another one: until the first lease had run out
    worked: float  # and from there until all were finished
    floor: float


async def _restart(site: Site, size: Size) -> list[Figure]:
    steps = await recorded(site, chain(), {"x": 0})
    rounds: list[_Restarted] = []
    count = size.of(IN_FLIGHT, quick=IN_FLIGHT, small=FEW_IN_FLIGHT)
    for turn in range(size.of(5, quick=3, small=1)):
        async with site.empty() as here, site.empty() as there, site.empty() as bare:
            for address in (bare, here, there):  # the last is taken up first, while its leases run
                await asyncio.to_thread(leave_stuck, address, count)
            waited, worked = await _finish_elsewhere(_on_server(site), there, count)
            rounds.append(_Restarted(await _finish(here, count), waited, worked, await _finish_bare(bare, steps)))
            print(f"  round {turn + 1}: {rounds[-1]}", flush=True)
    taken, waited, worked, floor = (statistics.median(part) for part in zip(*rounds, strict=True))
    return [
        Figure(
            name=f"restart with {count} in flight, on the same machine: all finished",
            value=f"{taken:.3f} s",
            floor=f"{floor:.3f}",
            ratio=f"{floor / taken:.0%}",
            aim=f"≤ {MOST_RESTART_S:.0f} s",
            met=taken <= MOST_RESTART_S,
        ),
        Figure(
            name=f"  on another: until leases of {STUCK_LEASE / 1000:.0f} s have run out + until all are finished",
            value=f"{waited:.2f} + {worked:.3f} s",
        ),
    ]


async def _finish(address: str, count: int) -> float:
    started = perf_counter()
    async with engine_at(address) as engine:
        await all_completed(engine, count, 0.005)
        taken = perf_counter() - started
        for id_ in (await engine.listed(count))[::20]:
            await verify(engine, id_, STEPS)
    return taken


async def _finish_elsewhere(site: PostgresSite, address: str, count: int) -> tuple[float, float]:
    """Do the same as on another machine: where instances on this one have their locks is not known to it."""
    async with site.server.connection() as db:
        leases = "SELECT min(wake_at) - extract(EPOCH FROM clock_timestamp()) * 1000 FROM layover.heads"
        left: Decimal = await db.fetchval(in_schema(leases, read_address(address).schema))
    known = os.environ.get(_FOR_LOCKS)
    with folder() as elsewhere:
        os.environ[_FOR_LOCKS] = str(elsewhere)
        try:
            taken = await _finish(address, count)
        finally:
            del os.environ[_FOR_LOCKS]
            if known is not None:
                os.environ[_FOR_LOCKS] = known
    waited = max(0.0, float(left) / 1000)
    return waited, taken - waited


async def _finish_bare(address: str, steps: list[Step]) -> float:
    """Read every log, and write what is left: the calls that were out once more, and the rest of the chains."""
    begun = STUCK_AT + 1
    schema = read_address(address).schema
    async with PostgresFloor(address) as floor:  # opened before the clock runs, since an engine that waits is open
        started = perf_counter()
        ids = [str(id_) for (id_,) in await floor.fetch(in_schema("SELECT execution_id FROM layover.heads", schema))]
        logs = await floor.fetch(
            in_schema("SELECT body FROM layover.events WHERE execution_id = ANY ($1)", schema), ids
        )
        assert len(logs) == begun * len(ids)
        again = [*steps[:begun], steps[begun - 1], *steps[begun:]]
        lease = Lease(epoch=2)

        async def one(id_: Id) -> None:
            await floor.claim(id_)
            await floor.go_on(id_, again, begun, lease)

        async with asyncio.TaskGroup() as group:
            for id_ in ids:
                group.create_task(one(id_))
        return perf_counter() - started


# Bytes


async def _bytes(site: Site, size: Size) -> list[Figure]:
    executions = size.of(5_000, quick=1_000, small=10)
    server = _on_server(site).server
    async with site.empty() as address:
        async with engine_at(address) as engine:
            await engine.register(chain())
        empty = await server.sizes(address)
        await _run(address, executions)
        full = await server.sizes(address)
        async with server.connection() as db:
            bodies = "SELECT sum(length(body)) FROM layover.events"
            events: int = await db.fetchval(in_schema(bodies, read_address(address).schema))
    grown = {table: taken - empty.get(table, 0) for table, taken in full.items()}
    parts = ", ".join(f"{table} {taken / executions:,.0f}" for table, taken in grown.items() if taken > executions)
    return [
        Figure(
            name=f"bytes per execution of {STEPS} calls, with indexes, after VACUUM",
            value=f"{sum(grown.values()) / executions:,.0f}",
            floor=f"{events / executions:,.0f} (events alone)",
        ),
        Figure(name=f"  {parts}", value=""),
    ]


async def _run(address: str, executions: int) -> None:
    async with engine_at(address) as engine:
        await engine.register(chain())
        await many(lambda: engine.start("chain", {"x": 0}, until="end"), executions, 100)
        assert await engine.counts() == {"completed": executions}


# Start-up and idling


async def _start_up(site: Site, size: Size) -> list[Figure]:
    taken: dict[str, list[tuple[float, float]]] = {"open": [], "open_bare": []}
    executions = size.of(1_000, quick=1_000, small=5)
    async with site.empty() as address:
        await _run(address, executions)
        for _ in range(size.of(9, quick=3, small=1)):
            for what, samples in taken.items():
                imported, opened = await asyncio.to_thread(child, what, address)
                samples.append((float(imported) * 1e3, float(opened) * 1e3))
    (imported, opened), (bare_imported, bare_opened) = (
        [statistics.median(part) for part in zip(*samples, strict=True)] for samples in taken.values()
    )
    return [
        Figure(
            name=f"start-up: import / open a schema with {executions:,} executions",
            value=f"{imported:.0f} / {opened:.1f} ms",
            floor=f"{bare_imported:.0f} / {bare_opened:.1f} (driver alone)",
        )
    ]


async def _idle(site: Site, size: Size) -> list[Figure]:
    settling, seconds = size.of((1.0, 20.0), quick=(1.0, 5.0), small=(0.0, 0.1))
    async with site.empty() as address, engine_at(address) as engine:
        await engine.register(question())
        await many(lambda: engine.start("question", until="rest"), 100, 100)
        await site.settle()  # else the server does it meanwhile, and what it writes is counted
        await asyncio.sleep(settling)
        before, began = await site.counts(engine), thread_time()
        await asyncio.sleep(seconds)
        cpu, after = thread_time() - began, await site.counts(engine)
    sent, written = (after.statements - before.statements) / seconds, (after.commits - before.commits) / seconds
    return [
        Figure(
            name="idle, 100 paused: statements / commits that write, per second",
            value=f"{sent:.1f} / {written:.1f}",
            floor="0",
            loop_cpu=f"{cpu / seconds * 1e6:.0f} µs/s",
            aim=f"≤ {MOST_IDLE:.0f} statements/s",
            met=sent <= MOST_IDLE,
        )
    ]


MEASURES: dict[str, Measure] = {
    "restart": _restart,
    "long": long_chain,
    "bytes": _bytes,
    "start_up": _start_up,
    "idle": _idle,
}
