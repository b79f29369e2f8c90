"""A version never changes; the same definition twice in a row is one version."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from layover.ports.records import DefinitionText, Version, WrittenText
from tests.stores.conformance import OTHER

if TYPE_CHECKING:
    from layover.ports.store import Store
    from tests.stores.conformance import Database


async def test_the_first_version_has_number_one(store: Store) -> None:
    saved = await store.definitions.save("order", "a", b'{"a":1}', 70)
    assert saved == Version(workflow="order", number=1, hash="a", document=b'{"a":1}', created_at=70)
    assert await store.definitions.find_latest("order") == saved
    assert await store.definitions.find_by_hash("a") == saved


async def test_the_same_definition_again_is_the_same_version(store: Store) -> None:
    saved = await store.definitions.save("order", "a", b"{}", 70)
    assert await store.definitions.save("order", "a", b"{}", 90) == saved
    assert await store.definitions.list_versions("order") == [saved]


async def test_going_back_to_an_older_definition_is_a_third_version(store: Store) -> None:
    saved = [await store.definitions.save("order", hash_, b"{}", 70) for hash_ in "aba"]
    assert [version.number for version in saved] == [1, 2, 3]
    assert await store.definitions.list_versions("order") == saved
    assert await store.definitions.find_latest("order") == saved[2]


async def test_a_hash_finds_the_first_version_that_had_it(store: Store) -> None:
    saved = [await store.definitions.save("order", hash_, b"{}", 70) for hash_ in "aba"]
    assert await store.definitions.find_by_hash("a") == saved[0]
    assert await store.definitions.find_by_hash("b") == saved[1]


async def test_two_workflows_may_have_the_same_definition(store: Store) -> None:
    await store.definitions.save("order", "x", b"{}", 70)
    first = await store.definitions.save("zebra", "a", b"{}", 70)
    await store.definitions.save("order", "a", b"{}", 70)
    await store.definitions.save("apple", "a", b"{}", 80)
    assert await store.definitions.find_by_hash("a") == first


async def test_hashes_are_listed_once(store: Store) -> None:
    for workflow, hash_ in (("b", "1"), ("a", "2"), ("b", "3"), ("b", "1")):
        await store.definitions.save(workflow, hash_, b"{}", 70)
    assert await store.definitions.list_hashes() == ["1", "2", "3"]
    assert await store.definitions.list_hashes("b") == ["1", "3"]
    assert await store.definitions.list_hashes("c") == []


async def test_the_newest_of_every_workflow_is_listed_by_name(store: Store) -> None:
    for workflow, hash_ in (("b", "1"), ("a", "2"), ("b", "3"), ("c", "4"), ("b", "5")):
        await store.definitions.save(workflow, hash_, hash_.encode(), 70)
    found = await store.definitions.list_versions()
    assert [(version.workflow, version.number, version.hash, version.document) for version in found] == [
        ("a", 1, "2", b"2"),
        ("b", 3, "5", b"5"),
        ("c", 1, "4", b"4"),
    ]


async def test_workflows_are_listed_in_pages_by_name(store: Store) -> None:
    names = ["Zebra", "a", "a-b", "a.b", "aa", "b"]  # as their bytes are, not as a language has it
    for number in range(3):
        for name in reversed(names):
            await store.definitions.save(name, f"{name} {number}", f"{number}".encode(), 70 + number)
    newest = [await store.definitions.find_latest(name) for name in names]
    assert await store.definitions.list_workflows() == newest
    assert await store.definitions.list_workflows(limit=2) == newest[:2]
    assert await store.definitions.list_workflows("a", 3) == newest[2:5]
    assert await store.definitions.list_workflows("aaa") == newest[5:]  # no workflow has to have the name
    assert await store.definitions.list_workflows("b") == []


@pytest.mark.parametrize("limit", [0, -1, -(2**62)])
async def test_no_workflow_is_listed_if_none_is_wanted(store: Store, limit: int) -> None:
    await store.definitions.save("order", "a", b"{}", 70)
    assert await store.definitions.list_workflows(limit=limit) == []


async def test_what_is_not_there_is_not_found(store: Store) -> None:
    assert await store.definitions.find_latest("order") is None
    assert await store.definitions.find_by_hash("a") is None
    assert await store.definitions.list_versions() == []
    assert await store.definitions.list_workflows() == []
    assert await store.definitions.list_versions("order") == []


async def test_a_concurrent_save_gets_the_next_version(store: Store, database: Database) -> None:
    other = database()
    await other.open(OTHER)
    hashes = [f"h{n}" for n in range(12)]
    saved = await asyncio.gather(
        *(one.definitions.save("order", hash_, hash_.encode(), 70) for hash_ in hashes for one in (store, other))
    )
    found = await store.definitions.list_versions("order")
    assert [version.number for version in found] == list(range(1, len(found) + 1))
    assert {version.hash for version in found} == set(hashes)
    assert all(one.hash != following.hash for one, following in pairwise(found))
    assert all(version in found for version in saved)
    await other.close()


async def test_a_version_keeps_the_newest_text_that_was_given_for_it(store: Store) -> None:
    definitions = store.definitions
    first = WrittenText(media_type="application/yaml", body=b"# erste\nname: order\n")
    newest = WrittenText(media_type="application/json", body=b'{"name": "order"}')
    await definitions.save("order", "h1", b"{}", 10, text=first)
    await definitions.save("order", "h1", b"{}", 20)  # a program registers the same, without a text
    assert await definitions.find_text("order", 1) == DefinitionText(
        workflow="order", number=1, media_type=first.media_type, body=first.body, changed_at=10
    )
    await definitions.save("order", "h1", b"{}", 30, text=first)
    assert [one.changed_at for one in await definitions.read_texts(("", 0), 10)] == [10], "it is what it was"
    await definitions.save("order", "h1", b"{}", 40, text=newest)
    await definitions.save("order", "h2", b"[]", 50)
    await definitions.save("refund", "h1", b"{}", 60, text=first)
    found = await definitions.find_text("order", 1)
    assert found is not None
    assert (found.media_type, found.body, found.changed_at) == (newest.media_type, newest.body, 40)
    assert await definitions.find_text("order", 2) is None
    assert [(one.workflow, one.number) for one in await definitions.read_texts(("", 0), 10)] == [
        ("order", 1),
        ("refund", 1),
    ]
    assert [one.workflow for one in await definitions.read_texts(("order", 1), 10)] == ["refund"]
    assert [version.number for version in await definitions.list_versions("order")] == [1, 2]
