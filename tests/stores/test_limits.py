"""Who may begin when only so many may: slots, lines before them, and rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.core.engine.commands import Admit, Cancel
from layover.ports.errors import StoreError
from layover.ports.limit_records import Admission, AdmissionRequest, ConcurrencyLimit
from layover.ports.records import ClosedExecution, Rest
from tests.stores.conformance import ME, claim, create, go_on, head, truth, uid

if TYPE_CHECKING:
    from layover.ports.store import Store

from tests.stores.limit_requests import admitted, commands, holding, rate, resting, slots, waiting

ADMITTED, REJECTED = Admission(state="admitted"), Admission(state="rejected")


def taking_over(n: int, limit: int = 1) -> AdmissionRequest:
    return AdmissionRequest(
        execution_id=uid(n), slots=ConcurrencyLimit(name="s", limit=limit, on_conflict="cancel_running")
    )


async def close(store: Store, n: int) -> None:
    await claim(store, 0, n=n)
    await go_on(store, n, status="cancelled", closed=ClosedExecution(), rest=Rest())


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


async def test_a_repeated_request_gets_its_state_and_changes_nothing(store: Store) -> None:
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


async def test_at_most_ten_holders_are_returned_the_oldest_first(store: Store) -> None:
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


async def test_requests_of_the_same_time_are_ordered_by_id(store: Store) -> None:
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


async def test_leaving_the_line_moves_the_others_up(store: Store) -> None:
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


async def test_the_limit_of_the_next_in_line_counts(store: Store) -> None:
    await resting(store, 1, 2, 3, 4, 5)
    for n, limit in ((1, 2), (2, 2), (3, 1), (4, 3), (5, 2)):
        await store.limits.admit(slots(n, limit), 500 + n)
    assert await store.limits.find_admission(uid(4)) == holding(1, 2, 4)
    assert await store.limits.release_slot(uid(4), 600) == []
    assert await store.limits.release_slot(uid(2), 601) == []
    assert await store.limits.find_admission(uid(3)) == waiting(1, 1)
    assert await store.limits.release_slot(uid(1), 602) == [uid(3), uid(5)]


async def test_a_repeated_request_takes_a_slot_that_has_become_free(store: Store) -> None:
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


async def test_a_repeated_takeover_does_not_end_executions_that_came_after(store: Store) -> None:
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
