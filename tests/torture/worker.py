"""A process that drives executions until it is told to stop, or dies: `python -m tests.torture.worker FOLDER OPTIONS`.

With `die_after` it kills itself at that many of the moments that a crash must not harm (`CommitPoint`).
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from pathlib import Path

import msgspec

from layover import Engine
from layover.ports.commit_points import CommitPoint, watch
from layover.runtime.settings import Settings

from .functions import World, functions, probes

LEASE = 1_200
QUICK = {"lease_ttl": LEASE, "poll": 100, "command_poll": 40, "outbox_poll": 100, "drain": 1_000, "grace": 1_000}


class Options(msgspec.Struct, forbid_unknown_fields=True):
    """How a worker is to live and die."""

    die_after: int = 0
    lacks: str = ""  # a function that it does not have
    settings: dict[str, object] = {}


def settings_of(given: dict[str, object]) -> Settings:
    """Return settings that are quick, but for what is given."""
    return msgspec.convert({**QUICK, **given}, Settings)


def database_in(folder: Path) -> str:
    """Return the address of the database that all processes share."""
    return f"sqlite:///{folder / 'torture.db'}"


async def main(folder: Path, options: Options) -> None:
    """Work until somebody says stop."""
    if options.die_after:
        watch(_Reaper(options.die_after).reached)
    nodes = [one for one in functions(World(folder)) if one.__name__ != options.lacks]
    known = probes([one.__name__ for one in nodes])
    engine = Engine(database_in(folder), nodes=nodes, probes=known, settings=settings_of(options.settings))
    async with engine:
        await engine.serve()


class _Reaper:
    def __init__(self, left: int) -> None:
        self._left = left

    def reached(self, _point: CommitPoint) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    asyncio.run(main(Path(sys.argv[1]), msgspec.json.decode(sys.argv[2], type=Options)))
