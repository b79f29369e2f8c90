"""Claims and questions on the virtual clock of the kit, and with a crash at every commit."""

from __future__ import annotations

from typing import Any

import pytest

from layover import AnswerRefused, NotAllowed
from layover.testing import Layover, survives_crashes
from tests.runtime.harness import approval, end, flow

TWO: dict[str, Any] = {"approvers": {"users": ["ann", "bob"]}}


@survives_crashes
async def test_a_claim_a_question_and_its_reply_survive_a_crash(layover: Layover) -> None:
    await layover.register(flow(approval(**TWO), end("${nodes.review.by}")))
    execution = await layover.as_user("zoe", ["operator"]).start("flow")
    point = (await execution.point("review")).id
    ann = await layover.as_user("ann", ["approver"]).point(point)
    await ann.claim()
    await ann.ask("Why?")
    await (await layover.as_user("zoe", ["viewer"]).point(point)).reply("So.")
    bob = await layover.as_user("bob", ["approver"]).point(point)
    assert [(one.question, one.reply, one.replied_by) for one in bob.questions] == [("Why?", "So.", "zoe")]
    with pytest.raises(AnswerRefused) as refused:
        await bob.approve()
    assert (refused.value.code, refused.value.claim.by) == ("claimed", "ann")
    await ann.release()
    await bob.approve()
    assert await execution.result() == "bob"


async def test_a_claim_runs_out_by_itself_after_15_minutes(layover: Layover) -> None:
    await layover.register(flow(approval(**TWO), end("${nodes.review.by}")))
    execution = await layover.start("flow")
    point = (await execution.point("review")).id
    await (await layover.as_user("ann", ["approver"]).point(point)).claim()
    bob = await layover.as_user("bob", ["approver"]).point(point)
    await layover.skip("14m59s")
    with pytest.raises(AnswerRefused):
        await bob.approve()
    await layover.skip("1s")
    assert (await bob.refresh()).claimed_by is None
    await bob.approve()
    assert await execution.result() == "bob"


async def test_a_claim_needs_a_user(layover: Layover) -> None:
    await layover.register(flow(approval(), end("done")))
    execution = await layover.start("flow")
    point = await execution.point("review")
    with pytest.raises(NotAllowed) as refused:
        await point.claim()
    assert refused.value.code == "user_required"
