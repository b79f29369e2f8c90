"""What is answered to those who take back what they have answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.api.codes.asking import ANN, BEN
from tests.api.codes.registry import route
from tests.runtime.harness import approval, delay

if TYPE_CHECKING:
    from layover.api.routing import Route
    from tests.api.codes.stage import Begun, Stage
    from tests.api.harness import Answered

REVOCABLE = approval(undo="1h")


async def take_back(stage: Stage, begun: Begun, as_: str = ANN, *, at: str = "review") -> Answered:
    return await stage.api.post(f"/pause-points/{begun.points[at]}/take-back", as_=as_)


async def answered(stage: Stage, node: dict[str, object]) -> Begun:
    begun = await stage.begun(node)
    taken = await stage.api.post(f"/pause-points/{begun.points['review']}/answer", {"approved": True}, as_=ANN)
    assert taken.status == 201, taken
    return begun


@route("take_back_answer", 200)
async def taken_back(stage: Stage, _route: Route) -> Answered:
    return await take_back(stage, await answered(stage, REVOCABLE))


@route("take_back_answer", "not_allowed")
async def who_has_not_answered(stage: Stage, _route: Route) -> Answered:
    return await take_back(stage, await answered(stage, REVOCABLE), BEN)


@route("take_back_answer", "already_applied")
async def what_is_final(stage: Stage, _route: Route) -> Answered:
    begun = await answered(stage, approval())
    await stage.engine.executions.wait(begun.id)
    return await take_back(stage, begun)


@route("take_back_answer", "not_answerable")
async def what_no_person_answers(stage: Stage, _route: Route) -> Answered:
    return await take_back(stage, await stage.begun(delay("review")))


@route("take_back_answer", "point_closed")
async def what_was_cancelled(stage: Stage, _route: Route) -> Answered:
    begun = await answered(stage, REVOCABLE)
    await stage.engine.control.cancel(begun.id)
    return await take_back(stage, begun)


@route("take_back_answer", "expired")
async def what_was_not_answered_in_time(stage: Stage, _route: Route) -> Answered:
    return await take_back(stage, await stage.over(approval(deadline="1ms", on_deadline="fail")))
