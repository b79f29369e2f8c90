"""From an event to what people receive: who is told, in which words, in which order."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from layover.runtime.operations.start_options import Options
from tests.runtime.deliveries.post_office import (
    HOUR,
    MINUTE,
    REFUSED,
    SECOND,
    SENT,
    Office,
    People,
    asking,
    deliveries,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from layover.model.people import Person
    from layover.runtime.runtime import Runtime

pytestmark = pytest.mark.usefixtures("each_database")

OPENED = {"on": ["pause.opened"], "to": "people", "via": "mail"}


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


async def started(engine: Runtime, definition: dict[str, object], **given: object) -> str:
    await engine.workflows.register(definition)
    return (await engine.executions.start("order", given, options=Options(user="cyd"))).id


async def point_of(engine: Runtime, execution_id: str) -> str:
    [row] = await engine.points.list(execution_id)
    return row.point.id


async def approve(engine: Runtime, execution_id: str, user: str) -> None:
    await engine.answers.answer(await point_of(engine, execution_id), by=user, approved=True)


async def test_each_approver_is_notified_once_of_an_opened_pause(office: Office) -> None:
    async with office.engine() as engine:
        await started(engine, asking(OPENED))
        await office.settle(engine)
        assert sorted(office.wire.told()) == [("pause.opened", "ada"), ("pause.opened", "bob")]
        rows = await deliveries(engine)
        assert [row.state for row in rows] == ["sent", "sent"]
        assert len({row.id for row in rows}) == 2
        assert office.wire.made[0].parcel.subject == "Approve the order"
        await office.skip(HOUR, engine)
        assert len(office.wire.made) == 2


async def test_a_workflow_that_asks_for_nothing_sends_nothing(office: Office) -> None:
    async with office.engine() as engine:
        await started(engine, asking())
        await office.skip(MINUTE, engine)
        assert not office.wire.made
        assert not await deliveries(engine)


async def test_reminders_and_escalations_reach_people_at_their_time(office: Office) -> None:
    rule = {"on": ["pause.opened", "pause.reminded", "pause.escalated"], "to": "people", "via": "mail"}
    definition = asking(rule, remind=["1h"], escalate={"after": "2h", "to": {"users": ["eve"]}})
    async with office.engine() as engine:
        await started(engine, definition)
        await office.skip(90 * MINUTE, engine)
        first = sorted(office.wire.told())
        assert first == sorted([(kind, user) for kind in ("pause.opened", "pause.reminded") for user in ("ada", "bob")])
        await office.skip(HOUR, engine)
        escalated = office.wire.told()[4:]
        assert sorted(escalated) == [("pause.escalated", user) for user in ("ada", "bob", "eve")]


async def test_a_later_mail_refers_to_the_first_of_its_point(office: Office) -> None:
    rule = {"on": ["pause.opened", "pause.reminded"], "to": ["user:ada"], "via": "mail"}
    async with office.engine() as engine:
        await started(engine, asking(rule, remind=["1h"]))
        await office.skip(2 * HOUR, engine)
        opened, reminded = office.wire.made
        assert opened.parcel.first == ""
        assert reminded.parcel.first == opened.id


async def test_an_approver_who_has_decided_is_not_reminded(office: Office) -> None:
    rule = {"on": ["pause.reminded"], "to": "people", "via": "mail"}
    async with office.engine() as engine:
        id_ = await started(engine, asking(rule, need=2, remind=["1h"]))
        await approve(engine, id_, "ada")
        await office.skip(2 * HOUR, engine)
        assert office.wire.told() == [("pause.reminded", "bob")]


async def test_a_request_whose_point_is_closed_is_moot(office: Office) -> None:
    office.wire.answer = lambda _: REFUSED
    async with office.engine() as engine:
        id_ = await started(engine, asking(OPENED))
        await office.settle(engine)
        assert len(office.wire.made) == 2
        office.wire.answer = lambda _: SENT
        await approve(engine, id_, "ada")
        await office.skip(10 * SECOND, engine)
        assert len(office.wire.made) == 2
        assert {(row.state, row.attempts) for row in await deliveries(engine)} == {("moot", 1)}


async def test_a_later_notification_never_overtakes_an_earlier_one_of_its_execution(office: Office) -> None:
    office.wire.answer = lambda _: REFUSED
    rule = {"on": ["pause.opened", "pause.decided", "execution.completed"], "via": "erp"}
    async with office.engine() as engine:
        id_ = await started(engine, asking(rule, need=2))
        await office.settle(engine)
        await approve(engine, id_, "ada")
        await office.settle(engine)
        assert [kind for kind, _ in office.wire.told()] == ["pause.opened"]
        office.wire.answer = lambda _: SENT
        await office.skip(10 * SECOND, engine)
        assert [kind for kind, _ in office.wire.told()] == ["pause.opened", "pause.opened", "pause.decided"]
        await approve(engine, id_, "bob")
        await office.settle(engine)
        assert [kind for kind, _ in office.wire.told()][3:] == ["pause.decided", "execution.completed"]


async def test_another_execution_does_not_wait_for_a_lane_that_is_held_up(office: Office) -> None:
    rule = {"on": ["pause.opened"], "via": "erp"}
    async with office.engine() as engine:
        first = await started(engine, asking(rule))
        office.wire.answer = lambda one: REFUSED if one.parcel.execution_id == first else SENT
        await office.settle(engine)
        second = (await engine.executions.start("order")).id
        await office.settle(engine)
        assert [row.state for row in await deliveries(engine, execution_id=second)] == ["sent"]


async def test_the_requester_a_role_and_an_address_can_be_notified(office: Office) -> None:
    rule = {"on": ["execution.completed"], "to": ["requester", "role:audit", "out@example.org"], "via": "mail"}
    people = People({"eve": ("audit",), "fay": ("other",)})
    async with office.engine(directory=people) as engine:
        id_ = await started(engine, asking(rule))
        await approve(engine, id_, "ada")
        await office.settle(engine)
        addresses = sorted(one.address for one in office.wire.made)
        assert addresses == ["cyd@example.org", "eve@example.org", "out@example.org"]


async def test_of_more_people_than_one_notification_may_have_the_first_are_told_and_the_log_says_so(
    office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    rule = {"on": ["pause.opened"], "to": ["role:audit"], "via": "erp"}
    people = People({f"user{number:04}": ("audit",) for number in range(1_002)})
    async with office.engine(directory=people) as engine:
        await started(engine, asking(rule))
        await office.settle(engine)
    [made] = office.wire.made
    assert (len(made.parcel.people), made.parcel.people[-1]) == (1_000, "user0999")
    assert "too_many_addressees kind=pause.opened count=1002" in caplog.text


async def test_one_person_is_notified_once_by_two_rules_with_one_destination(office: Office) -> None:
    twice = {"on": ["pause.opened"], "to": ["user:ada", "ada@example.org", "people"], "via": "mail"}
    async with office.engine(notify=[OPENED]) as engine:
        await started(engine, asking(twice, OPENED))
        await office.settle(engine)
        assert sorted(one.address for one in office.wire.made) == ["ada@example.org", "bob@example.org"]


async def test_a_rule_that_reaches_no_address_leaves_a_dead_delivery_with_the_reason(office: Office) -> None:
    rule = {"on": ["pause.opened"], "to": ["user:nobody"], "via": "mail"}
    async with office.engine(wire=False) as engine:
        await started(engine, asking(rule))
        await office.settle(engine)
        assert [(row.state, row.reason, row.user) for row in await deliveries(engine)] == [
            ("dead", "no_address", "nobody")
        ]


async def test_a_message_of_ones_own_replaces_the_default_text(office: Office) -> None:
    message = {"subject": "Order ${execution.input.number}", "text": "${point.title}: ${event.kind} of ${workflow}"}
    rule = {"on": ["pause.opened"], "via": "erp", "message": message}
    async with office.engine() as engine:
        await started(engine, asking(rule), number=7)
        await office.settle(engine)
        [made] = office.wire.made
        assert (made.parcel.subject, made.parcel.text) == ("Order 7", "Approve the order: pause.opened of order")
        assert not made.parcel.is_usual


async def test_what_nobody_has_written_is_known_to_be_usual(office: Office) -> None:
    rule = {"on": ["pause.opened"], "via": "erp"}
    async with office.engine() as engine:
        await started(engine, asking(rule))
        await office.settle(engine)
        [made] = office.wire.made
        assert made.parcel.is_usual


MANY = "execution.input.many"


@pytest.mark.parametrize("text", ["${execution.input.missing.deeper}", f"${{{MANY}.map(x, {MANY}.map(y, {MANY}))}}"])
async def test_a_message_that_fails_or_explodes_gives_the_default_text(office: Office, text: str) -> None:
    rule = {"on": ["pause.opened"], "via": "erp", "message": {"subject": "s", "text": text}}
    async with office.engine() as engine:
        await started(engine, asking(rule), many=["long"] * 200)
        await office.settle(engine)
        [made] = office.wire.made
        assert made.parcel.subject == "Approve the order"


async def test_a_directory_that_fails_puts_a_notification_off_and_loses_nothing(office: Office) -> None:
    class Failing(People):
        fails = True

        async def people(self, users: Sequence[str], roles: Sequence[str]) -> list[Person]:
            if self.fails:
                asked.set()
                raise OSError("the directory is away")
            return await super().people(users, roles)

    asked, directory = asyncio.Event(), Failing()
    async with office.engine(directory=directory, outbox_poll="10s") as engine:
        await started(engine, asking(OPENED))
        await asked.wait()
        await office.settle(engine)
        assert not office.wire.made
        directory.fails = False
        await office.skip(5 * MINUTE, engine)
        assert sorted(office.wire.told()) == [("pause.opened", "ada"), ("pause.opened", "bob")]


async def test_a_webhook_gets_what_it_asks_to_be_included(office: Office) -> None:
    erp = {"kind": "webhook", "address": "https://erp.example/hook", "include": ["input", "shown"]}
    rule = {"on": ["pause.opened"], "via": "erp"}
    async with office.engine(destinations={"erp": erp}) as engine:
        await started(engine, asking(rule, shown={"total": "${input.total}"}), total=12)
        await office.settle(engine)
        [made] = office.wire.made
        assert made.parcel.data == {"input": {"total": 12}, "shown": {"total": 12}}


async def test_a_webhook_in_place_has_a_name_that_tells_its_host(office: Office) -> None:
    via = {"webhook": "https://erp.example/hook?key=1"}
    async with office.engine() as engine:
        await started(engine, asking({"on": ["pause.opened"], "via": via}))
        await office.settle(engine)
        [made] = office.wire.made
        assert made.destination.name.startswith("webhook:erp.example:")
        assert made.destination.address == "https://erp.example/hook?key=1"


async def test_a_webhook_in_place_has_only_secrets_that_its_workflow_is_granted(office: Office) -> None:
    via = {"webhook": "https://erp.example/hook", "secret": "ERP_HOOK"}
    office.secrets.values["ERP_HOOK"] = "whsec_not-used-here"
    definition = {**asking({"on": ["pause.opened"], "via": via}), "secrets": ["ERP_HOOK"]}
    async with office.engine(allow_secrets={"order": ("ERP_HOOK",)}) as engine:
        await started(engine, definition)
        await office.settle(engine)
        assert office.wire.made[0].values == {"ERP_HOOK": "whsec_not-used-here"}
    async with office.engine() as engine:
        second = await engine.executions.start("order")
        await office.settle(engine)
        (row,) = [one for one in await deliveries(engine) if one.execution_id == second.id]
        assert (row.state, row.reason) == ("dead", "secret_not_allowed")
        assert len(office.wire.made) == 1
