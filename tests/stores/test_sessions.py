"""Sessions are found by their hash while they and their keys last; a link opens one session, once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.ports.access import AuditFilter
from layover.ports.errors import StoreError
from tests.stores.conformance import entry, key, session

if TYPE_CHECKING:
    from layover.ports.access import SessionRow
    from layover.ports.store import Store
    from tests.stores.conformance import Database

LINK = replace(session(9), kind="link", opened_by="", expires_at=500)


async def acts(store: Store) -> list[int]:
    return [int(one.id[:8], 16) for one in await store.audit.list_entries(AuditFilter())]


async def ids(store: Store) -> list[str]:
    return [row.id for row in await store.sessions.list_sessions("session", "", 100)]


async def test_a_session_is_found_by_its_hash_as_it_was_given(store: Store) -> None:
    full = replace(session(1), scopes=("execution:read", "é"), user="ü")
    none_of_them = replace(session(2), scopes=(), roles=(), opened_by="")
    for n, one in enumerate((full, none_of_them), start=1):
        await store.sessions.open_session(one, 10, entry(n))
        assert await store.sessions.find_session(one.hash, 5) == one
    assert await store.sessions.find_session(b"", 5) is None
    assert await acts(store) == [2, 1]


async def test_a_session_is_found_until_its_time_is_over(store: Store) -> None:
    await store.sessions.open_session(session(1), 10)
    assert await store.sessions.find_session(session(1).hash, 1_000) == session(1)
    assert await store.sessions.find_session(session(1).hash, 1_001) is None


@pytest.mark.parametrize("over", [{"ended_at": 50}, {"expires_at": 50}])
async def test_a_session_ends_with_its_key(store: Store, over: dict[str, int]) -> None:
    await store.api_keys.add(replace(key(1), **over), entry(1))
    await store.sessions.open_session(session(1, key_id="k1"), 10)
    assert await store.sessions.find_session(session(1).hash, 49) is not None
    assert await store.sessions.find_session(session(1).hash, 50) is None


async def test_a_session_of_a_key_that_is_not_there_is_none(store: Store) -> None:
    await store.sessions.open_session(session(1, key_id="k1"), 10)
    assert await store.sessions.find_session(session(1).hash, 49) is None


async def test_a_key_that_another_instance_ends_or_replaces_takes_its_sessions_along(database: Database) -> None:
    here, there = database(), database()
    await here.open("here")
    await there.open("there")
    try:
        for n in (1, 2):
            await here.api_keys.add(key(n), entry(n))
            await here.sessions.open_session(session(n, key_id=f"k{n}"), 10)
        await there.api_keys.end("k1", 20, entry(3))
        await there.api_keys.replace("k2", key(3), 90, entry(4))
        assert await here.sessions.find_session(session(1).hash, 20) is None
        assert await here.sessions.find_session(session(2).hash, 89) is not None
        assert await here.sessions.find_session(session(2).hash, 90) is None
    finally:
        await here.close()
        await there.close()


@pytest.mark.parametrize("double", [replace(session(2), id="s1"), replace(session(2), hash=session(1).hash)])
async def test_a_session_is_kept_once(store: Store, double: SessionRow) -> None:
    await store.sessions.open_session(session(1), 10, entry(1))
    with pytest.raises(StoreError) as told:
        await store.sessions.open_session(double, 10, entry(2))
    assert told.value.code == "session_exists"
    assert double.hash.hex() not in told.value.message
    assert await store.sessions.list_sessions("session", "", 10) == [session(1)]
    assert await acts(store) == [1]


async def test_a_session_ends_once_and_a_link_is_no_session_to_end(store: Store) -> None:
    await store.sessions.open_session(session(1), 10)
    await store.sessions.open_session(LINK, 10)
    assert await store.sessions.end_session(session(1).hash, entry(1))
    assert not await store.sessions.end_session(session(1).hash, entry(2))
    assert not await store.sessions.end_session(LINK.hash, entry(3))
    assert await ids(store) == []
    assert await acts(store) == [1]


async def test_of_too_many_sessions_of_a_user_the_oldest_go(store: Store) -> None:
    await store.sessions.open_session(LINK, 2)
    await store.sessions.open_session(session(8, user="bob"), 2)
    for n in (1, 3, 2, 4):
        await store.sessions.open_session(session(n), 2)
    assert await ids(store) == ["s3", "s4", "s8"]
    assert await store.sessions.list_sessions("link", "", 10) == [LINK]


async def test_a_link_opens_one_session(store: Store) -> None:
    await store.sessions.open_session(LINK, 10, entry(1))
    assert await store.sessions.use_link(LINK.hash, session(1), 499, 10, entry(2))
    assert not await store.sessions.use_link(LINK.hash, session(2), 499, 10, entry(3))
    assert await store.sessions.find_session(LINK.hash, 499) is None
    assert await ids(store) == ["s1"]
    assert await acts(store) == [2, 1]


async def test_a_link_that_has_ended_or_a_session_opens_none(store: Store) -> None:
    await store.sessions.open_session(LINK, 10)
    await store.sessions.open_session(session(1), 10)
    for hash_, now in ((LINK.hash, 500), (session(1).hash, 5), (b"none", 5)):
        assert not await store.sessions.use_link(hash_, session(2), now, 10, entry(1))
    assert await ids(store) == ["s1"]
    assert await acts(store) == []


async def test_a_link_is_not_used_up_by_a_session_that_cannot_be_kept(store: Store) -> None:
    await store.sessions.open_session(LINK, 10)
    await store.sessions.open_session(session(1), 10)
    with pytest.raises(StoreError):
        await store.sessions.use_link(LINK.hash, session(1), 5, 10, entry(1))
    assert await store.sessions.find_session(LINK.hash, 5) == LINK
    assert await acts(store) == []


async def test_of_those_who_use_a_link_at_once_one_gets_in(store: Store) -> None:
    await store.sessions.open_session(LINK, 100)
    uses = [store.sessions.use_link(LINK.hash, session(n), 5, 100, entry(n)) for n in range(1, 9)]
    assert sorted(await asyncio.gather(*uses)) == [False] * 7 + [True]
    assert len(await ids(store)) == len(await acts(store)) == 1


async def test_sessions_are_listed_by_their_ids(store: Store) -> None:
    await store.sessions.open_session(LINK, 10)
    for n in (3, 1, 2):
        await store.sessions.open_session(session(n), 10)
    assert await store.sessions.list_sessions("session", "", 2) == [session(1), session(2)]
    assert await store.sessions.list_sessions("session", "s2", 2) == [session(3)]
    assert await store.sessions.list_sessions("session", "s3", 2) == []
    assert await store.sessions.list_sessions("session", "", -1) == []


async def test_open_sessions_are_listed_while_they_and_their_keys_last(store: Store) -> None:
    await store.api_keys.add(replace(key(1), ended_at=50), entry(1))
    await store.api_keys.add(replace(key(2), expires_at=60), entry(2))
    await store.sessions.open_session(replace(LINK, user="ada"), 10)
    for row in (session(4), session(1, key_id="k1"), session(2, key_id="k2"), session(3, user="bob")):
        await store.sessions.open_session(row, 10)
    await store.sessions.open_session(session(5, key_id="k5"), 10)

    async def everyones(now: int, after: str = "", limit: int = 10) -> list[str]:
        return [row.id for row in await store.sessions.list_open_sessions(now, after, limit)]

    async def of(user: str, now: int, after: str = "", limit: int = 10) -> list[str]:
        return [row.id for row in await store.sessions.list_sessions_of_user(user, now, after, limit)]

    assert await everyones(49) == ["s1", "s2", "s3", "s4"]
    assert await everyones(50) == ["s2", "s3", "s4"]
    assert await everyones(60, "s2", 1) == ["s3"]
    assert await everyones(1_003) == ["s4"]
    assert await everyones(49, limit=-1) == []
    owner = session(1).user
    assert await of(owner, 49) == ["s1", "s2", "s4"]
    assert await of(owner, 59, "s1", 1) == ["s2"]
    assert await of(owner, 1_004) == []
    assert await of("bob", 49) == ["s3"]


async def test_sessions_whose_time_is_over_are_deleted_the_oldest_first(store: Store) -> None:
    for row in (LINK, session(1), session(2), session(3)):
        await store.sessions.open_session(row, 10)
    assert await store.sessions.delete_expired(1_002, 2) == 2
    assert await ids(store) == ["s2", "s3"]
    assert await store.sessions.delete_expired(1_002, 10) == 1
    assert await store.sessions.delete_expired(1_002, 10) == 0
    assert await ids(store) == ["s3"]


async def test_a_refused_sign_in_is_written_down(store: Store) -> None:
    await store.sessions.note_refused(entry(1))
    assert await acts(store) == [1]
