"""A process that runs the workload, and dies when it is told to: `python -m tests.runtime.crashes.worker FOLDER …`.

Options are JSON, with the address of the database. It dies when it reaches the commit point `die_at` for the nth time
(no name: any point), or stands still at `stop_at` until it is told to go on. It runs `copies` of the workflows `only`,
from the `first_copy` on, and once a line comes in those before it too. It stops its engine in the middle of a call as
often as `stops` says, with a `grace`, and opens it again. It says when it is at work, when it stands still, when it
stops its engine, and when all is done.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from layover.bootstrap import open_runtime
from layover.ports.commit_points import CommitPoint, watch
from layover.runtime.settings import RuntimeSettings
from tests.runtime.crashes import workload

if TYPE_CHECKING:
    from layover.runtime.runtime import Runtime

PROMPT = {"poll": 50, "command_poll": 20, "outbox_poll": 50, "snapshot_every": 4, "snapshot_at_rest": 3}


class Options(msgspec.Struct, forbid_unknown_fields=True):
    address: str
    die_at: tuple[str, int] | None = None
    only: tuple[str, ...] = workload.ALWAYS
    copies: int = 1
    first_copy: int = 0
    stops: int = 0
    grace: float = 0
    stop_at: tuple[str, int] | None = None
    settings: dict[str, int] = {}


class Reaper:
    """Counts moments, and ends the process at the one that was chosen; renewals are also told to those who wait."""

    def __init__(self, folder: Path, options: Options) -> None:
        self._died = folder / "died"
        self._point, self._left = options.die_at or options.stop_at or ("none", 0)
        self._is_to_die = options.stop_at is None
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
                if self._is_to_die:
                    os.kill(os.getpid(), signal.SIGKILL)
                say("standing")
                sys.stdin.readline()
        is_beyond = self._point != point or self._left < 0
        if point is CommitPoint.LEASES_RENEWED and is_beyond and self._loop and self.renewed:
            self._loop.call_soon_threadsafe(self.renewed.set)

    def event(self) -> asyncio.Event:
        assert self.renewed is not None
        return self.renewed


async def main(folder: Path, options: Options) -> None:
    reaper = Reaper(folder, options)
    reaper.watch_from(asyncio.get_running_loop())
    nodes = workload.functions(workload.Effects(folder), reaper.event)
    settings = msgspec.convert({**PROMPT, **options.settings}, RuntimeSettings)
    for copy in range(options.stops):
        async with open_runtime(options.address, nodes=nodes, settings=settings) as engine:
            await workload.register(engine)
            await workload.begin(engine, "endless", folder, copy)
            say("stopping")
            await engine.stop(options.grace)
    async with open_runtime(options.address, nodes=nodes, settings=settings) as engine:
        await workload.register(engine)
        say("working")
        copies = range(options.first_copy, options.first_copy + options.copies)
        own = asyncio.ensure_future(run(engine, [(name, copy) for copy in copies for name in options.only], folder))
        others: list[object] = []
        if options.first_copy:  # not one after the other: ours may wait for slots that theirs hold until somebody acts
            await asyncio.to_thread(sys.stdin.readline)
            before = range(options.first_copy)
            others = await run(engine, [(name, copy) for copy in before for name in options.only], folder)
        found = [*await own, *others]
        found += await run(engine, [("endless", copy) for copy in range(options.stops)], folder)
    say(f"done {msgspec.json.encode(found).decode()}")


async def run(engine: Runtime, wanted: list[tuple[str, int]], folder: Path) -> list[object]:
    for name, copy in wanted:
        await workload.begin(engine, name, folder, copy)
    return await asyncio.gather(*(workload.finish(engine, name, folder, copy) for name, copy in wanted))


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), msgspec.json.decode(sys.argv[2], type=Options)))
