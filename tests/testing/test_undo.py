"""Taking an answer back, on the clock of a test: what is applied when, who is told of what, and what `why` says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from layover import AnswerRefused, NotAllowed

if TYPE_CHECKING:
    from layover.testing import Layover

ASKS: dict[str, Any] = {
    "name": "asks",
    "notify": [{"on": ["pause.decided", "pause.answered", "pause.taken_back"], "via": "ops-chat"}],
    "nodes": [
        {"id": "ok", "type": "approval", "title": "May it?", "undo": "30s", "approvers": {"users": ["ada", "ben"]}},
    ],
}


async def test_nobody_is_told_of_a_decision_before_it_is_final(layover: Layover) -> None:
    started = await layover.start(ASKS)
    (point,) = await layover.as_user("ada", ["approver"]).inbox().all()
    await point.approve(comment="Yes")
    assert point.final_at is not None
    assert (point.final_at - layover.now).total_seconds() == 30
    assert layover.sent == []
    why = await started.why()
    assert "until then it can be taken back" in why.summary
    assert why.reasons[0].until == point.final_at
    await layover.skip("29s")
    await point.take_back("the wrong one")
    assert (point.status, point.decisions) == ("open", ())
    assert point.info.final_at is None
    await point.reject()
    assert [(one.kind, one.subject) for one in layover.sent] == [("pause.taken_back", "ada has taken it back: May it?")]
    await layover.skip("30s")
    assert [(one.kind, one.subject) for one in layover.sent[1:]] == [
        ("pause.decided", "ada has rejected: May it?"),
        ("pause.answered", "ada has answered: May it?"),
    ]
    assert (await layover.execution(started.id)).status == "failed"


async def test_too_late_and_by_another_user_is_refused(layover: Layover) -> None:
    await layover.start(ASKS)
    (point,) = await layover.as_user("ada", ["approver"]).inbox().all()
    await point.approve()
    other = await layover.as_user("ben", ["approver"]).point(point.id)
    with pytest.raises(NotAllowed, match="only who did") as refused:
        await other.take_back()
    assert refused.value.code == "not_allowed"
    with pytest.raises(AnswerRefused) as taken:
        await other.approve()
    assert taken.value.code == "already_answered"
    await layover.skip("30s")
    with pytest.raises(AnswerRefused) as late:
        await point.take_back()
    assert late.value.code == "already_applied"


async def test_without_undo_nothing_can_be_taken_back(layover: Layover) -> None:
    await layover.start({**ASKS, "nodes": [{**ASKS["nodes"][0], "undo": "0s"}]})
    (point,) = await layover.as_user("ada", ["approver"]).inbox().all()
    await point.approve()
    assert point.final_at is None
    with pytest.raises(AnswerRefused) as late:
        await point.take_back()
    assert late.value.code == "already_applied"


async def test_a_take_back_with_the_same_key_is_one(layover: Layover) -> None:
    await layover.start(ASKS)
    (point,) = await layover.as_user("ada", ["approver"]).inbox().all()
    await point.approve()
    await point.take_back(idempotency_key="k")
    await point.take_back(idempotency_key="k")
    assert point.status == "open"
    with pytest.raises(NotAllowed):
        await point.take_back(idempotency_key="another")


async def test_a_point_that_was_cancelled_meanwhile_says_so(layover: Layover) -> None:
    started = await layover.start(ASKS)
    (point,) = await layover.as_user("ada", ["approver"]).inbox().all()
    await point.approve()
    await started.cancel()
    with pytest.raises(AnswerRefused) as refused:
        await point.take_back()
    assert refused.value.code == "point_closed"
