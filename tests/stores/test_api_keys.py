"""Keys are found by their hash, listed by their id, and end once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.ports.access import AuditFilter
from layover.ports.errors import StoreError
from tests.stores.conformance import entry, key

if TYPE_CHECKING:
    from layover.ports.access import Key
    from layover.ports.store import Store


async def acts(store: Store) -> list[int]:
    return [int(one.id[:8], 16) for one in await store.audit.list_entries(AuditFilter())]


async def found(store: Store, wanted: Key) -> Key | None:
    return await store.api_keys.find_by_hash(wanted.hash)


async def test_a_key_is_found_by_its_hash_as_it_was_given(store: Store) -> None:
    full = replace(key(1), scopes=("execution:read", "é"), created_by="bob", expires_at=9, ended_at=8)
    none_of_them = replace(key(2), scopes=(), roles=())
    for n, one in enumerate((full, none_of_them, key(3)), start=1):
        await store.api_keys.add(one, entry(n))
        assert await found(store, one) == one
    assert await store.api_keys.find_by_hash(b"") is None
    assert await acts(store) == [3, 2, 1]


async def test_keys_are_listed_by_their_ids(store: Store) -> None:
    for n in (3, 1, 2):
        await store.api_keys.add(key(n), entry(n))
    assert await store.api_keys.list_keys("", 2) == [key(1), key(2)]
    assert await store.api_keys.list_keys("k2", 2) == [key(3)]
    assert await store.api_keys.list_keys("k3", 2) == await store.api_keys.list_keys("", -1) == []


@pytest.mark.parametrize("double", [replace(key(2), id="k1"), replace(key(2), hash=key(1).hash)])
async def test_a_key_is_kept_once(store: Store, double: Key) -> None:
    await store.api_keys.add(key(1), entry(1))
    with pytest.raises(StoreError) as told:
        await store.api_keys.add(double, entry(2))
    assert told.value.code == "key_exists"
    assert double.hash.hex() not in told.value.message
    assert await store.api_keys.list_keys("", 10) == [key(1)]
    assert await acts(store) == [1]


async def test_a_key_ends_once(store: Store) -> None:
    await store.api_keys.add(key(1), entry(1))
    assert await store.api_keys.end("k1", 50, entry(2))
    assert not await store.api_keys.end("k1", 50, entry(3))
    assert not await store.api_keys.end("k1", 60, entry(4))
    assert not await store.api_keys.end("k2", 60, entry(5))
    assert await found(store, key(1)) == replace(key(1), ended_at=50)
    assert await acts(store) == [2, 1]


async def test_a_key_is_replaced_once_and_goes_on_until_its_end(store: Store) -> None:
    await store.api_keys.add(key(1), entry(1))
    assert await store.api_keys.replace("k1", key(2), 90, entry(2))
    assert not await store.api_keys.replace("k1", key(3), 95, entry(3))
    assert not await store.api_keys.replace("k4", key(3), 95, entry(4))
    assert await store.api_keys.list_keys("", 10) == [replace(key(1), ended_at=90), key(2)]
    assert await acts(store) == [2, 1]


async def test_a_key_that_was_replaced_can_be_ended_before_its_time(store: Store) -> None:
    await store.api_keys.add(key(1), entry(1))
    await store.api_keys.replace("k1", key(2), 90, entry(2))
    assert await store.api_keys.end("k1", 60, entry(3))
    assert await found(store, key(1)) == replace(key(1), ended_at=60)


async def test_a_key_that_cannot_be_kept_ends_no_other(store: Store) -> None:
    await store.api_keys.add(key(1), entry(1))
    await store.api_keys.add(key(2), entry(2))
    with pytest.raises(StoreError):
        await store.api_keys.replace("k1", key(2), 90, entry(3))
    assert await store.api_keys.list_keys("", 10) == [key(1), key(2)]
    assert await acts(store) == [2, 1]
