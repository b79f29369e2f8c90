"""What a store tells operators of all executions together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.ports.records import ClosedExecution, NewExecution, Rest
from layover.ports.view_records import ActivityBucket
from tests.stores.conformance import commit, create, creation, uid

if TYPE_CHECKING:
    from layover.core.engine.state import ExecutionStatus
    from layover.ports.store import Store

LATE = 2**53


async def resting(
    store: Store,
    n: int,
    at: int,
    *,
    status: ExecutionStatus = "waiting",
    wake_at: int | None = None,
    closed: ClosedExecution | None = None,
) -> None:
    new = NewExecution(workflow="order", hash="h-order", created_at=100)
    await store.definitions.save("order", new.hash, b"{}", 50)
    append = replace(creation(n, new=new, rest=Rest(wake_at=wake_at)), at=at, status=status, closed=closed)
    assert (await commit(store, append)).verdict == "passed"


async def test_timers_come_in_their_order_page_by_page_without_what_is_driven(store: Store) -> None:
    for n, wake_at in ((1, 900), (2, 500), (3, 500), (4, None)):
        await resting(store, n, 200, wake_at=wake_at)
    await create(store, 9)  # it has a lease, which is no timer

    first = await store.monitoring.list_timers(None, 2)
    rest = await store.monitoring.list_timers((first[-1].wake_at or 0, first[-1].execution_id), 2)

    assert [(head.wake_at, head.execution_id) for head in (*first, *rest)] == [
        (500, uid(2)),
        (500, uid(3)),
        (900, uid(1)),
    ]
    assert await store.monitoring.list_timers((900, uid(1)), 2) == []


async def test_leases_are_counted_by_the_instance_that_has_them_up_to_a_bound(store: Store) -> None:
    await resting(store, 1, 200, wake_at=900)
    for n in (7, 8, 9):
        await create(store, n)

    ((owner, leases),) = (await store.monitoring.count_leases(LATE, 10)).items()

    assert owner
    assert leases == 3
    assert await store.monitoring.count_leases(LATE, 2) == {owner: 2}
    assert await store.monitoring.count_leases(0, 10) == {}


async def test_activity_counts_starts_and_ends_where_they_happened(store: Store) -> None:
    await resting(store, 1, 200)
    await resting(store, 2, 1_100, status="completed", closed=ClosedExecution(outcome="executed"))
    await resting(store, 3, 1_300, status="failed", closed=ClosedExecution(outcome="executed", error_code="broken"))

    first, second, third = await store.monitoring.read_activity([0, 1_000, 2_000], 1_000, 10)

    assert first == ActivityBucket(start=0, started=3)
    assert second == ActivityBucket(start=1_000, finished=2, failed=1, took=2_200)
    assert third == ActivityBucket(start=2_000)
    assert [one.started for one in await store.monitoring.read_activity([0], 1_000, 2)] == [2]
