"""What two instances do to the same deliveries at the same moment, on one PostgreSQL: the rules hold every time."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.ports.delivery_records import DeliveryChange, DeliveryFilter, DestinationSave
from layover.ports.records import ClosedExecution, Message, Rest
from tests.conftest import FACTOR
from tests.servers.postgres import connect
from tests.stores.conformance import create, go_on, uid
from tests.stores.posted import OPS, claimed, claimed_one, claiming, delivery, noticed, other_message, post, settling
from tests.stores.racing import race, rivals, waiting

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from layover.ports.delivery_records import DeliveryRow, Settlement
    from layover.ports.store import Store
    from layover.stores.postgres import PostgresStore

TRIALS = 24 * FACTOR
FEW = 4 * FACTOR  # of what takes many calls
LATE = 10**9
_WRITTEN = "INSERT INTO {}.outbox (sender, n, destination, kind, body, due_at) VALUES ($1, $2, $3, '', '', 0)"

Two = tuple["PostgresStore", "PostgresStore"]


@pytest.fixture
async def two() -> AsyncIterator[Two]:
    async with rivals() as found:
        yield found


async def found(store: Store, row: DeliveryRow) -> DeliveryRow:
    kept = await store.deliveries.find(row.id)
    assert kept is not None
    return kept


@asynccontextmanager
async def held_by_another(store: PostgresStore, statement: str, what: Message | str) -> AsyncIterator[None]:
    """Let somebody write a row for a while, and then give it up."""
    values = (what.sender, what.n, what.destination) if isinstance(what, Message) else (what,)
    connection = await connect(store.address.dsn)
    try:
        transaction = connection.transaction()
        await transaction.start()
        await connection.execute(statement.format(store.address.schema), *values)
        yield
        await transaction.rollback()
    finally:
        await connection.close()


async def test_no_delivery_is_claimed_by_both(two: Two) -> None:
    mine, others = two
    for n in range(FEW):
        await post(mine, *(delivery(20 * n + k, lane=f"l{k % 7}" if k % 2 else "") for k in range(20)))
        first, second = await race(claimed(mine, most=8), claimed(others, most=8), n)
        ids = [row.id for row in (*first, *second)]
        assert len(set(ids)) == len(ids) == 16  # ten without a lane, and the first of seven lanes but one
        for row in (*first, *second):
            assert (await found(mine, row)).epoch == row.epoch == 1
        while rows := await claimed(mine, 2_000):
            await asyncio.gather(*(mine.deliveries.settle(settling(row)) for row in rows))
        await asyncio.gather(*(mine.deliveries.settle(settling(row)) for row in (*first, *second)))
        while rows := await claimed(mine, LATE):
            await asyncio.gather(*(mine.deliveries.settle(settling(row)) for row in rows))


async def test_one_delivery_of_all_instances_tries_an_open_breaker(two: Two) -> None:
    mine, others = two
    await post(mine, *(delivery(k, due_at=0) for k in range(40)))
    now = 0
    for n in range(FEW):
        while (row := await mine.deliveries.find_destination(OPS)) is None or row.open_until is None:
            now += 10_000
            for one in await claimed(mine, now, due_again=now):
                await mine.deliveries.settle(settling(one, "pending", now, due_at=0, health="bad"))
        now = row.open_until
        first, second = await race(claimed(mine, now), claimed(others, now), n)
        (trial,) = (*first, *second)
        outcome = settling(trial, "pending", now, due_at=0, health="good")
        assert (await mine.deliveries.settle(outcome)).passed
        now += 1


async def test_the_rate_is_that_of_all_instances(two: Two) -> None:
    mine, others = two
    await post(mine, *(delivery(k, due_at=0) for k in range(10 * TRIALS)))
    for n in range(TRIALS):
        now = 10_000 * (n + 1)
        ours, theirs = await race(
            claimed(mine, now, interval=200, due_again=LATE), claimed(others, now, interval=200, due_again=LATE), n
        )
        assert len(ours) + len(theirs) == 5


async def test_the_outcome_is_written_once_by_the_last_settlement(two: Two) -> None:
    mine, others = two
    for n in range(TRIALS):
        same = n % 3 == 0  # else they go to two destinations
        rows = [
            delivery(2 * n + k, n=n, awaited=True, destination=f"d{0 if same else k}", execution_id=uid(1))
            for k in range(2)
        ]
        await post(mine, *rows)
        a, b = await claimed(mine, destination="d0") + ([] if same else await claimed(mine, destination="d1"))

        def ended(row: DeliveryRow, n: int = n) -> Settlement:
            told = other_message(n, body=row.id.encode())
            return replace(settling(row, "dead" if n % 2 else "sent"), outcome=told, dead_outcome=told)

        await race(mine.deliveries.settle(ended(a)), others.deliveries.settle(ended(b)), n)
        (message,) = await mine.outbox.list_undelivered(uid(77))
        await mine.outbox.delete_delivered([message])
        assert [(await found(mine, row)).awaited for row in rows] == [False, False]


async def test_one_of_two_expands_a_message(two: Two) -> None:
    mine, others = two
    for n in range(TRIALS):
        message = await noticed(mine)
        rows = [delivery(n, destination=name) for name in ("a", "b")]
        rows = [replace(row, id=uid(5_000 + 2 * n + k)) for k, row in enumerate(rows)]
        done = await race(
            mine.deliveries.expand(message, rows), others.deliveries.expand(message, [*reversed(rows)]), n
        )
        assert sorted(done) == [False, True]
        assert [(await found(mine, row)).state for row in rows] == ["pending", "pending"]


async def test_an_execution_is_purged_with_all_its_deliveries_or_not_at_all(two: Two) -> None:
    mine, others = two
    for n in range(TRIALS):
        execution = 10_000 + n
        message = await noticed(mine, execution)
        await go_on(mine, execution, status="completed", closed=ClosedExecution(), rest=Rest())
        over = {"state": "dead", "settled_at": 5} if n % 3 == 0 else {}
        row = delivery(n, execution_id=uid(execution), **over)
        expanded, purged = await race(
            mine.deliveries.expand(message, [row]), others.retention.purge([uid(execution)]), n
        )
        assert expanded
        assert purged == 0 or over
        assert (await mine.deliveries.find(row.id) is None) == bool(purged)
        assert (await mine.queries.find_execution(uid(execution)) is None) == bool(purged)


async def test_a_delivery_that_is_to_be_sent_once_more_is_kept_whole(two: Two) -> None:
    mine, others = two
    for n in range(TRIALS):
        execution = 10_000 + n
        await create(mine, execution)
        await go_on(mine, execution, status="completed", closed=ClosedExecution(), rest=Rest())
        row = delivery(n, execution_id=uid(execution), state="sent", settled_at=5)
        await post(mine, row)
        change = DeliveryChange(id=row.id, of=("sent",), state="pending", at=2_000)
        if n % 2:
            changed, _ = await race(mine.deliveries.change(change), others.retention.purge([uid(execution)]), n // 2)
        else:
            changed, _ = await race(
                mine.deliveries.change(change), others.deliveries.delete_old(100, 10 * n % 20, 9), n
            )
        kept = await mine.deliveries.find(row.id)
        if changed is not None:
            assert kept == changed
            assert kept.body != b""


async def test_a_lane_goes_on_whatever_comes_at_the_same_moment(two: Two) -> None:
    mine, others = two
    for n in range(TRIALS):
        base = 10 * n
        await post(mine, delivery(base + 1, lane=f"l{n}"))
        row = await claimed_one(mine)
        next_one = delivery(base + (2 if n % 4 else 0), lane=f"l{n}")  # or one that comes before
        await race(mine.deliveries.settle(settling(row)), post(others, next_one), n)
        assert (await claimed_one(mine)).id == next_one.id


async def test_a_lane_goes_on_with_one_that_is_being_added(two: Two) -> None:
    """Whoever adds it has seen that another one leads; whoever settles that one must not overlook the new one."""
    mine, others = two
    await post(mine, delivery(1, lane="l"))
    row, message, told = await claimed_one(mine), await noticed(others, 67), other_message()
    async with held_by_another(mine, _WRITTEN, told):
        adding = asyncio.ensure_future(others.deliveries.expand(message, [delivery(2, lane="l")], [told]))
        await waiting(mine, 1, unless=adding)
        settled = asyncio.ensure_future(mine.deliveries.settle(settling(row)))
        await waiting(mine, 2, unless=settled)
    assert await adding
    assert (await settled).passed
    assert (await claimed_one(mine)).id == delivery(2).id


async def test_every_failure_counts_whichever_instance_settles_it(two: Two) -> None:
    mine, others = two
    for n in range(FEW):
        names = [f"{name}{n}" for name in "abc"]
        await post(mine, *(delivery(12 * n + k, destination=names[k % 3]) for k in range(12)))
        rows = [row for name in names for row in await claimed(mine, destination=name)]
        outcomes = [settling(row, "pending", due_at=LATE, health="bad") for row in rows]
        async with held_by_another(mine, "UPDATE {}.destinations SET free_at = 0 WHERE name = $1", names[1]):
            told = [
                asyncio.ensure_future(store.deliveries.settle(one))
                for store, ours in ((mine, outcomes[::2]), (others, [*reversed(outcomes[1::2])]))
                for one in ours
            ]
            await waiting(mine, 2)
        assert all(one.passed for one in await asyncio.gather(*told))
        found_ = [await mine.deliveries.find_destination(name) for name in names]
        assert [row.failures for row in found_ if row is not None] == [4, 4, 4]


async def test_a_destination_may_be_deleted_at_any_moment(two: Two) -> None:
    mine, others = two
    for n in range(TRIALS):
        config = DestinationSave(name=OPS, create=True, config=b"{}", at=1)
        await mine.deliveries.save_destination(config)
        deleting = others.deliveries.save_destination(replace(config, create=False, config=b""))
        row = delivery(n)
        await race(post(mine, row), deleting, n)
        one = await claimed_one(mine)
        await mine.deliveries.save_destination(config)
        deleting = others.deliveries.save_destination(replace(config, create=False, config=b""))
        settled, _ = await race(mine.deliveries.settle(settling(one)), deleting, n)
        assert settled.passed


async def test_everything_is_sent_once_and_in_order_by_many_at_once(two: Two) -> None:
    """Whoever comes and goes: no delivery is lost, none of a lane overtakes another, and nothing waits for ever."""
    dice = random.Random(20)  # noqa: S311 - it can be repeated
    names, lanes = ("a", "b", "c"), ("", "x", "y")
    rows = [
        delivery(k, destination=dice.choice(names), lane=dice.choice(lanes), n=k, due_at=0) for k in range(60 * FACTOR)
    ]
    sent: list[DeliveryRow] = []
    retried: Counter[str] = Counter()

    async def expand(store: Store, ours: list[DeliveryRow]) -> None:
        while ours:
            some, ours = ours[:3], ours[3:]
            message = await noticed(store, 66 if store is two[0] else 67)
            assert await store.deliveries.expand(message, some)

    async def send(store: Store) -> None:
        while len(sent) < len(rows):
            for name in (await store.deliveries.read_due(1_000)).names:
                claims = await store.deliveries.claim(claiming(1_000, destination=name, due_again=5_000, most=3))
                for row in claims.deliveries:
                    fails = retried[row.id] < 2 and dice.random() < 0.3
                    retried[row.id] += fails
                    settlement = settling(row, "pending" if fails else "sent", health="good", due_at=0)
                    assert (await store.deliveries.settle(settlement)).passed
                    if not fails:
                        sent.append(row)

    await asyncio.gather(
        expand(two[0], rows[::2]), expand(two[1], rows[1::2]), *(send(store) for store in (*two, *two))
    )
    assert sorted(row.id for row in sent) == sorted(row.id for row in rows)
    listed = await two[0].deliveries.list_deliveries(DeliveryFilter(state="sent", limit=len(rows)))
    assert len(listed) == len(rows)
    assert (await two[0].deliveries.read_due(LATE)).names == ()
