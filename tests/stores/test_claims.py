"""Who may drive what: claims, leases, and giving back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.ports.records import Claimed, Claims, ClosedExecution, LeaseRow, Rest
from tests.stores.conformance import (
    ME,
    NEW,
    OTHER,
    claim,
    commit,
    create,
    enqueue,
    following,
    go_on,
    head,
    ids,
    step,
    truth,
    uid,
)

if TYPE_CHECKING:
    from layover.ports.records import Head
    from layover.ports.store import Store


async def resting(store: Store, n: int, wake_at: int | None, priority: int = 0) -> Head:
    return await create(store, n, new=replace(NEW, priority=priority), rest=Rest(wake_at=wake_at))


async def test_a_claim_takes_what_is_due_and_starts_a_new_epoch(store: Store) -> None:
    was = await resting(store, 1, 300)
    taken = replace(was, owner=ME, epoch=2, wake_at=9_000)
    assert await claim(store, 300) == Claims(claimed=(Claimed(head=taken),), next_due=9_000)
    assert await head(store) == taken


async def test_executions_that_are_not_due_are_left_and_the_next_due_time_is_returned(store: Store) -> None:
    await resting(store, 1, 301)
    await resting(store, 2, 400)
    before = await truth(store)
    assert await claim(store, 300) == Claims(next_due=301)
    assert await truth(store) == before


async def test_without_anything_due_there_is_no_next_due_time(store: Store) -> None:
    await resting(store, 1, None)
    assert await claim(store, 10**12) == Claims()


async def test_what_is_due_and_was_left_over_is_not_what_comes_next(store: Store) -> None:
    for n in (1, 2):
        await resting(store, n, 300 + n)
    await resting(store, 3, 600)
    claims = await claim(store, 500, most=1)
    assert (ids(claims), claims.next_due) == ([uid(1)], 600)


async def test_the_urgent_come_first_then_the_older_then_the_id_decides(store: Store) -> None:
    await resting(store, 1, 200)
    await resting(store, 2, 100)
    await resting(store, 3, 300, priority=5)
    await resting(store, 5, 150, priority=-1)
    await resting(store, 4, 200)
    assert ids(await claim(store, 500, most=5)) == [uid(n) for n in (3, 2, 1, 4, 5)]


async def test_no_more_is_taken_than_was_asked_for(store: Store) -> None:
    for n in range(1, 6):
        await resting(store, n, n)
    assert ids(await claim(store, 500, most=2)) == [uid(1), uid(2)]
    assert ids(await claim(store, 500, most=0)) == []
    assert ids(await claim(store, 500, most=-1)) == []
    assert ids(await claim(store, 500, most=2)) == [uid(3), uid(4)]


async def test_priority_decides_among_those_that_waited_longest(store: Store) -> None:
    """A window of four times what is wanted: who is not urgent is passed over for a while, not for ever."""
    for n in range(1, 5):
        await resting(store, n, n)
    await resting(store, 9, 9, priority=7)
    assert ids(await claim(store, 500, most=1)) == [uid(1)]
    assert ids(await claim(store, 500, most=1)) == [uid(9)]


async def test_a_point_of_priority_is_worth_a_second_of_waiting(store: Store) -> None:
    await resting(store, 1, 5_000)
    await resting(store, 2, 8_000, priority=3)
    await resting(store, 3, 7_999, priority=3)
    await resting(store, 4, 8_001, priority=3)
    assert ids(await claim(store, 9_000)) == [uid(n) for n in (3, 1, 2, 4)]


async def test_one_that_is_not_urgent_gets_its_turn_although_urgent_ones_keep_coming(store: Store) -> None:
    await resting(store, 1, 1)
    taken: list[str] = []
    for n in range(2, 20):
        await resting(store, n, n * 500, priority=5)
        taken += ids(await claim(store, n * 500, most=1, lease_until=10**9))
    assert taken.index(uid(1)) == 9  # as soon as the next one came more than five seconds after it


async def test_what_is_driven_within_its_lease_is_not_taken(store: Store) -> None:
    await create(store)
    assert ids(await claim(store, 4_999, instance=OTHER)) == []


async def test_a_lease_that_has_run_out_is_taken_over_and_counted(store: Store) -> None:
    await create(store)
    (claimed,) = (await claim(store, 5_000, instance=OTHER)).claimed
    assert claimed.taken_over
    assert (claimed.head.owner, claimed.head.epoch, claimed.head.takeovers) == (OTHER, 2, 1)
    (again,) = (await claim(store, 9_000)).claimed
    assert (again.head.epoch, again.head.takeovers) == (3, 2)
    assert (await head(store)).takeovers == 2


async def test_only_a_claim_from_an_owner_is_a_takeover(store: Store) -> None:
    await resting(store, 1, 300)
    (claimed,) = (await claim(store, 300)).claimed
    assert (claimed.taken_over, claimed.head.takeovers) == (False, 0)


async def test_the_writer_of_an_older_epoch_can_no_longer_append(store: Store) -> None:
    await create(store)
    await claim(store, 5_000)
    assert (await commit(store, step())).verdict == "fenced"


async def test_one_execution_can_be_claimed_by_its_id_before_it_is_due(store: Store) -> None:
    await resting(store, 1, None)
    await resting(store, 2, 100)
    assert ids(await claim(store, 50, n=1)) == [uid(1)]
    assert (await head(store, 1)).owner == ME


async def test_one_that_is_driven_cannot_be_claimed_by_its_id_until_its_lease_ends(store: Store) -> None:
    await create(store)
    assert ids(await claim(store, 4_999, n=1, instance=OTHER)) == []
    (claimed,) = (await claim(store, 5_000, n=1, instance=OTHER)).claimed
    assert claimed.taken_over


async def test_a_closed_one_can_be_claimed_by_its_id(store: Store) -> None:
    await create(store)
    await go_on(store, status="failed", closed=ClosedExecution(), rest=Rest())
    assert ids(await claim(store, 10**6)) == []
    assert ids(await claim(store, 50, n=1)) == [uid(1)]
    assert (await head(store)).status == "failed"


async def test_one_that_is_not_there_cannot_be_claimed(store: Store) -> None:
    assert await claim(store, 50, n=7) == Claims()


async def test_a_claim_by_id_takes_nothing_else(store: Store) -> None:
    await resting(store, 1, 10)
    await resting(store, 2, 10)
    claims = await claim(store, 50, n=2, lease_until=600)
    assert (ids(claims), claims.next_due) == ([uid(2)], 600)


async def test_renewal_keeps_exactly_what_is_named_and_returns_what_is_lost(store: Store) -> None:
    for n in (1, 2, 3):
        await create(store, n)
    await claim(store, 60, n=3)
    await go_on(store, 2, rest=Rest(wake_at=70))
    await claim(store, 80, n=2, instance=OTHER, lease_until=8_888)
    leases = [LeaseRow(execution_id=uid(n), epoch=1) for n in (3, 7, 1, 2)]
    leases[0] = LeaseRow(execution_id=uid(3), epoch=2)
    assert await store.claims.renew(ME, leases, 7_000) == [uid(3), uid(7), uid(2)]
    assert [(await head(store, n)).wake_at for n in (1, 2, 3)] == [7_000, 8_888, 5_000]


@pytest.mark.parametrize("epochs", [(1, 0), (0, 1)])
async def test_an_older_lease_is_lost_beside_one_that_is_kept(store: Store, epochs: tuple[int, ...]) -> None:
    await create(store)
    assert await store.claims.renew(ME, [LeaseRow(execution_id=uid(1), epoch=epoch) for epoch in epochs], 7_000) == [
        uid(1)
    ]
    assert (await head(store)).wake_at == 7_000


async def test_a_renewal_that_was_overtaken_by_a_later_one_shortens_nothing(store: Store) -> None:
    await create(store)
    lease = LeaseRow(execution_id=uid(1), epoch=1)
    for until in (9_000, 7_000):
        assert await store.claims.renew(ME, [lease], until) == []
    assert (await head(store)).wake_at == 9_000


async def test_what_is_ours_but_not_named_is_not_renewed(store: Store) -> None:
    """A claim whose reply was lost has an owner who does not know of it."""
    await create(store, 1)
    await create(store, 2)
    assert await store.claims.renew(ME, [LeaseRow(execution_id=uid(1), epoch=1)], 7_000) == []
    assert (await head(store, 2)).wake_at == 5_000
    assert await store.claims.renew(ME, [], 7_000) == []


async def test_an_append_leaves_the_lease_alone(store: Store) -> None:
    await create(store)
    await store.claims.renew(ME, [LeaseRow(execution_id=uid(1), epoch=1)], 7_000)
    assert (await go_on(store)).wake_at == 7_000


async def test_a_released_execution_is_due_for_every_instance(store: Store) -> None:
    await create(store, 1)
    await create(store, 2)
    await store.claims.release(
        ME, [LeaseRow(execution_id=uid(1), epoch=1), LeaseRow(execution_id=uid(7), epoch=1)], 650
    )
    released = await head(store, 1)
    assert (released.owner, released.wake_at, released.epoch) == (None, 650, 1)
    assert (await head(store, 2)).owner == ME
    (claimed,) = (await claim(store, 650, instance=OTHER)).claimed
    assert (claimed.head.execution_id, claimed.taken_over) == (uid(1), False)


async def test_what_is_released_without_a_moment_waits_for_commands(store: Store) -> None:
    await create(store)
    await store.claims.release(ME, [LeaseRow(execution_id=uid(1), epoch=1)], None)
    assert (await head(store)).wake_at is None


@pytest.mark.parametrize("wake_at", [None, 650])
async def test_what_is_released_with_unread_commands_is_due_now(store: Store, wake_at: int | None) -> None:
    await create(store)
    await enqueue(store)
    await store.claims.release(ME, [LeaseRow(execution_id=uid(1), epoch=1)], wake_at)
    (claimed,) = (await claim(store, 1)).claimed
    assert [command.n for command in claimed.commands] == [1]


async def test_only_the_owner_of_a_lease_can_release_it(store: Store) -> None:
    await create(store)
    before = await truth(store)
    await store.claims.release(OTHER, [LeaseRow(execution_id=uid(1), epoch=1)], 650)
    await store.claims.release(ME, [LeaseRow(execution_id=uid(1), epoch=2)], 650)
    assert await truth(store) == before


async def test_commands_are_handed_over_with_a_takeover(store: Store) -> None:
    await create(store)
    await enqueue(store)
    (claimed,) = (await claim(store, 5_000)).claimed
    assert list(claimed.commands) == await store.commands.list_after(uid(1), 0)


async def test_an_append_without_progress_leaves_the_count_of_takeovers_alone(store: Store) -> None:
    for n in (1, 2):
        await create(store, n)
    await claim(store, 5_000)
    one, two = [following(await head(store, n)) for n in (1, 2)]
    await store.appends.commit([replace(one, keeps_takeovers=True), two])
    assert [(await head(store, n)).takeovers for n in (1, 2)] == [1, 0]
    at_rest = await go_on(store, rest=Rest(wake_at=9), keeps_takeovers=True)
    assert (at_rest.takeovers, at_rest.owner) == (1, None)


async def test_what_is_released_keeps_as_many_takeovers_as_the_lease_says(store: Store) -> None:
    for n in (1, 2):
        await create(store, n)
    taken = (await claim(store, 5_000)).claimed
    assert [one.head.takeovers for one in taken] == [1, 1]
    leases = [LeaseRow(execution_id=one.head.execution_id, epoch=2, takeovers=n) for n, one in enumerate(taken)]
    await store.claims.release(ME, leases, 650)
    assert [(await head(store, n)).takeovers for n in (1, 2)] == [0, 1]
