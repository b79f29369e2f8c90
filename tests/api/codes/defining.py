"""What is answered to whoever keeps workflows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from tests.api.codes.registry import asked, route
from tests.runtime.harness import approval, end, flow, form

if TYPE_CHECKING:
    from layover.api.routing import Route
    from tests.api.codes.stage import Stage
    from tests.api.harness import Answered

NUMBERED: dict[str, Any] = {"type": "object", "properties": {"order": {"type": "integer"}}}
FAULTY = {"name": "faulty", "nodes": [{"id": "a", "type": "end", "next": "nowhere"}]}
ENDLESS: dict[str, Any] = {
    "id": "round",
    "type": "loop",
    "times": 1_000_000,
    "body": [{"id": "set", "type": "set", "values": {"a": 1}}],
}


async def _keep(stage: Stage, route: Route, definition: dict[str, Any]) -> Answered:
    return await stage.api.ask(route.method, asked(route, name=str(definition["name"])).path, definition)


# Keeping


@route("save_workflow", 201)
@route("put_workflow", 201)
async def kept(stage: Stage, route: Route) -> Answered:
    answered = await _keep(stage, route, flow(end("done"), name=stage.name()))
    assert answered.headers["location"] == f"/api/v1/workflows/{answered.json['name']}"
    return answered


@route("save_workflow", 200)
@route("put_workflow", 200)
async def kept_before(stage: Stage, route: Route) -> Answered:
    definition = flow(end("done"), name=stage.name())
    await _keep(stage, route, definition)
    return await _keep(stage, route, definition)


@route("save_workflow", "invalid_definition")
@route("put_workflow", "invalid_definition")
async def not_kept(stage: Stage, route: Route) -> Answered:
    answered = await _keep(stage, route, FAULTY)
    assert answered.json["errors"]
    return answered


@route("save_workflow", "secret_not_allowed")
@route("put_workflow", "secret_not_allowed")
async def not_granted(stage: Stage, route: Route) -> Answered:
    return await _keep(stage, route, {**flow(end("done"), name=stage.name()), "secrets": ["KEY"]})


@route("import_workflows", "secret_not_allowed")
async def not_granted_to_any(stage: Stage, _route: Route) -> Answered:
    bundle = {"format": "layover/1", "workflows": [{**flow(end("done"), name=stage.name()), "secrets": ["KEY"]}]}
    return await stage.api.post("/workflows/import", bundle)


@route("import_workflows", 200)
async def brought_along(stage: Stage, _route: Route) -> Answered:
    bundle = {"format": "layover/1", "workflows": [flow(end("done"), name=stage.name())]}
    return await stage.api.post("/workflows/import", bundle)


@route("import_workflows", "invalid_definition")
async def not_brought_along(stage: Stage, _route: Route) -> Answered:
    return await stage.api.post("/workflows/import", {"format": "layover/1", "workflows": [FAULTY]})


@route("plan_deployment", 200)
async def planned(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(form())
    answered = await stage.api.post("/workflows/plan?map=ask=other", flow(form("other"), name=begun.workflow))
    assert [(one["kind"], one["count"]) for one in answered.json["groups"]] == [("moved", 1)]
    return answered


@route("plan_deployment", "invalid_definition")
async def not_planned(stage: Stage, _route: Route) -> Answered:
    return await stage.api.post("/workflows/plan", FAULTY)


@route("plan_deployment", "unknown_node")
async def planned_with_a_name_that_is_not_there(stage: Stage, _route: Route) -> Answered:
    assert (await stage.api.post("/workflows/plan?map=ask", flow(form()))).status == 400
    return await stage.api.post("/workflows/plan?map=ask=other", flow(form()))


@route("check_definition", 200)
async def checked(stage: Stage, _route: Route) -> Answered:
    answered = await stage.api.post("/workflows/check", FAULTY)
    assert answered.json["problems"]
    return answered


# Looking


@route("list_workflows", 200)
async def listed(stage: Stage, _route: Route) -> Answered:
    return await stage.api.get("/workflows?limit=1")


@route("get_workflow", 200)
@route("list_versions", 200)
@route("diff_workflow", 200)
@route("get_workflow_graph", 200)
@route("get_workflow_source", 200)
@route("get_resting", 200)
async def looked_at(stage: Stage, route: Route) -> Answered:
    name = await stage.saved(form())
    await stage.engine.workflows.register(flow(form(), end("done"), name=name))
    return await stage.api.get(asked(route, name=name).path)


@route("get_workflow", "unknown_version")
@route("get_workflow_graph", "unknown_version")
@route("get_workflow_source", "unknown_version")
async def looked_at_a_version_that_is_not_there(stage: Stage, route: Route) -> Answered:
    return await stage.api.get(f"{asked(route, name=await stage.saved(form())).path}?version=2")


@route("diff_workflow", "unknown_version")
async def compared_with_a_version_that_is_not_there(stage: Stage, _route: Route) -> Answered:
    return await stage.api.get(f"/workflows/{await stage.saved(form())}/diff?to=2")


@route("compare_workflow", 200)
async def compared_before_it_is_kept(stage: Stage, route: Route) -> Answered:
    name = await stage.saved(form())
    answered = await stage.api.post(asked(route, name=name).path, flow(form(), end("done"), name=name))
    assert (answered.json["before"], answered.json["after"]) == (1, 2)
    return answered


@route("compare_workflow", "invalid_definition")
async def compared_with_another(stage: Stage, route: Route) -> Answered:
    path = asked(route, name=await stage.saved(form())).path
    return await stage.api.post(path, flow(form(), name=stage.name()))


@route("compare_workflow", "unknown_workflow")
async def compared_with_nothing(stage: Stage, _route: Route) -> Answered:
    return await stage.api.post("/workflows/nowhere/diff", flow(form(), name="nowhere"))


@route("export_workflows", 200)
async def taken_along(stage: Stage, _route: Route) -> Answered:
    return await stage.api.get(f"/workflows/export?name={await stage.saved(form())}")


@route("export_workflows", "unknown_workflow")
async def not_taken_along(stage: Stage, _route: Route) -> Answered:
    return await stage.api.get("/workflows/export?name=nowhere")


# Whether they may be started


@route("delete_workflow", 204)
@route("activate_workflow", 200)
@route("deactivate_workflow", 200)
@route("pause_workflow", 200)
@route("resume_workflow", 200)
async def changed(stage: Stage, route: Route) -> Answered:
    name = await stage.saved(form())
    return await stage.api.ask(route.method, asked(route, name=name).path)


@route("pause_workflow", "workflow_inactive")
async def paused_what_is_not_started_anyway(stage: Stage, _route: Route) -> Answered:
    name = await stage.saved(form())
    await stage.engine.workflow_status.set(name, "inactive")
    return await stage.api.post(f"/workflows/{name}/pause")


@route("pause_workflow", "unknown_node")
async def paused_before_nothing(stage: Stage, _route: Route) -> Answered:
    name = await stage.saved(form())
    return await stage.api.post(f"/workflows/{name}/pause", {"before": "nowhere"})


@route("pause_workflow", "too_many_breakpoints")
async def paused_too_often(stage: Stage, _route: Route) -> Answered:
    name = await stage.saved({"id": "each", "type": "loop", "times": 200, "body": [form()]})
    for number in range(100):
        await stage.engine.workflow_status.set_breakpoint(name, f"ask:each.{number}")
    return await stage.api.post(f"/workflows/{name}/pause", {"before": "ask:each.100"})


@route("clear_workflow_breakpoint", 200)
async def breakpoint_cleared(stage: Stage, _route: Route) -> Answered:
    name = await stage.saved(form())
    held = await stage.api.post(f"/workflows/{name}/pause", {"before": "ask", "reason": "look"})
    assert (held.json["state"], held.json["breakpoints"]) == ("active", {"ask": "look"})
    assert (await stage.api.get(f"/workflows/{name}")).json["breakpoints"] == {"ask": "look"}
    return await stage.api.delete(f"/workflows/{name}/breakpoints?node=ask")


@route("clear_workflow_breakpoint", "unknown_breakpoint")
async def no_breakpoint_to_clear(stage: Stage, _route: Route) -> Answered:
    name = await stage.saved(form())
    return await stage.api.delete(f"/workflows/{name}/breakpoints")


@route("clear_workflow_resume", 200)
async def made_to_last(stage: Stage, route: Route) -> Answered:
    name = await stage.saved(form())
    paused = await stage.api.post(f"/workflows/{name}/pause", {"until_cron": "@daily", "zone": "Europe/Berlin"})
    assert paused.json["resume_at"] is not None
    return await stage.api.ask(route.method, asked(route, name=name).path)


@route("resume_workflow", "wrong_state")
async def ended_a_pause_that_is_not(stage: Stage, _route: Route) -> Answered:
    return await stage.api.post(f"/workflows/{await stage.saved(form())}/resume", {"on": {"signal": "opened"}})


@route("clear_workflow_resume", "wrong_state")
async def made_to_last_what_is_not_paused(stage: Stage, _route: Route) -> Answered:
    return await stage.api.ask("DELETE", f"/workflows/{await stage.saved(form())}/resume")


# Trying out


async def _played(stage: Stage, route: Route, *nodes: dict[str, Any], body: dict[str, Any], **fields: Any) -> Answered:
    """Play nodes: as a workflow that is kept, or as a definition that is not."""
    if route.name == "dry_run_definition":
        definition = msgspec.json.encode(flow(*nodes, name=stage.name(), **fields)).decode()
        return await stage.api.post("/workflows/dry-run", {**body, "definition": definition})
    return await stage.api.post(f"/workflows/{await stage.saved(*nodes, **fields)}/dry-run", body)


@route("dry_run", 200)
@route("dry_run_definition", 200)
async def played(stage: Stage, route: Route) -> Answered:
    return await _played(stage, route, form(), end("done"), body={"answers": {"ask": {}}})


@route("dry_run_definition", "invalid_definition")
async def played_what_cannot_be(stage: Stage, _route: Route) -> Answered:
    return await stage.api.post("/workflows/dry-run", {"definition": "name: x"})


@route("dry_run", "unknown_version")
async def played_a_version_that_is_not_there(stage: Stage, route: Route) -> Answered:
    return await _played(stage, route, end("done"), body={"version": 2})


@route("dry_run", "invalid_input")
@route("dry_run_definition", "invalid_input")
async def played_with_something_else(stage: Stage, route: Route) -> Answered:
    return await _played(stage, route, end("done"), body={"input": {"order": "seven"}}, input=NUMBERED)


@route("dry_run", "payload_reserved")
@route("dry_run_definition", "payload_reserved")
async def played_with_a_reference(stage: Stage, route: Route) -> Answered:
    return await _played(stage, route, end("done"), body={"input": {"$secret": "KEY"}})


@route("dry_run", "invalid_answer")
@route("dry_run_definition", "invalid_answer")
async def played_without_a_decision(stage: Stage, route: Route) -> Answered:
    return await _played(stage, route, approval(), body={"answers": {"review": "perhaps"}})


@route("dry_run", "comment_required")
@route("dry_run_definition", "comment_required")
async def played_without_a_comment(stage: Stage, route: Route) -> Answered:
    said = {"approved": False, "comment": " "}
    return await _played(stage, route, approval(comment="required"), body={"answers": {"review": said}})


@route("dry_run", "too_many_steps")
@route("dry_run_definition", "too_many_steps")
async def played_without_an_end(stage: Stage, route: Route) -> Answered:
    return await _played(stage, route, ENDLESS, body={})
