"""`layover.sent` and `layover.refuse`: what receivers got in a test, and how they fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from layover import NotAllowed
from layover.testing import CommitPoint, survives_crashes

if TYPE_CHECKING:
    from layover.testing import Layover

ASKS: dict[str, Any] = {
    "name": "asks",
    "notify": [{"on": ["pause.opened", "pause.decided"], "via": "ops-chat"}],
    "nodes": [{"id": "ok", "type": "approval", "title": "May ${input.n} pass?", "approvers": {"users": ["ada"]}}],
}
MAILS: dict[str, Any] = {**ASKS, "notify": [{"on": ["pause.opened"], "to": ["people"], "via": "mail"}]}


async def test_what_was_sent_is_rendered_and_has_its_time(layover: Layover) -> None:
    started = await layover.start(ASKS, {"n": 7})
    await layover.skip("1h")
    await layover.as_user("ada", ["approver"]).inbox().all()
    (opened,) = layover.sent
    assert (opened.destination, opened.kind, opened.subject) == ("ops-chat", "pause.opened", "May 7 pass?")
    assert (opened.execution_id, opened.workflow, opened.attempt, opened.times) == (started.id, "asks", 1, 1)
    assert opened.point is not None
    assert (layover.now - opened.at).total_seconds() == 3600
    (point,) = await layover.as_user("ada", ["approver"]).inbox().all()
    await point.approve()
    assert [one.kind for one in layover.sent] == ["pause.opened", "pause.decided"]
    assert (await layover.execution(started.id)).notifications_sent == 2


async def test_a_destination_that_refuses_is_tried_again(layover: Layover) -> None:
    layover.refuse("ops-chat", times=2)
    await layover.start(ASKS, {"n": 1})
    assert layover.sent == []
    (pending,) = await layover.deliveries(state="pending").all()
    assert [attempt.error for attempt in pending.attempts] == ["The test refuses it."]
    await layover.skip("10m")
    assert [one.attempt for one in layover.sent] == [3]


async def test_a_destination_refuses_until_the_test_lets_it_accept(layover: Layover) -> None:
    layover.refuse("ops-chat")
    execution = await layover.start(ASKS, {"n": 1})
    await layover.skip("2d")
    (dead,) = await layover.deliveries(execution_id=execution.id).all()
    assert (dead.state, len(dead.attempts)) == ("dead", 8)
    layover.refuse("ops-chat", times=0)
    await dead.redeliver()
    assert (await layover.delivery(dead.id)).state == "sent"
    assert [(one.id, one.times) for one in layover.sent] == [(dead.id, 1)]


async def test_mail_goes_to_each_person_who_is_asked_and_has_an_address(layover: Layover) -> None:
    await layover.save_person("ada", addresses={"mail": "ada@example.com"})
    await layover.start(MAILS, {"n": 1})
    assert [(one.to, one.user) for one in layover.sent] == [("ada@example.com", "ada")]


async def test_a_person_without_an_address_is_named_by_why(layover: Layover) -> None:
    execution = await layover.start(MAILS, {"n": 1})
    assert layover.sent == []
    reason = (await (await execution.point("ok")).why()).reasons[0].because[0]
    assert reason.text == "ada was not told by `mail` (pause.opened): the directory has no address for them."
    assert reason.text in (await execution.why()).summary


async def test_sent_once_more_is_the_same_message(layover: Layover) -> None:
    await layover.start(ASKS, {"n": 1})
    (sent,) = await layover.deliveries().all()
    await sent.redeliver()
    assert [(one.id, one.times) for one in layover.sent] == [(sent.id, 2)]


async def test_a_crash_after_sending_repeats_it_under_the_same_id(layover: Layover) -> None:
    layover.crash_at(CommitPoint.DELIVERY_MADE)
    await layover.start(ASKS, {"n": 1})
    await layover.skip("2m")
    assert [one.times for one in layover.sent] == [2]


@survives_crashes
async def test_a_notification_survives_crashes(layover: Layover) -> None:
    await layover.start(ASKS, {"n": 1})
    await layover.skip("5m")
    assert [one.kind for one in layover.sent] == ["pause.opened"]


async def test_replies_need_permission_to_debug_and_destinations_need_admin(layover: Layover) -> None:
    layover.refuse("ops-chat", times=1)
    await layover.start(ASKS, {"n": 1})
    viewer, operator = layover.as_user("vic", ["viewer"]), layover.as_user("oda", ["operator"])
    (one,) = await viewer.deliveries().all()
    assert "May 1 pass?" not in repr(one.info)
    with pytest.raises(NotAllowed):
        await one.discard()
    for refused in (viewer, operator):
        with pytest.raises(NotAllowed):
            await refused.destinations().all()
        with pytest.raises(NotAllowed):
            await refused.people().all()
    await (await operator.delivery(one.id)).discard()
    (entry,) = await layover.audit(act="delivery.discard").all()
    assert (entry.user, entry.target) == ("oda", one.id)


async def test_a_send_node_whose_delivery_is_discarded_leaves_by_its_error_port(layover: Layover) -> None:
    nodes = [
        {"id": "tell", "type": "send", "via": "ops-chat", "text": "Out", "next": {"done": "yes", "error": "no"}},
        {"id": "yes", "type": "end"},
        {"id": "no", "type": "end", "outcome": "blocked"},
    ]
    layover.refuse("ops-chat")
    execution = await layover.start({"name": "sends", "nodes": nodes})
    assert execution.status == "waiting"
    (one,) = await layover.deliveries().all()
    await one.discard()
    assert (execution.status, execution.outcome) == ("completed", "blocked")


async def test_a_send_node_goes_on_when_what_it_sends_was_sent(layover: Layover) -> None:
    nodes = [{"id": "tell", "type": "send", "via": "ops-chat", "text": "Order ${input.id} is out"}]
    execution = await layover.start({"name": "sends", "nodes": nodes}, {"id": "A7"})
    assert (execution.status, [one.text for one in layover.sent]) == ("completed", ["Order A7 is out"])
