"""The worker processes, and what is done to them: killed, stopped past their leases, told to stop, and begun again."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from .worker import LEASE, NOBODY_THERE, Options

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from .stages import Stage

_ROOT = Path(__file__).parents[2]
_LONGEST = 30  # seconds that a process may take to end, on a machine that is busy with other things
_LIVES = (0, 0, 30, 150, 600, 2_500)
_LACKING = ("", "", "", "slow", "records", "asks")


class WorkerProcesses:
    """So many workers on one stage and in one folder; one that has died is replaced."""

    def __init__(self, folder: Path, stage: Stage, size: int, chance: Random) -> None:
        self._folder = folder
        self._stage = stage
        self._chance = chance
        self._workers: list[subprocess.Popen[bytes] | None] = [None] * size
        self._born = 0
        self.done: Counter[str] = Counter()
        self.problems: list[str] = []

    def fill(self, *, mortal: bool = True) -> None:
        """Put a worker wherever none is alive; the first has all functions."""
        for place, worker in enumerate(self._workers):
            if worker is not None and worker.poll() is None:
                continue
            if worker is not None:
                self._note_end(worker)
            self._workers[place] = self._begin(place, mortal=mortal)

    async def disturb(self) -> None:
        """Do something to one of them."""
        self.fill()
        place = self._chance.randrange(len(self._workers))
        worker = self._workers[place]
        assert worker is not None
        match self._chance.choice(("kill", "kill", "stop", "end", "nothing")):
            case "kill":
                worker.kill()
            case "stop":
                worker.send_signal(signal.SIGSTOP)
                self.done["stopped"] += 1
                await asyncio.sleep(LEASE * self._chance.choice((0.5, 1.3, 2)) / 1000)
                worker.send_signal(signal.SIGCONT)
            case "end":
                await self._end(worker)
                self.done["ended"] += 1
            case _:
                pass
        self.fill()

    async def end_all(self) -> None:
        """Tell all of them to stop, and wait until they have."""
        living = list(self._living())
        await asyncio.gather(*(self._end(worker) for worker in living))
        for worker in living:
            self._note_end(worker)

    def kill_all(self) -> None:
        """Leave nothing behind, whatever has happened."""
        for worker in self._living():
            worker.kill()
            worker.wait()

    def _living(self) -> Iterator[subprocess.Popen[bytes]]:
        return (worker for worker in self._workers if worker is not None and worker.poll() is None)

    def _begin(self, place: int, *, mortal: bool) -> subprocess.Popen[bytes]:
        chance = self._chance
        settings: dict[str, object] = {
            "cache_bytes": chance.choice((0, 6_000_000)),
            "snapshot_every": chance.choice((4, 500)),
            "snapshot_at_rest": chance.choice((3, 100)),
            "executions": chance.choice((8, 1_000)),
            "calls": chance.choice((3, 200)),
            "leg_flush": chance.choice((50, 2_000)),
        }
        lacks = chance.choice(_LACKING) if place and mortal else ""
        die_after = chance.choice(_LIVES) if mortal else 0
        options = Options(address=self._stage.address, die_after=die_after, lacks=lacks, settings=settings)
        words = [sys.executable, "-m", "tests.torture.worker", str(self._folder)]
        self._born += 1
        with (self._folder / f"worker-{self._born}.log").open("wb") as log:
            return subprocess.Popen(  # noqa: S603 - our own program
                [*words, msgspec.json.encode(options).decode()], cwd=_ROOT, stdout=log, stderr=log
            )

    async def _end(self, worker: subprocess.Popen[bytes]) -> None:
        worker.terminate()
        try:
            await asyncio.to_thread(worker.wait, _LONGEST)
        except subprocess.TimeoutExpired:
            self.problems.append(f"worker {worker.pid} did not stop within {_LONGEST} s of being told")
            worker.kill()
            await asyncio.to_thread(worker.wait)

    def _note_end(self, worker: subprocess.Popen[bytes]) -> None:
        if worker.returncode == NOBODY_THERE and self._stage.can_be_away:
            self.done["turned away"] += 1
            return
        # One that is told to stop before it listens for that dies of it, as any process does.
        if worker.returncode not in (0, -signal.SIGKILL, -signal.SIGTERM):
            self.problems.append(f"worker {worker.pid} ended with {worker.returncode}")
        self.done["died" if worker.returncode == -signal.SIGKILL else "left"] += 1
