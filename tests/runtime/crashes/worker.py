"""A process that runs the workload, and dies when it is told to: `python -m tests.runtime.crashes.worker FOLDER …`.

Options are JSON: `die_at` names a commit point and how often it is reached before (no name: any), `only` which
workflows to begin, `stops` how often the engine is stopped and opened again in the middle of a call, `settings` those
of the engine. It writes a line to standard output when it is at work, and one when all is done.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import msgspec

from layover import Engine
from layover.ports.commit_points import CommitPoint, watch
from layover.runtime.settings import Settings
from tests.runtime.crashes import workload


class Options(msgspec.Struct, forbid_unknown_fields=True):
    die_at: tuple[str, int] | None = None
    only: tuple[str, ...] = workload.ALWAYS
    copies: int = 1
    stops: int = 0
    settings: dict[str, int] = {}


class Reaper:
    """Counts moments, and ends the process at the one that was chosen; renewals are also told to those who wait."""

    def __init__(self, folder: Path, options: Options) -> None:
        self._died = folder / "died"
        self._point, self._left = options.die_at or ("none", 0)
        self._loop: asyncio.AbstractEventLoop | None = None
        self.renewed: asyncio.Event | None = None

    def watch_from(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.renewed = asyncio.Event()
        watch(self.reached)

    def reached(self, point: CommitPoint) -> None:
        if self._point in (point, ""):
            self._left -= 1
            if self._left == 0:
                workload.write(self._died, f"{point}\n")
                os.kill(os.getpid(), signal.SIGKILL)
        if point is CommitPoint.LEASES_RENEWED and self._point != point and self._loop and self.renewed:
            self._loop.call_soon_threadsafe(self.renewed.set)

    def event(self) -> asyncio.Event:
        assert self.renewed is not None
        return self.renewed


async def main(folder: Path, options: Options) -> None:
    reaper = Reaper(folder, options)
    reaper.watch_from(asyncio.get_running_loop())
    effects, acks = workload.Effects(folder), folder / "acks"
    nodes = workload.functions(effects, reaper.event)
    settings = Settings(**{"poll": 50, "command_poll": 20, "snapshot_every": 4, "snapshot_at_rest": 3, **options.settings})
    address = f"sqlite:///{folder / 'crash.db'}"
    for copy in range(options.stops):
        async with Engine(address, nodes=nodes, settings=settings) as engine:
            await workload.register(engine)
            await workload.begin(engine, "endless", acks, copy)
            await engine.stop(grace=0)
    async with Engine(address, nodes=nodes, settings=settings) as engine:
        await workload.register(engine)
        say("working")
        wanted = [(name, copy) for copy in range(options.copies) for name in options.only]
        for name, copy in wanted:
            await workload.begin(engine, name, acks, copy)
        found = await asyncio.gather(*(workload.finish(engine, name, copy) for name, copy in wanted))
        for copy in range(options.stops):
            found.append(await workload.finish(engine, "endless", copy))
    say(f"done {msgspec.json.encode(found).decode()}")


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), msgspec.json.decode(sys.argv[2], type=Options)))
