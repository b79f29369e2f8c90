"""This tree beside another one: `python bench/paired.py SRC [--quick | --small] [name ...]`, SRC being the `src` of it.

Each tree runs in a process of its own on SQLite, and both take rounds in turn, now one first and now the other. So the
noise of the machine meets both alike, and the ratio within a pair holds even where no time does. Where the memory of a
process lies makes it faster or slower by some per cent for as long as it lives, so each tree has several of them, one
after the other. Shown are medians, and the ratio of this tree to the other with the interval that holds its median with
95 % confidence: by time, and by the processor time of the process. Above 1 this tree is slower.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
from contextlib import ExitStack
from math import comb
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, NamedTuple, Self

from measure import Size, size_of, table

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from engines import Engine, Started

STEPS = 3
WORKLOADS = ("steps", "steps one by one", "pauses", "resumes", "children", "reads")
HEADER = ("", "µs before", "µs now", "ratio", "95 %", "CPU before", "CPU now", "ratio", "95 %")


# A process of one tree


async def work(x: int) -> int:
    """Return the next number."""
    return x + 1


def _flows() -> list[dict[str, object]]:
    from runtime_workloads import question  # noqa: PLC0415 - only the processes that are measured load the engine

    calls: list[dict[str, object]] = [
        {"id": f"n{n}", "type": "work", "input": {"x": "${input.x}"}, "next": f"n{n + 1}"} for n in range(STEPS)
    ]
    calls.append({"id": f"n{STEPS}", "type": "end", "output": f"${{nodes.n{STEPS - 1}}}"})
    child = {"id": "child", "type": "workflow", "workflow": "steps", "input": {"x": "${input.x}"}}
    return [{"name": "steps", "nodes": calls}, {"name": "parent", "nodes": [child]}, question()]


class Rounds:
    """Rounds of each workload on one engine; each returns how often it did what it does."""

    def __init__(self, engine: Engine, size: int) -> None:
        self._engine = engine
        self._size = size
        self._paused: list[Started] = []

    async def prepare(self, name: str) -> None:
        """Make what a round needs, before its time is taken."""
        if name == "resumes":
            await self._many(self._pause, self._size)

    async def take(self, name: str) -> int:
        """Take a round."""
        at_once = 1 if name.endswith("one by one") else 20
        one: Callable[[], Awaitable[object]] = {
            "steps": self._steps,
            "steps one by one": self._steps,
            "pauses": self._pause,
            "resumes": self._resume,
            "children": self._child,
            "reads": self._read,
        }[name]
        times = self._size if at_once > 1 else max(1, self._size // 4)
        await self._many(one, times, at_once)
        if name == "pauses":
            self._paused.clear()
        return times

    async def _many(self, one: Callable[[], Awaitable[object]], times: int, at_once: int = 20) -> None:
        from runtime_workloads import many  # noqa: PLC0415 - as above

        await many(one, times, at_once)

    async def _steps(self) -> None:
        ended = await self._engine.start("steps", {"x": 1}, until="end")
        assert ended.output == STEPS - 1, ended

    async def _child(self) -> None:
        ended = await self._engine.start("parent", {"x": 1}, until="end")
        assert ended.status == "completed", ended

    async def _pause(self) -> None:
        self._paused.append(await self._engine.start("question", until="rest"))

    async def _resume(self) -> None:
        await self._engine.resume(self._paused.pop(), {"n": 1})

    async def _read(self) -> None:
        started = await self._engine.start("steps", {"x": 1}, until="end")
        for _ in range(10):
            await self._engine.execution(started.id)
        await self._engine.listed(20)
        await self._engine.node_statuses(started)


async def measured(size: int) -> None:
    """Take a round for each line of input, and say how long one of it took."""
    from engines import Engine  # noqa: PLC0415 - as above
    from sites import SqliteSite  # noqa: PLC0415 - as above

    async with SqliteSite().empty() as address, Engine(address, nodes=[work]) as engine:
        for flow in _flows():
            await engine.register(flow)
        rounds = Rounds(engine, size)
        while line := await asyncio.to_thread(sys.stdin.readline):
            name = line.strip()
            await rounds.prepare(name)
            began, used = perf_counter(), process_time()
            times = await rounds.take(name)
            print((perf_counter() - began) / times, (process_time() - used) / times, flush=True)


# Both


class Sample(NamedTuple):
    """What one execution of a round took."""

    seconds: float
    cpu: float


class Tree:
    """A process that measures one tree."""

    def __init__(self, source: Path, size: int) -> None:
        words = [sys.executable, __file__, "--measured", str(size)]
        self.process = subprocess.Popen(  # noqa: S603 - ourselves
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(source), "PYTHONHASHSEED": "0"},
        )

    def round(self, name: str) -> Sample:
        """Take a round."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{name}\n")
        self.process.stdin.flush()
        seconds, cpu = self.process.stdout.readline().split()
        return Sample(float(seconds), float(cpu))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait()


def interval(values: list[float]) -> tuple[float, float]:
    """Return where the median lies with 95 % confidence, whatever the values are spread like."""
    found, count, outside, left = sorted(values), len(values), 0.0, 0
    while left < count // 2 and (outside + comb(count, left) / 2**count) * 2 <= 0.05:
        outside += comb(count, left) / 2**count
        left += 1
    left = max(0, left - 1)
    return found[left], found[count - 1 - left]


def compare(source: Path, names: list[str], size: Size) -> None:
    lives, rounds, warm, count = size.of((10, 15, 5, 20), quick=(3, 10, 5, 20), small=(1, 1, 0, 2))
    rows: list[tuple[str, ...]] = [HEADER]
    pairs: dict[str, list[tuple[Sample, Sample]]] = {name: [] for name in names}
    for _ in range(lives):
        with ExitStack() as stack:
            before, now = (stack.enter_context(Tree(one, count)) for one in (source, Path(__file__).parents[1] / "src"))
            for name in names:
                for turn in range(rounds + warm):
                    order = (before, now) if turn % 2 else (now, before)
                    taken = {id(tree): tree.round(name) for tree in order}
                    if turn >= warm:
                        pairs[name].append((taken[id(before)], taken[id(now)]))
    for name, found in pairs.items():
        seconds, cpu = ([(getattr(a, kind), getattr(b, kind)) for a, b in found] for kind in ("seconds", "cpu"))
        rows.append((name, *cells(seconds), *cells(cpu)))
    title = f"Medians of {lives * rounds} pairs in {lives} processes of each on SQLite; load {os.getloadavg()[0]:.1f}"
    print(table(title, rows))


def cells(pairs: list[tuple[float, float]]) -> tuple[str, ...]:
    """Return a row's figures of some pairs: both medians in µs, the median ratio, and where that lies."""
    ratios = [b / a for a, b in pairs]
    low, high = interval(ratios)
    before, now = (statistics.median(part) * 1e6 for part in zip(*pairs, strict=True))
    return f"{before:,.0f}", f"{now:,.0f}", f"{statistics.median(ratios):.3f}", f"{low:.3f} to {high:.3f}"


def main(words: list[str]) -> None:
    if words[0] == "--measured":
        asyncio.run(measured(int(words[1])))
        return
    source, *names = [word for word in words if not word.startswith("--")]
    if unknown := [name for name in names if name not in WORKLOADS]:
        sys.exit(f"There is no workload {', '.join(unknown)}; there are: {', '.join(WORKLOADS)}.")
    compare(Path(source).resolve(), names or list(WORKLOADS), size_of(words))


if __name__ == "__main__":
    main(sys.argv[1:])
