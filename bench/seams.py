"""What the seams of the machine cost: `python bench/seams.py [--quick | --small]`.

An engine asks a `Machine` for time, chance and ids, so that a simulation can give it others. Here it runs in turn with
one that asks `time`, `random` and `os` directly: single questions, and whole executions on the store in memory, which
has no disk to hide anything behind. Medians, and the ratio.
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import sys
from time import monotonic_ns, process_time
from typing import TYPE_CHECKING

from layover.runtime.clock import Clock
from layover.runtime.ids import Ids
from layover.runtime.machine import Machine
from layover.runtime.runtime import Runtime
from layover.stores.memory import MemoryStore
from measure import compare, size_of, table

if TYPE_CHECKING:
    from collections.abc import Callable

NODES = 20
AT_ONCE = 3


class Seamed(Machine):
    """The machine of production; without a watchdog of the event loop, which stands still between two measurements."""

    def watchdog(self, blocked_after: float) -> None:
        pass


class Direct(Seamed):
    """A machine that is not asked: what it would give is taken where it comes from."""

    def __init__(self) -> None:
        super().__init__()
        self.ids = Ids(os.urandom)


class DirectClock(Clock):
    """The same for its time."""

    def now(self) -> int:
        now = monotonic_ns() // 1_000_000 + self._least
        if now < self._last:
            return self._last
        self._last = now
        return now

    def latest(self) -> int:
        return max(self.now(), monotonic_ns() // 1_000_000 + self._most)


async def step(n: int = 0) -> int:
    """Return at once."""
    return n + 1


def main(words: list[str]) -> None:
    size = size_of(words)
    rounds, seconds = size.of(31, quick=7, small=1), size.of(0.2, quick=0.05, small=0.001)
    machine, direct = Seamed(), Direct()
    clock, direct_clock = Clock(machine.running), DirectClock(machine.running)
    clock.set(1_800_000_000_000)
    direct_clock.set(1_800_000_000_000)
    pairs: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "the time of the database": (clock.now, direct_clock.now),
        "sixteen random bytes": (lambda: machine.secret(16), lambda: os.urandom(16)),
        "an id": (lambda: machine.ids.new(clock.now()), lambda: direct.ids.new(direct_clock.now())),
        "a number by chance": (lambda: machine.chance.uniform(-1, 1), lambda: random.uniform(-1, 1)),  # noqa: S311 - chance, not secrets
    }
    with asyncio.Runner() as runner:
        engines = [_engine(machine, None), _engine(direct, DirectClock(direct.running))]
        for engine in engines:
            runner.run(_open(engine))
        rows: list[tuple[str, ...]] = [("", "Machine, µs", "direct, µs", "ratio")]
        for name, (seamed, bare) in pairs.items():
            taken = compare({"seamed": seamed, "bare": bare}, rounds=rounds, min_time=seconds)
            times = [f"{taken[one] * 1e6:,.2f}" for one in ("seamed", "bare")]
            rows.append((name, *times, f"{taken['seamed'] / taken['bare']:.3f}"))
        rows.append(_executions(runner, engines, size.of(400, quick=40, small=2)))
        for engine in engines:
            runner.run(engine.stop())
    print(table(f"Medians of {rounds} rounds; an execution makes {NODES} calls, on the store in memory", rows))


def _executions(runner: asyncio.Runner, engines: list[Runtime], rounds: int) -> tuple[str, ...]:
    """Return what an execution costs on each, in CPU time: other work on the machine makes more of a difference."""
    taken: list[list[float]] = [[], []]
    for turn in range(rounds):
        for which in (0, 1) if turn % 2 else (1, 0):
            began = process_time()
            for _ in range(AT_ONCE):
                runner.run(_execute(engines[which]))
            taken[which].append((process_time() - began) / AT_ONCE)
    ratio = statistics.median(seamed / bare for seamed, bare in zip(*taken, strict=True))
    return ("an execution", *(f"{statistics.median(one) * 1e6:,.0f}" for one in taken), f"{ratio:.3f}")


def _engine(machine: Machine, clock: Clock | None) -> Runtime:
    return Runtime(MemoryStore(), nodes=[step], machine=machine, clock=clock)


async def _open(engine: Runtime) -> None:
    await engine.__aenter__()
    nodes = [{"id": f"n{n}", "type": "step", "next": f"n{n + 1}"} for n in range(NODES - 1)]
    await engine.workflows.register({"name": "chain", "nodes": [*nodes, {"id": f"n{NODES - 1}", "type": "step"}]})


async def _execute(engine: Runtime) -> None:
    done = await engine.executions.start("chain", wait="end")
    await engine.instance.store.retention.purge([done.id], None)  # the store in memory looks through all that there is


if __name__ == "__main__":
    main(sys.argv[1:])
