"""A process dies or stands still on the way from an event to its receiver: everybody is told, under one id."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.ports.commit_points import CommitPoint
from layover.ports.delivery_records import DeliveryFilter

from .delivery_worker import NUMBER, later_store, serve, told_in
from .world import everywhere

if TYPE_CHECKING:
    from .world import World

LATER = 120_000  # milliseconds: more than a claim lasts
POINTS = [
    (CommitPoint.NOTICE_EXPANDED, 1),
    (CommitPoint.DELIVERY_CLAIMED, 1),
    (CommitPoint.DELIVERY_MADE, 1),
    (CommitPoint.DELIVERY_MADE, 2),
]


@pytest.mark.parametrize(("world", "point", "n"), everywhere(POINTS, POINTS), indirect=["world"])
async def test_each_end_is_delivered_under_one_id(world: World, point: CommitPoint, n: int) -> None:
    world.run("delivery_worker", die_at=(point, n)).is_killed()
    world.died_at(point)
    await world.is_sound()

    await serve(world.folder, later_store(world.address, LATER), {})

    await world.is_sound()
    await _has_told_each_under_one_id(world)


async def test_a_process_that_stood_still_past_its_claim_changes_nothing(world: World) -> None:
    stalled = world.run("delivery_worker", stop_at=(CommitPoint.DELIVERY_MADE, 1))
    stalled.is_stopped()
    await serve(world.folder, later_store(world.address, LATER), {})
    before = await _rows(world)

    stalled.goes_on()
    stalled.is_done()

    assert await _rows(world) == before
    await _has_told_each_under_one_id(world)
    await world.is_sound()


async def _rows(world: World) -> list[tuple[str, str, int]]:
    async with world.reading() as found:
        assert found is not None
        rows = await found.deliveries.list_deliveries(DeliveryFilter())
        return sorted((row.id, row.state, row.epoch) for row in rows)


async def _has_told_each_under_one_id(world: World) -> None:
    told = told_in(world.folder)
    assert len({execution for _, execution in told}) == NUMBER
    assert len({id_ for id_, _ in told}) == NUMBER  # repeats have the id of the first
    rows = await _rows(world)
    assert {id_ for id_, _, _ in rows} == {id_ for id_, _ in told}
    assert {state for _, state, _ in rows} == {"sent"}
