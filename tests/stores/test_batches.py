"""A batch is claimed by one instance at a time, and what that has done is written with its items, or not at all."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.ports.access import AuditFilter
from layover.ports.batch_records import (
    LIVE_BATCHES,
    BatchAdvance,
    BatchChange,
    BatchClaim,
    BatchFilter,
    BatchItemFilter,
    BatchItemRow,
    BatchRow,
)
from layover.ports.errors import StoreError
from tests.stores.conformance import entry, uid

if TYPE_CHECKING:
    from typing import Any

    from layover.ports.store import Store

LIVE = LIVE_BATCHES


def made(n: int = 1, **more: Any) -> BatchRow:
    known = {"act": "pause", "wanted": b"{}", "arguments": b"{}", "caller": b"{}", "created_at": 100, "due_at": 100}
    return BatchRow(id=uid(n), **{**known, **more})


def items(count: int) -> tuple[BatchItemRow, ...]:
    return tuple(BatchItemRow(n=n, target=f"t{n}") for n in range(1, count + 1))


async def claim(store: Store, now: int = 200) -> BatchRow:
    row = await store.batches.claim(BatchClaim(now=now, due_again=now + 1_000))
    assert row is not None
    return row


async def filled(store: Store, count: int = 5) -> BatchRow:
    """Return a batch whose items are collected."""
    await store.batches.create(made())
    row = await claim(store)
    after = await store.batches.advance(
        BatchAdvance(row=replace(row, state="running", total=count, due_at=300), added=items(count))
    )
    assert after is not None
    return after


async def found(store: Store, n: int = 1) -> BatchRow:
    row = await store.batches.find(uid(n))
    assert row is not None
    return row


async def test_a_batch_is_created_once_with_its_audit_entry(store: Store) -> None:
    row = made(user="ann", interval=7, share=50_000, watch=9)
    assert await store.batches.create(row, entry(1))
    assert await store.batches.find(row.id) == row
    assert not await store.batches.create(made(act="cancel"), entry(2))
    assert await store.batches.find(row.id) == row
    assert [one.id for one in await store.audit.list_entries(AuditFilter())] == [entry(1).id]
    assert await store.batches.find(uid(2)) is None


async def test_the_batch_that_is_due_first_is_claimed_and_then_the_next(store: Store) -> None:
    for n, due in ((1, 300), (2, 100), (3, 900)):
        await store.batches.create(made(n, due_at=due))
    assert await store.batches.read_due() == 100
    first = await claim(store, 400)
    assert (first.id, first.epoch, first.due_at) == (uid(2), 1, 1_400)
    assert (await claim(store, 400)).id == uid(1)
    assert await store.batches.claim(BatchClaim(now=400, due_again=500)) is None
    assert await store.batches.read_due() == 900
    assert (await claim(store, 1_400)).id == uid(3)
    again = await claim(store, 1_400)
    assert again.epoch == 2


async def test_one_of_many_instances_claims_a_batch(store: Store) -> None:
    await store.batches.create(made())
    claims = (store.batches.claim(BatchClaim(now=200, due_again=900)) for _ in range(8))
    assert [row.epoch for row in await asyncio.gather(*claims) if row is not None] == [1]


async def test_items_and_progress_are_written_together(store: Store) -> None:
    row = await filled(store)
    assert await store.batches.find(row.id) == row
    listed = await store.batches.list_items(BatchItemFilter(batch_id=row.id))
    assert tuple(listed) == items(5)
    mine = await claim(store, 300)
    settled = (
        BatchItemRow(n=1, target="t1", state="done", at=310),
        BatchItemRow(n=2, target="t2", state="failed", code="not_allowed", reason="No.", at=311),
    )
    after = await store.batches.advance(
        BatchAdvance(row=replace(mine, done=1, failed=1, position=2, due_at=320, free_at=330), settled=settled)
    )
    assert after == await found(store)
    assert (after.done, after.failed, after.position, after.due_at, after.free_at) == (1, 1, 2, 320, 330)
    assert tuple(await store.batches.list_items(BatchItemFilter(batch_id=row.id))) == (*settled, *items(5)[2:])


async def test_items_are_listed_by_state_and_page(store: Store) -> None:
    row = await filled(store)
    mine = await claim(store, 300)
    failed = BatchItemRow(n=3, target="t3", state="failed", code="x", at=5)
    await store.batches.advance(BatchAdvance(row=mine, settled=(failed,)))

    async def numbers(**wanted: Any) -> list[int]:
        return [one.n for one in await store.batches.list_items(BatchItemFilter(batch_id=row.id, **wanted))]

    assert await numbers(state="failed") == [3]
    assert await numbers(state="pending") == [1, 2, 4, 5]
    assert await numbers(state="pending", after=2, limit=1) == [4]
    assert await numbers(after=3) == [4, 5]
    assert await numbers(limit=2) == [1, 2]
    assert await numbers(state="done") == []


async def test_what_comes_under_an_older_epoch_changes_nothing(store: Store) -> None:
    await filled(store)
    late = await claim(store, 300)
    other = await claim(store, 1_300)
    before = await found(store)
    done = replace(items(1)[0], state="done", at=1)
    assert await store.batches.advance(BatchAdvance(row=replace(late, done=1, position=1), settled=(done,))) is None
    assert await found(store) == before == other
    assert await store.batches.list_items(BatchItemFilter(batch_id=late.id, state="done")) == []


async def test_what_was_under_way_when_a_batch_was_stopped_is_noted_and_it_stays_stopped(store: Store) -> None:
    row = await filled(store)
    mine = await claim(store, 300)
    stopping = BatchChange(id=row.id, of=LIVE, state="stopped", at=400, code="stopped", reason="Enough.")
    stopped = await store.batches.change(stopping, entry(1))
    assert stopped is not None
    assert (stopped.state, stopped.code, stopped.reason, stopped.ended_at) == ("stopped", "stopped", "Enough.", 400)
    done = replace(items(1)[0], state="done", at=410)
    after = await store.batches.advance(BatchAdvance(row=replace(mine, done=1, position=1), settled=(done,)))
    assert after is not None
    assert (after.state, after.reason, after.done, after.position) == ("stopped", "Enough.", 1, 1)
    assert await store.batches.read_due() is None
    assert await store.batches.claim(BatchClaim(now=9_999, due_again=9_999)) is None


async def test_a_batch_is_changed_only_from_the_states_that_allow_it(store: Store) -> None:
    row = await filled(store)
    going_on = BatchChange(id=row.id, of=("stopped",), state="running", at=500)
    assert await store.batches.change(going_on, entry(1)) is None
    assert await store.batches.change(replace(going_on, id=uid(9)), entry(2)) is None
    assert await store.audit.list_entries(AuditFilter()) == []
    assert await found(store) == row


async def test_a_batch_that_goes_on_is_due_at_once_under_a_new_epoch(store: Store) -> None:
    row = await filled(store)
    mine = await claim(store, 300)
    await store.batches.change(BatchChange(id=row.id, of=LIVE, state="stopped", at=400))
    after = await store.batches.change(BatchChange(id=row.id, of=("stopped",), state="running", at=500))
    assert after is not None
    assert (after.state, after.due_at, after.epoch, after.ended_at) == ("running", 500, mine.epoch + 1, None)
    assert await store.batches.advance(BatchAdvance(row=mine)) is None


@pytest.mark.parametrize(("code", "canary"), [("canary_failed", 0), ("stopped", 3)])
async def test_a_canary_that_has_failed_is_over_when_the_batch_goes_on(store: Store, code: str, canary: int) -> None:
    await store.batches.create(made(state="stopped", code=code, canary=3, watch_until=5, ended_at=9))
    after = await store.batches.change(BatchChange(id=uid(1), of=("stopped",), state="running", at=500))
    assert after is not None
    assert (after.canary, after.watch_until, after.code) == (canary, None, "")


async def test_batches_are_listed_newest_first(store: Store) -> None:
    for n, at in ((1, 100), (2, 300), (3, 100), (4, 200)):
        await store.batches.create(made(n, created_at=at, state="running" if n == 4 else "completed"))
    listed = await store.batches.list_batches(BatchFilter())
    assert [row.id for row in listed] == [uid(n) for n in (2, 4, 3, 1)]
    after = await store.batches.list_batches(BatchFilter(after=(200, uid(4)), limit=1))
    assert [row.id for row in after] == [uid(3)]
    assert [row.id for row in await store.batches.list_batches(BatchFilter(state="running"))] == [uid(4)]


async def test_a_batch_is_deleted_with_its_last_items(store: Store) -> None:
    row = await filled(store)
    assert not await store.batches.delete(row.id, 2, entry(1))  # it is being worked on
    await store.batches.change(BatchChange(id=row.id, of=LIVE, state="stopped", at=400))
    assert await store.batches.delete(row.id, 2, entry(2))
    assert [one.n for one in await store.batches.list_items(BatchItemFilter(batch_id=row.id))] == [3, 4, 5]
    assert await store.batches.delete(row.id, 2)
    assert not await store.batches.delete(row.id, 2)
    assert await store.batches.find(row.id) is None
    assert [one.id for one in await store.audit.list_entries(AuditFilter())] == [entry(2).id]


async def test_batches_that_ended_long_ago_are_deleted_oldest_first(store: Store) -> None:
    row = await filled(store, 3)
    await store.batches.change(BatchChange(id=row.id, of=LIVE, state="stopped", at=400))
    await store.batches.create(made(2, state="completed", ended_at=300))
    await store.batches.create(made(3))
    assert await store.batches.delete_old(300, 10) == 0
    assert await store.batches.delete_old(401, 2) == 1
    assert await store.batches.find(uid(2)) is None
    assert [await store.batches.delete_old(401, 2) for _ in range(3)] == [2, 2, 0]
    assert await store.batches.find(row.id) is None
    assert await store.batches.find(uid(3)) is not None


async def test_what_no_database_could_keep_is_refused(store: Store) -> None:
    with pytest.raises(StoreError):
        await store.batches.create(made(user="a\0b"))
    row = await filled(store)
    bad = BatchItemRow(n=9, target="a\0b")
    with pytest.raises(StoreError):
        await store.batches.advance(BatchAdvance(row=row, added=(bad,)))
    with pytest.raises(StoreError):
        await store.batches.find("x")
    assert await found(store) == row
