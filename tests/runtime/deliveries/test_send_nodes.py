"""`send` nodes: what they send, and what the outcome of a delivery does to one that waits for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.runtime.deliveries.outcomes import SendOutcome
from tests.runtime.deliveries.post_office import HOUR, REFUSED, SENT, Office, deliveries

if TYPE_CHECKING:
    from pathlib import Path

    from layover.runtime.runtime import Runtime

pytestmark = pytest.mark.usefixtures("each_database")


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


def sending(**fields: object) -> dict[str, object]:
    tell = {"id": "tell", "type": "send", "text": "Order ${input.number} is out"} | fields
    return {"name": "order", "nodes": [tell]}


async def started(engine: Runtime, definition: dict[str, object]) -> str:
    await engine.workflows.register(definition)
    return (await engine.executions.start("order", {"number": 7})).id


async def test_a_node_that_does_not_wait_goes_on_while_its_text_is_sent(office: Office) -> None:
    office.wire.answer = lambda _: REFUSED
    async with office.engine() as engine:
        id_ = await started(engine, sending(via="ops-chat", wait=False))
        await office.settle(engine)
        assert (await engine.queries.get(id_)).status == "completed"
        office.wire.answer = lambda _: SENT
        await office.skip(HOUR, engine)
        assert office.wire.made[-1].parcel.text == "Order 7 is out"
        assert [row.state for row in await deliveries(engine)] == ["sent"]


async def test_a_node_that_waits_goes_on_when_all_its_mails_are_sent(office: Office) -> None:
    async with office.engine() as engine:
        office.wire.answer = lambda one: REFUSED if one.address.startswith("bob") else SENT
        to = ["ada@example.org", "bob@example.org"]
        id_ = await started(engine, sending(via="mail", to=to, subject="Your order", wait=True))
        await office.settle(engine)
        assert (await engine.queries.get(id_)).status == "waiting"
        office.wire.answer = lambda _: SENT
        await office.skip(HOUR, engine)
        assert (await engine.queries.get(id_)).status == "completed"


async def test_a_delivery_that_is_given_up_fails_the_node_that_waits_for_it(office: Office) -> None:
    async with office.engine() as engine:
        office.wire.answer = lambda _: SendOutcome(verdict="dead", reason="mail_refused", error="No such user.")
        id_ = await started(engine, sending(via="mail", to=["ada@example.org"], subject="s", wait=True))
        await office.skip(HOUR, engine)
        found = await engine.queries.get(id_)
        assert found.status == "failed"
        assert found.error is not None
        assert found.error.code == "delivery_failed"
