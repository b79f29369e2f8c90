"""Rates of starts, alone and together with slots: the same in every store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.core.engine.commands import Admit
from layover.ports.limit_records import Admission, AdmissionRequest, ConcurrencyLimit, RateLimit
from layover.ports.records import Rest
from tests.stores.conformance import create, go_on, message, truth, uid

if TYPE_CHECKING:
    from layover.ports.store import Store

from tests.stores.limit_requests import admitted, commands, holding, rate, resting, slots, waiting


def both(n: int, *, most: int = 1, per_ms: int = 1_000) -> AdmissionRequest:
    return AdmissionRequest(
        execution_id=uid(n),
        slots=ConcurrencyLimit(name="s", limit=most),
        rate=RateLimit(name="r", limit=1, per_ms=per_ms),
    )


def later(at: int) -> Admission:
    return Admission(state="later", name="r", at=at)


# Rates


async def test_the_first_so_many_start_at_once_and_the_others_evenly(store: Store) -> None:
    await resting(store, *range(1, 6))
    told = [await store.limits.admit(rate(n, 2, 1_000), 500) for n in range(1, 6)]
    assert told == [Admission(state="admitted", name="r")] * 2 + [later(1_000), later(1_500), later(2_000)]
    assert await admitted(store, *range(1, 6)) == [1, 2]


async def test_a_moment_is_kept_for_each_waiting_execution(store: Store) -> None:
    await resting(store, 1, 2, 3)
    for n in (1, 2):
        await store.limits.admit(rate(n, 1, 1_000), 500)
    before = await truth(store)
    assert await store.limits.admit(rate(2, 1, 1_000), 1_499) == later(1_500)
    assert await store.limits.find_admission(uid(2)) == later(1_500)
    assert await truth(store) == before
    assert await store.limits.admit(rate(2, 1, 1_000), 1_500) == Admission(state="admitted", name="r")
    assert await admitted(store, 2) == [2]
    assert await store.limits.admit(rate(2, 1, 1_000), 1_501) == Admission(state="admitted", name="r")
    assert await store.limits.admit(rate(3, 1, 1_000), 1_501) == later(2_500)
    assert await commands(store, 2) == [Admit()]


async def test_a_rate_recovers_while_nothing_starts_but_no_further_than_it_is(store: Store) -> None:
    await resting(store, *range(1, 9))
    for n in (1, 2):
        await store.limits.admit(rate(n, 2, 1_000), 500)
    told = [await store.limits.admit(rate(n, 2, 1_000), 1_000) for n in (3, 4)]
    assert [one.at for one in told] == [None, 1_500]
    told = [await store.limits.admit(rate(n, 2, 1_000), 100_000) for n in (5, 6, 7)]
    assert [one.at for one in told] == [None, None, 100_500]


async def test_a_rate_that_does_not_divide_evenly_is_never_exceeded(store: Store) -> None:
    await resting(store, *range(1, 13))
    told = [await store.limits.admit(rate(n, 3, 1_000), 0) for n in range(1, 13)]
    starts = [one.at or 0 for one in told]
    assert starts == [0, 0, 0, 334, 667, 1_001, 1_334, 1_667, 2_001, 2_334, 2_667, 3_001]


async def test_rates_have_nothing_to_do_with_each_other(store: Store) -> None:
    await resting(store, 1, 2)
    await store.limits.admit(rate(1, 1), 500)
    assert await store.limits.admit(rate(2, 1, name="q"), 500) == Admission(state="admitted", name="q")


async def test_what_gives_its_moment_back_has_used_up_the_rate(store: Store) -> None:
    await resting(store, 1, 2, 3)
    for n in (1, 2):
        await store.limits.admit(rate(n, 1), 500)
    assert await store.limits.release_slot(uid(2), 600) == []
    assert await store.limits.find_admission(uid(2)) is None
    assert await store.limits.admit(rate(3, 1), 600) == later(2_500)


# Both


async def test_the_rate_is_used_by_holders_of_a_slot_only(store: Store) -> None:
    await resting(store, 1, 2, 3)
    assert await store.limits.admit(both(1), 500) == holding(1)
    assert await store.limits.admit(both(2), 501) == waiting(1, 1)
    assert await store.limits.admit(rate(3, 1), 502) == later(1_500)


async def test_the_holder_of_a_slot_may_have_to_wait_for_the_rate(store: Store) -> None:
    await resting(store, 1, 2)
    await store.limits.admit(both(1, most=2), 500)
    assert await store.limits.admit(both(2, most=2), 501) == later(1_500)
    assert await admitted(store, 1, 2) == [1]
    assert await store.limits.admit(both(2, most=2), 1_500) == holding(1, 2)
    assert await admitted(store, 2) == [2]


async def test_the_next_in_line_gets_its_moment_with_the_slot(store: Store) -> None:
    await resting(store, 1, 2, 3)
    for n in (1, 2, 3):
        await store.limits.admit(both(n), 500)
    assert await store.limits.release_slot(uid(1), 700) == []
    assert await store.limits.find_admission(uid(2)) == later(1_500)
    assert await store.limits.find_admission(uid(3)) == waiting(1, 2)
    assert await store.limits.admit(both(2), 1_500) == holding(2)
    assert await store.limits.release_slot(uid(2), 9_000) == [uid(3)]
    assert await admitted(store, 1, 2, 3) == [1, 2, 3]


@pytest.mark.parametrize(("now", "due_at"), [(700, 1_500), (1_700, 1_700)])
async def test_the_new_holder_of_a_slot_asks_again_at_its_moment(store: Store, now: int, due_at: int) -> None:
    await resting(store, 1)
    own = message(1, sender=2, destination=uid(2), due_at=60_000)
    other = message(2, sender=2, destination=uid(9), due_at=60_000)
    await create(store, 2)
    await go_on(store, 2, rest=Rest(), messages=(own, other))
    for n in (1, 2):
        await store.limits.admit(both(n), 500)
    await store.limits.release_slot(uid(1), now)
    assert [one.due_at for one in await store.outbox.list_undelivered(uid(2))] == [due_at, 60_000]
    assert (await store.outbox.read_due(due_at, 10)).due == (replace(own, due_at=due_at),)


async def test_an_execution_that_waits_for_the_rate_gives_its_slot_back(store: Store) -> None:
    await resting(store, 1, 2, 3)
    await store.limits.admit(both(1, most=2), 500)
    await store.limits.admit(both(2, most=2), 500)
    await store.limits.admit(slots(3, 2), 500)
    assert await store.limits.release_slot(uid(2), 600) == [uid(3)]


async def test_rates_that_nothing_is_used_of_are_forgotten(store: Store) -> None:
    await resting(store, 1, 2, 3)
    assert (await store.limits.admit(rate(1, limit=1), 0)).state == "admitted"
    assert (await store.limits.admit(rate(2, limit=1, name="other"), 500)).state == "admitted"
    assert await store.limits.delete_unused_rates(999) == 0
    assert await store.limits.delete_unused_rates(1_000) == 1
    assert await store.limits.delete_unused_rates(1_000) == 0
    assert await store.limits.admit(rate(3, limit=1, name="other"), 1_000) == Admission(
        state="later", name="other", at=1_500
    )
