"""Executions beside many that wait for their receiver: two engines in processes of their own, measured in turn.

One has the backlog, the other has none; both have the destination, unless nobody is ever to be told. A round is a few
seconds of executions that end, first in one process, then in the other. What is measured in the same round meets the
same noise, so a ratio holds where no rate does. Beside rates stands the CPU time of the process for each execution: a
busy machine hardly changes that.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import statistics
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engines import Engine
from layover import Settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from multiprocessing.connection import Connection

AT_ONCE: Final = 50
END: Final = [{"id": "done", "type": "end"}]
ASK: Final = [{"id": "ask", "type": "form", "title": "Well?", "schema": {"type": "object"}, "next": "done"}, *END]
NOTIFY: Final = [{"on": ["pause.opened"], "via": "hook"}]
TELL: Final = [{"on": ["execution.completed"], "via": "hook"}]


class Round(NamedTuple):
    """What a process did in a round, and how it stands afterwards."""

    ended: int
    seconds: float
    cpu: float
    memory: float  # MiB
    waiting: int  # deliveries that are made and not sent

    @property
    def rate(self) -> float:
        return self.ended / self.seconds

    @property
    def cost(self) -> float:
        """CPU time for each execution, in microseconds."""
        return self.cpu / self.ended * 1e6


class Worker:
    """An engine in a process of its own."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def run(self, seconds: float, name: str = "quiet") -> Round:
        """Start executions of a workflow for so many seconds, and wait until they have ended."""
        return self._ask("run", (seconds, name))

    def pause(self, count: int) -> Round:
        """Start so many executions that pause."""
        return self._ask("pause", count)

    def rest(self, seconds: float) -> Round:
        """Start nothing for so many seconds."""
        return self._ask("rest", seconds)

    def _ask(self, *words: Any) -> Round:
        self._pipe.send(words)
        return Round(*self._pipe.recv())


@contextmanager
def worker(address: str, hook: str) -> Iterator[Worker]:
    """Run an engine in a process of its own; without a hook it has no destination, and no rule in its settings."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(address, hook, theirs), daemon=True)
    process.start()
    try:
        yield Worker(ours)
    finally:
        process.terminate()
        process.join()


def _work(address: str, hook: str, pipe: Connection) -> None:
    asyncio.run(_serve(address, hook, pipe))


async def _serve(address: str, hook: str, pipe: Connection) -> None:
    settings = Settings(
        http_private=True,
        destinations={"hook": {"kind": "webhook", "address": hook, "timeout": "30s"}},
        notify=[{"on": ["execution.failed"], "via": "hook"}],
    )
    loop = asyncio.get_running_loop()
    async with Engine(address, settings=settings if hook else Settings()) as engine:
        await engine.register({"name": "quiet", "nodes": END})
        await engine.register({"name": "tells", "notify": TELL, "nodes": END})
        await engine.register({"name": "asks", "notify": NOTIFY, "nodes": ASK})
        while True:
            what, much = await loop.run_in_executor(None, pipe.recv)
            began, cpu = perf_counter(), process_time()
            ended = await _DOES[what](engine, much)
            taken = perf_counter() - began, process_time() - cpu
            pipe.send((ended, *taken, _memory(), await _waiting(engine)))


async def _rest(_engine: Engine, seconds: float) -> int:
    await asyncio.sleep(seconds)
    return 0


async def _end(engine: Engine, much: tuple[float, str]) -> int:
    seconds, name = much
    before = (await engine.counts()).get("completed", 0)
    until, started = perf_counter() + seconds, 0

    async def start() -> None:
        nonlocal started
        while perf_counter() < until:
            started += 1
            await engine.start(name)

    await asyncio.gather(*(start() for _ in range(AT_ONCE)))
    while (await engine.counts()).get("completed", 0) < before + started:  # noqa: ASYNC110 - nothing tells
        await asyncio.sleep(0.005)
    return started


async def _pause(engine: Engine, count: int) -> int:
    left = iter(range(count))

    async def start() -> None:
        for _ in left:
            await engine.start("asks")

    await asyncio.gather(*(start() for _ in range(AT_ONCE)))
    return count


_DOES: Final[dict[str, Callable[[Engine, Any], Awaitable[int]]]] = {"run": _end, "pause": _pause, "rest": _rest}


def _memory() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


async def _waiting(engine: Engine) -> int:
    counts = await engine.instance.store.deliveries.count_by_destination()
    return sum(one.pending for one in counts)


def ratio(beside: list[Round], alone: list[Round], name: str) -> str:
    """Return the median of the ratios of pairs, and between which ones half of them are."""
    found = sorted(getattr(one, name) / getattr(other, name) for one, other in zip(beside, alone, strict=True))
    if len(found) < 4:
        return f"{statistics.median(found):.3f}"
    low, _, high = statistics.quantiles(found, n=4)
    return f"{statistics.median(found):.3f} ({low:.3f} to {high:.3f})"
