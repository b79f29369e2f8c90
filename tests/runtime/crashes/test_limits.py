"""Processes die while executions hold slots or wait for them: afterwards none is lost, kept, or taken by too many."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec
import pytest

from layover.bootstrap import open_runtime
from layover.ports.commit_points import CommitPoint
from layover.runtime.settings import RuntimeSettings

from . import workload
from .worker import PROMPT, run
from .world import everywhere

if TYPE_CHECKING:
    from .world import World

LIMITED = ("limited", "limited_again", "limited_form", "limited_unwanted", "rated")
COPIES = 3
SETTINGS = {"outbox_poll": 50}
_LONGEST = 150  # seconds on a machine that is busy with other things
MOMENTS = [
    (CommitPoint.APPEND_DECIDED, 5),
    (CommitPoint.ROWS_WRITTEN, 2),  # the first is created, and has not asked yet
    (CommitPoint.ROWS_WRITTEN, 3),
    (CommitPoint.ROWS_WRITTEN, 12),
    (CommitPoint.ROWS_WRITTEN, 40),
    (CommitPoint.APPEND_COMMITTED, 1),
    (CommitPoint.APPEND_COMMITTED, 9),
    (CommitPoint.APPEND_TOLD, 6),
    (CommitPoint.REST_TOLD, 1),  # the same, when it is known to who began it
    (CommitPoint.REST_TOLD, 14),
    (CommitPoint.CALL_STARTING, 3),
    (CommitPoint.CALL_RETURNED, 5),
    (CommitPoint.CLAIM_COMMITTED, 2),
    (CommitPoint.STATE_LOADED, 2),
    (CommitPoint.COMMAND_COMMITTED, 1),
    (CommitPoint.ANSWER_COMMITTED, 1),
    (CommitPoint.MESSAGES_DELIVERED, 1),  # a slot was given back, and may be given back again
    (CommitPoint.MESSAGES_DELIVERED, 3),
    (CommitPoint.MESSAGES_SENT, 1),
]
FEW = [(CommitPoint.ROWS_WRITTEN, 12), (CommitPoint.REST_TOLD, 1), (CommitPoint.MESSAGES_DELIVERED, 3)]
CASES = everywhere(MOMENTS, FEW)


@pytest.mark.parametrize(("world", "point", "n"), CASES, indirect=["world"])
async def test_a_process_may_die_while_others_wait_for_its_slots(world: World, point: CommitPoint, n: int) -> None:
    settings = {**SETTINGS, **({"cache_bytes": 0} if point is CommitPoint.STATE_LOADED else {})}
    world.run(die_at=(point, n), only=LIMITED, copies=COPIES, settings=settings).is_killed()
    world.died_at(point)
    await world.is_sound()
    before, effects = await world.completed(), len(world.effects.read())
    await _finish(world, COPIES)
    await world.is_sound()
    await world.did_nothing_twice(before, effects)
    assert world.tables.count("places") == 0, "somebody holds a slot, or waits for one"


async def test_one_process_dies_while_another_waits_for_its_slots(world: World) -> None:
    other = world.run(first_copy=COPIES, copies=COPIES, only=LIMITED, settings=SETTINGS)
    other.until("working")
    world.run(die_at=("", 120), copies=COPIES, only=LIMITED, settings=SETTINGS).is_killed()
    await world.is_sound()
    assert len(other.is_done()) == 2 * COPIES * len(LIMITED)
    await world.is_sound()
    await _finish(world, 2 * COPIES)
    assert world.tables.count("places") == 0


async def _finish(world: World, copies: int) -> None:
    """Have all of them come to their ends, side by side: one may hold the slot that another waits for."""
    wanted = [(name, copy) for copy in range(copies) for name in LIMITED]
    nodes = workload.functions(world.effects)
    async with open_runtime(
        world.address, nodes=nodes, settings=msgspec.convert({**PROMPT, **SETTINGS}, RuntimeSettings)
    ) as engine:
        await workload.register(engine)
        async with asyncio.timeout(_LONGEST):
            assert await run(engine, wanted, world.folder) == [workload.OUTPUTS[name] for name, _ in wanted]
            for name, copy in wanted:  # what the dead have left unsaid is said by others, after a while
                while await engine.instance.store.outbox.list_undelivered(workload.id_of(name, copy)):  # noqa: ASYNC110
                    await asyncio.sleep(0)
