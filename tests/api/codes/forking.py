"""What is answered to whoever forks executions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.api.codes.registry import asked, route
from tests.runtime.harness import approval, end, form

if TYPE_CHECKING:
    from layover.api.routing import Route
    from tests.api.codes.stage import Stage
    from tests.api.harness import Answered

_ALONE = {"concurrency": {"limit": 1, "on_conflict": "reject"}}


async def _answer(stage: Stage, route: Route, id_: str, said: dict[str, object]) -> Answered:
    path = asked(route, id=id_).path
    planned = await stage.api.post(path, {**said, "dry_run": True})
    forked = await stage.api.post(path, said)
    assert planned.status == forked.status  # a plan is refused as the fork is
    return forked


@route("fork_execution", 201)
async def forked(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun({"id": "first", "type": "compute", "output": 7, "next": "ask"}, form())
    answered = await stage.api.post(asked(route, id=begun.id).path, {"from": "ask", "reason": "again"})
    assert answered.json["forked_from"] == begun.id
    nodes = await stage.api.get(f"/executions/{answered.json['id']}/nodes")
    assert [(one["context_id"], one["output"]) for one in nodes.json["items"]] == [("first", 7), ("ask", None)]
    events = await stage.api.get(f"/executions/{begun.id}/history")
    assert "ExecutionForked" not in [one["type"] for one in events.json["items"]]
    return answered


@route("fork_execution", 200)
async def fork_planned(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun({"id": "first", "type": "compute", "output": 7, "next": "ask"}, form())
    answered = await stage.api.post(asked(route, id=begun.id).path, {"from": "ask", "dry_run": True})
    assert (answered.json["kept"], answered.json["repeated"]) == (["first"], ["ask"])
    return answered


@route("fork_execution", "wrong_state")
async def forked_from_what_was_not_reached(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(form(), end("done"))
    return await _answer(stage, route, begun.id, {"from": "finish"})


@route("fork_execution", "unknown_node")
async def forked_from_nowhere(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(form())
    return await _answer(stage, route, begun.id, {"from": "nowhere"})


@route("fork_execution", "payload_reserved")
async def forked_with_a_reserved_key(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(end("done"))
    return await stage.api.post(asked(route, id=begun.id).path, {"input": {"$secret": "x"}})


@route("fork_execution", "unknown_version")
async def forked_in_a_version_that_is_not_there(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(form())
    return await _answer(stage, route, begun.id, {"version": 7})


@route("fork_execution", "invalid_input")
async def forked_after_an_event_that_is_not_there(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(form())
    return await _answer(stage, route, begun.id, {"from": 999})


@route("fork_execution", "unknown_workflow")
async def forked_of_what_is_deleted(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(form())
    await stage.api.ask("DELETE", f"/workflows/{begun.workflow}")
    return await _answer(stage, route, begun.id, {})


@route("fork_execution", "workflow_inactive")
async def forked_of_what_is_inactive(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(form())
    await stage.engine.workflow_status.set(begun.workflow, "inactive")
    return await _answer(stage, route, begun.id, {})


@route("fork_execution", "already_exists")
async def forked_under_an_id_in_use(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(form())
    return await stage.api.post(asked(route, id=begun.id).path, {"id": begun.id})


@route("fork_execution", "requester_excluded")
async def forked_with_another_input_behind_a_decision(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(approval(exclude_requester=True, next="ask"), form(), user="zoe")
    decided = await stage.api.post(f"/approvals/{begun.points['review']}/approve", as_="ada:approver")
    assert decided.status == 201
    await stage.engine.executions.wait(begun.id, "people")
    return await stage.api.post(asked(route, id=begun.id).path, {"from": "ask", "input": {"other": 1}})


@route("fork_execution", "limit_reached")
async def forked_when_no_more_may_run(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(form(), settings=_ALONE)
    return await stage.api.post(asked(route, id=begun.id).path)
