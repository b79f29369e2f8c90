"""Triggers that belong to no definition, and the tokens in addresses of webhooks: the same on every store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from layover import AlreadyExists
from layover.ports.records import AuditRow
from layover.ports.trigger_records import REMOVED, NewToken, NewTrigger, TriggerSave, TriggerToken
from tests.stores.test_triggers import NEW, T, found, saved

if TYPE_CHECKING:
    from layover.ports.store import Store

ALONE = replace(NEW, config=b'{"alone":1}')


def saving(new: NewTrigger | None = ALONE, *, create: bool = True, **more: Any) -> TriggerSave:
    return TriggerSave(workflow="order", trigger_id=T, create=create, new=new, at=70, **more)


def entry(id_: str) -> AuditRow:
    return AuditRow(id=id_, at=1, user="ada", act="trigger.create", target=T)


def token(hash_: str = "h", made_at: int = 100, others_until: int | None = None) -> NewToken:
    return NewToken(token=TriggerToken(hash=hash_, trigger_id=T, made_at=made_at), others_until=others_until)


async def test_a_trigger_by_itself_is_created_once(store: Store) -> None:
    await saved(store)
    made = await store.triggers.save(saving(audit=entry("a1")))
    assert made.verdict == "saved"
    row = await found(store)
    assert made.row == row
    assert (row.managed, row.config, row.seq, row.next_at) == (False, b'{"alone":1}', 1, 1_000)
    again = await store.triggers.save(saving(audit=entry("a2")))
    assert (again.verdict, again.row) == ("taken", None)
    (event,) = await store.triggers.list_events(T)
    assert (event.kind, event.at) == ("TriggerRegistered", 70)


async def test_registering_a_version_leaves_it_alone_and_cannot_take_its_name(store: Store) -> None:
    await saved(store)
    await store.triggers.save(saving())
    await saved(store, hash_="h2")
    assert (await found(store)).state == "active"
    with pytest.raises(AlreadyExists) as refused:
        await saved(store, NEW, hash_="h3")
    assert refused.value.code == "trigger_path_conflict"
    newest = await store.definitions.find_latest("order")
    assert newest is not None
    assert newest.hash == "h2"
    assert not (await found(store)).managed


async def test_a_trigger_of_a_definition_is_neither_replaced_nor_deleted(store: Store) -> None:
    await saved(store, NEW)
    assert (await store.triggers.save(saving())).verdict == "taken"
    assert (await store.triggers.save(saving(create=False))).verdict == "managed"
    assert (await store.triggers.save(saving(None, create=False))).verdict == "managed"
    assert (await found(store)).managed


async def test_it_is_replaced_and_goes_on(store: Store) -> None:
    await saved(store)
    assert (await store.triggers.save(saving(create=False))).verdict == "unknown"
    await store.triggers.save(saving())
    other = replace(ALONE, config=b'{"alone":2}', cursor=b"later", next_at=9_000)
    made = await store.triggers.save(saving(other, create=False))
    row = await found(store)
    assert made.row == row
    assert (row.config, row.cursor, row.next_at, row.seq) == (b'{"alone":2}', b"c0", 1_000, 2)
    assert (await store.triggers.save(saving(other, create=False))).row == row


async def test_a_deleted_one_is_stopped_and_its_name_is_free(store: Store) -> None:
    await saved(store)
    await store.triggers.save(saving())
    await store.triggers.add_token(token())
    for _ in range(2):
        assert (await store.triggers.save(saving(None, create=False))).verdict == "saved"
    row = await found(store)
    assert (row.state, row.reason, row.next_at, row.seq) == ("stopped", REMOVED, None, 2)
    assert await store.triggers.find_by_token("h", 100) is None
    assert (await store.triggers.save(saving(create=False))).verdict == "unknown"
    await saved(store, NEW, hash_="h2")
    assert (await found(store)).managed


async def test_a_removed_trigger_of_a_definition_leaves_its_name(store: Store) -> None:
    await saved(store, NEW)
    await saved(store, hash_="h2")
    assert (await store.triggers.save(saving())).verdict == "saved"
    row = await found(store)
    assert (row.managed, row.state, row.reason) == (False, "active", "")


async def test_a_first_token_is_stored_once(store: Store) -> None:
    await saved(store, NEW)
    assert await store.triggers.add_token(token("one"))
    assert not await store.triggers.add_token(token("two"))
    assert await store.triggers.find_by_token("one", 100) == await found(store)
    assert await store.triggers.find_by_token("two", 100) is None


async def test_a_token_that_is_replaced_ends(store: Store) -> None:
    await saved(store, NEW)
    await store.triggers.add_token(token("one"))
    assert await store.triggers.add_token(token("two", 200, others_until=500))
    assert await store.triggers.find_by_token("one", 500) is not None
    assert await store.triggers.find_by_token("one", 501) is None
    assert await store.triggers.add_token(token("three", 300, others_until=299))
    for known in ("one", "two"):
        assert await store.triggers.find_by_token(known, 300) is None
    assert await store.triggers.find_by_token("three", 2**40) is not None


async def test_tokens_are_copied_as_hashes(store: Store) -> None:
    await saved(store, NEW)
    await store.triggers.add_token(token("one"))
    await store.triggers.add_token(token("two", 200, others_until=500))
    listed = await store.database_copy.read_trigger_tokens("", 10)
    assert listed == [
        TriggerToken(hash="one", trigger_id=T, made_at=100, until=500),
        TriggerToken(hash="two", trigger_id=T, made_at=200),
    ]
    assert await store.database_copy.read_trigger_tokens("one", 10) == listed[1:]
    assert await store.database_copy.read_trigger_tokens("", 1) == listed[:1]
