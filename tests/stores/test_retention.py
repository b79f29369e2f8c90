"""What is over, old, and has nothing left to do for others can be deleted, with all that belongs to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.ports.limit_records import AdmissionRequest, ConcurrencyLimit, RateLimit
from layover.ports.records import ClosedExecution, OpenedPoint, Rest, Token, Version
from layover.ports.view_records import ExecutionFilter
from tests.stores.conformance import NEW, claim, commit, create, creation, enqueue, go_on, message, point, truth, uid

if TYPE_CHECKING:
    from layover.core.engine.state import ExecutionStatus
    from layover.ports.store import Store

LATE = 10**9


async def ended(
    store: Store, n: int, at: int, *, workflow: str = "order", status: ExecutionStatus = "completed"
) -> None:
    await create(store, n, new=replace(NEW, workflow=workflow))
    await go_on(store, n, at=at, status=status, closed=ClosedExecution(), rest=Rest())


async def test_what_ended_before_a_moment_is_expendable_the_oldest_first(store: Store) -> None:
    for n, at in ((1, 703), (2, 701), (4, 702), (3, 702), (5, 704)):
        await ended(store, n, at)
    assert await store.retention.list_purgeable(704, 10) == [uid(n) for n in (2, 3, 4, 1)]
    assert await store.retention.list_purgeable(701, 10) == []


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
async def test_it_does_not_matter_how_it_ended(store: Store, status: ExecutionStatus) -> None:
    await ended(store, 1, 700, status=status)
    assert await store.retention.list_purgeable(LATE, 10) == [uid(1)]
    assert await store.retention.purge([uid(1)]) == 1


@pytest.mark.parametrize(("most", "found"), [(-1, 0), (0, 0), (2, 2), (9, 3)])
async def test_no_more_is_read_than_was_asked_for(store: Store, most: int, found: int) -> None:
    for n in (1, 2, 3):
        await ended(store, n, n)
    assert await store.retention.list_purgeable(LATE, most) == [uid(n) for n in (1, 2, 3)][:found]


async def test_one_workflow_can_be_asked_for(store: Store) -> None:
    await ended(store, 1, 700)
    await ended(store, 2, 700, workflow="refund")
    assert await store.retention.list_purgeable(LATE, 10, "refund") == [uid(2)]
    assert await store.retention.list_purgeable(LATE, 10, "nothing") == []


async def test_what_is_open_is_kept(store: Store) -> None:
    await create(store)
    assert await store.retention.list_purgeable(LATE, 10) == []
    assert await store.retention.purge([uid(1)]) == 0
    assert await store.queries.find_execution(uid(1)) is not None


async def test_what_was_reopened_is_kept(store: Store) -> None:
    for n, closed in ((1, ClosedExecution()), (2, None)):
        await ended(store, n, 700, status="failed")
        await claim(store, 800, n=n)
        await go_on(store, n, status="running", closed=closed)
    assert await store.retention.list_purgeable(LATE, 10) == []
    assert await store.retention.purge([uid(1), uid(2)]) == 0


async def test_what_has_something_to_send_is_kept_until_it_has_arrived(store: Store) -> None:
    await create(store)
    await go_on(store, status="completed", closed=ClosedExecution(), rest=Rest(), messages=(message(),))
    assert await store.retention.list_purgeable(LATE, 10) == []
    assert await store.retention.purge([uid(1)]) == 0
    await store.outbox.delete_delivered([message()])
    assert await store.retention.list_purgeable(LATE, 10) == [uid(1)]
    assert await store.retention.purge([uid(1)]) == 1


async def test_a_child_is_kept_until_its_parent_has_nothing_to_send(store: Store) -> None:
    """A start that arrives twice finds the child there; it must not begin another one in its stead."""
    start = message(destination=uid(2))
    await create(store, 1)
    await go_on(store, 1, messages=(start,))
    await create(store, 2, new=replace(NEW, parent_id=uid(1)))
    await go_on(store, 2, status="completed", closed=ClosedExecution(), rest=Rest())
    assert await store.retention.list_purgeable(LATE, 10) == []
    assert await store.retention.purge([uid(2)]) == 0
    await store.outbox.delete_delivered([start])
    assert await store.retention.list_purgeable(LATE, 10) == [uid(2)]
    assert await store.retention.purge([uid(2)]) == 1


async def test_what_has_a_slot_or_waits_for_one_is_kept_until_it_is_freed(store: Store) -> None:
    """Others may wait for what it has: it would be lost to them."""
    for n in (1, 2):
        await create(store, n)
        await store.limits.admit(AdmissionRequest(execution_id=uid(n), slots=ConcurrencyLimit(name="s", limit=1)), 500)
        await go_on(store, n, status="completed", closed=ClosedExecution(), rest=Rest())
    assert await store.retention.list_purgeable(LATE, 10) == []
    assert await store.retention.purge([uid(1), uid(2)]) == 0
    for n in (1, 2):
        await store.limits.release_slot(uid(n), 600)
    assert await store.retention.list_purgeable(LATE, 10) == [uid(1), uid(2)]
    assert await store.retention.purge([uid(1), uid(2)]) == 2


async def test_what_only_had_a_moment_to_begin_at_is_not_kept_for_it(store: Store) -> None:
    await create(store)
    await store.limits.admit(
        AdmissionRequest(execution_id=uid(1), rate=RateLimit(name="r", limit=1, per_ms=1_000)), 500
    )
    await go_on(store, status="completed", closed=ClosedExecution(), rest=Rest())
    assert await store.retention.list_purgeable(LATE, 10) == [uid(1)]
    assert await store.retention.purge([uid(1)]) == 1
    assert await store.limits.find_admission(uid(1)) is None


async def test_all_there_is_of_an_execution_is_deleted_and_nothing_else(store: Store) -> None:
    await store.definitions.save("order", "h1", b"{}", 50)
    await create(store, 1)
    await enqueue(store, 1)
    await go_on(store, 1, points=(OpenedPoint(point=point("p1"), waits=(("paid", "k"),)),))
    before = await truth(store)
    await create(store, 2)
    await enqueue(store, 2)
    await store.limits.admit(AdmissionRequest(execution_id=uid(2)), 500)
    await go_on(
        store,
        2,
        points=(OpenedPoint(point=point("p2"), waits=(("paid", "k"),)),),
        tokens=(Token(hash=b"t", point="p2"),),
        snapshot=b"s",
    )
    await go_on(store, 2, status="completed", closed=ClosedExecution(), rest=Rest())
    assert await store.retention.purge([uid(2), uid(7), uid(2)]) == 1
    assert await truth(store) == before
    assert await store.queries.load([uid(2)]) == [None]
    assert await store.queries.read_history(uid(2), 0, 10) == []
    assert await store.commands.list_after(uid(2), 0) == []
    assert await store.queries.find_point("p2") is None
    assert await store.queries.find_token(b"t") is None
    assert [wait.point for wait in await store.signals.list_waits("paid", "k")] == ["p1"]
    assert await store.limits.find_admission(uid(2)) is None


async def test_versions_stay(store: Store) -> None:
    await ended(store, 1, 700)
    await store.retention.purge([uid(1)])
    version = Version(workflow="order", number=1, hash="h1", document=b"{}", created_at=50)
    assert await store.definitions.list_versions("order") == [version]


async def test_an_id_that_was_purged_is_as_good_as_new(store: Store) -> None:
    await create(store)
    await go_on(store, status="completed", closed=ClosedExecution(), rest=Rest(), snapshot=b"s")
    await store.retention.purge([uid(1)])
    assert (await commit(store, creation())).verdict == "passed"
    (loaded,) = await store.queries.load([uid(1)])
    assert loaded is not None
    assert (loaded.snapshot, [entry.seq for entry in loaded.entries]) == (None, [0])


async def test_nothing_can_be_purged(store: Store) -> None:
    assert await store.retention.purge([]) == 0


async def test_one_that_was_closed_again_later_is_kept(store: Store) -> None:
    await ended(store, 1, 500)
    await ended(store, 2, 900)
    assert await store.retention.purge([uid(1), uid(2)], 900) == 1
    assert [row.head.execution_id for row in await store.queries.list_executions(ExecutionFilter())] == [uid(2)]
