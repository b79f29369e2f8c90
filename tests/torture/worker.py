"""A process that drives executions until it is told to stop, or dies: `python -m tests.torture.worker FOLDER OPTIONS`.

With `die_after` it kills itself at that many of the moments that a crash must not harm (`CommitPoint`). If there is no
server when it begins it ends with `NOBODY_THERE`; later on, servers may come and go.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from pathlib import Path

import msgspec

from layover.bootstrap import open_runtime
from layover.ports.commit_points import CommitPoint, watch
from layover.ports.errors import StoreUnavailable
from layover.runtime.settings import RuntimeSettings

from .functions import World, functions, probes, undos

LEASE = 1_200
NOBODY_THERE = 75
QUICK = {"lease_ttl": LEASE, "poll": 100, "command_poll": 40, "outbox_poll": 100, "drain": 1_000, "grace": 1_000}


class Options(msgspec.Struct, forbid_unknown_fields=True):
    """How a worker is to live and die."""

    address: str
    die_after: int = 0
    lacks: str = ""  # a function that it does not have
    settings: dict[str, object] = {}


def settings_of(given: dict[str, object]) -> RuntimeSettings:
    """Return settings that are quick, but for what is given."""
    return msgspec.convert({**QUICK, **given}, RuntimeSettings)


async def main(folder: Path, options: Options) -> int:
    """Work until somebody says stop."""
    if options.die_after:
        watch(_Reaper(options.die_after).reached)
    nodes = [one for one in functions(World(folder)) if one.__name__ != options.lacks]
    names = [one.__name__ for one in nodes]
    settings = settings_of(options.settings)
    engine = open_runtime(options.address, nodes=nodes, probes=probes(names), undos=undos(names), settings=settings)
    try:
        await engine.__aenter__()
    except StoreUnavailable as error:
        logging.getLogger("torture").info("nobody_there error=%s", error.message)
        return NOBODY_THERE
    try:
        await engine.serve()
    finally:
        await engine.stop()
    return 0


class _Reaper:
    def __init__(self, left: int) -> None:
        self._left = left

    def reached(self, _point: CommitPoint) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    sys.exit(asyncio.run(main(Path(sys.argv[1]), msgspec.json.decode(sys.argv[2], type=Options))))
