"""Links are found by the hashes of their tokens, belong to a point and a user, and go with their execution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.ports.access import AuditFilter, LinkRow, NewLink
from layover.ports.errors import StoreError
from layover.ports.records import ClosedExecution, Rest
from tests.stores.conformance import create, entry, go_on, opened, uid

if TYPE_CHECKING:
    from layover.ports.store import Store


def link(hash_: bytes, point: str = "p", user: str = "ann", expires_at: int | None = None) -> NewLink:
    return NewLink(hash=hash_, point=point, user=user, made_at=500, expires_at=expires_at)


async def with_points(store: Store) -> None:
    await create(store)
    await go_on(store, points=(opened("p"), opened("q")))


async def revoked(store: Store, *hashes: bytes) -> list[int | None]:
    found = [await store.links.find(hash_) for hash_ in hashes]
    return [one.revoked_at if one is not None else -1 for one in found]


async def test_a_link_is_found_by_its_hash_as_it_was_given(store: Store) -> None:
    await with_points(store)
    assert await store.links.add(link(b"1", user="ü", expires_at=900), entry(1))
    found = await store.links.find(b"1")
    assert found == LinkRow(hash=b"1", execution_id=uid(1), point="p", user="ü", made_at=500, expires_at=900)
    assert await store.links.find(b"2") is None
    assert len(await store.audit.list_entries(AuditFilter())) == 1


async def test_a_link_to_nothing_is_not_stored(store: Store) -> None:
    assert not await store.links.add(link(b"1"), entry(1))
    assert await store.links.find(b"1") is None
    assert await store.audit.list_entries(AuditFilter()) == []


async def test_the_same_link_again_changes_nothing_also_after_it_was_revoked(store: Store) -> None:
    await with_points(store)
    await store.links.add(link(b"1"))
    await store.links.revoke("p", None, 700)
    before = await store.links.find(b"1")
    assert await store.links.add(link(b"1", point="q", user="ben"))
    assert await store.links.find(b"1") == before


async def test_links_are_revoked_by_point_and_user_and_once(store: Store) -> None:
    await with_points(store)
    for hash_, point, user in ((b"1", "p", "ann"), (b"2", "p", "ben"), (b"3", "q", "ann")):
        await store.links.add(link(hash_, point, user))
    assert await store.links.revoke("p", "ann", 700, entry(1)) == 1
    assert await revoked(store, b"1", b"2", b"3") == [700, None, None]
    assert await store.links.revoke("p", None, 800, entry(2)) == 1
    assert await revoked(store, b"1", b"2", b"3") == [700, 800, None]
    assert await store.links.revoke("p", None, 900, entry(3)) == 0
    assert await store.links.revoke("none", None, 900) == 0
    assert len(await store.audit.list_entries(AuditFilter())) == 3


async def test_links_are_purged_with_their_execution(store: Store) -> None:
    await with_points(store)
    await create(store, 2)
    await go_on(store, 2, points=(opened("other"),))
    await store.links.add(link(b"1"))
    await store.links.add(link(b"2", "other"))
    await go_on(store, status="completed", closed=ClosedExecution(), rest=Rest())
    assert await store.retention.purge([uid(1)]) == 1
    assert await store.links.find(b"1") is None
    assert await store.links.find(b"2") is not None
    assert not await store.links.add(link(b"3"))


async def test_a_name_that_no_database_can_have_is_refused(store: Store) -> None:
    await with_points(store)
    with pytest.raises(StoreError, match="cannot be kept"):
        await store.links.add(link(b"1", user="a\0b"))
