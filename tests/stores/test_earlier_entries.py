"""An append can bring entries of earlier moments: each is a stretch of the log of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.ports.errors import StoreError
from layover.ports.records import Entry
from tests.stores.conformance import commit, create, creation, go_on, head, step, truth, uid

if TYPE_CHECKING:
    from layover.ports.store import Store


def entry(seq: int, count: int, at: int = 150) -> Entry:
    return Entry(seq=seq, at=at, count=count, events=b"[%d]" % seq)


CREATED = Entry(seq=0, at=100, count=2, events=b'["created","started"]')


async def test_earlier_entries_come_before_the_last_one(store: Store) -> None:
    await create(store)
    earlier = (entry(2, 2, at=150), entry(4, 1, at=160))
    await commit(store, replace(step(count=5), earlier=earlier))
    last = Entry(seq=5, at=200, count=2, events=b'["moved"]')
    assert await store.queries.read_history(uid(1), 0, 100) == [CREATED, *earlier, last]
    assert (await head(store)).last_seq == 6


async def test_there_may_be_nothing_after_the_earlier_ones(store: Store) -> None:
    await create(store)
    await commit(store, replace(step(count=3), earlier=(entry(2, 3),), events=b""))
    assert await store.queries.read_history(uid(1), 0, 100) == [CREATED, entry(2, 3)]
    assert (await head(store)).last_seq == 4


async def test_a_creation_can_have_earlier_entries(store: Store) -> None:
    await store.definitions.save("order", "h1", b"{}", 50)
    await commit(store, replace(creation(), earlier=(entry(0, 1),)))
    assert [(one.seq, one.count) for one in await store.queries.read_history(uid(1), 0, 100)] == [(0, 1), (1, 1)]
    await go_on(store)
    assert (await head(store)).last_seq == 2


async def test_a_snapshot_covers_all_of_them(store: Store) -> None:
    await create(store)
    await commit(store, replace(step(count=3), earlier=(entry(2, 1), entry(3, 1)), snapshot=b"s"))
    await go_on(store)
    (loaded,) = await store.queries.load([uid(1)])
    assert loaded is not None
    assert [one.seq for one in loaded.entries] == [5]


@pytest.mark.parametrize(
    ("count", "earlier"),
    [
        (3, [entry(1, 1)]),
        (3, [entry(3, 1)]),
        (3, [entry(2, 1), entry(4, 1)]),
        (3, [entry(2, 2), entry(3, 1)]),
        (3, [entry(3, 1), entry(2, 1)]),
        (3, [entry(2, 0)]),
        (3, [entry(2, 4)]),
        (0, [entry(2, 1)]),
    ],
)
async def test_a_gap_is_an_error_and_nothing_of_the_commit_is_written(
    store: Store, count: int, earlier: list[Entry]
) -> None:
    await create(store, 1)
    await create(store, 2)
    before = await truth(store)
    with pytest.raises(StoreError) as refused:
        await store.appends.commit([step(2), replace(step(count=count), earlier=tuple(earlier))])
    assert refused.value.code == "gap"
    assert await truth(store) == before


async def test_an_append_that_does_not_pass_leaves_no_earlier_entries(store: Store) -> None:
    await create(store)
    assert (await commit(store, replace(step(count=2), epoch=9, earlier=(entry(2, 1),)))).verdict == "fenced"
    assert await store.queries.read_history(uid(1), 0, 100) == [CREATED]
