"""What schedules cost: `python bench/schedules.py [--postgres] [--quick] [--small] [PART …]`; without a PART, all.

`lateness`: many schedules have one moment each, evenly within a minute; how much later than that does each execution
exist? `idle`: how much does an instance do while many triggers rest, beside one without any?
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from time import perf_counter, process_time
from typing import TYPE_CHECKING, NamedTuple

from engines import Engine
from layover.core.ids import trigger_id
from layover.core.moments import moment
from layover.ports.trigger_records import InputFilter, NewTrigger
from layover.ports.view_records import ExecutionFilter
from layover.stores.postgres import PostgresStore
from measure import size_of, table
from sites import SqliteSite
from sites_postgres import postgres_site

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from layover.ports.view_records import ExecutionRow
    from measure import Size
    from sites import Site

A_WORKFLOW = 100  # triggers
NODES = [{"id": "done", "type": "end", "output": "${input}"}]
FAR = 4_000_000_000_000


# Lateness


async def lateness(site: Site, size: Size) -> None:
    """Measure how late the occurrences of many schedules start."""
    count, seconds = size.of((1_000, 60), quick=(300, 20), small=(10, 1))
    async with site.empty() as address, Engine(address) as engine:
        begin = datetime.now(UTC) + timedelta(seconds=1 + count / 100)  # by then all are registered
        for first in range(0, count, A_WORKFLOW):
            moments = [
                begin + n * timedelta(seconds=seconds) / count for n in range(first, min(first + A_WORKFLOW, count))
            ]
            triggers = [
                {"name": f"n{n}", "type": "schedule", "at": [at.isoformat(timespec="milliseconds")]}
                for n, at in enumerate(moments)
            ]
            await engine.register({"name": f"w{first}", "nodes": NODES, "triggers": triggers})
        ready = datetime.now(UTC) < begin
        while (await engine.counts()).get("completed", 0) < count:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.1)
        late = sorted(await _late(engine, count))
    row = [f"{late[len(late) * part // 100]:.0f}" for part in (50, 90, 99)]
    rows: list[tuple[str, ...]] = [("schedules", "seconds", "p50 ms", "p90 ms", "p99 ms", "worst ms")]
    rows.append((f"{count:,}", str(seconds), *row, f"{late[-1]:.0f}"))
    note = "" if ready else " (registered too late: more time is needed)"
    print(table(f"lateness on {site.name}{note}; load {os.getloadavg()[0]:.1f}", rows))


async def _late(engine: Engine, count: int) -> list[float]:
    """Return how many milliseconds after its moment each execution existed."""
    found: list[float] = []
    for first in range(0, count, A_WORKFLOW):
        created = {row.head.execution_id: row.info.created_at for row in await _listed(engine, first)}
        for n in range(min(A_WORKFLOW, count - first)):
            id_ = trigger_id(f"w{first}", f"n{n}")
            (one,) = await engine.instance.store.triggers.list_inputs(InputFilter(trigger_id=id_))
            found.append(created[one.execution_id] - (one.at or 0))
    return found


async def _listed(engine: Engine, first: int) -> Sequence[ExecutionRow]:
    wanted = ExecutionFilter(workflow=f"w{first}", limit=A_WORKFLOW)
    return await engine.instance.store.queries.list_executions(wanted)


# Triggers that rest


class Idle(NamedTuple):
    """What an instance does in a second, and how long it takes to see that nothing is due."""

    processor: float
    statements: float
    looks: float
    look: float


async def idle(site: Site, size: Size) -> None:
    """Compare an instance for which many triggers rest with one that has none."""
    count, seconds = size.of((100_000, 20.0), quick=(20_000, 10.0), small=(200, 0.2))
    rows: list[tuple[str, ...]] = [("triggers", "CPU ms/s", "statements/s", "looks/s", "a look, µs")]
    for number in (0, count, 0, count):
        async with site.empty() as address:
            found = await _rest(address, number, seconds)
        sent = "" if found.statements < 0 else f"{found.statements:.2f}"
        rows.append(
            (f"{number:,}", f"{found.processor * 1000:.2f}", sent, f"{found.looks:.2f}", f"{found.look * 1e6:.0f}")
        )
    print(table(f"an idle instance for {seconds:.0f}s on {site.name}; load {os.getloadavg()[0]:.1f}", rows))


async def _rest(address: str, number: int, seconds: float) -> Idle:
    async with Engine(address) as engine:
        await _fill(engine, number)
    async with Engine(address) as engine:
        store, looks = engine.instance.store, 0
        read_due = store.triggers.read_due

        async def counted(now: int, most: int) -> object:
            nonlocal looks
            looks += 1
            return await read_due(now, most)

        store.triggers.read_due = counted  # type: ignore[method-assign, assignment]  # a count, not another behaviour
        await asyncio.sleep(1)  # its first looks are over
        looks, statements, used = 0, _statements(engine), process_time()
        await asyncio.sleep(seconds)
        processor, sent, seen = process_time() - used, _statements(engine) - statements, looks
        times: list[float] = []
        for _ in range(200):
            began = perf_counter()
            await read_due(engine.instance.clock.now(), 100)
            times.append(perf_counter() - began)
    per_second = sent / seconds if statements >= 0 else -1.0
    return Idle(processor / seconds, per_second, seen / seconds, statistics.median(times))


def _statements(engine: Engine) -> int:
    store = engine.instance.store
    return store.statements if isinstance(store, PostgresStore) else -1


async def _fill(engine: Engine, number: int) -> None:
    """Have so many triggers that rest: schedules of a far moment, signals, and paused ones."""
    store, now = engine.instance.store, engine.instance.clock.now()
    for first in range(0, number, A_WORKFLOW):
        name = f"w{first}"
        triggers = tuple(_resting(name, n) for n in range(min(A_WORKFLOW, number - first)))
        await store.definitions.save(name, f"h{first}", b"{}", now, None, triggers)


def _resting(workflow: str, n: int) -> NewTrigger:
    id_, name = trigger_id(workflow, f"n{n}"), f"n{n}"
    match n % 3:
        case 0:
            config = f'{{"name":"{name}","type":"schedule","at":["{moment(FAR)}"]}}'.encode()
            return NewTrigger(id=id_, name=name, type="schedule", config=config, next_at=FAR + n, cursor=b'{"at":0}')
        case 1:
            return NewTrigger(id=id_, name=name, type="signal", config=b"{}", topic=f"{workflow}.{name}")
        case _:
            return NewTrigger(id=id_, name=name, type="schedule", config=b"{}", state="paused", cursor=b'{"at":0}')


PARTS: dict[str, Callable[[Site, Size], Awaitable[None]]] = {"lateness": lateness, "idle": idle}


async def _measure(site: Site, size: Size, parts: list[str]) -> None:
    for name, part in PARTS.items():
        if not parts or name in parts:
            await part(site, size)


def main(words: list[str]) -> None:
    """Measure on one database."""
    with postgres_site() if "--postgres" in words else nullcontext(SqliteSite()) as site:
        asyncio.run(_measure(site, size_of(words), [word for word in words if not word.startswith("--")]))


if __name__ == "__main__":
    main(sys.argv[1:])
