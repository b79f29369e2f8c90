"""A lease has its whole length from when it is written, although the clock of the store was set forward before that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.ports.records import Claim, Reserved, Rest
from layover.stores.postgres import PostgresStore
from tests.stores.conformance import ME, approval, claim, create, following, head, opened, uid

if TYPE_CHECKING:
    from layover.ports.store import Store
    from tests.servers.postgres import Databases
    from tests.stores.conformance import Clock

HOUR = 3_600_000


async def test_the_lease_of_a_creation_counts_from_when_it_is_written(store: Store, clock: Clock) -> None:
    clock.now = 50_000
    assert (await create(store)).wake_at == 50_000 + 5_000 - 100


async def test_what_is_created_at_rest_is_due_when_it_says(store: Store, clock: Clock) -> None:
    clock.now = 50_000
    assert (await create(store, rest=Rest(wake_at=300))).wake_at == 300


@pytest.mark.parametrize("n", [None, 1])
async def test_the_lease_of_a_claim_counts_from_when_it_is_written(store: Store, clock: Clock, n: int | None) -> None:
    clock.now = 50_000
    await create(store, rest=Rest(wake_at=300))
    (claimed,) = (await claim(store, 300, n=n, lease_until=9_000)).claimed
    assert claimed.head == await head(store)
    assert claimed.head.wake_at == 50_000 + 9_000 - 300


async def test_the_lease_of_an_answer_counts_from_when_it_is_written(store: Store, clock: Clock) -> None:
    await create(store)
    await store.appends.commit([following(await head(store), points=(opened(),), rest=Rest())])
    clock.now = 50_000
    taken = await store.answers.reserve(approval(), "api:1", 700, Claim(instance=ME, now=700, lease_until=9_000))
    assert isinstance(taken, Reserved)
    assert taken.claimed is not None
    assert (await head(store)).wake_at == 50_000 + 9_000 - 700


async def test_a_clock_that_is_behind_shortens_no_lease(store: Store, clock: Clock) -> None:
    clock.now = 50
    assert (await create(store)).wake_at == 5_000
    assert (await claim(store, 6_000, lease_until=9_000)).claimed[0].head.wake_at == 9_000


async def test_on_postgres_the_clock_of_the_server_counts_and_the_latest_time_that_an_instance_has(
    postgres: Databases,
) -> None:
    store = PostgresStore(postgres.address())
    await store.open(ME)
    try:
        now = await store.now()
        assert now + 4_900 - 1_000 <= ((await create(store)).wake_at or 0) < now + HOUR
        await store._session.db.fetchval("heartbeat", "ahead", now + HOUR)  # noqa: SLF001 - its clock cannot be set here
        assert (await create(store, 2)).wake_at == now + HOUR + 4_900
        await create(store, 3, rest=Rest(wake_at=300))
        (claimed,) = (await claim(store, 300, n=3)).claimed
        assert claimed.head.wake_at == now + HOUR + 9_000 - 300
        await create(store, 4)
        await store.appends.commit([following(await head(store, 4), points=(opened(),), rest=Rest())])
        wish = Claim(instance=ME, now=700, lease_until=9_000, execution_id=uid(4))
        await store.answers.reserve(approval(), "api:1", 700, wish)
        assert (await head(store, 4)).wake_at == now + HOUR + 9_000 - 700
    finally:
        await store.close()
