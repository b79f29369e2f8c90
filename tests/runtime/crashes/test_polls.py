"""A process dies or stands still while it polls a source that repeats itself: each item has one execution at last."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.ports.commit_points import CommitPoint
from layover.ports.trigger_records import InputFilter
from tests.conftest import FACTOR

from .poll_worker import ASKED, ITEMS, NUMBERS, PROMPT_LEASE, acknowledged_in, lines_in, serve
from .world import everywhere

if TYPE_CHECKING:
    from .world import World

POINTS = [
    (CommitPoint.POLL_LEASED, 1),
    *((CommitPoint.CURSOR_ADVANCED, n) for n in (1, 3)),
    (CommitPoint.INPUT_KEPT, 1),
    *((CommitPoint.INPUT_STARTED, n) for n in (1, 4)),
    *((CommitPoint.ROWS_WRITTEN, n) for n in (2, 3)),
    (ASKED, 2),
]
if FACTOR > 1:  # each waits until a lease is over
    POINTS += [(CommitPoint.POLL_LEASED, 2), (CommitPoint.INPUT_KEPT, 2)]
    POINTS += [(CommitPoint.ROWS_WRITTEN, n) for n in (4, 6)]
FEW = [(point, n) for point, n in POINTS if n == 1 or point is ASKED]


@pytest.mark.parametrize(("world", "point", "n"), everywhere(POINTS, FEW), indirect=["world"])
async def test_each_item_starts_one_execution(world: World, point: CommitPoint, n: int) -> None:
    world.run("poll_worker", die_at=(point, n), settings=PROMPT_LEASE).is_killed()
    world.died_at(point)
    await world.is_sound()

    await serve(world.folder, world.address, {}, _nothing)

    await world.is_sound()
    await _has_started_each_once(world)


async def test_processes_race_for_the_same_items(world: World) -> None:
    racers = [world.run("poll_worker", settings=PROMPT_LEASE) for _ in range(3)]
    for racer in racers:
        racer.is_done()
    await world.is_sound()
    await _has_started_each_once(world)


async def test_a_poll_that_outlives_its_lease_writes_nothing(world: World) -> None:
    stalled = world.run("poll_worker", stop_at=(ASKED, 2), settings=PROMPT_LEASE)
    stalled.is_stopped()
    await serve(world.folder, world.address, {}, _nothing)
    await _has_started_each_once(world)
    store = world.store()
    await store.open("purger")
    week = 8 * 86_400_000
    while await store.triggers.delete_old(await store.now() + week, 0, 100):
        pass  # so that no known id can save it
    before, lines = await store.triggers.find(NUMBERS), lines_in(world.folder)
    await store.close()

    stalled.goes_on()
    stalled.is_done()

    async with world.reading() as found:
        assert found is not None
        after = await found.triggers.find(NUMBERS)
        assert await found.triggers.list_inputs(InputFilter(trigger_id=NUMBERS)) == []
    assert before is not None
    assert after is not None
    assert (after.cursor, after.seq) == (before.cursor, before.seq)
    assert lines_in(world.folder) == lines
    await world.is_sound()


def _nothing() -> None:
    pass


async def _has_started_each_once(world: World) -> None:
    """Hold what was done outside against the executions."""
    lines = lines_in(world.folder)
    executions = dict(lines)
    assert set(executions) == {f"n{n}" for n in range(ITEMS)}
    assert set(executions.items()) == set(lines)  # a call may be made again after a crash, by the same execution
    assert {head.execution_id for head in await world.heads()} == set(executions.values())
    assert acknowledged_in(world.folder)[-1] == str(ITEMS)
