"""The audit chain in every store: entries wait, are sealed once and in order, and go seal by seal."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.core.audit_proofs import merkle_root
from layover.ports.access import AuditFilter, Key
from layover.ports.audit_entries import audit_row, completed
from layover.ports.records import Enqueue
from tests.stores.conformance import Database, approval, create, entry, go_on, opened, signal, step, uid
from tests.stores.seal_maker import Maker

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover.ports.records import AuditRow
    from layover.ports.seal_records import Seal
    from layover.ports.store import Store

VIEW = b'{"title":"Pay?"}'


def act(n: int, *, at: int = 600, document: bytes | None = None) -> AuditRow:
    return audit_row(
        id=entry(n).id, at=at, user="ann", act="approval.approve", salt=b"salt", target=f"t{n}", document=document
    )


async def do(store: Store, *rows: AuditRow) -> None:
    for row in rows:
        await store.signals.add(signal(row.id), row)


async def rows(store: Store) -> list[AuditRow]:
    return await store.audit.list_entries(AuditFilter(limit=1_000))


# What is written


async def test_entry_salt_and_leaf_are_kept_byte_for_byte(store: Store) -> None:
    given = act(1)
    await do(store, given)
    assert await rows(store) == [given]
    assert given.leaf


async def _by_signal(store: Store, row: AuditRow) -> None:
    await store.signals.add(signal(), row)


async def _by_answer(store: Store, row: AuditRow) -> None:
    await go_on(store, points=(opened(),))
    await store.answers.reserve(approval(), "k", 700, audit=row)


async def _by_command(store: Store, row: AuditRow) -> None:
    await store.commands.enqueue([Enqueue(execution_id=uid(1), kind="Pause", body=b"{}", audit=row)], 700)


async def _by_append(store: Store, row: AuditRow) -> None:
    await store.appends.commit([replace(step(), audit=row)])


async def _by_deadline(store: Store, row: AuditRow) -> None:
    await store.appends.commit([replace(step(), decided=(row,))])


async def _by_version(store: Store, row: AuditRow) -> None:
    await store.definitions.save("order", "h2", b"{}", 60, row)


async def _by_person(store: Store, row: AuditRow) -> None:
    await store.people.delete_person("nobody", row)
    assert await store.audit.read_document(row.document_hash) is None
    await store.api_keys.add(_key(), row)


def _key() -> Key:
    return Key(id=uid(5), prefix="p", hash=b"h", name="n", user="u", roles=(), created_at=1)


@pytest.mark.parametrize(
    "write", [_by_signal, _by_answer, _by_command, _by_append, _by_deadline, _by_version, _by_person]
)
async def test_a_document_is_kept_with_its_act(
    store: Store, write: Callable[[Store, AuditRow], Awaitable[None]]
) -> None:
    await create(store)
    row = act(1, document=VIEW)
    await write(store, row)
    (found,) = await rows(store)
    assert (found.document_hash, found.document) == (row.document_hash, None)
    assert await store.audit.read_document(row.document_hash) == VIEW
    assert await store.audit.read_document(b"x") is None


async def test_a_document_that_two_users_saw_is_kept_once(store: Store) -> None:
    await do(store, act(1, document=VIEW), act(2, document=VIEW))
    (kept,) = await store.seals.list_documents(b"", 10)
    assert kept.body == VIEW
    assert await store.seals.list_documents(kept.hash, 10) == []


async def test_what_an_append_decided_is_written_only_if_it_passes(store: Store) -> None:
    await create(store)
    refused = replace(step(3), decided=(act(1, document=VIEW),))
    passed = replace(step(1), audit=act(2), decided=(act(3), act(4)))
    await store.appends.commit([passed, refused])
    assert [row.target for row in await rows(store)] == ["t4", "t3", "t2"]
    assert await store.seals.list_documents(b"", 10) == []


async def test_the_answer_of_a_program_is_found_by_its_execution(store: Store) -> None:
    await create(store)
    await go_on(store, points=(opened(),))
    await store.answers.reserve(approval(), "k", 700, audit=act(1))
    (found,) = await store.audit.list_entries(AuditFilter(execution_id=uid(1)))
    assert found.execution_id == uid(1)


# Sealing


async def seal(store: Store, now: int = 1_000, most: int = 100) -> Seal | None:
    return await store.seals.seal(Maker(now), most)


async def test_entries_wait_until_they_are_sealed(store: Store) -> None:
    assert not await store.seals.is_waiting()
    assert await store.seals.numbers_of_entries() is None
    assert await seal(store) is None
    await do(store, act(2, at=5), act(1, at=5), act(3, at=4))
    assert await store.seals.is_waiting()
    made = await seal(store)
    assert made is not None
    assert (made.n, made.first, made.count) == (1, 1, 3)
    assert made.leaves == act(3, at=4).leaf + act(1, at=5).leaf + act(2, at=5).leaf
    assert not await store.seals.is_waiting()
    assert await seal(store) is None
    assert {row.seal for row in await rows(store)} == {1}


async def test_seals_are_chained(store: Store) -> None:
    await do(store, act(1), act(2), act(3))
    first, second = await seal(store, most=2), await seal(store, 1_001, most=2)
    assert first is not None
    assert second is not None
    assert (second.n, second.first, second.count, second.prev) == (2, 3, 1, first.head)
    assert await store.seals.list_seals(0, 10) == [first, second]
    assert await store.seals.list_seals(1, 10) == [second] == [await store.seals.last_seal()]
    assert await store.seals.find_seal(1) == first
    assert await store.seals.find_seal(3) is None
    assert [await store.seals.last_before(at) for at in (1_000, 1_001, 1_002)] == [0, 1, 2]


async def test_an_entry_that_comes_late_is_in_the_next_seal(store: Store) -> None:
    await do(store, act(2, at=900))
    await seal(store)
    await do(store, act(1, at=1))
    late = await seal(store)
    assert late is not None
    assert (late.n, late.leaves) == (2, act(1, at=1).leaf)


async def test_an_entry_of_an_earlier_release_gets_its_leaf_when_it_is_sealed(store: Store) -> None:
    await do(store, entry(1), act(2))
    made = await seal(store)
    expected = completed(entry(1), entry(1).id.encode())
    assert made is not None
    assert made.leaves == expected.leaf + act(2).leaf
    assert made.root == merkle_root([expected.leaf, act(2).leaf])
    assert await rows(store) == [replace(act(2), seal=1), replace(expected, seal=1)]


async def test_a_key_is_kept_with_its_first_seal(store: Store) -> None:
    for n, key in enumerate(("a", "a", "b")):
        await do(store, act(n))
        await store.seals.seal(Maker(100 * n, key), 10)
    assert [(key.id, key.first_seal, key.since) for key in await store.seals.list_keys()] == [
        ("a", 1, 0),
        ("b", 3, 200),
    ]


async def test_entries_are_read_by_seal(store: Store) -> None:
    await do(store, act(1), act(2))
    await seal(store)
    await do(store, act(3))
    sealed = [replace(act(n), seal=1) for n in (1, 2)]
    assert await store.seals.list_entries(1, None, 10) == sealed
    assert await store.seals.numbers_of_entries() == (1, 1)
    assert await store.seals.list_entries(1, (600, act(1).id), 10) == sealed[1:]
    assert await store.seals.list_entries(None, None, 10) == [act(3)]
    assert await store.seals.list_entries(None, None, 0) == await store.seals.list_entries(9, None, 9) == []


async def test_rivals_seal_each_entry_once(database: Database) -> None:
    ours, theirs = database(), database()
    await ours.open("ours")
    await theirs.open("theirs")
    try:
        for n in range(20):
            await do(ours, act(2 * n), act(2 * n + 1))
            await asyncio.gather(seal(ours), seal(theirs), seal(ours, most=1), seal(theirs, most=1))
        while await seal(ours):
            pass
        seals = await ours.seals.list_seals(0, 1_000)
        assert [one.n for one in seals] == list(range(1, len(seals) + 1))
        assert [one.prev for one in seals[1:]] == [one.head for one in seals[:-1]]
        assert sum(one.count for one in seals) == 40
        leaves = [one.leaves[at : at + 32] for one in seals for at in range(0, len(one.leaves), 32)]
        assert sorted(leaves) == sorted(row.leaf for row in await rows(ours))
    finally:
        await theirs.close()
        await ours.close()


# Forgetting


async def test_only_sealed_entries_go_the_oldest_seal_first(store: Store) -> None:
    await do(store, act(1, at=9, document=VIEW), act(2))
    await seal(store, most=1)
    await seal(store, most=1)
    await do(store, act(3, at=1, document=VIEW))
    assert await store.seals.delete_entries(2, 1, act(8)) == 1
    assert [row.target for row in await rows(store)] == ["t8", "t2", "t3"]
    assert await store.audit.read_document(act(1, document=VIEW).document_hash) == VIEW  # another entry names it
    assert await store.seals.delete_entries(1, 9, act(9)) == 0
    assert await store.seals.delete_entries(2, 9) == 1
    assert [row.target for row in await rows(store)] == ["t8", "t3"]
    assert len(await store.seals.list_seals(0, 9)) == 2


async def test_a_document_goes_with_the_last_entry_that_names_it(store: Store) -> None:
    await do(store, act(1, document=VIEW), act(2, document=VIEW))
    await seal(store)
    assert await store.seals.delete_entries(1, 1) == 1
    assert len(await store.seals.list_documents(b"", 9)) == 1
    assert await store.seals.delete_entries(1, 1) == 1
    assert await store.seals.list_documents(b"", 9) == []
