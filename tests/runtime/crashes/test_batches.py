"""A process dies or stands still in the middle of a batch: every item is done, and none of them twice."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from layover.core.engine.codec import decode_events
from layover.ports.access import AuditFilter
from layover.ports.batch_records import BatchFilter, BatchItemFilter
from layover.ports.commit_points import CommitPoint
from layover.ports.view_records import ExecutionFilter

from .batch_worker import NUMBER, prepare, work
from .world import everywhere

if TYPE_CHECKING:
    from layover.ports.store import Store

    from .world import World

LEASE = {"lease_ttl": 1_000}  # a batch is claimed for as long as an execution is
POINTS = [
    (CommitPoint.BATCH_CLAIMED, 1),
    (CommitPoint.BATCH_CLAIMED, 3),
    (CommitPoint.BATCH_ITEM_DONE, 1),
    (CommitPoint.BATCH_ITEM_DONE, 140),
    (CommitPoint.BATCH_ITEMS_DONE, 2),
    (CommitPoint.BATCH_ADVANCED, 1),
    (CommitPoint.BATCH_ADVANCED, 3),
]


@pytest.mark.parametrize(("world", "point", "n"), everywhere(POINTS, POINTS[3:4]), indirect=["world"])
async def test_each_item_is_done_once_whenever_a_process_dies(world: World, point: CommitPoint, n: int) -> None:
    await prepare(world.address, LEASE)
    world.run("batch_worker", settings=LEASE, die_at=(point, n)).is_killed()
    world.died_at(point)
    await world.is_sound()
    await work(world.address, LEASE)
    await world.is_sound()
    await _has_done_each_once(world)


# Most of them end within the first page that is left: then its items are done by processes that do not know of it.
TEN = [
    (CommitPoint.BATCH_ADVANCED, 1),
    (CommitPoint.BATCH_ITEM_DONE, 5),
    (CommitPoint.BATCH_ITEM_DONE, 50),
    (CommitPoint.BATCH_ITEMS_DONE, 1),
    (CommitPoint.BATCH_CLAIMED, 1),
    (CommitPoint.BATCH_ITEM_DONE, 17),
    (CommitPoint.COMMAND_COMMITTED, 30),
    (CommitPoint.BATCH_ITEM_DONE, 9),
    (CommitPoint.BATCH_ADVANCED, 1),
    (CommitPoint.BATCH_ITEM_DONE, 2),  # 44 are left at least: two of three pages are done
]


async def test_each_item_is_done_once_by_ten_processes_that_die(world: World) -> None:
    await prepare(world.address, LEASE)
    for point, n in TEN:
        world.run("batch_worker", settings=LEASE, die_at=(point, n)).is_killed()
        world.died_at(point)
    await work(world.address, LEASE)
    await world.is_sound()
    await _has_done_each_once(world)


async def test_a_process_that_stood_still_past_its_claim_changes_nothing(world: World) -> None:
    await prepare(world.address, LEASE)
    stalled = world.run("batch_worker", settings=LEASE, stop_at=(CommitPoint.BATCH_ITEM_DONE, 20))
    stalled.is_stopped()
    await work(world.address, LEASE)
    stalled.goes_on()
    stalled.is_done()
    await _has_done_each_once(world)
    await world.is_sound()


async def test_two_instances_share_a_batch(world: World) -> None:
    await prepare(world.address, LEASE)
    first, second = await asyncio.gather(work(world.address, LEASE), work(world.address, LEASE))
    assert first.id == second.id
    await _has_done_each_once(world)


async def _has_done_each_once(world: World) -> None:
    async with world.reading() as store:
        assert store is not None
        (batch,) = await store.batches.list_batches(BatchFilter())
        assert (batch.state, batch.total, batch.done, batch.skipped, batch.failed) == (
            "completed",
            NUMBER,
            NUMBER,
            0,
            0,
        )
        items = await store.batches.list_items(BatchItemFilter(batch_id=batch.id, limit=10_000))
        rows = await store.queries.list_executions(ExecutionFilter(limit=10_000))
        ids = {row.head.execution_id for row in rows}
        assert {item.target for item in items} == ids
        assert len(items) == len(ids) == NUMBER
        assert {item.state for item in items} == {"done"}
        for id_ in ids:
            assert await _rewinds_of(store, id_) == 1, id_
        entries = await store.audit.list_entries(AuditFilter(act="execution.rewind", limit=10_000))
        assert sorted(entry.target for entry in entries) == sorted(ids)
        assert {entry.user for entry in entries} == {"ann"}


async def _rewinds_of(store: Store, execution_id: str) -> int:
    entries = await store.queries.read_history(execution_id, 0, 1_000)
    events = [event for entry in entries for event in decode_events(entry.events)]
    return sum("Rewound" in type(event).__name__ for event in events)
