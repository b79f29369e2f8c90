"""An engine that is stopped in the middle gives everything back; one that is killed while it stops does no harm."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

import pytest

from layover.bootstrap import open_runtime
from layover.ports.commit_points import CommitPoint, watch

from . import workload
from .world import everywhere

if TYPE_CHECKING:
    from layover.runtime.runtime import Runtime

    from .world import World

CASES = everywhere([(n, grace) for n in (1, 9, 40) for grace in (0, 10)], [(9, 0), (40, 10)])


@pytest.mark.parametrize(("world", "n", "grace"), CASES, indirect=["world"])
async def test_an_engine_may_be_stopped_at_any_moment(world: World, n: int, grace: float) -> None:
    reached, left, loop = asyncio.Event(), n, asyncio.get_running_loop()

    def count(_: CommitPoint) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            loop.call_soon_threadsafe(reached.set)

    engine = open_runtime(world.address, nodes=workload.functions(world.effects))
    async with engine:
        await workload.register(engine)
        watch(count)
        driving = asyncio.ensure_future(_drive(engine, world))
        await reached.wait()
        watch(None)
        await engine.stop(grace)
        driving.cancel()
        await asyncio.gather(driving, return_exceptions=True)
    await world.is_sound()
    assert not [head for head in await world.heads() if head.owner is not None], "a lease was kept"
    before, effects = await world.completed(), len(world.effects.read())
    await world.finish()
    await world.is_sound()
    await world.did_nothing_twice(before, effects)


async def _drive(engine: Runtime, world: World) -> None:
    for name in workload.ALWAYS:
        await workload.begin(engine, name, world.folder)
    await asyncio.gather(*(workload.finish(engine, name, world.folder) for name in workload.ALWAYS))


async def test_a_process_may_be_killed_while_it_waits_for_its_calls_to_end(world: World) -> None:
    stopping = world.run(stops=1, grace=600.0)
    stopping.until("stopping")
    stopping.send(signal.SIGKILL)
    stopping.is_killed()
    await world.is_sound()
    before, effects = await world.completed(), len(world.effects.read())
    await world.finish(stops=1)
    await world.is_sound()
    await world.did_nothing_twice(before, effects)
