"""Named locks: one holder at a time, until a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from layover.ports.store import Store


async def test_a_lock_has_one_holder(store: Store) -> None:
    assert await store.locks.acquire("sweep", "a", 100, 200)
    assert not await store.locks.acquire("sweep", "b", 150, 300)
    assert await store.locks.acquire("other", "b", 150, 300)


async def test_its_holder_keeps_a_lock(store: Store) -> None:
    await store.locks.acquire("sweep", "a", 100, 200)
    assert await store.locks.acquire("sweep", "a", 150, 300)
    assert not await store.locks.acquire("sweep", "b", 250, 300)


async def test_a_lock_that_has_run_out_is_free(store: Store) -> None:
    await store.locks.acquire("sweep", "a", 100, 200)
    assert not await store.locks.acquire("sweep", "b", 199, 300)
    assert await store.locks.acquire("sweep", "b", 200, 300)
    assert not await store.locks.acquire("sweep", "a", 210, 400)


async def test_a_lock_that_is_given_back_is_free(store: Store) -> None:
    await store.locks.acquire("sweep", "a", 100, 200)
    await store.locks.release("sweep", "a")
    assert await store.locks.acquire("sweep", "b", 110, 300)


async def test_an_instance_cannot_release_the_lock_of_another(store: Store) -> None:
    await store.locks.acquire("sweep", "a", 100, 200)
    await store.locks.release("sweep", "b")
    await store.locks.release("nothing", "b")
    assert not await store.locks.acquire("sweep", "b", 110, 300)
