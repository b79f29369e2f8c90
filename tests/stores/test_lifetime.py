"""Opening, closing, and several instances on one database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.ports.errors import StoreError, StoreUnavailable
from layover.ports.records import LeaseRow
from tests.stores.conformance import ME, OTHER, claim, commit, create, enqueue, go_on, head, step, truth, uid

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from layover.ports.store import Store
    from tests.stores.conformance import Clock, Database


@pytest.fixture
async def other(database: Database, store: Store) -> AsyncIterator[Store]:
    """Give the store of another instance, on the database that `store` is on."""
    assert store is not None
    found = database()
    await found.open(OTHER)
    yield found
    await found.close()


async def test_what_one_instance_writes_the_other_reads(store: Store, other: Store) -> None:
    await create(store)
    assert await truth(other) == await truth(store)
    await claim(other, 5_000, instance=OTHER)
    assert (await commit(store, step())).verdict == "fenced"
    await go_on(other)
    assert await truth(store) == await truth(other)


async def test_a_command_of_an_instance_that_is_gone_is_found(database: Database, store: Store) -> None:
    await create(store)
    await claim(store, 1)
    visitor = database()
    await visitor.open(OTHER)
    await enqueue(visitor)
    await visitor.close()
    assert await store.commands.find_unread([(uid(1), 0)]) == [uid(1)]


async def test_what_was_written_is_there_after_closing(database: Database, store: Store) -> None:
    await create(store)
    before = await truth(store)
    await store.close()
    again = database()
    await again.open(OTHER)
    assert await truth(again) == before
    await again.close()


async def test_a_store_can_be_opened_again(store: Store) -> None:
    await create(store)
    await store.close()
    await store.open(ME)
    assert (await head(store)).owner == ME


async def test_a_store_is_opened_once_at_a_time(store: Store) -> None:
    with pytest.raises(StoreError) as refused:
        await store.open(ME)
    assert refused.value.code == "open"
    await create(store)


async def test_closing_twice_is_closing(store: Store) -> None:
    await store.close()
    await store.close()


async def test_a_closed_store_says_so(store: Store) -> None:
    await store.close()
    calls = [
        commit(store, step()),
        claim(store, 1),
        store.claims.renew(ME, [], 1),
        store.claims.release(ME, [], 1),
        store.queries.load([]),
        store.commands.list_after(uid(1), 0),
        store.commands.enqueue([], 1),
        store.commands.find_unread([]),
        store.queries.read_heads([]),
        store.commands.is_enqueued(uid(1), "s"),
        store.definitions.save("order", "h", b"{}", 1),
        store.definitions.find_by_hash("h"),
        store.queries.find_execution(uid(1)),
        store.queries.count_by_status(),
        store.queries.find_point("p"),
        store.locks.acquire("l", ME, 1, 2),
        store.locks.release("l", ME),
    ]
    for call in calls:
        with pytest.raises(StoreUnavailable) as refused:
            await call
        assert refused.value.code == "closed"


async def test_no_two_instances_have_one_name(database: Database, store: Store) -> None:
    await create(store)
    second = database()
    with pytest.raises(StoreUnavailable) as refused:
        await second.open(ME)
    assert refused.value.code == "instance_taken"
    await go_on(store)
    await store.close()
    await second.open(ME)
    await second.close()


async def test_what_an_earlier_life_drove_is_due_at_once(database: Database, store: Store, clock: Clock) -> None:
    await create(store)
    await store.close()
    clock.now = 700
    again = database()
    await again.open(ME)
    (claimed,) = (await claim(again, 700)).claimed
    assert (claimed.head.epoch, claimed.taken_over) == (2, True)
    assert await again.claims.renew(ME, [LeaseRow(execution_id=uid(1), epoch=1)], 9_999) == [uid(1)]
    await again.close()


async def test_what_is_driven_by_others_stays_theirs(store: Store, other: Store, clock: Clock) -> None:
    await create(store)
    await other.close()
    clock.now = 700
    await other.open(OTHER)
    assert (await claim(other, 700, instance=OTHER)).claimed == ()


@pytest.mark.parametrize("name", ["a/b", "..", "host:1 ä", "%2F"])
async def test_any_text_is_the_name_of_an_instance(database: Database, name: str) -> None:
    named = database()
    await named.open(name)
    with pytest.raises(StoreUnavailable):
        await database().open(name)
    await named.close()


async def test_a_store_tells_the_time_of_the_common_clock(store: Store, clock: Clock) -> None:
    clock.now = 1_234
    assert await store.now() == 1_234
