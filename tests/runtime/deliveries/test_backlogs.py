"""Many deliveries to one destination: few claims, few transactions, and what is claimed ahead is never lost."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from layover.ports.delivery_records import DeliveryFilter
from layover.runtime.deliveries.expansion_pace import AT_ONCE, LONG, WINDOW
from layover.runtime.deliveries.outcomes import SendOutcome
from tests.runtime.deliveries.post_office import SENT, Office, deliveries, store_at

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from pathlib import Path

    from layover.ports.delivery_records import ClaimedDeliveries, DeliveryClaim
    from layover.runtime.deliveries.shipments import Shipment
    from layover.runtime.runtime import Runtime

pytestmark = pytest.mark.usefixtures("each_database")

GONE = SendOutcome(verdict="gone", reason="gone", error="gone", status=410, health="bad")


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


async def started(engine: Runtime, count: int, via: str = "erp") -> None:
    notify = [{"on": ["execution.completed"], "via": via}]
    name = f"tells-{via}"
    nodes = [{"id": "a", "type": "compute", "output": "${input}"}]
    await engine.workflows.register({"name": name, "notify": notify, "nodes": nodes})
    await asyncio.gather(*(engine.executions.start(name) for _ in range(count)))


async def test_several_are_claimed_at_once_for_a_receiver_that_is_quick(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with office.engine() as engine:
        store = engine.instance.store.deliveries
        claim, claims = store.claim, list[int]()

        async def counted(wanted: DeliveryClaim) -> ClaimedDeliveries:
            found = await claim(wanted)
            claims.append(len(found.deliveries))
            return found

        monkeypatch.setattr(store, "claim", counted)
        await started(engine, 100)
        await office.wire.until(100)
        await office.settle(engine)
        assert sum(claims) == 100
        assert max(claims) > 4  # as many as are in flight
        assert {row.state for row in await deliveries(engine)} == {"sent"}


async def test_what_was_claimed_ahead_is_given_back_when_the_destination_is_disabled(office: Office) -> None:
    async with office.engine() as engine:
        await started(engine, 60)
        office.wire.answer = lambda _: SENT if len(office.wire.made) <= 30 else GONE
        await office.wire.until(31)
        await office.settle(engine)
        rows = await deliveries(engine)
        left = [row for row in rows if row.state == "pending"]
        assert 30 <= len(office.wire.made) <= 34
        assert len(left) == 60 - len(office.wire.made)
        assert {(row.attempts, row.due_at) for row in left} == {(0, office.time.now)}
        await engine.instance.store.deliveries.set_destination_state("erp", "active", "", office.time.now)
        office.wire.answer = lambda _: SENT
        await office.settle(engine)
        assert len({one.id for one in office.wire.made}) == 60


async def test_what_was_claimed_ahead_is_given_back_by_an_engine_that_stops(office: Office) -> None:
    never = asyncio.Event()

    def answer(_: Shipment) -> SendOutcome | Awaitable[SendOutcome]:
        return SENT if len(office.wire.made) <= 30 else _hang(never)

    office.wire.answer = answer
    async with office.engine(grace="0s") as engine:
        await started(engine, 60)
        await office.wire.until(34)
    store = store_at(office.folder, office.time)
    await store.open("reader")
    left = await store.deliveries.list_deliveries(DeliveryFilter(state="pending"))
    await store.close()
    assert len(left) >= 60 - 34
    assert {(row.attempts, row.due_at) for row in left} == {(0, office.time.now)}


async def _hang(never: asyncio.Event) -> SendOutcome:
    await never.wait()
    return SENT


async def test_occasions_are_expanded_as_their_destination_needs_them(office: Office) -> None:
    never = asyncio.Event()
    office.wire.answer = lambda shipment: _hang(never) if shipment.destination.name == "erp" else SENT
    most = LONG + AT_ONCE
    async with office.engine() as engine:
        await started(engine, most + 30)
        while len(await deliveries(engine, destination="erp")) < most:
            pass
        # Those for another destination do not wait behind them.
        await started(engine, 1, "ops-chat")
        await office.wire.until(1, "ops-chat")
        assert len(await deliveries(engine, destination="erp")) == most
        office.time.pass_to(office.time.now + WINDOW)
        while len(await deliveries(engine, destination="erp")) < most + AT_ONCE:
            pass
        # When the destination takes them, the others follow.
        office.wire.answer = lambda _: SENT
        never.set()
        while len(await deliveries(engine, destination="erp", state="sent")) < most + 30:
            office.time.pass_to(office.time.now + WINDOW)
        assert len({one.id for one in office.wire.made if one.destination.name == "erp"}) == most + 30
