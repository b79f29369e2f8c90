"""What nobody had a function for waits for somebody who has one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.ports.records import Claim, LeaseRow, Rest
from tests.stores.conformance import ME, OTHER, claim, create, enqueue, go_on, head, ids, truth, uid

if TYPE_CHECKING:
    from layover.ports.records import Claims, Head
    from layover.ports.store import Store


async def lacking(store: Store, n: int, *missing: str, at: int = 200, wake_at: int | None = None) -> Head:
    await create(store, n)
    return await go_on(store, n, at=at, rest=Rest(wake_at=wake_at, missing=missing))


async def claim_with(store: Store, *types: str, now: int = 300, most: int = 10, waiting: int | None = None) -> Claims:
    return await store.claims.claim(
        Claim(instance=OTHER, now=now, lease_until=9_000, most=most, types=frozenset(types), waiting=waiting),
    )


# What is claimed


@pytest.mark.parametrize(("waiting", "claimed"), [(None, [3, 1, 2]), (1, [3, 1]), (0, [3]), (-1, [3])])
async def test_of_those_that_wait_for_a_type_no_more_are_claimed_than_are_wanted(
    store: Store, waiting: int | None, claimed: list[int]
) -> None:
    await lacking(store, 1, "mail")
    await lacking(store, 2, "mail", at=250)
    await create(store, 3)
    await go_on(store, 3, rest=Rest(wake_at=290))
    assert ids(await claim_with(store, "mail", waiting=waiting)) == [uid(n) for n in claimed]


# What is kept


async def test_a_rest_says_what_is_missing_and_since_when(store: Store) -> None:
    was = await lacking(store, 1, "mail", "fax")
    assert (was.missing, was.missing_since, was.owner) == (("mail", "fax"), 200, None)


async def test_a_creation_can_rest_for_want_of_a_function(store: Store) -> None:
    was = await create(store, rest=Rest(missing=("mail",)))
    assert (was.missing, was.missing_since) == (("mail",), 100)


async def test_it_is_known_since_when_something_was_first_missing(store: Store) -> None:
    await lacking(store, 1, "mail", at=200)
    await claim(store, 250, n=1)
    was = await go_on(store, at=300, rest=Rest(missing=("fax",)))
    assert (was.missing, was.missing_since) == (("fax",), 200)


async def test_a_rest_without_it_clears_it(store: Store) -> None:
    await lacking(store, 1, "mail")
    await claim(store, 250, n=1)
    was = await go_on(store, rest=Rest(wake_at=700))
    assert (was.missing, was.missing_since) == ((), None)
    await claim(store, 800, n=1)
    was = await go_on(store, at=900, rest=Rest(missing=("fax",)))
    assert was.missing_since == 900


async def test_while_it_is_driven_it_is_kept(store: Store) -> None:
    await lacking(store, 1, "mail")
    (claimed,) = (await claim_with(store, "mail")).claimed
    assert (claimed.head.missing, claimed.head.missing_since) == (("mail",), 200)
    was = await go_on(store)
    assert (was.owner, was.missing, was.missing_since) == (OTHER, ("mail",), 200)


@pytest.mark.parametrize("wake_at", [None, 650])
async def test_a_release_says_what_is_missing(store: Store, wake_at: int | None) -> None:
    await create(store)
    await store.claims.release(ME, [LeaseRow(execution_id=uid(1), epoch=1)], wake_at, ("mail",))
    was = await head(store)
    assert (was.owner, was.wake_at, was.missing, was.missing_since) == (None, wake_at, ("mail",), wake_at)


async def test_a_release_keeps_since_when_something_was_missing(store: Store) -> None:
    await lacking(store, 1, "mail")
    await claim(store, 250, n=1)
    await store.claims.release(ME, [LeaseRow(execution_id=uid(1), epoch=2)], 650, ("fax",))
    was = await head(store)
    assert (was.missing, was.missing_since) == (("fax",), 200)


async def test_a_release_without_it_clears_it(store: Store) -> None:
    await lacking(store, 1, "mail")
    await claim(store, 250, n=1)
    await store.claims.release(ME, [LeaseRow(execution_id=uid(1), epoch=2)], 650)
    was = await head(store)
    assert (was.missing, was.missing_since) == ((), None)


async def test_a_release_with_unread_commands_is_due_whatever_is_missing(store: Store) -> None:
    await create(store)
    await enqueue(store)
    await store.claims.release(ME, [LeaseRow(execution_id=uid(1), epoch=1)], None, ("mail",))
    assert ids(await claim(store, 1)) == [uid(1)]


async def test_a_held_back_execution_is_due_at_its_time_and_for_instances_with_the_missing_types(store: Store) -> None:
    await create(store)
    await enqueue(store)
    await store.claims.release(ME, [LeaseRow(execution_id=uid(1), epoch=1)], 10_000, ("command:New",), held_at=250)
    was = await head(store)
    assert (was.owner, was.wake_at, was.missing, was.missing_since) == (None, 10_000, ("command:New",), 250)
    assert ids(await claim_with(store, "mail")) == []
    (claimed,) = (await claim_with(store, "command:New")).claimed
    assert len(claimed.commands) == 1


# Who takes it


async def test_an_instance_with_the_function_claims_it_at_once(store: Store) -> None:
    await lacking(store, 1, "mail", "fax", wake_at=10_000)
    assert ids(await claim_with(store)) == []
    assert ids(await claim_with(store, "phone")) == []
    (claimed,) = (await claim_with(store, "phone", "fax")).claimed
    assert (claimed.head.execution_id, claimed.taken_over) == (uid(1), False)
    assert (await head(store)).owner == OTHER


async def test_an_owned_execution_is_left_to_its_owner(store: Store) -> None:
    await lacking(store, 1, "mail")
    assert ids(await claim_with(store, "mail")) == [uid(1)]
    assert ids(await claim_with(store, "mail")) == []


async def test_a_lease_that_has_run_out_is_due_once(store: Store) -> None:
    await lacking(store, 1, "mail")
    await claim_with(store, "mail")
    (claimed,) = (await claim_with(store, "mail", now=9_000)).claimed
    assert claimed.taken_over


async def test_what_is_due_comes_first_and_then_what_waited_longest(store: Store) -> None:
    await lacking(store, 1, "fax", at=203)
    await lacking(store, 2, "mail", at=202)
    await lacking(store, 3, "mail", "fax", at=202)
    await lacking(store, 4, "mail", at=201, wake_at=290)
    await lacking(store, 5, "phone", at=1)
    await create(store, 6, rest=Rest(wake_at=299))
    assert ids(await claim_with(store, "mail", "fax")) == [uid(n) for n in (4, 6, 2, 3, 1)]


@pytest.mark.parametrize(("most", "taken"), [(-1, []), (0, []), (1, [5]), (3, [5, 1, 2])])
async def test_no_more_is_taken_than_was_asked_for(store: Store, most: int, taken: list[int]) -> None:
    for n in (4, 3, 2, 1):
        await lacking(store, n, "mail" if n % 2 else "fax", at=200 + n)
    await create(store, 5, rest=Rest(wake_at=299))
    assert ids(await claim_with(store, "mail", "fax", most=most)) == [uid(n) for n in taken]


async def test_what_is_missing_does_not_come_due_by_itself(store: Store) -> None:
    await lacking(store, 1, "mail", wake_at=5_000)
    await lacking(store, 2, "mail")
    before = await truth(store)
    claims = await claim_with(store, "phone")
    assert (ids(claims), claims.next_due) == ([], 5_000)
    assert await truth(store) == before


async def test_a_claim_by_id_takes_nothing_else(store: Store) -> None:
    await lacking(store, 1, "mail")
    await lacking(store, 2, "mail")
    wish = Claim(instance=ME, now=300, lease_until=9_000, execution_id=uid(2), types=frozenset({"mail"}))
    assert ids(await store.claims.claim(wish)) == [uid(2)]


async def test_names_of_types_are_kept_as_they_are(store: Store) -> None:
    strange = ('"quoted"', "a,b", "größe", "[]")
    assert (await lacking(store, 1, *strange)).missing == strange
    assert ids(await claim_with(store, "größe")) == [uid(1)]
