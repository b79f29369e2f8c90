"""All instances see the breaker and the rate of a destination, and who may be reached where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.core.breakers import DISABLED_AFTER
from layover.ports.access import AuditFilter
from layover.ports.delivery_records import (
    ClaimedDeliveries,
    DestinationRow,
    DestinationSave,
    DestinationSaved,
    DueDestinations,
    PersonRow,
)
from tests.stores.conformance import entry, uid
from tests.stores.posted import OPS, claimed, claimed_one, claiming, delivery, other_message, post, settling

if TYPE_CHECKING:
    from layover.ports.store import Store

MINUTE = 60_000


async def known(store: Store, name: str = OPS) -> DestinationRow:
    row = await store.deliveries.find_destination(name)
    assert row is not None
    return row


async def fail(store: Store, now: int, **more: object) -> None:
    row = await claimed_one(store, now, most=1, due_again=now + 45_000)
    settling_it = settling(row, "pending", now, due_at=0, health="bad", **more)
    assert (await store.deliveries.settle(settling_it)).passed


async def opened(store: Store) -> DestinationRow:
    """Have the breaker open: ten failures, the last of them a minute after the first."""
    await post(store, *(delivery(k, due_at=0) for k in range(20)))
    for _ in range(9):
        await fail(store, 1_000)
    await fail(store, 1_000 + MINUTE)
    return await known(store)


# The breaker


async def test_failures_in_a_row_are_counted_until_a_success(store: Store) -> None:
    await post(store, delivery(1, due_at=0), delivery(2, due_at=0))
    await fail(store, 1_000)
    await fail(store, 2_000)
    row = await known(store)
    assert (row.failures, row.failing_since, row.open_until) == (2, 1_000, None)
    await store.deliveries.settle(settling(await claimed_one(store, 3_000, most=1)))
    assert await known(store) == DestinationRow(name=OPS)


async def test_an_open_breaker_lets_nothing_pass(store: Store) -> None:
    row = await opened(store)
    assert (row.failures, row.opened, row.open_until) == (10, 1, 1_000 + 2 * MINUTE)
    until = 1_000 + 2 * MINUTE
    assert await store.deliveries.claim(claiming(until - 1)) == ClaimedDeliveries(next_due=until)
    assert await store.deliveries.read_due(until - 1) == DueDestinations(next_due=until)
    assert (await store.deliveries.read_due(until)).names == (OPS,)


async def test_one_delivery_tries_a_breaker_that_was_open(store: Store) -> None:
    until = (await opened(store)).open_until
    assert until is not None
    claims = await store.deliveries.claim(claiming(until, due_again=until + 45_000))
    assert len(claims.deliveries) == 1
    assert claims.next_due == until + 45_000
    assert await store.deliveries.claim(claiming(until + 44_999)) == ClaimedDeliveries(next_due=until + 45_000)
    await store.deliveries.settle(settling(claims.deliveries[0], at=until + 100))
    assert (await known(store)).open_until is None
    assert len(await claimed(store, until + 101)) == 10


async def test_a_trial_that_fails_opens_it_for_twice_as_long(store: Store) -> None:
    until = (await opened(store)).open_until
    assert until is not None
    await fail(store, until)
    row = await known(store)
    assert (row.opened, row.open_until) == (2, until + 2 * MINUTE)


async def test_a_trial_whose_instance_died_is_followed_by_another(store: Store) -> None:
    until = (await opened(store)).open_until
    assert until is not None
    await claimed_one(store, until, due_again=until + 45_000)
    assert len(await claimed(store, until + 45_000)) == 1


async def test_a_trial_that_showed_nothing_is_followed_by_another(store: Store) -> None:
    until = (await opened(store)).open_until
    assert until is not None
    trial = await claimed_one(store, until, due_again=until + 45_000)
    await store.deliveries.settle(settling(trial, "moot", at=until + 10))
    assert len(await claimed(store, until + 10)) == 1


async def test_failures_of_what_was_sent_before_it_opened_do_not_open_it_for_longer(store: Store) -> None:
    await post(store, *(delivery(k, due_at=0) for k in range(20)))
    early = await claimed(store, 900, most=4, due_again=10**9)
    for _ in range(9):
        await fail(store, 1_000)
    await fail(store, 1_000 + MINUTE)
    before = await known(store)
    for row in early:
        await store.deliveries.settle(settling(row, "pending", 2_000 + MINUTE, due_at=0, health="bad"))
    assert await known(store) == replace(before, failures=14)


async def test_a_destination_that_fails_for_days_is_disabled(store: Store) -> None:
    await post(store, delivery(1, due_at=0))
    await fail(store, 1_000)
    row = await claimed_one(store, 2_000)
    last = settling(row, "dead", 1_000 + DISABLED_AFTER, health="bad", on_disabled=other_message())
    settled = await store.deliveries.settle(last)
    assert settled.destination is not None
    assert settled.destination.state == "disabled"
    assert settled.destination == await known(store)
    assert settled.destination.reason != ""
    assert await store.outbox.list_undelivered(uid(77)) == [other_message()]


async def test_a_settlement_disables_a_destination_once(store: Store) -> None:
    await post(store, *(delivery(k, due_at=0) for k in range(3)))
    for n, row in enumerate(await claimed(store, most=2)):
        settlement = settling(row, "dead", disable="It is gone (410).", on_disabled=other_message(n))
        assert (await store.deliveries.settle(settlement)).passed
    after = await known(store)
    assert (after.state, after.reason, after.changed_at) == ("disabled", "It is gone (410).", 1_100)
    assert await store.outbox.list_undelivered(uid(77)) == [other_message(0)]
    assert await store.deliveries.claim(claiming()) == ClaimedDeliveries()
    assert await store.deliveries.read_due(10**9) == DueDestinations()


# The rate


async def test_one_goes_in_each_interval(store: Store) -> None:
    await post(store, *(delivery(k, due_at=0) for k in range(9)))
    claims = await store.deliveries.claim(claiming(10_000, interval=1_000))
    assert (len(claims.deliveries), claims.next_due) == (1, 11_000)
    assert await store.deliveries.claim(claiming(10_999, interval=1_000)) == ClaimedDeliveries(next_due=11_000)
    assert await store.deliveries.read_due(10_999) == DueDestinations(next_due=11_000)
    assert len(await claimed(store, 11_000, interval=1_000)) == 1
    assert len(await claimed(store, 20_000, interval=1_000)) == 1  # however long the rest


async def test_as_many_as_fit_into_a_second_go_at_once(store: Store) -> None:
    await post(store, *(delivery(k, due_at=0) for k in range(30)))
    assert len(await claimed(store, 10_000, interval=250)) == 4
    assert await claimed(store, 10_249, interval=250) == []
    assert len(await claimed(store, 10_250, interval=250)) == 1
    assert len(await claimed(store, 10_800, interval=250)) == 2
    assert len(await claimed(store, 11_000, interval=250, most=1)) == 1
    assert len(await claimed(store, 99_000, interval=250)) == 4


async def test_a_faster_rate_does_not_wait_for_the_one_before(store: Store) -> None:
    await post(store, *(delivery(k, due_at=0) for k in range(3)))
    await claimed_one(store, 10_000, interval=86_400_000)
    assert await store.deliveries.claim(claiming(10_000, interval=1_000)) == ClaimedDeliveries(next_due=11_000)
    assert len(await claimed(store, 10_000)) == 2


# Destinations


def saving(config: bytes = b'{"kind":"chat"}', *, create: bool = True, at: int = 50) -> DestinationSave:
    return DestinationSave(name=OPS, create=create, config=config, at=at, audit=entry(at))


async def test_a_destination_is_created_once(store: Store) -> None:
    made = DestinationRow(name=OPS, config=b'{"kind":"chat"}', changed_at=50)
    assert await store.deliveries.save_destination(saving()) == DestinationSaved(verdict="saved", row=made)
    assert await store.deliveries.save_destination(saving(at=60)) == DestinationSaved(verdict="taken")
    assert await known(store) == made
    assert await store.audit.list_entries(AuditFilter()) == [entry(50)]


async def test_a_name_that_something_was_sent_to_can_be_given(store: Store) -> None:
    await opened(store)
    assert (await store.deliveries.save_destination(saving())).verdict == "saved"
    assert await known(store) == DestinationRow(name=OPS, config=b'{"kind":"chat"}', changed_at=50)


async def test_another_configuration_begins_with_a_closed_breaker(store: Store) -> None:
    await store.deliveries.save_destination(saving())
    before = await opened(store)
    assert (await store.deliveries.save_destination(saving(create=False, at=60))).row == before
    saved = await store.deliveries.save_destination(saving(b'{"kind":"mail"}', create=False, at=70))
    assert saved.row == DestinationRow(name=OPS, config=b'{"kind":"mail"}', changed_at=70)
    assert await known(store) == saved.row


async def test_only_a_destination_that_was_made_by_itself_is_replaced_or_deleted(store: Store) -> None:
    for _ in range(2):
        assert await store.deliveries.save_destination(saving(create=False)) == DestinationSaved(verdict="unknown")
        assert await store.deliveries.save_destination(saving(b"", create=False)) == DestinationSaved(verdict="unknown")
        await post(store, delivery(1))
    assert await known(store) == DestinationRow(name=OPS)
    assert await store.audit.list_entries(AuditFilter()) == []


async def test_what_is_for_a_deleted_destination_stays(store: Store) -> None:
    await store.deliveries.save_destination(saving())
    await post(store, delivery(1), delivery(2))
    row = await claimed_one(store, most=1)
    assert await store.deliveries.save_destination(saving(b"", create=False, at=60)) == DestinationSaved(
        verdict="saved"
    )
    assert await store.deliveries.find_destination(OPS) is None
    assert await store.deliveries.list_destinations() == []
    assert (await store.deliveries.read_due(1_000)).names == (OPS,)
    assert (await store.deliveries.settle(settling(row))).destination == DestinationRow(name=OPS)
    assert len(await claimed(store)) == 1


async def test_a_destination_is_disabled_and_enabled(store: Store) -> None:
    await opened(store)
    row = await store.deliveries.set_destination_state(OPS, "disabled", "moving", 70_000, entry(1))
    assert (row.state, row.reason, row.changed_at, row.failures) == ("disabled", "moving", 70_000, 10)
    assert await known(store) == row
    assert await claimed(store, 10**8) == []
    row = await store.deliveries.set_destination_state(OPS, "active", "", 71_000, entry(2))
    assert row == await known(store) == DestinationRow(name=OPS, changed_at=71_000)
    assert len(await store.audit.list_entries(AuditFilter())) == 2
    assert len(await claimed(store, 71_000)) == 10


async def test_a_destination_is_disabled_before_anything_was_sent_to_it(store: Store) -> None:
    await store.deliveries.set_destination_state("mail", "disabled", "r", 5)
    assert (await known(store, "mail")).state == "disabled"


async def test_destinations_are_listed_by_name(store: Store) -> None:
    await post(store, *(delivery(k, destination=name) for k, name in enumerate(("c", "a", "B"))))
    listed = await store.deliveries.list_destinations()
    assert [row.name for row in listed] == ["B", "a", "c"]
    assert [row.name for row in await store.deliveries.list_destinations("B", 1)] == ["a"]


# People

ANN = PersonRow(user="ann", roles=("boss", "finance"), body=b'{"addresses":{"mail":"ann@example.org"}}', changed_at=5)
BOB = PersonRow(user="bob", roles=("finance",), changed_at=6)
EVE = PersonRow(user="Eve", changed_at=7)


async def test_people_are_found_by_name_and_role(store: Store) -> None:
    for row in (EVE, BOB, ANN):
        await store.people.save_person(row)
    assert await store.people.list_people() == [EVE, ANN, BOB]
    assert await store.people.list_people("Eve", 1) == [ANN]
    assert await store.people.find_people(["bob", "Eve", "nobody"], []) == [EVE, BOB]
    assert await store.people.find_people([], ["finance", "boss"]) == [ANN, BOB]
    assert await store.people.find_people(["bob"], ["boss", "finance"]) == [ANN, BOB]
    assert await store.people.find_people([], []) == []
    assert await store.people.find_people([], ["fin"]) == []


async def test_a_person_is_replaced_and_deleted(store: Store) -> None:
    await store.people.save_person(ANN, entry(1))
    changed = replace(ANN, roles=("finance",), body=b"{}", changed_at=9)
    await store.people.save_person(changed, entry(2))
    assert await store.people.find_people([], ["boss"]) == []
    assert await store.people.find_people(["ann"], ["finance"]) == [changed]
    assert await store.people.delete_person("ann", entry(3))
    assert not await store.people.delete_person("ann", entry(4))
    assert await store.people.list_people() == []
    assert await store.people.find_people(["ann"], ["finance"]) == []
    assert len(await store.audit.list_entries(AuditFilter())) == 3
