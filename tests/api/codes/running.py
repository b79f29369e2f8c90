"""What is answered to whoever starts executions, looks at them and steers them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from layover.service.views import MOST_VIEWS
from tests.api.codes.registry import asked, route
from tests.runtime.harness import approval, call, end, flow, form, until_status

if TYPE_CHECKING:
    from layover.api.routing import Route
    from tests.api.codes.stage import Begun, Stage
    from tests.api.harness import Answered

NUMBERED: dict[str, Any] = {"type": "object", "properties": {"order": {"type": "integer"}}}
ALONE = {"concurrency": {"limit": 1, "on_conflict": "reject"}}


# Starting


@route("start_execution", 202)
async def started(stage: Stage, _route: Route) -> Answered:
    name = await stage.saved(approval(response={"see": "/orders/7"}))
    answered = await stage.api.post("/executions", {"workflow": name, "wait": "60s"})
    assert answered.headers["location"] == f"/api/v1/executions/{answered.json['id']}"
    assert answered.json["response"] == {"see": "/orders/7"}
    return answered


@route("start_execution", 200)
async def started_and_ended(stage: Stage, _route: Route) -> Answered:
    name = await stage.saved(end("done"))
    return await stage.api.post("/executions", {"workflow": name, "wait": "60s"})


@route("start_execution", "malformed_id")
async def started_under_no_id(stage: Stage, _route: Route) -> Answered:
    return await stage.api.post("/executions", {"workflow": await stage.saved(end("done")), "id": "seven"})


@route("start_execution", "unknown_workflow")
async def started_what_is_not_there(stage: Stage, _route: Route) -> Answered:
    return await stage.api.post("/executions", {"workflow": "nowhere"})


@route("start_execution", "unknown_version")
async def started_in_a_version_that_is_not_there(stage: Stage, _route: Route) -> Answered:
    return await stage.api.post("/executions", {"workflow": await stage.saved(end("done")), "version": 2})


@route("start_execution", "already_exists")
async def started_twice(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(end("done"))
    return await stage.api.post("/executions", {"workflow": begun.workflow, "id": begun.id})


@route("start_execution", "limit_reached")
async def started_when_no_more_may_run(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(form(), settings=ALONE)
    answered = await stage.api.post("/executions", {"workflow": begun.workflow})
    assert answered.json["holders"] == [begun.id]
    return answered


@route("start_execution", "workflow_inactive")
async def started_what_is_not_to_be(stage: Stage, _route: Route) -> Answered:
    name = await stage.saved(end("done"))
    await stage.engine.workflow_status.set(name, "inactive")
    return await stage.api.post("/executions", {"workflow": name})


@route("start_execution", "invalid_input")
async def started_with_something_else(stage: Stage, _route: Route) -> Answered:
    name = await stage.saved(end("done"), input=NUMBERED)
    return await stage.api.post("/executions", {"workflow": name, "input": {"order": "seven"}})


@route("start_execution", "payload_reserved")
async def started_with_a_reference(stage: Stage, _route: Route) -> Answered:
    name = await stage.saved(end("done"))
    return await stage.api.post("/executions", {"workflow": name, "input": {"$secret": "KEY"}})


# Looking


@route("list_executions", 200)
async def listed(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(end("done"))
    answered = await stage.api.get(f"/executions?workflow={begun.workflow}")
    assert [one["id"] for one in answered.json["items"]] == [begun.id]
    return answered


@route("list_executions", "invalid_filter")
async def listed_by_no_condition(stage: Stage, _route: Route) -> Answered:
    return await stage.api.get("/executions?where=colour=red")


@route("list_node_executions", 200)
async def searched_nodes(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(form())
    answered = await stage.api.get(f"/node-executions?workflow={begun.workflow}&status=waiting")
    assert [one["execution_id"] for one in answered.json["items"]] == [begun.id]
    return answered


@route("list_node_executions", "invalid_filter")
async def searched_nodes_by_no_condition(stage: Stage, _route: Route) -> Answered:
    return await stage.api.get("/node-executions?where=colour=red")


@route("list_views", 200)
async def listed_views(stage: Stage, _route: Route) -> Answered:
    return await stage.api.get("/me/views")


@route("get_view", 200)
@route("save_view", 200)
@route("delete_view", 204)
async def of_a_view(stage: Stage, route: Route) -> Answered:
    name, body = stage.name(), {"filter": {"status": ["failed"], "since": "2d"}}
    saved = await stage.api.ask("PUT", f"/me/views/{name}", body)
    assert saved.json["filter"] == body["filter"]
    return saved if route.method == "PUT" else await stage.api.ask(route.method, f"/me/views/{name}")


@route("get_view", "unknown_view")
@route("delete_view", "unknown_view")
async def of_no_view(stage: Stage, route: Route) -> Answered:
    return await stage.api.ask(route.method, f"/me/views/{stage.name()}")


@route("save_view", "too_many_views")
async def one_view_too_many(stage: Stage, _route: Route) -> Answered:
    names = [stage.name() for _ in range(MOST_VIEWS + 1)]
    *_, last = [await stage.api.ask("PUT", f"/me/views/{name}", {}, as_="hoarder:viewer") for name in names]
    return last


@route("get_my_settings", 200)
@route("save_my_settings", 200)
async def my_settings(stage: Stage, route: Route) -> Answered:
    body = {"theme": "dark", "zone": "utc", "single_keys": False, "landing": "executions"}
    saved = await stage.api.ask("PUT", "/me/settings", body)
    assert {name: saved.json[name] for name in body} == body
    return saved if route.method == "PUT" else await stage.api.get("/me/settings")


@route("count_executions", 200)
async def counted(stage: Stage, _route: Route) -> Answered:
    await stage.begun(form())
    answered = await stage.api.get("/executions/counts")
    assert answered.json["paused"] >= 1
    assert answered.json["on"]["form"] >= 1
    assert answered.json["on"]["person"] >= answered.json["on"]["form"]
    return answered


@route("list_paused_executions", 200)
async def listed_paused(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(form())
    answered = await stage.api.get(f"/executions/paused?workflow={begun.workflow}")
    assert [one["id"] for one in answered.json["executions"]] == [begun.id]
    return answered


@route("get_execution", 200)
@route("list_history", 200)
@route("list_nodes", 200)
@route("list_legs", 200)
@route("list_resume_queue", 200)
@route("replay_execution", 200)
@route("list_logs", 200)
@route("get_graph", 200)
@route("get_why", 200)
async def looked_at(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(form(), end("done"))
    return await stage.api.get(asked(route, id=begun.id).path)


@route("get_execution", 202)
async def waited_for_in_vain(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(form())
    answered = await stage.api.get(f"/executions/{begun.id}?wait=1ms&until=end")
    assert answered.json["status"] == "paused"
    return answered


@route("get_execution", "missing_functions")
async def waited_for_without_its_functions(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(call("pay", "nobody_has_it"))
    answered = await stage.api.get(f"/executions/{begun.id}?wait=60s&until=end")
    assert (answered.json["execution_id"], answered.json["functions"]) == (begun.id, ["nobody_has_it"])
    return answered


@route("list_history", "malformed_cursor")
async def history_from_nowhere(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(end("done"))
    return await stage.api.get(f"/executions/{begun.id}/history?cursor=x")


@route("list_logs", "malformed_cursor")
async def logs_from_nowhere(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(end("done"))
    return await stage.api.get(f"/executions/{begun.id}/logs?cursor=x")


@route("stream", 200)
async def followed(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(form())
    return await stage.followed(f"/api/v1/executions/{begun.id}/stream")


@route("stream", "too_many_streams")
async def followed_by_too_many(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(form())
    return await stage.little.get(f"/executions/{begun.id}/stream")


@route("follow_changes", 200)
async def changes_followed(stage: Stage, _route: Route) -> Answered:
    return await stage.followed("/api/v1/changes")


@route("follow_changes", "too_many_streams")
async def changes_followed_by_too_many(stage: Stage, _route: Route) -> Answered:
    return await stage.little.get("/changes")


@route("follow_changes", "rate_limited")
async def changes_asked_for_twice_in_an_hour(stage: Stage, _route: Route) -> Answered:
    """The first is refused for another reason: what is followed has no end."""
    await stage.once.get("/changes?colour=red", as_="ann:admin")
    return await stage.once.get("/changes?colour=red", as_="ann:admin")


# Steering


@route("pause_execution", 200)
@route("cancel_execution", 200)
async def steered(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(form(), end("done"))
    return await stage.api.post(asked(route, id=begun.id).path, {"reason": "Sold out"})


@route("resume_execution", 200)
async def resumed(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(form())
    await stage.engine.control.pause(begun.id)
    return await stage.api.post(f"/executions/{begun.id}/resume", {"resume_data": {"list": "new"}})


@route("clear_breakpoint", 200)
async def breakpoint_cleared(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(form(), end("done"))
    held = await stage.api.post(f"/executions/{begun.id}/pause", {"before": "finish", "reason": "look"})
    assert held.json["breakpoints"] == {"finish": "look"}
    return await stage.api.delete(f"/executions/{begun.id}/breakpoints?node=finish")


@route("clear_breakpoint", "unknown_breakpoint")
async def no_breakpoint_to_clear(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(form())
    return await stage.api.delete(f"/executions/{begun.id}/breakpoints")


@route("clear_breakpoint", "wrong_state")
async def breakpoint_of_what_has_ended(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(form())
    await stage.api.post(f"/executions/{begun.id}/pause", {"before": "ask"})
    await stage.engine.control.cancel(begun.id)
    return await stage.api.delete(f"/executions/{begun.id}/breakpoints")


@route("pause_execution", "unknown_node")
async def paused_before_nothing(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(form())
    return await stage.api.post(f"/executions/{begun.id}/pause", {"before": "nowhere"})


@route("pause_execution", "too_many_breakpoints")
async def paused_too_often(stage: Stage, _route: Route) -> Answered:
    rounds = {"id": "each", "type": "loop", "times": 200, "body": [form()]}
    begun = await stage.begun(rounds)
    for number in range(100):
        await stage.engine.control.set_breakpoint(begun.id, f"ask:each.{number}")
    return await stage.api.post(f"/executions/{begun.id}/pause", {"before": "ask:each.100"})


@route("clear_resume", 200)
async def pause_without_an_end(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(form())
    await stage.engine.control.pause(begun.id)
    return await stage.api.delete(f"/executions/{begun.id}/resume")


@route("clear_resume", "wrong_state")
async def no_pause_to_end(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(form())
    return await stage.api.delete(f"/executions/{begun.id}/resume")


@route("pause_execution", "beyond_max_pause")
async def paused_for_too_long(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(form())
    return await stage.api.post(f"/executions/{begun.id}/pause", {"until": "2999-01-01T00:00:00Z"})


@route("resume_execution", "beyond_max_pause")
async def resumed_too_late(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(form())
    await stage.engine.control.pause(begun.id)
    return await stage.api.post(f"/executions/{begun.id}/resume", {"at": "2999-01-01T00:00:00Z"})


@route("retry_execution", 200)
async def tried_again(stage: Stage, _route: Route) -> Answered:
    name = await stage.saved(call("a"))
    execution = await stage.engine.executions.start(name)
    (await stage.work.begun()).raises(ValueError("no"))
    await until_status(stage.engine, execution.id, "failed")
    planned = await stage.api.post(f"/executions/{execution.id}/retry", {"dry_run": True})
    assert (planned.status, planned.json["repeated"], planned.json["calls"]) == (200, ["a"], ["a"])
    assert (await stage.engine.queries.get(execution.id)).status == "failed"
    answered = await stage.api.post(f"/executions/{execution.id}/retry")
    (await stage.work.begun()).returns()
    await stage.engine.executions.wait(execution.id)
    return answered


@route("rewind_execution", 200)
async def rewound(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(form())
    await stage.engine.answers.answer(begun.points["ask"], {}, by="mia")
    await stage.engine.executions.wait(begun.id)
    planned = await stage.api.post(f"/executions/{begun.id}/rewind", {"to": "ask", "dry_run": True})
    assert (planned.status, planned.json["repeated"], planned.json["dropped"]) == (200, ["ask"], ["ask"])
    assert (await stage.engine.queries.get(begun.id)).status == "completed"
    return await stage.api.post(f"/executions/{begun.id}/rewind", {"to": "ask"})


async def _newer(stage: Stage, *nodes: Any) -> Begun:
    """Return an execution whose workflow has another version since."""
    begun = await stage.begun(form())
    await stage.api.post("/workflows", flow(*nodes, name=begun.workflow))
    return begun


@route("move_execution", 200)
async def moved(stage: Stage, _route: Route) -> Answered:
    begun = await _newer(stage, form(), end("done"))
    return await stage.api.post(f"/executions/{begun.id}/move", {"version": 2})


@route("move_execution", "cannot_move")
async def moved_to_where_it_has_no_place(stage: Stage, _route: Route) -> Answered:
    begun = await _newer(stage, form("other"))
    return await stage.api.post(f"/executions/{begun.id}/move", {"version": 2})


@route("move_execution", "unknown_node")
async def moved_with_a_name_that_is_not_there(stage: Stage, _route: Route) -> Answered:
    begun = await _newer(stage, form("other"))
    return await stage.api.post(f"/executions/{begun.id}/move", {"version": 2, "map": {"ask": "third"}})


@route("move_execution", "unknown_version")
async def moved_to_no_version(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(form())
    return await stage.api.post(f"/executions/{begun.id}/move", {"version": 9})


@route("move_execution", "wrong_state")
async def moved_too_late(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(end("done"))
    return await stage.api.post(f"/executions/{begun.id}/move", {"version": 1})


@route("pause_execution", "wrong_state")
@route("resume_execution", "wrong_state")
@route("cancel_execution", "wrong_state")
@route("retry_execution", "wrong_state")
async def steered_too_late(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(end("done"))
    answered = await stage.api.post(asked(route, id=begun.id).path)
    assert answered.json["current_status"] == "completed"
    return answered


@route("rewind_execution", "wrong_state")
async def rewound_to_what_was_not_reached(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(form(), end("done"))
    path = f"/executions/{begun.id}/rewind"
    assert (await stage.api.post(path, {"to": "finish", "dry_run": True})).json["code"] == "wrong_state"
    return await stage.api.post(path, {"to": "finish"})


@route("rewind_execution", "unknown_node")
async def rewound_to_nowhere(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(end("done"))
    path = f"/executions/{begun.id}/rewind"
    assert (await stage.api.post(path, {"to": "nowhere", "dry_run": True})).json["code"] == "unknown_node"
    return await stage.api.post(path, {"to": "nowhere"})


@route("resume_execution", "decision_required")
async def resumed_without_a_decision(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(approval())
    return await stage.api.post(f"/executions/{begun.id}/resume")


@route("resume_execution", "ambiguous_point")
async def decided_one_of_two(stage: Stage, _route: Route) -> Answered:
    branches = [{"id": name, "body": [approval(f"review_{name}")]} for name in ("a", "b")]
    begun = await stage.begun({"id": "both", "type": "parallel", "branches": branches})
    return await stage.api.post(f"/executions/{begun.id}/resume", {"approved": True})


@route("resume_execution", "expired")
async def resumed_after_its_time(stage: Stage, _route: Route) -> Answered:
    begun = await stage.over(approval(deadline="1ms", on_deadline="fail"))
    return await stage.api.post(f"/executions/{begun.id}/resume", {"approved": True})


@route("resume_execution", "already_answered")
async def somebody_else_was_faster(stage: Stage, _route: Route) -> Answered:
    return await _decided_meanwhile(stage, "approve")


@route("resume_execution", "point_closed")
async def somebody_gave_up_meanwhile(stage: Stage, _route: Route) -> Answered:
    return await _decided_meanwhile(stage, "cancel")


async def _decided_meanwhile(stage: Stage, act: str) -> Answered:
    """Decide by way of the execution while somebody else does something to the approval."""
    begun = await stage.begun(approval(next={"error": "sorry"}), end("sorry", "sorry"))
    family = "approvals" if act == "approve" else "pause-points"

    async def ask(headers: dict[str, str]) -> Answered:
        path = f"/executions/{begun.id}/resume"
        return await stage.api.post(path, {"approved": False}, as_="ann:admin", headers=headers)

    async def other() -> Answered:
        answered = await stage.api.post(f"/{family}/{begun.points['review']}/{act}", as_="ben:admin")
        assert answered.status in (200, 201), answered
        return answered

    first, _ = await stage.meanwhile("answers.reserve", ask, other)
    return first
