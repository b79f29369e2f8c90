"""A point hears of its deliveries once, operators change and list them, and old ones go."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.ports.access import AuditFilter
from layover.ports.delivery_records import (
    DeliveryChange,
    DeliveryFilter,
    DestinationCounts,
)
from layover.ports.records import ClosedExecution, Rest
from tests.stores.conformance import create, entry, go_on, uid
from tests.stores.posted import (
    OPS,
    claimed,
    claimed_one,
    delivery,
    notice,
    noticed,
    other_message,
    post,
    settling,
)

if TYPE_CHECKING:
    from layover.ports.delivery_records import DeliveryRow, Settlement
    from layover.ports.store import Store


async def found(store: Store, row: DeliveryRow) -> DeliveryRow:
    kept = await store.deliveries.find(row.id)
    assert kept is not None
    return kept


# Many at once


async def test_what_is_settled_at_once_is_as_if_it_were_settled_in_turn(store: Store) -> None:
    """A lane has two that were claimed, since one came before the other; one is settled twice, and one is late."""
    await post(store, delivery(5, lane="l"), delivery(6, lane="l"), *(delivery(k, due_at=0) for k in (1, 2, 3, 4)))
    rows = await claimed(store)
    await post(store, delivery(0, lane="l"))
    rows += await claimed(store)
    assert [row.n for row in rows] == [1, 2, 3, 4, 5, 0]
    given = [
        *(settling(row, "pending", health="bad", due_at=9_000) for row in rows[:2]),
        settling(rows[2], "dead", messages=(other_message(3),)),
        replace(settling(rows[3]), epoch=0),
        settling(rows[4], "pending", health="bad", due_at=9_000),
        settling(rows[5], health="unknown"),
    ]
    settled = await asyncio.gather(*(store.deliveries.settle(one) for one in given))
    assert [one.passed for one in settled] == [True, True, True, False, True, True]
    kept = [await found(store, row) for row in rows]
    assert [row.state for row in kept] == ["pending", "pending", "dead", "pending", "pending", "sent"]
    destination = await store.deliveries.find_destination(OPS)
    assert destination is not None
    assert destination.failures == 3
    assert await outcomes(store) == [b"{}"]
    assert [row.n for row in await claimed(store, 9_000)] == [1, 2, 5]  # the last of the lane waits
    twice = [replace(settling(kept[4]), epoch=2)] * 2
    assert sorted([one.passed for one in await asyncio.gather(*map(store.deliveries.settle, twice))]) == [False, True]
    assert [row.n for row in await claimed(store, 9_000)] == [6]


# What a point waits for


ALL, NOT = other_message(1, body=b"all"), other_message(1, body=b"not")


def ended(row: DeliveryRow, state: str, *, due_at: int = 0) -> Settlement:
    return replace(settling(row, state, due_at=due_at), outcome=ALL, dead_outcome=NOT)


async def outcomes(store: Store) -> list[bytes]:
    return [message.body for message in await store.outbox.list_undelivered(uid(77))]


AWAITED = [delivery(k, n=7, awaited=True, destination=name) for k, name in enumerate(("a", "b", "c"))]


async def each_claimed(store: Store) -> list[DeliveryRow]:
    await post(store, *AWAITED, delivery(8, n=7), delivery(9, n=8, awaited=True))
    return [await claimed_one(store, destination=name) for name in ("a", "b", "c")]


async def test_the_outcome_is_written_with_the_last_settlement(store: Store) -> None:
    a, b, c = await each_claimed(store)
    await store.deliveries.settle(ended(a, "sent"))
    await store.deliveries.settle(ended(b, "pending", due_at=2_000))
    await store.deliveries.settle(ended(c, "sent"))
    assert await outcomes(store) == []
    again = await claimed_one(store, 2_000, destination="b")
    await store.deliveries.settle(ended(again, "sent"))
    assert await outcomes(store) == [b"all"]
    kept = [await found(store, row) for row in AWAITED]
    assert [row.awaited for row in kept] == [False] * 3
    other = await found(store, delivery(9))
    assert other.awaited is True


async def test_the_outcome_says_so_if_one_is_dead(store: Store) -> None:
    a, b, c = await each_claimed(store)
    for row, state in ((a, "sent"), (b, "dead"), (c, "sent")):
        await store.deliveries.settle(ended(row, state))
    assert await outcomes(store) == [b"not"]


async def test_a_discarded_one_ends_the_wait(store: Store) -> None:
    a, b, c = await each_claimed(store)
    for row in (a, b):
        await store.deliveries.settle(ended(row, "sent"))
    change = DeliveryChange(id=c.id, of=("pending",), state="discarded", at=2_000, outcome=ALL, dead_outcome=NOT)
    discarded = await store.deliveries.change(change)
    assert discarded is not None
    assert (discarded.state, discarded.awaited) == ("discarded", False)
    assert await outcomes(store) == [b"not"]


async def test_the_outcome_is_written_once(store: Store) -> None:
    a, b, c = await each_claimed(store)
    for row in (a, b, c):
        await store.deliveries.settle(ended(row, "dead"))
    (message,) = await store.outbox.list_undelivered(uid(77))
    await store.outbox.delete_delivered([message])
    await store.deliveries.change(DeliveryChange(id=a.id, of=("dead",), state="pending", at=2_000))
    again = await claimed_one(store, 2_000, destination="a")
    await store.deliveries.settle(ended(again, "sent"))
    assert await outcomes(store) == []


# Changes


async def test_a_dead_delivery_begins_anew(store: Store) -> None:
    await post(store, delivery(1))
    row = await claimed_one(store)
    await store.deliveries.settle(settling(row, "dead", attempt=b'{"at":1}', reason="410"))
    change = DeliveryChange(id=row.id, of=("dead", "sent"), state="pending", at=3_000, audit=entry())
    changed = await store.deliveries.change(change)
    assert changed == delivery(1, due_at=3_000, epoch=2, history=b'[{"at":1}]')
    assert await found(store, row) == changed
    assert await store.audit.list_entries(AuditFilter()) == [entry()]
    assert not (await store.deliveries.settle(settling(row))).passed  # the attempt from before


async def test_a_change_needs_one_of_its_states(store: Store) -> None:
    await post(store, delivery(1), delivery(2, state="sent", settled_at=4, body=b""))
    for id_ in (delivery(1).id, uid(4), delivery(2).id):  # it is pending, is unknown, has no body
        change = DeliveryChange(id=id_, of=("dead", "sent"), state="pending", at=3_000, audit=entry())
        assert await store.deliveries.change(change) is None
    assert await found(store, delivery(1)) == delivery(1)
    assert await store.audit.list_entries(AuditFilter()) == []


# Lists


async def test_deliveries_are_listed_newest_first(store: Store) -> None:
    rows = [
        delivery(1, execution_id=uid(2), point="p"),
        delivery(2, state="dead", settled_at=9, reason="no_address"),
        delivery(3, destination="mail", point="p"),
        delivery(4, destination="mail", execution_id=None, state="sent", settled_at=8),
        delivery(5, state="dead", created_at=1_002, settled_at=7),
    ]
    await post(store, *rows)

    async def listed(**wanted: object) -> list[int]:
        found = await store.deliveries.list_deliveries(DeliveryFilter(**wanted))  # type: ignore[arg-type]  # each by its name
        assert all(row == rows[row.n - 1] for row in found)
        return [row.n for row in found]

    assert await listed() == [4, 3, 5, 2, 1]
    assert await listed(limit=2) == [4, 3]
    assert await listed(after=(1_003, rows[2].id), limit=2) == [5, 2]
    assert await listed(after=(1_002, rows[4].id)) == [2, 1]
    assert await listed(state="dead") == [5, 2]
    assert await listed(state="dead", limit=0) == []
    assert await listed(destination="mail") == [4, 3]
    assert await listed(destination="mail", state="sent") == [4]
    assert await listed(destination="mail", point="p") == [3]
    assert await listed(execution_id=uid(1)) == [3, 5, 2]
    assert await listed(execution_id=uid(1), state="dead", limit=1) == [5]
    assert await listed(execution_id=uid(1), destination=OPS) == [5, 2]
    assert await listed(execution_id=uid(1), point="p") == [3]
    assert await listed(point="p") == [3, 1]
    assert await listed(execution_id=uid(9)) == []


async def test_what_was_sent_is_counted(store: Store) -> None:
    await post(
        store,
        *(delivery(k, state="sent", settled_at=5) for k in (1, 2)),
        delivery(3, state="dead", settled_at=5),
        delivery(4),
        delivery(5, state="sent", settled_at=5, execution_id=uid(2)),
    )
    assert await store.deliveries.count_sent(uid(1)) == 2
    assert await store.deliveries.count_sent(uid(3)) == 0
    await post(store, *(delivery(k, state="sent", settled_at=5, execution_id=uid(4)) for k in range(6, 126)))
    assert await store.deliveries.count_sent(uid(4)) == 120, "also more than are counted at a glance"


async def test_what_waits_is_counted_by_destination(store: Store) -> None:
    await post(
        store,
        delivery(1),
        delivery(2, created_at=700),
        delivery(3, state="dead", created_at=1, settled_at=5),
        delivery(4, destination="mail", state="dead", settled_at=5),
        delivery(5, destination="over", state="sent", settled_at=5),
    )
    assert await store.deliveries.count_by_destination() == [
        DestinationCounts(destination="mail", dead=1),
        DestinationCounts(destination=OPS, pending=2, dead=1, oldest=700),
    ]


# Retention


async def test_old_bodies_and_rows_go(store: Store) -> None:
    rows = [
        delivery(1, state="sent", settled_at=100),
        delivery(2, state="sent", settled_at=250),
        delivery(3, state="moot", settled_at=300),
        delivery(4, state="dead", settled_at=260),
        delivery(5, created_at=1),
        delivery(6, state="dead", settled_at=90),
    ]
    await post(store, *rows)
    assert await store.deliveries.delete_old(300, 200, 100) == 4  # two bodies, two rows
    assert await store.deliveries.delete_old(300, 200, 100) == 0
    left = await store.deliveries.list_deliveries(DeliveryFilter())
    assert sorted(left, key=lambda row: row.n) == [replace(rows[1], body=b""), rows[2], rows[3], rows[4]]


async def test_old_ones_go_a_few_at_a_time(store: Store) -> None:
    await post(store, *(delivery(k, state="sent", settled_at=k) for k in range(5)))
    assert [await store.deliveries.delete_old(10, 10, 2) for _ in range(4)] == [4, 4, 2, 0]


async def test_pending_deliveries_keep_their_execution(store: Store) -> None:
    await create(store)
    await post(store, delivery(1), delivery(2, state="sent", settled_at=5), delivery(3, execution_id=uid(2)))
    await _close(store)
    assert await store.retention.list_purgeable(10**9, 10) == []
    assert await store.retention.purge([uid(1)]) == 0
    await store.deliveries.settle(settling(await claimed_one(store, most=1)))
    assert await store.retention.list_purgeable(10**9, 10) == [uid(1)]
    assert await store.retention.purge([uid(1)]) == 1
    assert await store.deliveries.list_deliveries(DeliveryFilter(execution_id=uid(1))) == []
    assert (await found(store, delivery(3))).state == "pending"


async def _close(store: Store) -> None:
    await go_on(store, status="completed", closed=ClosedExecution(), rest=Rest())


async def test_a_message_that_is_not_expanded_keeps_its_execution(store: Store) -> None:
    message = await noticed(store)
    await _close(store)
    assert await store.retention.purge([uid(1)]) == 0
    await store.deliveries.expand(message, [delivery(1, state="dead", settled_at=300)])
    assert await store.retention.purge([uid(1)]) == 1
    assert await store.deliveries.find(delivery(1).id) is None


async def test_a_message_of_something_else_is_expanded_as_well(store: Store) -> None:
    await post(store, delivery(1))
    about = notice(3, sender=500)
    await store.deliveries.settle(settling(await claimed_one(store), "dead", messages=(about,)))
    assert about in (await store.outbox.read_due(10**6, 10)).due
    assert await store.deliveries.expand(about, [delivery(2, execution_id=None)])
    assert (await claimed_one(store)).id == delivery(2).id
