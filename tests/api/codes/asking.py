"""What is answered to whoever answers pause points: all ways of doing so refuse for the same reasons."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from tests.api.codes.registry import route
from tests.runtime.harness import approval, delay, end, form

if TYPE_CHECKING:
    from layover.api.routing import Route
    from tests.api.codes.registry import Outcome, Scene
    from tests.api.codes.stage import Begun, Stage
    from tests.api.harness import Answered, Api

ANN, BEN = "ann:admin", "ben:admin"
SIZE = {"type": "object", "properties": {"size": {"type": "string"}}}
TWO: dict[str, Any] = {"users": ["ben", "ann"]}

# By the name of a route: say whether an approval is approved, with data and a comment.
Decide = Callable[..., Awaitable["Answered"]]


async def by_answer(
    api: Api, begun: Begun, *, approved: bool, as_: str, headers: dict[str, str] | None = None, **said: Any
) -> Answered:
    path = f"/pause-points/{begun.points['review']}/answer"
    return await api.post(path, {"approved": approved, **said}, as_=as_, headers=headers)


async def by_approval(
    api: Api, begun: Begun, *, approved: bool, as_: str, headers: dict[str, str] | None = None, **said: Any
) -> Answered:
    path = f"/approvals/{begun.points['review']}/{'approve' if approved else 'reject'}"
    return await api.post(path, said, as_=as_, headers=headers)


async def by_place(api: Api, begun: Begun, *, approved: bool, as_: str, **said: Any) -> Answered:
    path = f"/api/resume/{begun.workflow}/{begun.id}/review"
    return await api.post(path, {"approved": approved, **said}, as_=as_)


async def by_execution(api: Api, begun: Begun, *, approved: bool, as_: str, **said: Any) -> Answered:
    body = {"approved": approved, "resume_data": said.get("data"), "reason": said.get("comment")}
    return await api.post(f"/executions/{begun.id}/resume", body, as_=as_)


async def by_delegation(api: Api, begun: Begun, *, as_: str, **_said: Any) -> Answered:
    """Let somebody else decide: that is refused for the same reasons as deciding oneself."""
    return await api.post(f"/approvals/{begun.points['review']}/delegate", {"to": "cho"}, as_=as_)


async def by_delegation_of_a_point(api: Api, begun: Begun, *, as_: str, **_said: Any) -> Answered:
    return await api.post(f"/pause-points/{begun.points['review']}/delegate", {"to": "cho"}, as_=as_)


WAYS: dict[str, tuple[Decide, bool]] = {
    "answer_pause_point": (by_answer, True),
    "approve": (by_approval, True),
    "reject": (by_approval, False),
    "resume_point": (by_place, True),
    "resume_execution": (by_execution, True),
    "delegate": (by_delegation, True),
    "delegate_pause_point": (by_delegation_of_a_point, True),
}
DELEGATING = ("delegate", "delegate_pause_point")
DECIDING = tuple(name for name in WAYS if name not in DELEGATING)
BY_POINT = ("answer_pause_point", "approve", "reject", "resume_point")
OR_DELEGATING = (*BY_POINT, *DELEGATING)


def every_way(*outcomes: Outcome, only: tuple[str, ...] = DECIDING) -> Callable[[Scene], Scene]:
    """Add a scene for every route that answers."""

    def add(scene: Scene) -> Scene:
        for name in only:
            route(name, *outcomes)(scene)
        return scene

    return add


async def decide(stage: Stage, route: Route, begun: Begun, as_: str = ANN, **said: Any) -> Answered:
    """Decide by way of a route."""
    way, approved = WAYS[route.name]
    return await way(stage.api, begun, **{"approved": approved, "as_": as_, **said})


# What comes of it


@every_way(201, only=("answer_pause_point", "approve", "reject"))
@every_way(202, only=("resume_point",))
@every_way(200, only=DELEGATING)
async def decided(stage: Stage, route: Route) -> Answered:
    return await decide(stage, route, await stage.begun(approval()))


@every_way(200, only=("answer_pause_point", "approve", "reject"))
async def decided_once_more(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(approval())
    await decide(stage, route, begun)
    return await decide(stage, route, begun)


@route("create_link", 201)
async def linked(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(approval())
    return await stage.api.post(f"/pause-points/{begun.points['review']}/links", {"user": "ben"})


@route("revoke_links", 200)
async def revoked(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(approval())
    return await stage.api.delete(f"/pause-points/{begun.points['review']}/links?user=ben")


@every_way("not_answerable", only=DELEGATING)
async def delegated_where_nothing_is_decided(stage: Stage, route: Route) -> Answered:
    return await decide(stage, route, await stage.begun(form("review")))


# Who may not


@every_way("not_allowed", only=tuple(WAYS))
async def who_is_not_asked(stage: Stage, route: Route) -> Answered:
    return await decide(stage, route, await stage.begun(approval(approvers={"users": ["ben"]})))


@every_way("requester_excluded", only=tuple(WAYS))
async def who_asked_for_it(stage: Stage, route: Route) -> Answered:
    return await decide(stage, route, await stage.begun(approval(approvers=TWO, exclude_requester=True), user="ann"))


@every_way("not_your_turn")
async def who_comes_later(stage: Stage, route: Route) -> Answered:
    return await decide(stage, route, await stage.begun(approval(approvers=TWO, need=2, order="sequence")))


@every_way("already_decided", only=tuple(WAYS))
async def who_has_said_the_opposite(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(approval(need=2, reject_need=2))
    first = await by_answer(stage.api, begun, approved=not WAYS[route.name][1], as_=ANN)
    assert first.status == 201, first
    return await decide(stage, route, begun)


# What cannot be said


@every_way("comment_required")
async def who_says_not_why(stage: Stage, route: Route) -> Answered:
    return await decide(stage, route, await stage.begun(approval(comment="required")))


@every_way("invalid_answer")
async def who_says_something_else(stage: Stage, route: Route) -> Answered:
    answered = await decide(stage, route, await stage.begun(approval(schema=SIZE)), data={"size": 1})
    assert [one["path"] for one in answered.json["errors"]] == ["size"]
    return answered


@every_way("point_changed", only=("answer_pause_point", "approve", "reject"))
async def who_has_seen_something_else(stage: Stage, route: Route) -> Answered:
    return await decide(stage, route, await stage.begun(approval()), headers={"if-match": f'"{"0" * 64}"'})


@every_way("payload_reserved")
async def who_says_a_reference(stage: Stage, route: Route) -> Answered:
    return await decide(stage, route, await stage.begun(approval()), data={"size": {"$secret": "KEY"}})


@every_way("decision_required", only=("answer_pause_point", "resume_point"))
async def who_does_not_decide(stage: Stage, route: Route) -> Answered:
    return await decide(stage, route, await stage.begun(approval()), approved=None)


# Too late


@every_way("already_answered", only=BY_POINT)
async def who_comes_second(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(approval())
    await decide(stage, route, begun, BEN)
    answered = await decide(stage, route, begun)
    assert answered.json["winner"]["by"] == "ben"
    return answered


@every_way("point_closed", only=OR_DELEGATING)
async def who_is_not_awaited_any_more(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(approval())
    await stage.engine.control.cancel(begun.id)
    return await decide(stage, route, begun)


@every_way("expired", only=OR_DELEGATING)
async def who_takes_too_long(stage: Stage, route: Route) -> Answered:
    return await decide(stage, route, await stage.over(approval(deadline="1ms", on_deadline="fail")))


# Nobody is asked there


@route("answer_pause_point", "not_answerable")
async def a_timer_is_answered(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(delay())
    return await stage.api.post(f"/pause-points/{begun.points['rest']}/answer")


@route("resume_point", "not_answerable")
@route("cancel_point", "not_answerable")
@route("get_pause_point_at", "not_answerable")
async def a_timer_further_on(stage: Stage, route: Route) -> Answered:
    return await _at(stage, route, await stage.begun(form(), delay()), "rest")


@route("resume_point", "unknown_point")
@route("cancel_point", "unknown_point")
@route("get_pause_point_at", "unknown_point")
async def a_node_that_is_not_there(stage: Stage, route: Route) -> Answered:
    return await _at(stage, route, await stage.begun(form()), "nowhere")


@route("resume_point", "malformed_context_id")
@route("cancel_point", "malformed_context_id")
@route("get_pause_point_at", "malformed_context_id")
async def a_place_that_cannot_be_read(stage: Stage, route: Route) -> Answered:
    return await _at(stage, route, await stage.begun(form()), "ask:")


@route("resume_point", "snapshot_pending")
@route("cancel_point", "snapshot_pending")
@route("get_pause_point_at", "snapshot_pending")
async def a_form_further_on(stage: Stage, route: Route) -> Answered:
    return await _at(stage, route, await stage.begun(form(), form("later")), "later")


@route("resume_point", "execution_closed")
@route("cancel_point", "execution_closed")
@route("get_pause_point_at", "execution_closed")
async def a_form_that_was_never_reached(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(form(), form("later"))
    await stage.engine.control.cancel(begun.id)
    return await _at(stage, route, begun, "later")


async def _at(stage: Stage, route: Route, begun: Begun, context: str) -> Answered:
    path = f"/api/resume/{begun.workflow}/{begun.id}/{context}"
    if route.name == "get_pause_point_at":
        path = f"/executions/{begun.id}/pause-points/{context}"
    return await stage.api.ask(route.method, path, {} if route.body is not None else None)


# Giving up


async def _give_up(stage: Stage, route: Route, begun: Begun) -> Answered:
    if route.name == "cancel_point":
        return await _at(stage, route, begun, "ask")
    return await stage.api.post(f"/pause-points/{begun.points['ask']}/cancel", as_=ANN)


@route("cancel_pause_point", 200)
@route("cancel_point", 200)
async def given_up(stage: Stage, route: Route) -> Answered:
    return await _give_up(stage, route, await stage.begun(form()))


@route("cancel_pause_point", "already_answered")
@route("cancel_point", "already_answered")
async def given_up_after_the_answer(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(form())
    await stage.engine.answers.answer(begun.points["ask"], {}, by="ben")
    await stage.engine.executions.wait(begun.id)
    answered = await _give_up(stage, route, begun)
    assert answered.json["winner"]["by"] == "ben"
    return answered


@route("cancel_pause_point", "point_closed")
@route("cancel_point", "point_closed")
async def given_up_twice(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(form())
    await _give_up(stage, route, begun)
    return await _give_up(stage, route, begun)


@route("cancel_pause_point", "expired")
@route("cancel_point", "expired")
async def given_up_after_its_time(stage: Stage, route: Route) -> Answered:
    return await _give_up(stage, route, await stage.over(form(deadline="1ms", on_deadline="continue"), end("over")))


# Looking


@route("list_pause_points", 200)
@route("list_approvals", 200)
async def listed(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(approval())
    answered = await stage.api.get(f"{route.path}?execution_id={begun.id}")
    assert [one["id"] for one in answered.json["items"]] == [begun.points["review"]]
    return answered


@route("get_pause_point", 200)
@route("why_pause_point", 200)
@route("get_approval", 200)
async def looked_at(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(approval())
    return await stage.api.get(route.path.replace("{id}", begun.points["review"]))


@route("get_pause_point_at", 200)
async def looked_at_by_context(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(approval())
    answered = await _at(stage, route, begun, "review")
    assert answered.json["id"] == begun.points["review"]
    return answered


@route("list_paused", 200)
async def listed_by_workflow(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(form())
    answered = await stage.api.get(f"/api/workflows/{begun.workflow}/paused")
    assert [one["executionId"] for one in answered.json["executions"]] == [begun.id]
    return answered


@route("list_paused", "malformed_cursor")
async def listed_from_nowhere(stage: Stage, _route: Route) -> Answered:
    return await stage.api.get(f"/api/workflows/{await stage.saved(form())}/paused?cursor=x")
