"""`exclude_requester` holds however an execution was started: by a parent, a trigger, or a program without a user."""

from __future__ import annotations

from typing import Any

import pytest

from layover import AnswerRefused, ExecutionFailed, NotAllowed
from layover.testing import Layover  # noqa: TC001 - pytest reads the annotations of fixtures
from tests.runtime.harness import approval, child, end, flow

FOUR_EYES: dict[str, Any] = {"approvers": {"roles": ["approver"]}, "exclude_requester": True}
REVIEW = flow(approval(**FOUR_EYES), end("${nodes.review.by}"))


async def test_a_start_without_a_user_is_refused_with_what_to_do(layover: Layover) -> None:
    await layover.register(REVIEW)
    with pytest.raises(NotAllowed, match="as_user") as refused:
        await layover.start("flow")
    assert refused.value.code == "user_required"
    assert await layover.executions().all() == []


async def test_an_approval_deep_inside_counts_as_well(layover: Layover) -> None:
    inner = {"nodes": [approval(**FOUR_EYES)]}
    await layover.register(flow({"id": "each", "type": "loop", "times": 1, "body": inner}, end("done")))
    with pytest.raises(NotAllowed):
        await layover.start("flow")


async def test_the_requester_of_the_root_counts_in_its_children(layover: Layover) -> None:
    await layover.register(REVIEW)
    await layover.register(flow(child("sub", "flow"), end("${nodes.sub}"), name="parent"))
    parent = await layover.as_user("ann", ["operator"]).start("parent")
    (point,) = await layover.points(status="open", kind="approval").all()
    with pytest.raises(NotAllowed) as refused:
        await (await layover.as_user("ann", ["approver"]).point(point.id)).approve()
    assert refused.value.code == "requester_excluded"
    await (await layover.as_user("bob", ["approver"]).point(point.id)).approve()
    assert await parent.result() == "bob"


async def test_the_child_of_an_execution_without_a_user_does_not_ask(layover: Layover) -> None:
    await layover.register(REVIEW)
    await layover.register(flow(child("sub", "flow"), end("${nodes.sub}"), name="parent"))
    parent = await layover.start("parent")
    with pytest.raises(ExecutionFailed, match="exclude_requester"):
        await parent.result()
    assert await layover.points(status=(), kind="approval").all() == []  # no question was ever open


@pytest.mark.parametrize("way", ["fire", "backfill"])
async def test_who_gave_a_trigger_its_input_by_hand_is_the_requester(layover: Layover, way: str) -> None:
    trigger = {"name": "yearly", "type": "schedule", "cron": "0 0 1 1 *", "zone": "UTC"}
    workflow = await layover.register({**REVIEW, "triggers": [trigger]})
    (found,) = await layover.triggers(workflow=workflow.name).all()
    ann = await layover.as_user("ann", ["admin"]).trigger(found.id)
    if way == "fire":
        await ann.fire()
    else:
        await layover.skip("400d")
        await ann.backfill("2026-06-01T00:00:00Z", "2027-02-01T00:00:00Z", again=True)
    points = [one for one in await layover.points(status="open").all() if one.requester == "ann"]
    assert points
    with pytest.raises(NotAllowed) as refused:
        await (await layover.as_user("ann", ["approver"]).point(points[0].id)).approve()
    assert refused.value.code == "requester_excluded"
    await (await layover.as_user("bob", ["approver"]).point(points[0].id)).approve()


async def test_a_caller_cannot_name_another_requester_in_its_trigger(layover: Layover) -> None:
    await layover.register(REVIEW)
    execution = await layover.as_user("ann", ["operator"]).start("flow", trigger={"by": "zoe"})
    assert (await execution.point("review")).requester == "ann"


async def test_a_program_without_a_user_does_not_decide_what_excludes_the_requester(layover: Layover) -> None:
    await layover.register(flow(approval(exclude_requester=True), end("done")))
    execution = await layover.as_user("ann", ["operator"]).start("flow")
    point = await layover.point((await execution.point("review")).id)
    with pytest.raises(NotAllowed) as refused:
        await point.approve()
    assert refused.value.code == "user_required"


async def test_nobody_puts_another_input_behind_what_was_decided_by_a_fork(layover: Layover) -> None:
    pays: dict[str, object] = {"id": "pays", "type": "compute", "output": "${input.amount}", "next": "finish"}
    await layover.register(flow(approval(**{**FOUR_EYES, "next": "pays"}), pays, end("${nodes.pays}")))
    ann = layover.as_user("ann", ["operator"])
    execution = await ann.start("flow", {"amount": 10})
    await (await layover.as_user("bob", ["approver"]).point((await execution.point("review")).id)).approve()
    assert await execution.result() == 10
    with pytest.raises(NotAllowed) as refused:
        await execution.fork("pays", input={"amount": 1_000})
    assert refused.value.code == "requester_excluded"
    again = await execution.fork("review", input={"amount": 1_000})
    with pytest.raises(NotAllowed):
        await (await layover.as_user("ann", ["approver"]).point((await again.point("review")).id)).approve()
    same = await execution.fork("pays", input={"amount": 10})
    assert await same.result() == 10


async def test_a_version_without_the_rule_is_no_way_around_what_was_decided(layover: Layover) -> None:
    pays: dict[str, object] = {"id": "pays", "type": "compute", "output": "${input.amount}", "next": "finish"}
    lax = {**FOUR_EYES, "exclude_requester": False, "next": "pays"}
    await layover.register(flow(approval(**lax), pays, end("${nodes.pays}")))
    await layover.register(flow(approval(**{**FOUR_EYES, "next": "pays"}), pays, end("${nodes.pays}")))
    ann = layover.as_user("ann", ["operator"])
    execution = await ann.start("flow", {"amount": 10})
    await (await layover.as_user("bob", ["approver"]).point((await execution.point("review")).id)).approve()
    assert await execution.result() == 10
    changes: tuple[dict[str, Any], ...] = ({"input": {"amount": 1_000}}, {})
    for more in changes:  # without another input, a fork of the fork could have one
        with pytest.raises(NotAllowed) as refused:
            await execution.fork("pays", version=1, **more)
        assert refused.value.code == "requester_excluded"
    assert (await execution.fork("review", version=1)).version == 1


async def test_neither_a_delegate_of_the_requester_nor_the_requester_as_a_delegate_decides(layover: Layover) -> None:
    await layover.register(flow(approval(approvers={"users": ["ann", "bob"]}, exclude_requester=True), end("done")))
    execution = await layover.as_user("ann", ["operator"]).start("flow")
    id_ = (await execution.point("review")).id
    for giver, taker in (("ann", "eve"), ("bob", "ann")):
        with pytest.raises((NotAllowed, AnswerRefused)) as refused:
            await (await layover.as_user(giver, ["approver"]).point(id_)).delegate(taker)
        assert refused.value.code == "requester_excluded"
    await (await layover.as_user("bob", ["approver"]).point(id_)).delegate("eve")
    with pytest.raises((NotAllowed, AnswerRefused)) as refused:
        await (await layover.as_user("eve", ["approver"]).point(id_)).delegate("ann")
    assert refused.value.code == "requester_excluded"
