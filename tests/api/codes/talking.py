"""What is answered to those who claim a pause point, ask back and reply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.api.codes.asking import ANN, BEN, TWO, by_answer, decide, every_way
from tests.api.codes.registry import route
from tests.runtime.harness import approval, delay

if TYPE_CHECKING:
    from layover.api.routing import Route
    from tests.api.codes.stage import Begun, Stage
    from tests.api.harness import Answered

BODIES: dict[str, tuple[str, str, dict[str, Any] | None]] = {
    "claim_pause_point": ("POST", "claim", {}),
    "release_pause_point": ("DELETE", "claim", None),
    "ask_back": ("POST", "ask", {"question": "Why?"}),
    "reply_back": ("POST", "reply", {"text": "So."}),
}
ALL = tuple(BODIES)
OPENING = ("claim_pause_point", "ask_back")


async def talk(stage: Stage, route: Route, begun: Begun, as_: str = ANN, *, at: str = "review") -> Answered:
    """Do what a route is for."""
    method, path, body = BODIES[route.name]
    return await stage.api.ask(method, f"/pause-points/{begun.points[at]}/{path}", body, as_=as_)


async def asked_by(stage: Stage, begun: Begun, as_: str, to: str = "ann", question: str = "Why?") -> None:
    path = f"/pause-points/{begun.points['review']}/ask"
    answered = await stage.api.post(path, {"question": question, "to": to}, as_=as_)
    assert answered.status == 200, answered


@every_way(200, only=ALL)
async def done(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(approval(), user="ann")
    if route.name == "reply_back":
        await asked_by(stage, begun, BEN)
    return await talk(stage, route, begun)


@every_way("claimed", only=("claim_pause_point", "release_pause_point"))
async def what_another_has_claimed(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(approval())
    assert (await stage.api.post(f"/pause-points/{begun.points['review']}/claim", {}, as_=BEN)).status == 200
    answered = await talk(stage, route, begun)
    assert answered.json["claim"]["by"] == "ben"
    return answered


@every_way("claimed")
async def what_another_has_claimed_is_answered(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(approval())
    assert (await stage.api.post(f"/pause-points/{begun.points['review']}/claim", {}, as_=BEN)).status == 200
    return await decide(stage, route, begun)


@every_way("not_allowed", only=OPENING)
async def who_is_not_asked(stage: Stage, route: Route) -> Answered:
    return await talk(stage, route, await stage.begun(approval(approvers={"users": ["ben"]}), user="zoe"))


@every_way("not_allowed", only=("reply_back",))
async def whose_question_it_is_not(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(approval(), user="zoe")
    await asked_by(stage, begun, BEN, to="cho")
    return await talk(stage, route, begun)


@every_way("requester_excluded", only=OPENING)
async def who_asked_for_it(stage: Stage, route: Route) -> Answered:
    return await talk(stage, route, await stage.begun(approval(approvers=TWO, exclude_requester=True), user="ann"))


@every_way("not_your_turn", only=("claim_pause_point",))
async def who_comes_later(stage: Stage, route: Route) -> Answered:
    return await talk(stage, route, await stage.begun(approval(approvers=TWO, need=2, order="sequence")))


@every_way("already_decided", only=OPENING)
async def who_has_decided(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(approval(need=2), user="zoe")
    await by_answer(stage.api, begun, approved=True, as_=ANN)
    return await talk(stage, route, begun)


@route("ask_back", "no_requester")
async def a_question_to_nobody(stage: Stage, route: Route) -> Answered:
    return await talk(stage, route, await stage.begun(approval()))


@route("ask_back", "too_many_questions")
async def one_question_too_many(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(approval(), user="zoe")
    for number in range(20):  # the same in the same millisecond is one question
        await asked_by(stage, begun, BEN, question=f"Why {number}?")
    return await talk(stage, route, begun)


@route("reply_back", "no_question")
async def a_reply_to_nothing(stage: Stage, route: Route) -> Answered:
    return await talk(stage, route, await stage.begun(approval(), user="ann"))


@route("reply_back", "already_replied")
async def a_second_reply(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(approval(), user="ann")
    await asked_by(stage, begun, BEN)
    path = f"/pause-points/{begun.points['review']}/reply"
    assert (await stage.api.post(path, {"text": "So."}, as_=ANN)).status == 200
    return await stage.api.post(path, {"text": "Or so.", "number": 1}, as_=ANN)


@every_way("not_answerable", only=ALL)
async def at_a_timer(stage: Stage, route: Route) -> Answered:
    return await talk(stage, route, await stage.begun(delay()), at="rest")


@every_way("already_answered", only=ALL)
async def after_the_answer(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(approval(), user="zoe")
    await by_answer(stage.api, begun, approved=True, as_=BEN)
    return await talk(stage, route, begun)


@every_way("point_closed", only=ALL)
async def after_the_end(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(approval(), user="zoe")
    await stage.engine.control.cancel(begun.id)
    return await talk(stage, route, begun)


@every_way("expired", only=ALL)
async def after_the_deadline(stage: Stage, route: Route) -> Answered:
    return await talk(stage, route, await stage.over(approval(deadline="1ms", on_deadline="fail")))
