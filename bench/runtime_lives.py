"""What depends on how long something lives: restarts, long chains, bytes on disk, start-up, idling, memory."""

from __future__ import annotations

import asyncio
import shutil
import statistics
import subprocess
import sys
from collections import Counter
from pathlib import Path
from time import perf_counter, thread_time
from typing import TYPE_CHECKING

import apsw

from engines import Engine
from floor import Floor, Lease
from layover.core.definitions.limits import DefinitionLimits
from layover.core.plan import load
from runtime_children import CACHE_BYTES, STUCK_AT
from runtime_figures import Figure
from runtime_workloads import (
    STEPS,
    all_completed,
    chain,
    engine_at,
    many,
    question,
    recorded,
    verify,
)
from sites import folder, told_by

if TYPE_CHECKING:
    from floor import Step
    from measure import Size
    from runtime_figures import Measure
    from sites import Site

IN_FLIGHT, FEW_IN_FLIGHT, MOST_RESTART_S = 200, 3, 1.0
LONG, ENDS, MOST_GROWTH = 2_000, 200, 1.2
MOST_BYTES = 2_500
CHILDREN = Path(__file__).with_name("runtime_children.py")


def child(what: str, address: str, size: int = 0) -> list[str]:
    command = [sys.executable, str(CHILDREN), what, address, str(size)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()  # noqa: S603 - our own


# A restart after a kill


async def _restart(site: Site, size: Size) -> list[Figure]:
    steps = await recorded(site, chain(), {"x": 0})
    ours: list[float] = []
    bare: list[float] = []
    count = size.of(IN_FLIGHT, quick=IN_FLIGHT, small=FEW_IN_FLIGHT)
    for turn in range(size.of(5, quick=3, small=1)):
        with folder() as place:
            await asyncio.to_thread(leave_stuck, f"sqlite:///{place / 'engine.db'}", count)
            for suffix in ("", "-wal"):
                shutil.copy(place / f"engine.db{suffix}", place / f"floor.db{suffix}")
            ours.append(await _finish(place / "engine.db", count))
            bare.append(await _finish_bare(place / "floor.db", steps))
            print(f"  round {turn + 1}: {ours[-1]:.3f} s, floor {bare[-1]:.3f} s", flush=True)
    taken, floor = statistics.median(ours), statistics.median(bare)
    return [
        Figure(
            name=f"restart with {count} in flight, all finished",
            value=f"{taken:.3f} s",
            floor=f"{floor:.3f}",
            ratio=f"{floor / taken:.0%}",
            aim=f"≤ {MOST_RESTART_S:.0f} s",
            met=taken <= MOST_RESTART_S,
        )
    ]


def leave_stuck(address: str, count: int) -> None:
    """Leave a database behind whose process was killed in the middle of everything."""
    command = [sys.executable, str(CHILDREN), "stuck", address, str(count)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:  # noqa: S603 - our own
        assert child.stdout is not None
        assert child.stdout.readline() == "stuck\n"
        child.kill()


async def _finish(path: Path, count: int) -> float:
    started = perf_counter()
    async with engine_at(f"sqlite:///{path}") as engine:
        await all_completed(engine, count, 0.005)
        taken = perf_counter() - started
        for id_ in (await engine.listed(count))[::20]:
            await verify(engine, id_, STEPS)
    return taken


async def _finish_bare(path: Path, steps: list[Step]) -> float:
    """Read every log, and write what is left: the calls that were out once more, and the rest of the chains."""
    begun = STUCK_AT + 1
    started = perf_counter()
    async with Floor(path) as floor:
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        ids: list[bytes] = [id_ for (id_,) in db.execute("SELECT execution_id FROM heads")]
        for id_ in ids:
            assert len(list(db.execute("SELECT body FROM events WHERE execution_id = ?", (id_,)))) == begun
        db.close()
        again = [*steps[:begun], steps[begun - 1], *steps[begun:]]
        lease = Lease(epoch=2)

        async def one(id_: bytes) -> None:
            await floor.claim(id_)
            await floor.go_on(id_, again, begun, lease)

        async with asyncio.TaskGroup() as group:
            for id_ in ids:
                group.create_task(one(id_))
        return perf_counter() - started


# A long chain


async def long_chain(site: Site, size: Size) -> list[Figure]:
    times: list[float] = []
    cpu: list[float] = []
    totals: list[float] = []
    length, ends = size.of((LONG, ENDS), quick=(LONG, ENDS), small=(20, 5))
    plan = load(
        chain(length), limits=DefinitionLimits(nodes=LONG * 2, edges=LONG * 4, values=1_000_000, bytes=64 * 1024 * 1024)
    )
    for turn in range(size.of(5, quick=3, small=1)):
        stamps: list[tuple[float, float]] = []

        async def work(x: int, stamps: list[tuple[float, float]] = stamps) -> dict[str, int]:
            stamps.append((perf_counter(), thread_time()))
            return {"x": x + 1}

        async with site.empty() as address, Engine(address, nodes=[work]) as engine:
            await engine.register(plan)
            ended = await engine.start("chain", {"x": 0}, until="end")
            await verify(engine, ended.id, length)
        first = [late - early for early, late in zip(stamps[0], stamps[ends], strict=True)]
        last = [late - early for early, late in zip(stamps[-ends - 1], stamps[-1], strict=True)]
        times.append(last[0] / first[0])
        cpu.append(last[1] / first[1])
        totals.append((stamps[-1][1] - stamps[0][1]) / (length - 1))
        print(f"  round {turn + 1}: {times[-1]:.2f}, CPU {cpu[-1]:.2f}", flush=True)
    growth = statistics.median(cpu)
    return [
        Figure(
            name=f"a chain of {length:,}: last {ends} to first {ends}, by loop CPU / by time",
            value=f"{growth:.2f} / {statistics.median(times):.2f}",
            loop_cpu=f"{statistics.median(totals) * 1e6:.0f}",
            aim="flat",
            met=growth <= MOST_GROWTH,
        )
    ]


# Bytes


async def _bytes(_site: Site, size: Size) -> list[Figure]:
    executions = size.of(1_000, quick=300, small=10)
    with folder() as place:
        path = place / "engine.db"
        async with engine_at(f"sqlite:///{path}") as engine:
            await engine.register(chain())
        empty = _packed(path)

        async with engine_at(f"sqlite:///{path}") as engine:

            async def one() -> None:
                await engine.start("chain", {"x": 0}, until="end")

            await many(one, executions, 100)
            assert await engine.counts() == {"completed": executions}
        taken = (_packed(path) - empty) / executions
        db = apsw.Connection(str(path))
        bodies: int = db.execute("SELECT sum(length(body)) FROM events").get
        db.close()
    return [
        Figure(
            name=f"bytes per execution of {STEPS} calls",
            value=f"{taken:,.0f}",
            floor=f"{bodies / executions:,.0f} (events alone)",
            aim=f"≤ {MOST_BYTES:,}",
            met=taken <= MOST_BYTES,
        )
    ]


def _packed(path: Path) -> int:
    """Return the size of a file after all of its log is in it and nothing is left free."""
    db = apsw.Connection(str(path))
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.execute("VACUUM")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return path.stat().st_size


# Start-up, idling, memory


async def _start_up(_site: Site, size: Size) -> list[Figure]:
    executions = size.of(1_000, quick=1_000, small=5)
    taken: dict[str, list[tuple[float, float]]] = {"open": [], "open_bare": []}
    with folder() as place:
        path = place / "engine.db"
        async with engine_at(f"sqlite:///{path}") as engine:
            await engine.register(chain())

            async def one() -> None:
                await engine.start("chain", {"x": 0}, until="end")

            await many(one, executions, 100)
        for _ in range(size.of(9, quick=3, small=1)):
            for what, samples in taken.items():
                imported, opened = await asyncio.to_thread(child, what, f"sqlite:///{path}")
                samples.append((float(imported) * 1e3, float(opened) * 1e3))
    (imported, opened), (bare_imported, bare_opened) = (
        [statistics.median(part) for part in zip(*samples, strict=True)] for samples in taken.values()
    )
    return [
        Figure(
            name=f"start-up: import / open a file with {executions:,} executions",
            value=f"{imported:.0f} / {opened:.1f} ms",
            floor=f"{bare_imported:.0f} / {bare_opened:.1f} (driver alone)",
        )
    ]


async def _idle(_site: Site, size: Size) -> list[Figure]:
    settling, seconds = size.of((1.0, 10.0), quick=(1.0, 3.0), small=(0.0, 0.1))
    statements: Counter[str] = Counter()

    def count(event: dict[str, object]) -> None:
        statements[str(event["sql"]).split(maxsplit=1)[0]] += 1

    def listen(db: apsw.Connection) -> None:
        db.trace_v2(apsw.SQLITE_TRACE_STMT, count)

    apsw.connection_hooks.append(listen)
    try:
        with folder() as place:
            async with engine_at(f"sqlite:///{place / 'engine.db'}") as engine:
                await engine.register(question())

                async def pause() -> None:
                    await engine.start("question", until="rest")

                await many(pause, 100, 100)
                await asyncio.sleep(settling)
                statements.clear()
                before, began = told_by(engine, "transactions"), thread_time()
                await asyncio.sleep(seconds)
                cpu, written = thread_time() - began, told_by(engine, "transactions") - before
    finally:
        apsw.connection_hooks.remove(listen)
    rate = statements.total() / seconds
    kinds = ", ".join(f"{kind} {number / seconds:.1f}" for kind, number in statements.most_common(4))
    return [
        Figure(
            name="idle, 100 paused: statements / transactions per second",
            value=f"{rate:.1f} / {written / seconds:.1f}",
            floor="0",
            loop_cpu=f"{cpu / seconds * 1e6:.0f} µs/s",
        ),
        Figure(name=f"  {kinds}", value=""),
    ]


async def _memory(_site: Site, size: Size) -> list[Figure]:
    figures: list[Figure] = []
    for count in size.of((1_000, 10_000), quick=(1_000,), small=(5,)):
        with folder() as place:
            before, after, peak = map(
                int, await asyncio.to_thread(child, "paused", f"sqlite:///{place / 'engine.db'}", count)
            )
        figures.append(
            Figure(
                name=f"memory with {count:,} paused, {CACHE_BYTES // 1_000_000} MB of cache: at rest / peak",
                value=f"{after / 1e6:.0f} / {peak / 1e6:.0f} MB",
                floor=f"{before / 1e6:.0f} (just opened)",
            )
        )
    return figures


MEASURES: dict[str, Measure] = {
    "restart": _restart,
    "long": long_chain,
    "bytes": _bytes,
    "start_up": _start_up,
    "idle": _idle,
    "memory": _memory,
}
