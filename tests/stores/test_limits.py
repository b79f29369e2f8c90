"""Who may begin when only so many may: slots, lines before them, and rates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest
from msgspec.structs import replace

from layover.core.engine.command_codec import decode_command
from layover.core.engine.commands import Admit, Cancel
from layover.ports.errors import StoreError
from layover.ports.limit_records import Admission, AdmissionRequest, ConcurrencyLimit, RateLimit
from layover.ports.records import ClosedExecution, Rest
from tests.stores.conformance import ME, claim, create, go_on, head, message, truth, uid

if TYPE_CHECKING:
    from layover.ports.store import Store

ADMITTED, REJECTED = Admission(state="admitted"), Admission(state="rejected")


def slots(
    n: int, limit: int = 1, *, name: str = "s", priority: int = 0, on_conflict: Literal["queue", "reject"] = "queue"
) -> AdmissionRequest:
    return AdmissionRequest(
        execution_id=uid(n), slots=ConcurrencyLimit(name=name, limit=limit, on_conflict=on_conflict), priority=priority
    )


def taking_over(n: int, limit: int = 1) -> AdmissionRequest:
    return AdmissionRequest(
        execution_id=uid(n), slots=ConcurrencyLimit(name="s", limit=limit, on_conflict="cancel_running")
    )


def rate(n: int, limit: int = 2, per_ms: int = 1_000, *, name: str = "r") -> AdmissionRequest:
    return AdmissionRequest(execution_id=uid(n), rate=RateLimit(name=name, limit=limit, per_ms=per_ms))


def both(n: int, *, most: int = 1, per_ms: int = 1_000) -> AdmissionRequest:
    return AdmissionRequest(
        execution_id=uid(n),
        slots=ConcurrencyLimit(name="s", limit=most),
        rate=RateLimit(name="r", limit=1, per_ms=per_ms),
    )


def waiting(position: int, *holders: int, name: str = "s") -> Admission:
    return Admission(state="waiting", name=name, position=position, holders=tuple(uid(n) for n in holders))


def holding(*holders: int, name: str = "s") -> Admission:
    return Admission(state="admitted", name=name, holders=tuple(uid(n) for n in holders))


def later(at: int) -> Admission:
    return Admission(state="later", name="r", at=at)


async def resting(store: Store, *ns: int) -> None:
    for n in ns:
        await create(store, n, rest=Rest())


async def close(store: Store, n: int) -> None:
    await claim(store, 0, n=n)
    await go_on(store, n, status="cancelled", closed=ClosedExecution(), rest=Rest())


async def commands(store: Store, n: int) -> list[object]:
    return [decode_command(one.kind, one.body) for one in await store.commands.list_after(uid(n), 0)]


async def admitted(store: Store, *ns: int) -> list[int]:
    return [n for n in ns if Admit() in await commands(store, n)]


# Slots


async def test_so_many_hold_slots_and_the_others_stand_in_line(store: Store) -> None:
    await resting(store, 1, 2, 3, 4)
    assert await store.limits.admit(slots(2, 2), 500) == holding(2)
    assert await store.limits.admit(slots(1, 2), 501) == holding(2, 1)
    assert await store.limits.admit(slots(3, 2), 502) == waiting(1, 2, 1)
    assert await store.limits.admit(slots(4, 2), 503) == waiting(2, 2, 1)
    assert await admitted(store, 1, 2, 3, 4) == [1, 2]


async def test_names_have_nothing_to_do_with_each_other(store: Store) -> None:
    await resting(store, 1, 2)
    await store.limits.admit(slots(1), 500)
    assert await store.limits.admit(slots(2, name="t"), 500) == holding(2, name="t")


async def test_an_admission_is_a_command_that_wakes_an_execution_without_an_owner(store: Store) -> None:
    await resting(store, 1)
    await store.limits.admit(slots(1), 500)
    (command,) = await store.commands.list_after(uid(1), 0)
    assert (command.kind, command.source, command.source_n, command.at) == ("Admit", "admit", 0, 500)
    assert (await head(store)).wake_at == 500


async def test_an_admission_leaves_the_lease_of_what_is_driven(store: Store) -> None:
    await create(store)
    await store.limits.admit(slots(1), 500)
    was = await head(store)
    assert (was.owner, was.wake_at, was.commands_seq) == (ME, 5_000, 1)


async def test_who_asks_again_is_told_how_things_stand_and_nothing_changes(store: Store) -> None:
    await resting(store, 1, 2, 3)
    for n in (1, 2, 3):
        await store.limits.admit(slots(n), 500 + n)
    before = await truth(store)
    assert await store.limits.admit(slots(1), 600) == holding(1)
    assert await store.limits.admit(slots(3), 601) == waiting(2, 1)
    assert await store.limits.admit(slots(2), 602) == waiting(1, 1)
    assert await truth(store) == before


async def test_how_things_stand_can_be_looked_up(store: Store) -> None:
    await resting(store, 1, 2, 3)
    assert await store.limits.find_admission(uid(1)) is None
    for n in (1, 2):
        await store.limits.admit(slots(n), 500)
    assert await store.limits.find_admission(uid(1)) == holding(1)
    assert await store.limits.find_admission(uid(2)) == waiting(1, 1)
    assert await store.limits.find_admission(uid(3)) is None
    assert await store.limits.find_admission(uid(7)) is None


async def test_no_more_than_ten_holders_are_told_the_oldest_first(store: Store) -> None:
    await resting(store, *range(1, 14))
    for n in range(12, 0, -1):
        await store.limits.admit(slots(n, 12), 500 - n // 2)
    told = await store.limits.admit(slots(13, 12), 600)
    assert told == waiting(1, 12, 10, 11, 8, 9, 6, 7, 4, 5, 2)


@pytest.mark.parametrize("n", [1, 7])
async def test_what_is_closed_or_unknown_is_rejected_and_keeps_no_place(store: Store, n: int) -> None:
    await resting(store, 1, 2)
    await close(store, 1)
    before = await truth(store)
    for wish in (slots(n), rate(n), AdmissionRequest(execution_id=uid(n))):
        assert await store.limits.admit(wish, 500) == REJECTED
    assert await truth(store) == before
    assert await store.limits.find_admission(uid(n)) is None
    assert await store.limits.admit(slots(2), 500) == holding(2)


async def test_what_wants_no_limit_is_admitted(store: Store) -> None:
    await resting(store, 1)
    assert await store.limits.admit(AdmissionRequest(execution_id=uid(1)), 500) == ADMITTED
    assert await store.limits.admit(AdmissionRequest(execution_id=uid(1)), 501) == ADMITTED
    assert await commands(store, 1) == [Admit()]


@pytest.mark.parametrize(
    "wish", [slots(1, 0), rate(1, 0), rate(1, 1, 0), rate(1, -1)], ids=["slots", "rate", "length", "negative"]
)
async def test_a_limit_that_nothing_can_pass_is_an_error(store: Store, wish: AdmissionRequest) -> None:
    await resting(store, 1)
    with pytest.raises(StoreError) as refused:
        await store.limits.admit(wish, 500)
    assert refused.value.code == "malformed_limit"


# The line


async def test_a_slot_that_is_freed_goes_to_the_next_in_line(store: Store) -> None:
    await resting(store, 1, 2, 3)
    for n, at in ((1, 500), (3, 501), (2, 502)):
        await store.limits.admit(slots(n), at)
    assert await store.limits.release_slot(uid(1), 600) == [uid(3)]
    assert await store.limits.find_admission(uid(1)) is None
    assert await store.limits.find_admission(uid(3)) == holding(3)
    assert await store.limits.find_admission(uid(2)) == waiting(1, 3)
    assert (await head(store, 3)).wake_at == 600
    assert await admitted(store, 1, 2, 3) == [1, 3]
    assert await store.limits.release_slot(uid(3), 700) == [uid(2)]
    assert await store.limits.release_slot(uid(2), 800) == []
    assert await store.limits.find_admission(uid(2)) is None


async def test_who_asked_at_the_same_time_stands_by_the_id(store: Store) -> None:
    await resting(store, 1, 2, 3)
    for n in (1, 3, 2):
        await store.limits.admit(slots(n), 500)
    assert await store.limits.find_admission(uid(3)) == waiting(2, 1)


async def test_a_point_of_priority_is_worth_a_second_in_line(store: Store) -> None:
    await resting(store, 1, 2, 3, 4, 5)
    for n, at, priority in ((1, 500, 0), (2, 1_000, 0), (3, 3_000, 2), (4, 2_999, 2), (5, 500, -1)):
        await store.limits.admit(slots(n, priority=priority), at)
    places = [await store.limits.find_admission(uid(n)) for n in (4, 2, 3, 5)]
    assert places == [waiting(position, 1) for position in (1, 2, 3, 4)]


@pytest.mark.parametrize("priority", [2**63 - 1, -(2**63)])
async def test_a_priority_beyond_all_bounds_is_first_or_last(store: Store, priority: int) -> None:
    await resting(store, 1, 2, 3)
    await store.limits.admit(slots(1), 500)
    await store.limits.admit(slots(2), 500)
    position = 1 if priority > 0 else 2
    assert await store.limits.admit(slots(3, priority=priority), 900) == waiting(position, 1)


async def test_who_leaves_the_line_lets_the_others_move_up(store: Store) -> None:
    await resting(store, 1, 2, 3)
    for n in (1, 2, 3):
        await store.limits.admit(slots(n), 500)
    assert await store.limits.release_slot(uid(2), 600) == []
    assert await store.limits.find_admission(uid(3)) == waiting(1, 1)
    assert await admitted(store, 1, 2, 3) == [1]


async def test_what_has_nothing_gives_nothing_back(store: Store) -> None:
    await resting(store, 1, 2, 3)
    for n in (1, 2):
        await store.limits.admit(slots(n), 500)
    before = await truth(store)
    assert await store.limits.release_slot(uid(3), 600) == []
    assert await store.limits.release_slot(uid(7), 600) == []
    assert await truth(store) == before


async def test_one_that_was_ended_in_line_is_passed_over(store: Store) -> None:
    await resting(store, 1, 2, 3)
    for n in (1, 2, 3):
        await store.limits.admit(slots(n), 500)
    await close(store, 2)
    assert await store.limits.release_slot(uid(1), 600) == [uid(3)]
    assert await store.limits.find_admission(uid(2)) is None
    assert await store.limits.release_slot(uid(2), 700) == []
    assert await store.limits.find_admission(uid(3)) == holding(3)


async def test_one_that_is_closed_holds_its_slot_until_it_is_freed(store: Store) -> None:
    await resting(store, 1, 2)
    await store.limits.admit(slots(1), 500)
    await close(store, 1)
    assert await store.limits.admit(slots(2), 501) == waiting(1, 1)
    assert await store.limits.admit(slots(1), 502) == REJECTED
    assert await store.limits.release_slot(uid(1), 600) == [uid(2)]


async def test_the_limit_of_who_is_next_in_line_counts(store: Store) -> None:
    await resting(store, 1, 2, 3, 4, 5)
    for n, limit in ((1, 2), (2, 2), (3, 1), (4, 3), (5, 2)):
        await store.limits.admit(slots(n, limit), 500 + n)
    assert await store.limits.find_admission(uid(4)) == holding(1, 2, 4)
    assert await store.limits.release_slot(uid(4), 600) == []
    assert await store.limits.release_slot(uid(2), 601) == []
    assert await store.limits.find_admission(uid(3)) == waiting(1, 1)
    assert await store.limits.release_slot(uid(1), 602) == [uid(3), uid(5)]


async def test_who_asks_again_takes_a_slot_that_has_become_free(store: Store) -> None:
    """The next in line has a lower limit and is not let in yet; whoever asks goes by its own."""
    await resting(store, 1, 2, 3, 4)
    for n, limit in ((1, 2), (2, 2), (3, 1), (4, 2)):
        await store.limits.admit(slots(n, limit), 500 + n)
    assert await store.limits.release_slot(uid(1), 600) == []
    assert await store.limits.admit(slots(3, 1), 601) == waiting(1, 2)
    assert await store.limits.admit(slots(4, 2), 602) == holding(2, 4)
    assert await admitted(store, 3, 4) == [4]


# Conflicts


async def test_one_more_can_be_rejected(store: Store) -> None:
    await resting(store, 1, 2)
    await store.limits.admit(slots(1, on_conflict="reject"), 500)
    before = await truth(store)
    rejected = Admission(state="rejected", name="s", holders=(uid(1),))
    assert await store.limits.admit(slots(2, on_conflict="reject"), 501) == rejected
    assert await truth(store) == before
    assert await store.limits.release_slot(uid(1), 502) == []
    assert await store.limits.admit(slots(2, on_conflict="reject"), 503) == holding(2)


async def test_one_more_can_end_those_that_hold_slots_or_wait_for_them(store: Store) -> None:
    await resting(store, 1, 2, 4, 5)
    await create(store, 3)
    for n, wish in ((1, slots(1, 2)), (2, slots(2, 2)), (3, slots(3, 2)), (5, slots(5, name="t"))):
        await store.limits.admit(wish, 500 + n)
    assert await store.limits.admit(taking_over(4, 2), 600) == waiting(2, 1, 2)
    for n in (1, 2, 3):
        (command,) = [one for one in await store.commands.list_after(uid(n), 0) if one.kind == "Cancel"]
        assert (command.source, command.source_n, command.at) == (f"limit:{uid(4)}", 0, 600)
        (said,) = [one for one in await commands(store, n) if isinstance(one, Cancel)]
        assert uid(4) in said.reason
    assert [(await head(store, n)).wake_at for n in (1, 2, 3)] == [600, 600, 5_000]
    assert await commands(store, 4) == []
    assert await commands(store, 5) == [Admit()]
    for n in (1, 3, 2):
        await close(store, n)
    assert await store.limits.release_slot(uid(1), 700) == [uid(4)]
    assert await store.limits.find_admission(uid(4)) == holding(2, 4)


async def test_cancel_running_cancels_nothing_if_there_is_room(store: Store) -> None:
    await resting(store, 1, 2)
    await store.limits.admit(taking_over(1, 2), 500)
    assert await store.limits.admit(taking_over(2, 2), 501) == holding(1, 2)
    assert await commands(store, 1) == [Admit()]


async def test_who_takes_over_and_asks_again_does_not_end_those_that_came_after(store: Store) -> None:
    await resting(store, 1, 2, 3)
    await store.limits.admit(taking_over(1), 500)
    await store.limits.admit(taking_over(2), 501)
    await store.limits.admit(slots(3), 502)
    assert await store.limits.admit(taking_over(2), 503) == waiting(1, 1)
    assert await commands(store, 3) == []
    assert len(await commands(store, 1)) == 2


async def test_those_that_are_closed_are_not_ended_again(store: Store) -> None:
    await resting(store, 1, 2)
    await store.limits.admit(slots(1), 500)
    await close(store, 1)
    await store.limits.admit(taking_over(2), 501)
    assert await commands(store, 1) == [Admit()]


# Rates


async def test_the_first_so_many_start_at_once_and_the_others_evenly(store: Store) -> None:
    await resting(store, *range(1, 6))
    told = [await store.limits.admit(rate(n, 2, 1_000), 500) for n in range(1, 6)]
    assert told == [Admission(state="admitted", name="r")] * 2 + [later(1_000), later(1_500), later(2_000)]
    assert await admitted(store, *range(1, 6)) == [1, 2]


async def test_a_moment_is_kept_for_who_has_to_wait(store: Store) -> None:
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


async def test_the_rate_is_used_by_who_holds_a_slot_only(store: Store) -> None:
    await resting(store, 1, 2, 3)
    assert await store.limits.admit(both(1), 500) == holding(1)
    assert await store.limits.admit(both(2), 501) == waiting(1, 1)
    assert await store.limits.admit(rate(3, 1), 502) == later(1_500)


async def test_who_has_a_slot_may_still_have_to_wait_for_the_rate(store: Store) -> None:
    await resting(store, 1, 2)
    await store.limits.admit(both(1, most=2), 500)
    assert await store.limits.admit(both(2, most=2), 501) == later(1_500)
    assert await admitted(store, 1, 2) == [1]
    assert await store.limits.admit(both(2, most=2), 1_500) == holding(1, 2)
    assert await admitted(store, 2) == [2]


async def test_who_is_next_in_line_gets_its_moment_with_the_slot(store: Store) -> None:
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
async def test_who_gets_the_slot_asks_again_at_its_moment(store: Store, now: int, due_at: int) -> None:
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


async def test_who_waits_for_the_rate_gives_its_slot_back(store: Store) -> None:
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
