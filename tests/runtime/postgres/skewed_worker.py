"""An instance on a machine whose clocks are wrong: `python -m tests.runtime.postgres.skewed_worker OPTIONS`, in JSON.

Its calendar is off by `calendar` and the clock that never jumps by `running` milliseconds. It begins `count` executions
whose calls do not end, says `holding`, and says `renewed` when it has renewed their leases for longer than they last.
When a line comes in with a name, it waits for the ends of all executions of the instance of that name.
"""

# ruff: noqa: E402 - whoever asks for the time has to find the wrong one

from __future__ import annotations

import sys
import time
from functools import partial
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable


class Options(msgspec.Struct):
    address: str
    name: str
    count: int
    calendar: int
    running: int


OPTIONS = msgspec.json.decode(sys.argv[1], type=Options)


def _shifted(clock: Callable[..., int], milliseconds: int, *which: int) -> int:
    return clock(*which) + milliseconds * 1_000_000


_time, _time_ns, _clock_ns, _monotonic_ns = time.time, time.time_ns, time.clock_gettime_ns, time.monotonic_ns
time.time = lambda: _time() + OPTIONS.calendar / 1000
time.time_ns = partial(_shifted, _time_ns, OPTIONS.calendar)
time.clock_gettime_ns = partial(_shifted, _clock_ns, OPTIONS.running)
time.monotonic_ns = partial(_shifted, _monotonic_ns, OPTIONS.running)

import asyncio

from layover.bootstrap import open_runtime
from layover.nodes.context import NodeContext  # noqa: TC001 - the registry reads the annotation
from layover.ports.commit_points import CommitPoint, watch
from layover.runtime.ids import id_from_key
from layover.runtime.settings import RuntimeSettings

LEASE = 2_400
RENEWALS = 5  # three in the length of a lease


async def holds(context: NodeContext) -> int:
    if context.attempt == 1:
        await asyncio.Event().wait()
    return context.attempt


def id_of(name: str, n: int) -> str:
    """Return the id of an execution that an instance holds."""
    return id_from_key("holding", f"{name}-{n}")


async def main() -> None:
    left, renewed = RENEWALS, asyncio.Event()

    def count(point: CommitPoint) -> None:
        nonlocal left
        if point is CommitPoint.LEASES_RENEWED:
            left -= 1
            if not left:
                renewed.set()

    settings = RuntimeSettings(lease_ttl=LEASE, poll=50, command_poll=50)
    async with open_runtime(OPTIONS.address, nodes=[holds], settings=settings) as engine:
        await engine.workflows.register("name: holding\nnodes: [{id: a, type: holds}]\n")
        await engine.workflows.register("name: soon\nnodes: [{id: nap, type: delay, duration: 100ms}]\n")
        await engine.workflows.register("name: later\nnodes: [{id: nap, type: delay, duration: 2m}]\n")
        await engine.executions.start("later", key=OPTIONS.name)
        for n in range(OPTIONS.count):
            await engine.executions.start("holding", key=f"{OPTIONS.name}-{n}")
        watch(count)
        say("holding")
        await engine.executions.start("soon", key=OPTIONS.name, wait="end")
        await renewed.wait()
        say("renewed")
        other = (await asyncio.to_thread(sys.stdin.readline)).strip()
        for n in range(OPTIONS.count):
            assert await engine.executions.result(id_of(other, n)) == 2
        say("done")
        await asyncio.Event().wait()


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main())
