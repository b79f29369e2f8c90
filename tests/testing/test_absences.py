"""A person who is away: the substitute decides in their place, and the log says so."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from layover import NotAllowed
from layover.testing import survives_crashes
from tests.runtime.harness import approval, end, flow

if TYPE_CHECKING:
    from layover.testing import Layover

ADA: dict[str, Any] = {"approvers": {"users": ["ada"]}}
SUB = ["approver"]


async def away(layover: Layover, user: str = "ada", substitute: str = "sam", days: int = 2, **fields: Any) -> None:
    until = (layover.now + timedelta(days=days)).isoformat()
    await layover.save_person(user, away={"until": until, "substitute": substitute}, **fields)


async def inbox(layover: Layover, user: str) -> list[str]:
    return [one.context_id for one in await layover.as_user(user, SUB).inbox().all()]


@survives_crashes
async def test_the_substitute_decides_on_behalf_of_the_person_who_is_away(layover: Layover) -> None:
    await layover.register(flow(approval(**ADA), end("${nodes.review.by}")))
    await away(layover)
    execution = await layover.start("flow")
    assert await inbox(layover, "sam") == ["review"]
    point = await layover.as_user("sam", SUB).point((await execution.point("review")).id)
    assert point.may is not None
    assert point.may.answer
    await point.approve()
    (decision,) = (await point.refresh()).decisions
    assert (decision.by, decision.on_behalf_of) == ("sam", "ada")
    delegated = [one.data for one in await execution.history().all() if one.type == "PausePointDelegated"]
    assert [(one["giver"], one["taker"], one["absence"]) for one in delegated] == [("ada", "sam", True)]


async def test_the_audit_log_says_who_stands_in_for_whom_and_who_made_it_so(layover: Layover) -> None:
    await layover.register(flow(approval(**ADA), end("done")))
    await away(layover, roles=["finance"])
    await away(layover, substitute="eve")
    execution = await layover.start("flow")
    await (await layover.as_user("eve", SUB).point((await execution.point("review")).id)).approve()
    entries = [one async for one in layover.audit()]
    saved = [one for one in reversed(entries) if one.act == "person.save"]
    assert [one.before is None for one in saved] == [True, False]
    assert saved[1].before["roles"] == ["finance"]
    assert [one.after["away"]["substitute"] for one in saved] == ["sam", "eve"]
    (delegated,) = [one for one in entries if one.act == "approval.delegate"]
    assert (delegated.user, delegated.details["giver"], delegated.details["absence"]) == ("eve", "ada", True)
    await layover.delete_person("ada")
    (deleted, *_) = [one async for one in layover.audit(act="person.delete")]
    assert deleted.before["away"]["substitute"] == "eve"


async def test_an_absence_that_begins_later_counts_and_one_that_has_ended_does_not(layover: Layover) -> None:
    await layover.register(flow(approval(**ADA), end("done")))
    execution = await layover.start("flow")
    assert await inbox(layover, "sam") == []
    await away(layover)
    assert await inbox(layover, "sam") == ["review"]
    await layover.skip("2d")
    assert await inbox(layover, "sam") == []
    with pytest.raises(NotAllowed):
        await (await layover.as_user("sam", SUB).point((await execution.point("review")).id)).approve()


async def test_a_claim_of_the_substitute_writes_the_delegation_down_and_it_stays(layover: Layover) -> None:
    await layover.register(flow(approval(**ADA), end("${nodes.review.by}")))
    await away(layover)
    execution = await layover.start("flow")
    point = await layover.as_user("sam", SUB).point((await execution.point("review")).id)
    await point.claim()
    await layover.skip("3d")
    await point.approve()
    assert await execution.result() == "sam"


async def test_a_person_with_a_listed_role_is_represented_as_well(layover: Layover) -> None:
    await layover.register(flow(approval(approvers={"roles": ["finance"]}), end("${nodes.review.by}")))
    await away(layover, roles=["finance"])
    execution = await layover.start("flow")
    assert await inbox(layover, "eve") == []
    await (await layover.as_user("sam", SUB).point((await execution.point("review")).id)).approve()
    assert await execution.result() == "sam"


async def test_the_requester_cannot_stand_in_where_they_are_excluded(layover: Layover) -> None:
    await layover.register(flow(approval(**ADA, exclude_requester=True), end("done")))
    await away(layover)
    execution = await layover.as_user("sam", ["operator"]).start("flow")
    assert await inbox(layover, "sam") == []
    with pytest.raises(NotAllowed):
        await (await layover.as_user("sam", SUB).point((await execution.point("review")).id)).approve()


async def test_a_stranger_does_not_stand_in(layover: Layover) -> None:
    await layover.register(flow(approval(**ADA), end("done")))
    await away(layover)
    execution = await layover.start("flow")
    with pytest.raises(NotAllowed):
        await (await layover.as_user("eve", SUB).point((await execution.point("review")).id)).approve()
