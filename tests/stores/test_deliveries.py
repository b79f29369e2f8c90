"""Deliveries are rows in lanes: claimed when they are due, settled under the epoch of the claim."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.ports.delivery_records import (
    ClaimedDeliveries,
    DeliveryChange,
    DeliveryFilter,
    DestinationRow,
    DestinationSave,
    DueDestinations,
)
from layover.ports.errors import StoreError
from tests.stores.conformance import uid
from tests.stores.posted import (
    OPS,
    claimed,
    claimed_one,
    claiming,
    delivery,
    noticed,
    other_message,
    post,
    settling,
)

if TYPE_CHECKING:
    from layover.ports.delivery_records import DeliveryRow
    from layover.ports.store import Store


async def found(store: Store, row: DeliveryRow) -> DeliveryRow:
    kept = await store.deliveries.find(row.id)
    assert kept is not None
    return kept


# Expanding


async def test_deliveries_take_the_place_of_their_message(store: Store) -> None:
    message = await noticed(store)
    full = delivery(
        1, lane="l", point="p", user="ann", address="ann@example.org", awaited=True, reason="r", epoch=3, attempts=2
    )
    assert await store.deliveries.expand(message, [full, delivery(2, execution_id=None)], [other_message()])
    assert await found(store, full) == full
    assert await found(store, delivery(2)) == delivery(2, execution_id=None)
    assert await store.outbox.list_undelivered(uid(1)) == []
    assert await store.outbox.list_undelivered(uid(77)) == [other_message()]
    assert await store.deliveries.find_destination(OPS) == DestinationRow(name=OPS)


async def test_a_message_is_expanded_once(store: Store) -> None:
    message = await noticed(store)
    assert await store.deliveries.expand(message, [delivery(1)])
    assert not await store.deliveries.expand(message, [delivery(2)], [other_message()])
    assert await store.deliveries.find(delivery(2).id) is None
    assert await store.outbox.list_undelivered(uid(77)) == []


async def test_a_message_waits_for_an_earlier_one_of_its_sender(store: Store) -> None:
    first, second = await noticed(store), await noticed(store)
    assert not await store.deliveries.expand(second, [delivery(2)])
    assert await store.deliveries.find(delivery(2).id) is None
    assert await store.outbox.list_undelivered(uid(1)) == [first, second]
    assert await store.deliveries.expand(first, [delivery(1)])
    assert await store.deliveries.expand(second, [delivery(2)])


async def test_messages_are_expanded_side_by_side(store: Store) -> None:
    first, second = await noticed(store), await noticed(store)
    one, other = delivery(1, lane="l", n=1), delivery(2, lane="l", n=2)
    calls = ((first, one), (second, other), (first, one))
    passed = await asyncio.gather(*(store.deliveries.expand(message, [row]) for message, row in calls))
    assert passed == [True, True, False]
    assert await store.deliveries.count_waiting(OPS, 10) == 1


async def test_what_waits_for_a_sender_is_counted_up_to_a_bound(store: Store) -> None:
    rows = [delivery(n, lane="l" if n < 3 else "", n=n) for n in range(5)]
    await post(store, *rows, delivery(7, destination="other"))
    assert await store.deliveries.count_waiting(OPS, 10) == 3
    assert await store.deliveries.count_waiting(OPS, 2) == 2
    assert await store.deliveries.count_waiting("none", 10) == 0


async def test_what_comes_to_nothing_leaves_no_destination(store: Store) -> None:
    message = await noticed(store)
    assert await store.deliveries.expand(message, [])
    assert not await store.deliveries.expand(message, [delivery(1)])
    assert await store.deliveries.list_destinations() == []


async def test_a_delivery_that_nobody_can_wait_for_is_refused(store: Store) -> None:
    message = await noticed(store)
    with pytest.raises(StoreError):
        await store.deliveries.expand(message, [delivery(1, execution_id=None, awaited=True)])


async def test_a_list_of_what_is_no_execution_is_refused(store: Store) -> None:
    for wanted in (DeliveryFilter(execution_id="x"), DeliveryFilter(after=(5, "x"))):
        with pytest.raises(StoreError) as refused:
            await store.deliveries.list_deliveries(wanted)
        assert refused.value.code == "malformed_id"


async def test_a_known_delivery_stays_as_it_is(store: Store) -> None:
    await post(store, delivery(1))
    await post(store, delivery(1, body=b'"other"', state="dead"), delivery(2))
    assert await found(store, delivery(1)) == delivery(1)
    assert len(await claimed(store)) == 2


async def test_a_message_may_come_to_nothing(store: Store) -> None:
    await post(store)
    assert await store.deliveries.read_due(10**9) == DueDestinations()


async def test_what_no_store_can_keep_is_refused_and_the_message_stays(store: Store) -> None:
    message = await noticed(store)
    for wrong in (delivery(1, id="x"), delivery(1, lane="a\0b"), delivery(1, lane="l" * 2_001)):
        with pytest.raises(StoreError):
            await store.deliveries.expand(message, [wrong])
    assert await store.outbox.list_undelivered(uid(1)) == [message]


# Claims


async def test_due_deliveries_are_claimed_in_the_order_of_their_time(store: Store) -> None:
    await post(store, delivery(1, due_at=900), delivery(2, due_at=800), delivery(3, due_at=1_001))
    claims = await store.deliveries.claim(claiming(1_000, due_again=5_000))
    assert list(claims.deliveries) == [
        delivery(2, due_at=5_000, epoch=1, attempts=1),
        delivery(1, due_at=5_000, epoch=1, attempts=1),
    ]
    assert claims.next_due == 1_001
    assert await found(store, delivery(1)) == claims.deliveries[1]


async def test_a_claimed_delivery_is_not_claimed_again_before_its_time(store: Store) -> None:
    await post(store, delivery(1))
    assert (await claimed_one(store, 1_000, due_again=5_000)).epoch == 1
    assert await store.deliveries.claim(claiming(4_999)) == ClaimedDeliveries(next_due=5_000)
    again = await claimed_one(store, 5_000)
    assert (again.epoch, again.attempts) == (2, 2)


async def test_only_as_many_are_claimed_as_are_asked_for(store: Store) -> None:
    await post(store, *(delivery(k) for k in range(5)))
    claims = await store.deliveries.claim(claiming(1_500, most=2))
    assert [row.id for row in claims.deliveries] == [delivery(0).id, delivery(1).id]
    assert claims.next_due == 1_000  # there are more
    assert await store.deliveries.claim(claiming(1_500, most=0)) == ClaimedDeliveries()


async def test_others_are_not_claimed(store: Store) -> None:
    await post(store, delivery(1, destination="mail"), delivery(2, state="dead", settled_at=5))
    assert await store.deliveries.claim(claiming()) == ClaimedDeliveries()


async def test_a_lane_is_sent_in_the_order_of_its_events(store: Store) -> None:
    rows = [delivery(k, lane="a", due_at=1_000 - k) for k in (1, 2, 3)]
    await post(store, rows[1])
    await post(store, rows[2], rows[0])  # also if the first comes last
    first = await claimed_one(store)
    assert first.n == 1
    assert await claimed(store, 1_001) == []
    await store.deliveries.settle(settling(first, "pending", due_at=9_000))
    assert await claimed(store, 8_999) == []
    await store.deliveries.settle(settling(await claimed_one(store, 9_000)))
    second = await claimed_one(store, 9_001)
    assert second.n == 2
    await store.deliveries.settle(settling(second, "dead"))
    assert (await claimed_one(store, 9_002)).n == 3


async def test_lanes_do_not_wait_for_each_other(store: Store) -> None:
    await post(
        store,
        *(delivery(k, lane="a") for k in (1, 2)),
        *(delivery(k, lane="b") for k in (3, 4)),
        delivery(5, lane="a", destination="mail"),
        delivery(6),
        delivery(7),
    )
    assert [row.n for row in await claimed(store)] == [1, 3, 6, 7]
    assert [row.n for row in await claimed(store, destination="mail")] == [5]


async def test_events_of_one_number_in_a_lane_go_by_their_ids(store: Store) -> None:
    await post(store, delivery(2, n=1, lane="a"), delivery(1, n=1, lane="a"))
    assert (await claimed_one(store)).id == delivery(1).id


async def test_a_delivery_that_is_sent_once_more_goes_before_later_ones_of_its_lane(store: Store) -> None:
    rows = [delivery(k, lane="a") for k in (1, 2)]
    await post(store, *rows)
    await store.deliveries.settle(settling(await claimed_one(store), "dead"))
    again = DeliveryChange(id=rows[0].id, of=("dead",), state="pending", at=2_000)
    assert await store.deliveries.change(again) is not None
    assert (await claimed_one(store, 2_000)).n == 1
    assert await claimed(store, 2_000) == []


async def test_a_discarded_delivery_frees_its_lane(store: Store) -> None:
    await post(store, *(delivery(k, lane="a") for k in (1, 2, 3)))
    for k in (2, 1):
        change = DeliveryChange(id=delivery(k).id, of=("pending",), state="discarded", at=2_000)
        assert await store.deliveries.change(change) is not None
    assert (await claimed_one(store)).n == 3


# What is due


async def test_destinations_with_due_deliveries_are_found(store: Store) -> None:
    await post(
        store,
        delivery(1, due_at=900),
        delivery(2, due_at=1_200),
        delivery(3, destination="mail", due_at=1_000),
        delivery(4, destination="later", due_at=1_100),
        delivery(5, destination="over", state="sent", settled_at=1),
        delivery(6, destination="mail", lane="a", due_at=3_000),
        delivery(7, destination="mail", lane="a", due_at=900),  # waits for the one before
    )
    assert await store.deliveries.read_due(899) == DueDestinations(next_due=900)
    assert await store.deliveries.read_due(1_000) == DueDestinations(names=("mail", OPS), next_due=1_100)
    assert await store.deliveries.read_due(3_000) == DueDestinations(names=("later", "mail", OPS))


async def test_a_claimed_delivery_is_due_when_its_claim_ends(store: Store) -> None:
    await post(store, delivery(1))
    await claimed_one(store, 1_000, due_again=5_000)
    assert await store.deliveries.read_due(1_000) == DueDestinations(next_due=5_000)


# Settlements


async def test_an_attempt_is_noted(store: Store) -> None:
    await post(store, delivery(1))
    row = await claimed_one(store)
    settled = await store.deliveries.settle(settling(row, attempt=b'{"at":1,"status":204}', reason="ok"))
    assert settled.passed
    assert settled.destination == DestinationRow(name=OPS)
    kept = await found(store, row)
    assert kept == replace(row, state="sent", reason="ok", settled_at=1_100, history=b'[{"at":1,"status":204}]')


async def test_an_attempt_under_an_old_epoch_tells_nothing(store: Store) -> None:
    await post(store, delivery(1))
    first = await claimed_one(store, 1_000, due_again=2_000)
    second = await claimed_one(store, 2_000)
    assert not (await store.deliveries.settle(settling(first, messages=(other_message(),)))).passed
    assert (await store.deliveries.settle(settling(second))).passed
    assert not (await store.deliveries.settle(settling(second, "dead"))).passed
    assert not (await store.deliveries.settle(settling(replace(second, id=uid(5))))).passed
    assert (await found(store, second)).state == "sent"
    assert await store.outbox.list_undelivered(uid(77)) == []


async def test_a_delivery_that_stays_pending_is_due_later(store: Store) -> None:
    await post(store, delivery(1))
    row = await claimed_one(store)
    await store.deliveries.settle(settling(row, "pending", due_at=7_000, reason="502", attempt=b"{}"))
    kept = await found(store, row)
    assert (kept.state, kept.due_at, kept.reason, kept.attempts, kept.settled_at) == ("pending", 7_000, "502", 1, None)
    assert (await claimed_one(store, 7_000)).attempts == 2


async def test_an_attempt_that_was_not_made_is_given_back(store: Store) -> None:
    await post(store, delivery(1))
    row = await claimed_one(store)
    await store.deliveries.settle(settling(row, "pending", due_at=1_200, gives_back=True))
    kept = await found(store, row)
    assert (kept.attempts, kept.epoch, kept.due_at) == (0, 1, 1_200)


async def test_the_newest_attempts_are_kept(store: Store) -> None:
    await post(store, delivery(1))
    for n in range(40):
        row = await claimed_one(store, 1_000 + n, due_again=1_001 + n)
        await store.deliveries.settle(
            settling(row, "pending", due_at=1_001 + n, attempt=json.dumps({"at": n, "reply": "ü\0"}).encode())
        )
    history = json.loads((await found(store, delivery(1))).history)
    assert [one["at"] for one in history] == list(range(24, 40))
    assert history[-1]["reply"] == "ü\0"


async def test_a_reason_may_be_whatever_a_server_says(store: Store) -> None:
    await post(store, delivery(1))
    await store.deliveries.settle(settling(await claimed_one(store), "dead", reason="a\0b\ud800" + "x" * 5_000))
    kept = (await found(store, delivery(1))).reason
    assert kept.startswith("ab?x")
    assert len(kept) <= 1_000


async def test_messages_are_written_with_the_settlement(store: Store) -> None:
    await post(store, delivery(1))
    row = await claimed_one(store)
    await store.deliveries.settle(settling(row, "dead", messages=(other_message(1), other_message(2))))
    assert await store.outbox.list_undelivered(uid(77)) == [other_message(1), other_message(2)]


async def test_a_message_that_is_there_already_stays(store: Store) -> None:
    await post(store, delivery(1), delivery(2))
    for n, row in enumerate(await claimed(store)):
        message = other_message(1, body=b"%d" % n)
        assert (await store.deliveries.settle(settling(row, "dead", messages=(message,)))).passed
    assert await store.outbox.list_undelivered(uid(77)) == [other_message(1, body=b"0")]


async def test_a_settlement_after_its_destination_was_deleted_leaves_a_destination(store: Store) -> None:
    made = DestinationSave(name=OPS, create=True, config=b"{}", at=1)
    await store.deliveries.save_destination(made)
    await post(store, delivery(1))
    row = await claimed_one(store)
    await store.deliveries.save_destination(DestinationSave(name=OPS, create=False, at=2))
    assert (await store.deliveries.settle(settling(row, "moot"))).passed
    assert await store.deliveries.find_destination(OPS) == DestinationRow(name=OPS)
