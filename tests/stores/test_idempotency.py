"""What requests were answered: one at a time works at it, and what was answered first is what is kept."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.ports.access import IdempotentReply

if TYPE_CHECKING:
    from layover.ports.store import Store

NOTE = IdempotentReply(scope="ann POST /executions", key="k", fingerprint=b"same", until=100)
ANSWER = replace(NOTE, status=202, body=b'{"id":1}', until=1_000)
OTHER_REQUEST = replace(NOTE, fingerprint=b"other")


async def test_a_request_is_noted_and_found_until_it_is_answered(store: Store) -> None:
    assert await store.idempotency.begin(NOTE, 0) is None
    assert await store.idempotency.begin(replace(NOTE, until=150), 50) == NOTE
    await store.idempotency.finish(ANSWER)
    assert await store.idempotency.begin(NOTE, 50) == ANSWER


async def test_another_request_with_the_key_gets_what_is_stored(store: Store) -> None:
    await store.idempotency.begin(NOTE, 0)
    assert await store.idempotency.begin(OTHER_REQUEST, 0) == NOTE
    await store.idempotency.finish(ANSWER)
    assert await store.idempotency.begin(OTHER_REQUEST, 0) == ANSWER


async def test_scope_and_key_tell_requests_apart(store: Store) -> None:
    assert await store.idempotency.begin(NOTE, 0) is None
    assert await store.idempotency.begin(replace(NOTE, key="l"), 0) is None
    assert await store.idempotency.begin(replace(NOTE, scope="bob"), 0) is None


async def test_the_place_of_one_that_died_is_taken_by_the_same_request_only(store: Store) -> None:
    await store.idempotency.begin(NOTE, 0)
    assert await store.idempotency.begin(replace(NOTE, until=199), 99) == NOTE
    assert await store.idempotency.begin(replace(OTHER_REQUEST, until=200), 100) == NOTE
    taken = replace(NOTE, until=200)
    assert await store.idempotency.begin(taken, 100) is None
    assert await store.idempotency.begin(NOTE, 150) == taken


async def test_an_answer_that_is_no_longer_kept_is_not_there(store: Store) -> None:
    await store.idempotency.begin(NOTE, 0)
    await store.idempotency.finish(ANSWER)
    assert await store.idempotency.begin(OTHER_REQUEST, 999) == ANSWER
    later = replace(OTHER_REQUEST, until=1_100)
    assert await store.idempotency.begin(later, 1_000) is None
    assert await store.idempotency.begin(NOTE, 1_000) == later


async def test_what_was_answered_first_stays(store: Store) -> None:
    await store.idempotency.begin(NOTE, 0)
    await store.idempotency.begin(replace(NOTE, until=200), 100)
    await store.idempotency.finish(ANSWER)
    await store.idempotency.finish(replace(ANSWER, status=409))
    await store.idempotency.abandon(NOTE.scope, NOTE.key)
    assert await store.idempotency.begin(NOTE, 150) == ANSWER


async def test_a_place_that_another_request_has_is_left_to_it(store: Store) -> None:
    await store.idempotency.begin(OTHER_REQUEST, 0)
    await store.idempotency.finish(ANSWER)
    assert await store.idempotency.begin(NOTE, 50) == OTHER_REQUEST


async def test_an_answer_is_kept_though_its_note_is_gone(store: Store) -> None:
    await store.idempotency.finish(ANSWER)
    assert await store.idempotency.begin(NOTE, 0) == ANSWER


async def test_a_request_that_came_to_nothing_is_forgotten(store: Store) -> None:
    await store.idempotency.begin(NOTE, 0)
    await store.idempotency.begin(replace(NOTE, key="l"), 0)
    await store.idempotency.abandon(NOTE.scope, NOTE.key)
    await store.idempotency.abandon(NOTE.scope, "never")
    assert await store.idempotency.begin(OTHER_REQUEST, 0) is None
    assert await store.idempotency.begin(replace(NOTE, key="l"), 0) is not None


async def test_what_is_no_longer_kept_is_deleted_the_oldest_first(store: Store) -> None:
    for n in (3, 1, 2, 4):
        await store.idempotency.begin(replace(NOTE, key=f"k{n}", until=n), 0)
    assert await store.idempotency.delete_expired(3, 2) == 2
    assert await store.idempotency.begin(replace(NOTE, key="k3", fingerprint=b"other"), 3) is not None
    assert await store.idempotency.delete_expired(3, -1) == 0
    assert await store.idempotency.delete_expired(3, 2) == 1
    assert await store.idempotency.delete_expired(3, 2) == 0
    assert await store.idempotency.begin(replace(NOTE, key="k4", until=9), 3) is not None


async def test_of_many_at_once_one_works_at_it(store: Store) -> None:
    told = await asyncio.gather(*(store.idempotency.begin(NOTE, 0) for _ in range(10)))
    assert sorted(told, key=lambda one: one is not None) == [None, *[NOTE] * 9]


async def test_an_answer_may_be_large(store: Store) -> None:
    large = replace(ANSWER, body=bytes(range(256)) * 10_000)
    await store.idempotency.finish(large)
    assert await store.idempotency.begin(NOTE, 0) == large
