"""Attempts, breakers, rotation, dead letters: what becomes of a delivery whose receiver does not take it at once."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec
import pytest

from layover.nodes.notifier import notifier
from layover.runtime.deliveries.attempts import MOST_ATTEMPTS, PAUSES
from layover.runtime.deliveries.destinations import Destinations
from layover.runtime.deliveries.expander import DeliveryExpander
from layover.runtime.deliveries.mail_links import MailLinks
from layover.runtime.deliveries.outcomes import SendOutcome, failed
from tests.runtime.deliveries.post_office import (
    DAY,
    HOUR,
    MINUTE,
    REFUSED,
    SECOND,
    SENT,
    Office,
    deliveries,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from layover.model.deliveries import Notification
    from layover.ports.delivery_records import ClaimedDeliveries, DeliveryClaim, DueDestinations
    from layover.ports.records import Message
    from layover.runtime.deliveries.shipments import Shipment
    from layover.runtime.runtime import Runtime

pytestmark = pytest.mark.usefixtures("each_database")

ENDED = {"on": ["execution.completed"], "via": "erp"}
PLAIN = {"name": "order", "nodes": [{"id": "a", "type": "compute", "output": "${input}"}]}
GONE = SendOutcome(verdict="gone", reason="gone", error="gone", status=410, health="bad")


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


async def started(engine: Runtime, *rules: Mapping[str, object], count: int = 1) -> None:
    await engine.workflows.register({**PLAIN, "notify": list(rules)})
    for _ in range(count):
        await engine.executions.start("order")
    await _settled(engine)


async def _settled(engine: Runtime) -> None:
    """Wait until all executions have ended."""
    store, now = engine.instance.store, engine.instance.clock.now()
    while any((await store.queries.read_gauges(now, 0, 1)).executions.values()):
        pass


async def test_attempts_are_spread_over_a_day_and_then_it_is_dead(office: Office) -> None:
    office.wire.answer = lambda _: failed("notifier_failed", "No.", health="unknown")
    async with office.engine() as engine:
        await started(engine, ENDED)
        await office.skip(2 * DAY, engine)
        made = office.wire.made
        assert [one.attempt for one in made] == list(range(1, MOST_ATTEMPTS + 1))
        assert len({one.id for one in made}) == 1
        pauses = [later.at - earlier.at for earlier, later in pairwise(made)]
        for pause, planned in zip(pauses, PAUSES, strict=True):
            assert 0.8 * planned <= pause <= 1.2 * planned + 1
        [row] = await deliveries(engine)
        assert (row.state, row.reason) == ("dead", "attempts_used_up: notifier_failed")
        history = msgspec.json.decode(row.history)
        assert [one["error"] for one in history] == ["No."] * MOST_ATTEMPTS


async def test_what_can_never_be_sent_is_given_up_as_well(office: Office) -> None:
    def fail(_: Shipment) -> SendOutcome:
        raise LookupError("a defect of ours")

    office.wire.answer = fail
    async with office.engine() as engine:
        await started(engine, ENDED)
        await office.skip(2 * DAY, engine)
        assert len(office.wire.made) == MOST_ATTEMPTS
        [row] = await deliveries(engine)
        assert (row.state, row.reason) == ("dead", "attempts_used_up: send_failed")
        assert "a defect of ours" not in row.history.decode()


async def test_a_receiver_that_is_down_for_a_day_gets_everything_in_the_end(office: Office) -> None:
    async with office.engine() as engine:
        office.wire.answer = lambda _: REFUSED
        await started(engine, ENDED, count=30)
        await office.skip(DAY, engine)
        rows = await deliveries(engine)
        assert {row.state for row in rows} == {"pending"}  # the breaker has spent few of the attempts
        assert max(row.attempts for row in rows) < MOST_ATTEMPTS
        office.wire.answer = lambda _: SENT
        await office.skip(DAY, engine)
        rows = await deliveries(engine)
        assert {row.state for row in rows} == {"sent"}
        assert len(rows) == 30


async def test_retry_after_puts_the_next_attempt_off(office: Office) -> None:
    async with office.engine() as engine:
        office.wire.answer = lambda _: SendOutcome(verdict="again", reason="http_status", retry_after=2 * HOUR)
        await started(engine, ENDED)
        await office.settle(engine)
        office.wire.answer = lambda _: SENT
        await office.skip(2 * HOUR - SECOND, engine)
        assert len(office.wire.made) == 1
        await office.skip(SECOND, engine)
        assert len(office.wire.made) == 2


async def test_a_breaker_is_seen_by_all_instances(office: Office) -> None:
    async with office.engine() as one, office.engine() as other:
        office.wire.answer = lambda _: REFUSED
        await started(one, ENDED, count=20)
        await office.skip(7 * MINUTE, one, other)
        row = await one.instance.store.deliveries.find_destination("erp")
        assert row is not None
        assert row.open_until is not None
        made = len(office.wire.made)
        await office.skip(row.open_until - office.time.now - SECOND, one, other)
        assert len(office.wire.made) == made
        await office.skip(2 * SECOND, one, other)
        assert len(office.wire.made) == made + 1  # one tries, of all instances


async def test_a_secret_that_is_rotated_while_retrying_counts_from_the_next_attempt(office: Office) -> None:
    office.secrets.values["OPS_CHAT"] = "https://chat.example/old-address"
    async with office.engine() as engine:
        office.wire.answer = lambda _: REFUSED
        await started(engine, {"on": ["execution.completed"], "via": "ops-chat"})
        await office.settle(engine)
        office.secrets.values["OPS_CHAT"] = "https://chat.example/new-address"
        kept = office.time.now + MINUTE  # values are kept for half a minute
        office.wire.answer = lambda one: SENT if one.at > kept else REFUSED
        await office.skip(HOUR, engine)
        assert office.wire.made[0].values == {"OPS_CHAT": "https://chat.example/old-address"}
        assert office.wire.made[-1].values == {"OPS_CHAT": "https://chat.example/new-address"}


async def test_a_secret_that_is_missing_is_waited_for(office: Office) -> None:
    value = office.secrets.values.pop("OPS_CHAT")
    async with office.engine() as engine:
        await started(engine, {"on": ["execution.completed"], "via": "ops-chat"})
        await office.settle(engine)
        assert [row.reason for row in await deliveries(engine)] == ["secret_missing"]
        office.secrets.values["OPS_CHAT"] = value
        await office.skip(HOUR, engine)
        assert [row.state for row in await deliveries(engine)] == ["sent"]


async def test_a_slow_destination_holds_up_no_other(office: Office) -> None:
    never = asyncio.Event()

    async def answer(shipment: Shipment) -> SendOutcome:
        if shipment.destination.name == "erp":
            await never.wait()
        return SENT

    office.wire.answer = answer
    rules = [ENDED, {"on": ["execution.completed"], "via": "ops-chat"}]
    async with office.engine() as engine:
        await started(engine, *rules, count=10)
        await office.wire.until(10, "ops-chat")
        await office.wire.until(4, "erp")
        assert len(office.wire.told("erp")) == 4
        never.set()
        await office.settle(engine)
        assert len(office.wire.told("erp")) == 10


async def test_what_comes_while_nothing_more_is_claimed_is_sent_at_once(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with office.engine() as engine:
        store = engine.instance.store.deliveries
        claim, read_due = store.claim, store.read_due
        found_nothing, looked = asyncio.Event(), asyncio.Event()

        async def slow_claim(wanted: DeliveryClaim) -> ClaimedDeliveries:
            claimed = await claim(wanted)
            if not claimed.deliveries and not found_nothing.is_set():
                found_nothing.set()
                await looked.wait()
            return claimed

        async def looking(now: int) -> DueDestinations:
            due = await read_due(now)
            if found_nothing.is_set() and due.names:
                asyncio.get_running_loop().call_soon(looked.set)
            return due

        monkeypatch.setattr(store, "claim", slow_claim)
        monkeypatch.setattr(store, "read_due", looking)
        await started(engine, ENDED)
        await found_nothing.wait()
        await engine.executions.start("order")
        await office.wire.until(2)  # no time passes


async def test_what_is_being_claimed_when_an_engine_stops_is_sent(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    claiming, goes_on = asyncio.Event(), asyncio.Event()
    async with office.engine() as engine:
        store, sender = engine.instance.store.deliveries, engine.instance.delivery_sender
        claim, stop = store.claim, sender.stop

        async def slow_claim(wanted: DeliveryClaim) -> ClaimedDeliveries:
            claimed = await claim(wanted)
            claiming.set()
            await goes_on.wait()
            return claimed

        async def stop_meanwhile(grace: float) -> None:
            asyncio.get_running_loop().call_soon(goes_on.set)
            await stop(grace)

        monkeypatch.setattr(store, "claim", slow_claim)
        monkeypatch.setattr(sender, "stop", stop_meanwhile)
        await started(engine, ENDED)
        await claiming.wait()
    assert [one.parcel.kind for one in office.wire.made] == ["execution.completed"]


async def test_what_is_in_flight_when_an_engine_stops_is_sent_by_the_next(office: Office) -> None:
    never = asyncio.Event()

    async def answer(_: Shipment) -> SendOutcome:
        await never.wait()
        return SENT

    office.wire.answer = answer
    async with office.engine(grace="0s") as engine:
        await started(engine, ENDED)
        await office.wire.until(1)
    office.wire.answer = lambda _: SENT
    async with office.engine() as engine:
        await office.settle(engine)
        [row] = await deliveries(engine)
        assert (row.state, row.attempts) == ("sent", 1)
        assert len({one.id for one in office.wire.made}) == 1


async def test_an_outcome_after_another_instance_took_over_changes_nothing(office: Office) -> None:
    released = asyncio.Event()

    async def answer(shipment: Shipment) -> SendOutcome:
        if shipment.attempt == 1:
            await released.wait()
            return REFUSED
        return SENT

    office.wire.answer = answer
    async with office.engine() as engine:
        await started(engine, ENDED)
        await office.wire.until(1)
        async with office.engine() as other:
            office.time.pass_to(office.time.now + 2 * MINUTE)
            other.instance.delivery_sender.hint()
            await office.wire.until(2)
            while (await deliveries(other))[0].state != "sent":
                pass
            released.set()
            await office.settle(engine, other)
            [row] = await deliveries(engine)
            assert (row.state, row.epoch) == ("sent", 2)
            assert [one.id for one in office.wire.made] == [row.id, row.id]


# Dead letters


async def test_a_destination_that_is_gone_is_disabled_and_another_is_notified(office: Office) -> None:
    told = {"on": ["destination.disabled", "delivery.dead"], "via": "ops-chat"}
    async with office.engine(notify=[told, {**told, "via": "erp"}]) as engine:
        office.wire.answer = lambda one: GONE if one.destination.name == "erp" else SENT
        await started(engine, ENDED, count=2)
        await office.skip(MINUTE, engine)
        assert len(office.wire.told("erp")) <= 2
        assert sorted({kind for kind, _ in office.wire.told("ops-chat")}) == ["delivery.dead", "destination.disabled"]
        row = await engine.instance.store.deliveries.find_destination("erp")
        assert row is not None
        assert row.state == "disabled"
        disabled = [one for one in office.wire.made if one.parcel.kind == "destination.disabled"]
        assert len(disabled) == 1
        assert disabled[0].parcel.subject == "The destination erp is disabled"


async def test_what_tells_of_dead_deliveries_never_tells_of_itself(office: Office) -> None:
    told = {"on": ["delivery.dead"], "via": "ops-chat"}
    async with office.engine(notify=[told]) as engine:
        office.wire.answer = lambda _: SendOutcome(verdict="dead", reason="refused")
        await started(engine, ENDED)
        await office.skip(DAY, engine)
        assert [one.parcel.kind for one in office.wire.made] == ["execution.completed", "delivery.dead"]
        assert {row.state for row in await deliveries(engine)} == {"dead"}


async def test_a_destination_that_nobody_knows_is_given_up_in_the_end(office: Office) -> None:
    async with office.engine() as engine:
        await started(engine, {"on": ["execution.completed"], "via": "no-such"})
        await office.skip(2 * DAY, engine)
        [row] = await deliveries(engine)
        assert (row.state, row.reason) == ("dead", "attempts_used_up: unknown_destination")


# Functions


async def test_a_notifier_is_called_until_it_returns(office: Office) -> None:
    got: list[Notification] = []

    @notifier(on=["execution.completed"])
    async def tell(notification: Notification) -> None:
        got.append(notification)
        if len(got) < 3:
            raise OSError("not yet")

    async with office.engine(tell, wire=False) as engine:
        await started(engine)
        await office.skip(HOUR, engine)
        assert [one.attempt for one in got] == [1, 2, 3]
        assert len({one.id for one in got}) == 1
        assert got[0].kind == "execution.completed"
        assert got[0].workflow == "order"
        [row] = await deliveries(engine)
        assert row.state == "sent"


async def test_a_notifier_that_is_not_async_is_called_on_a_thread(office: Office) -> None:
    got: list[str] = []

    @notifier(on=["execution.completed"], name="by-thread")
    def tell(notification: Notification) -> None:
        got.append(notification.kind)

    async with office.engine(tell, wire=False) as engine:
        await started(engine)
        while [row.state for row in await deliveries(engine)] != ["sent"]:
            pass
        assert got == ["execution.completed"]


async def test_a_test_is_sent_once_and_not_stored(office: Office) -> None:
    async with office.engine() as engine:
        row = await engine.instance.delivery_sender.send_test("erp", None)
        assert row.state == "sent"
        office.wire.answer = lambda _: REFUSED
        row = await engine.instance.delivery_sender.send_test("mail", "ada@example.org")
        assert (row.state, row.reason, row.address) == ("dead", "http_status", "ada@example.org")
        assert not await deliveries(engine)


async def test_two_instances_that_expand_one_message_make_one_set_of_deliveries(office: Office) -> None:
    async with office.engine() as one, office.engine() as other:
        store = one.instance.store
        messages: list[Message] = []
        one.instance.outbox_relay.expander = None
        other.instance.outbox_relay.expander = None
        await started(one, ENDED)
        while not messages:
            messages = list((await store.outbox.read_due(office.time.now + DAY, 10)).due)
        [message] = messages
        both = [_expander(engine) for engine in (one, other)]
        await asyncio.gather(*(expander.expand(message) for expander in both for _ in range(3)))
        assert len(await deliveries(one)) == 1
        await office.settle(one, other)
        assert len(office.wire.made) == 1


def _expander(engine: Runtime) -> DeliveryExpander:
    instance = engine.instance
    return DeliveryExpander(
        store=instance.store,
        plans=instance.plans,
        clock=instance.clock,
        settings=instance.settings,
        destinations=Destinations(instance.store.deliveries, instance.registry, instance.settings.destinations),
        directory=instance.directory,
        sender=instance.delivery_sender,
        links=MailLinks(instance.store, instance.clock, instance.settings),
    )
