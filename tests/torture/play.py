"""One torture from start to end: workers and operations for as long as asked, then all finish, then it is judged."""

from __future__ import annotations

import asyncio
import os
import re
from contextlib import asynccontextmanager
from random import Random
from time import monotonic
from typing import TYPE_CHECKING

import msgspec

from layover.bootstrap import inspectable_store, open_runtime
from layover.ports.errors import StoreUnavailable
from layover.runtime.maintenance.verify import violations

from .finishing import Finish
from .functions import World
from .judging import Finding, judge, read, read_one, told
from .random_operations import RandomOperations
from .stages import Kind, Stage, stage
from .worker import settings_of
from .worker_processes import WorkerProcesses

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from layover.ports.store import Inspectable
    from layover.runtime.runtime import Runtime

_FLOWS = 12
_DEEDS_AT_ONCE = 12
_TELL_EVERY = 5.0
_VERIFY_EVERY = 8.0
_LOOK_EVERY = 0.3
_FILL_EVERY = 0.5
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_RECORD = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+ ")  # how a line of the log begins
_MOST_TOLD = 3  # executions whose whole history is printed


class Plot(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be played; the same seed makes the same choices, but the moments differ."""

    seed: int
    seconds: float
    processes: int
    on: Kind = "sqlite"
    disturb_every: tuple[float, float] = (0.1, 1.5)
    disturb_stage_every: tuple[float, float] = (1.0, 8.0)
    kindly: float = 15  # seconds in which whatever is waited for is brought, before the rest is cancelled
    keep: bool = False  # what there is of a server, though all is well


async def play(plot: Plot, folder: Path, say: Callable[[str], None]) -> list[str]:
    """Play it, and return what must not be, each as a text for people."""
    async with stage(plot.on, folder, Random(plot.seed + 3)) as place:  # noqa: S311 - it keeps no secret
        workers = WorkerProcesses(folder, place, plot.processes, Random(plot.seed))  # noqa: S311 - as above
        try:
            problems = await _Play(plot, folder, say, workers, place).play()
        finally:
            workers.kill_all()
        if problems or plot.keep:
            await place.keep(folder)
        return problems


class _Play:
    def __init__(
        self, plot: Plot, folder: Path, say: Callable[[str], None], workers: WorkerProcesses, place: Stage
    ) -> None:
        self._plot = plot
        self._folder = folder
        self._say = say
        self._workers = workers
        self._stage = place
        self._world = World(folder)
        self._findings: list[Finding] = []
        self._whys: dict[str, str] = {}
        self._seen: list[str] = []

    async def play(self) -> list[str]:
        chance = Random(self._plot.seed + 1)  # noqa: S311 - it keeps no secret
        engine = open_runtime(self._stage.address, settings=settings_of({"executions": 20}))
        async with engine:
            operations = RandomOperations(engine, self._world, self._plot.seed, chance, _FLOWS)
            await operations.register()
            self._workers.fill()
            await self._torture(engine, operations, chance)
            self._say("no more is done to them; all are brought to their ends")
            filling = asyncio.create_task(self._keep_full())
            left = await Finish(engine, operations, self._plot.kindly).finish(self._say)
            filling.cancel()
            for id_ in left:
                self._whys[id_] = (await engine.queries.why(id_)).summary
                self._findings.append(Finding(id_, "does not come to its end"))
            await self._workers.end_all()
        self._say(f"refused: {dict(operations.refused)}")
        await self._judge(operations)
        problems = [*operations.problems, *self._workers.problems, *self._complaints()]
        return [*problems, *await self._told()]

    async def _keep_full(self) -> None:
        """Replace workers that find their end later, by such as do not."""
        while True:
            self._workers.fill(mortal=False)
            await asyncio.sleep(_FILL_EVERY)

    async def _torture(self, engine: Runtime, operations: RandomOperations, chance: Random) -> None:
        """Do things to executions and to workers, until the time is over."""
        end = monotonic() + self._plot.seconds
        async with asyncio.TaskGroup() as group:
            group.create_task(self._until(end, self._plot.disturb_every, self._workers.disturb))
            group.create_task(self._until(end, self._plot.disturb_stage_every, self._stage.disturb))
            group.create_task(self._until(end, (_TELL_EVERY, _TELL_EVERY), lambda: self._tell(engine, operations)))
            group.create_task(self._until(end, (_VERIFY_EVERY, _VERIFY_EVERY), self._verify))
            group.create_task(self._until(end, (_LOOK_EVERY, _LOOK_EVERY), operations.look_around))
            for _ in range(_DEEDS_AT_ONCE):
                group.create_task(self._until(end, (0.0, 0.25), operations.do_something, chance))

    async def _until(
        self, end: float, every: tuple[float, float], do: Callable[[], object], chance: Random | None = None
    ) -> None:
        drawn = chance or Random(self._plot.seed + 2)  # noqa: S311 - it keeps no secret
        while (now := monotonic()) < end:
            await asyncio.sleep(min(drawn.uniform(*every), end - now))
            try:
                await do()  # type: ignore[misc]  # all are coroutines
            except StoreUnavailable as error:  # one that was stopped held the file, or there is no server
                self._say(f"the store did not answer: {error.message}")

    async def _tell(self, engine: Runtime, operations: RandomOperations) -> None:
        counts = await engine.lists.counts()
        told_counts = " ".join(f"{name}:{count}" for name, count in sorted(counts.items()))
        done = " ".join(
            f"{name}:{count}"
            for name, count in sorted((operations.done + self._workers.done + self._stage.done).items())
        )
        self._say(f"{told_counts} | {done}")

    @asynccontextmanager
    async def _read(self) -> AsyncIterator[Inspectable]:
        store = inspectable_store(self._stage.address)
        await store.open_to_read()
        try:
            yield store
        finally:
            await store.close()

    async def _verify(self) -> None:
        """Hold the database against its laws while all are at work."""
        async with self._read() as store:
            for one in await violations(store):
                self._findings.append(Finding(one.execution_id, f"verify, at work: {one.code}: {one.message}"))
                self._say(f"FOUND {self._findings[-1]}")
                # All that it is about is read at once: it may be purged before the end.
                for id_ in dict.fromkeys((one.execution_id, *_ID.findall(one.message))):
                    journey = await read_one(store, id_)
                    if journey is not None:
                        self._seen.append(f"{id_} when it was found: {journey.row.head}\n{told(journey)}")

    async def _judge(self, operations: RandomOperations) -> None:
        async with self._read() as store:
            self._findings += await judge(store, self._world, operations)
            counts = await store.queries.count_by_status()
        self._say(f"judged {sum(counts.values())} executions: {counts}; purged {len(operations.purged)}")

    def _complaints(self) -> list[str]:
        """Return what workers wrote about faults of the engine itself."""
        found = []
        for log in sorted(self._folder.glob("worker-*.log")):
            lines = log.read_text(errors="replace").splitlines()
            bad = [n for n, line in enumerate(lines) if " CRITICAL " in line or _is_fault(lines, n)]
            found += [f"{log.name}: {os.linesep.join(lines[max(0, n - 1) : n + 40])}" for n in bad[:1]]
        return found

    async def _told(self) -> list[str]:
        """Return the findings, the first of them with all that is known of their executions."""
        if not self._findings:
            return []
        async with self._read() as store:
            journeys = await read(store)
        texts = [f"{one.execution_id}: {one.message}" for one in self._findings] + self._seen
        for id_ in list(dict.fromkeys(one.execution_id for one in self._findings))[:_MOST_TOLD]:
            if id_ in journeys:
                why = self._whys.get(id_, "it is closed")
                texts.append(f"{id_} of {journeys[id_].row.info.workflow}: {why}\n{told(journeys[id_])}")
        return texts


def _is_fault(lines: list[str], n: int) -> bool:
    """Return whether a traceback begins here that is neither a store's, which is out of reach, nor a function's."""
    if not lines[n].startswith("Traceback"):
        return False
    record = next((line for line in reversed(lines[:n]) if _RECORD.match(line)), "")
    return " WARNING " not in record and " attempt_failed " not in record
