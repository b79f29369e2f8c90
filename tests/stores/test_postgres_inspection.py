"""What is wrong with a database on PostgreSQL and cannot be seen through the port."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.ports.limit_records import AdmissionRequest
from layover.ports.records import OpenedPoint, Rest, Token
from layover.stores.postgres import PostgresStore
from tests.servers.postgres import run, schema_of
from tests.stores.conformance import ME, create, enqueue, go_on, message, point, uid
from tests.stores.posted import claimed_one, delivery, other_message, post, settling

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.servers.postgres import Databases

BELONGINGS = ("executions", "events", "snapshots", "pause_points", "commands", "outbox", "tokens", "waits", "places")


class Damaged:
    """A database in which an execution has something everywhere, and what is done to it from outside."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.store = PostgresStore(address)

    async def __call__(self, statement: str) -> None:
        await run(self._address, statement.replace("layover.", f"{schema_of(self._address)}."))


@pytest.fixture
async def damaged(postgres: Databases) -> AsyncIterator[Damaged]:
    found = Damaged(postgres.address())
    store = found.store
    await store.open(ME)
    await create(store, 2)
    await create(store, 1)
    waiting = OpenedPoint(point=point("p", kind="signal"), waits=(("paid", "k"),))
    await go_on(store, points=(waiting,), messages=(message(),), tokens=(Token(hash=b"h", point="p"),), snapshot=b"{}")
    await go_on(store, rest=Rest())
    await enqueue(store)
    await store.limits.admit(AdmissionRequest(execution_id=uid(1)), 700)
    yield found
    await store.close()


async def test_what_is_whole_has_no_faults(damaged: Damaged) -> None:
    assert await damaged.store.inspection.list_faults() == []


async def test_what_is_left_of_an_execution_without_a_head_is_named(damaged: Damaged) -> None:
    await damaged(f"DELETE FROM layover.heads WHERE execution_id = '{uid(1)}'")  # noqa: S608 - ours
    found = await damaged.store.inspection.list_faults()
    assert {(fault.code, fault.execution_id) for fault in found} == {("stray_rows", uid(1))}
    assert sorted(fault.message for fault in found) == sorted(
        f"It has rows in `{table}`, and none in `heads`." for table in BELONGINGS
    )


async def test_notifications_of_triggers_and_destinations_are_no_fault(damaged: Damaged) -> None:
    await damaged(f"INSERT INTO layover.outbox VALUES ('{uid(900)}', 1, 1, 'notify', 'notify', '{{}}')")  # noqa: S608
    await post(damaged.store, delivery(1, execution_id=None))
    about = other_message(1, sender=delivery(1).id)
    settlement = settling(await claimed_one(damaged.store), "dead", messages=(about,))
    assert (await damaged.store.deliveries.settle(settlement)).passed
    assert await damaged.store.inspection.list_faults() == []
    await damaged(f"INSERT INTO layover.outbox VALUES ('{uid(901)}', 1, 1, 'there', 'Start', '{{}}')")  # noqa: S608
    (fault,) = await damaged.store.inspection.list_faults()
    assert fault.execution_id == uid(901)


async def test_a_head_without_an_execution_is_named(damaged: Damaged) -> None:
    await damaged(f"DELETE FROM layover.executions WHERE execution_id = '{uid(1)}'")  # noqa: S608 - ours
    (fault,) = await damaged.store.inspection.list_faults()
    assert (fault.code, fault.execution_id) == ("stray_rows", uid(1))
    assert fault.message == "It has rows in `heads`, and none in `executions`."


async def test_an_execution_whose_version_is_gone_is_named(damaged: Damaged) -> None:
    await damaged(f"UPDATE layover.executions SET version_id = -1 WHERE execution_id = '{uid(2)}'")  # noqa: S608 - ours
    (fault,) = await damaged.store.inspection.list_faults()
    assert (fault.code, fault.execution_id) == ("unknown_version", uid(2))
    assert await damaged.store.queries.load([uid(1), uid(2)]) == [*await damaged.store.queries.load([uid(1)]), None]
