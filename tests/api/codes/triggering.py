"""What is answered to whoever looks at triggers, operates them, or delivers to a webhook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from layover.core.ids import trigger_id
from tests.api.codes.registry import asked, route
from tests.runtime.harness import end, flow

if TYPE_CHECKING:
    from layover.api.routing import Route
    from tests.api.codes.stage import Stage
    from tests.api.harness import Answered

SCHEDULE: dict[str, Any] = {"name": "t", "type": "schedule", "every": "1h"}
SIGNAL: dict[str, Any] = {"name": "t", "type": "signal", "signal": "never.sent"}
POLL: dict[str, Any] = {"name": "t", "type": "poll", "source": "nobody_has_it"}
HOOK: dict[str, Any] = {"name": "t", "type": "webhook", "verify": {"scheme": "none"}}
TOKEN: dict[str, Any] = {"name": "t", "type": "webhook", "verify": {"scheme": "token"}}
SIGNED: dict[str, Any] = {"name": "t", "type": "webhook", "verify": {"scheme": "github", "secret": "NOBODY_HAS_IT"}}
RANGE = {"from": "2026-01-01", "to": "2026-01-01T02:00"}


async def _made(stage: Stage, trigger: dict[str, Any], **more: Any) -> tuple[str, str]:
    """Register a workflow with a trigger; return its name and the id of the trigger."""
    name = stage.name()
    secrets = ["NOBODY_HAS_IT"] if trigger is SIGNED else []
    definition = {**flow(end("done"), name=name), "secrets": secrets, "triggers": [{**trigger, **more}]}
    await stage.api.engine.workflows.register(definition)
    return name, trigger_id(name, "t")


async def _stopped(stage: Stage) -> str:
    name, id_ = await _made(stage, SCHEDULE)
    await stage.api.engine.workflows.register(flow(end("done"), name=name))
    return id_


async def _ask(stage: Stage, route: Route, id_: str, body: Any = None, **path: str) -> Answered:
    return await stage.api.ask(route.method, asked(route, id=id_, **path).path, body)


@route("list_triggers", 200)
async def listed(stage: Stage, _route: Route) -> Answered:
    name, _ = await _made(stage, SCHEDULE)
    answered = await stage.api.get(f"/triggers?workflow={name}")
    assert len(answered.json["items"]) == 1
    return answered


@route("get_trigger", 200)
@route("list_trigger_inputs", 200)
@route("trigger_history", 200)
@route("next_occurrences", 200)
@route("why_trigger", 200)
@route("pause_trigger", 200)
@route("fire_trigger", 200)
async def of_a_schedule(stage: Stage, route: Route) -> Answered:
    _, id_ = await _made(stage, SCHEDULE)
    return await _ask(stage, route, id_, {} if route.method == "POST" else None)


@route("resume_trigger", 200)
async def gone_on(stage: Stage, route: Route) -> Answered:
    _, id_ = await _made(stage, SCHEDULE)
    await stage.api.post(f"/triggers/{id_}/pause")
    return await _ask(stage, route, id_, {"catch_up": True})


@route("resume_trigger", "wrong_state")
async def not_paused(stage: Stage, route: Route) -> Answered:
    _, id_ = await _made(stage, SCHEDULE)
    return await _ask(stage, route, id_, {})


@route("next_occurrences", "wrong_state")
@route("pause_trigger", "wrong_state")
@route("fire_trigger", "wrong_state")
async def removed(stage: Stage, route: Route) -> Answered:
    return await _ask(stage, route, await _stopped(stage), {} if route.method == "POST" else None)


@route("backfill_trigger", "wrong_state")
async def nothing_to_fill(stage: Stage, route: Route) -> Answered:
    return await _ask(stage, route, await _stopped(stage), RANGE)


@route("backfill_trigger", 200)
async def filled(stage: Stage, route: Route) -> Answered:
    _, id_ = await _made(stage, SCHEDULE)
    answered = await _ask(stage, route, id_, RANGE)
    assert len(answered.json["items"]) == 2
    return answered


@route("backfill_trigger", "invalid_input")
async def no_time(stage: Stage, route: Route) -> Answered:
    _, id_ = await _made(stage, SCHEDULE)
    return await _ask(stage, route, id_, {**RANGE, "to": "soon"})


@route("rewind_trigger", 200)
async def rewound(stage: Stage, route: Route) -> Answered:
    _, id_ = await _made(stage, POLL)
    answered = await _ask(stage, route, id_, {"cursor": "17"})
    assert answered.json["cursor"] == "17"
    return answered


@route("rewind_trigger", "not_a_poll")
async def nothing_polled(stage: Stage, route: Route) -> Answered:
    _, id_ = await _made(stage, SCHEDULE)
    return await _ask(stage, route, id_, {"cursor": "17"})


@route("rewind_trigger", "invalid_input")
async def long_cursor(stage: Stage, route: Route) -> Answered:
    _, id_ = await _made(stage, POLL)
    return await _ask(stage, route, id_, {"cursor": "ä" * 8_001})


@route("rewind_trigger", "wrong_state")
async def nothing_to_rewind(stage: Stage, route: Route) -> Answered:
    return await _ask(stage, route, await _stopped(stage), {"cursor": None})


@route("next_occurrences", "not_a_schedule")
async def no_times(stage: Stage, route: Route) -> Answered:
    _, id_ = await _made(stage, SIGNAL)
    return await _ask(stage, route, id_)


@route("backfill_trigger", "not_a_schedule")
async def no_past(stage: Stage, route: Route) -> Answered:
    _, id_ = await _made(stage, SIGNAL)
    return await _ask(stage, route, id_, RANGE)


@route("fire_trigger", "trigger_full")
async def too_many(stage: Stage, route: Route) -> Answered:
    name, id_ = await _made(stage, HOOK, max_pending=1)
    await stage.api.post(f"/triggers/{id_}/pause")
    await stage.api.post(f"/hooks/{name}/t", as_="")
    return await _ask(stage, route, id_, {})


@route("replay_input", 200)
@route("discard_input", 200)
async def rejected_before(stage: Stage, route: Route) -> Answered:
    _, id_ = await _made(stage, SCHEDULE, input="${trigger.data.nothing}")
    await stage.api.post(f"/triggers/{id_}/fire", {"id": "bad"})
    return await _ask(stage, route, id_, {}, input="bad")


@route("replay_input", "wrong_state")
@route("discard_input", "wrong_state")
async def started_before(stage: Stage, route: Route) -> Answered:
    _, id_ = await _made(stage, SCHEDULE)
    await stage.api.post(f"/triggers/{id_}/fire", {"id": "good"})
    return await _ask(stage, route, id_, {}, input="good")


@route("replay_input", "unknown_input")
@route("discard_input", "unknown_input")
async def never_received(stage: Stage, route: Route) -> Answered:
    _, id_ = await _made(stage, SCHEDULE)
    return await _ask(stage, route, id_, {}, input="never")


# Triggers that belong to no definition


async def _bare(stage: Stage) -> str:
    name = stage.name()
    await stage.api.engine.workflows.register(flow(end("done"), name=name))
    return name


async def _alone(stage: Stage, trigger: dict[str, Any]) -> str:
    answered = await stage.api.post("/triggers", {**trigger, "workflow": await _bare(stage)})
    assert answered.status == 201, answered.body
    return str(answered.json["id"])


@route("create_trigger", 201)
async def created(stage: Stage, _route: Route) -> Answered:
    return await stage.api.post("/triggers", {**SCHEDULE, "workflow": await _bare(stage)})


@route("create_trigger", "malformed")
async def no_object(stage: Stage, _route: Route) -> Answered:
    return await stage.api.post("/triggers", ["t"])


@route("create_trigger", "invalid_body")
async def of_no_workflow(stage: Stage, _route: Route) -> Answered:
    return await stage.api.post("/triggers", SCHEDULE)


@route("create_trigger", "invalid_definition")
async def not_possible(stage: Stage, _route: Route) -> Answered:
    answered = await stage.api.post("/triggers", {**SCHEDULE, "cron": "* *", "workflow": await _bare(stage)})
    assert {one["path"] for one in answered.json["errors"]} <= {"$", "$.cron", "$.every"}
    return answered


@route("create_trigger", "unknown_workflow")
async def of_unknown_workflow(stage: Stage, _route: Route) -> Answered:
    return await stage.api.post("/triggers", {**SCHEDULE, "workflow": stage.name()})


@route("create_trigger", "trigger_path_conflict")
async def of_taken_name(stage: Stage, _route: Route) -> Answered:
    name, _ = await _made(stage, SCHEDULE)
    return await stage.api.post("/triggers", {**SCHEDULE, "workflow": name})


@route("save_workflow", "trigger_path_conflict")
@route("put_workflow", "trigger_path_conflict")
async def definition_with_taken_name(stage: Stage, route: Route) -> Answered:
    name = await _bare(stage)
    await stage.api.post("/triggers", {**SCHEDULE, "workflow": name})
    definition = {**flow(end("done"), name=name), "triggers": [SCHEDULE]}
    return await stage.api.ask(route.method, asked(route, name=name).path, definition)


@route("update_trigger", 200)
async def updated(stage: Stage, route: Route) -> Answered:
    return await _ask(stage, route, await _alone(stage, SCHEDULE), {**SCHEDULE, "every": "2h"})


@route("update_trigger", "malformed")
async def update_is_no_object(stage: Stage, route: Route) -> Answered:
    return await _ask(stage, route, await _alone(stage, SCHEDULE), "t")


@route("update_trigger", "invalid_definition")
async def update_of_another_name(stage: Stage, route: Route) -> Answered:
    return await _ask(stage, route, await _alone(stage, SCHEDULE), {**SCHEDULE, "name": "other"})


@route("update_trigger", "unknown_trigger")
async def update_of_nothing(stage: Stage, route: Route) -> Answered:
    return await _ask(stage, route, trigger_id(stage.name(), "t"), SCHEDULE)


@route("update_trigger", "unknown_workflow")
async def workflow_is_gone(stage: Stage, route: Route) -> Answered:
    name = await _bare(stage)
    await stage.api.post("/triggers", {**SCHEDULE, "workflow": name})
    await stage.api.ask("DELETE", f"/workflows/{name}")
    return await _ask(stage, route, trigger_id(name, "t"), SCHEDULE)


@route("delete_trigger", 204)
async def deleted(stage: Stage, route: Route) -> Answered:
    return await _ask(stage, route, await _alone(stage, SCHEDULE))


@route("update_trigger", "managed_by_definition")
@route("delete_trigger", "managed_by_definition")
async def of_a_definition(stage: Stage, route: Route) -> Answered:
    _, id_ = await _made(stage, SCHEDULE)
    return await _ask(stage, route, id_, SCHEDULE if route.method == "PUT" else None)


@route("rotate_trigger_token", 200)
async def rotated(stage: Stage, route: Route) -> Answered:
    answered = await _ask(stage, route, await _alone(stage, TOKEN), {"grace": "1h"})
    assert answered.json["address"].startswith("/hooks/t/")
    return answered


@route("rotate_trigger_token", "no_token")
async def without_token(stage: Stage, route: Route) -> Answered:
    return await _ask(stage, route, await _alone(stage, SCHEDULE), {})


@route("rotate_trigger_token", "unknown_workflow")
async def token_of_a_deleted_workflow(stage: Stage, route: Route) -> Answered:
    name = await _bare(stage)
    await stage.api.post("/triggers", {**TOKEN, "workflow": name})
    await stage.api.ask("DELETE", f"/workflows/{name}")
    return await _ask(stage, route, trigger_id(name, "t"), {})


@route("replay_inputs", 200)
async def all_replayed(stage: Stage, route: Route) -> Answered:
    _, id_ = await _made(stage, SCHEDULE, input="${trigger.data.nothing}")
    await stage.api.post(f"/triggers/{id_}/fire", {"id": "bad"})
    answered = await _ask(stage, route, id_, {"where": {"limit": 10}})
    assert answered.json == {"replayed": 1, "next": None}
    return answered


@route("replay_inputs", "malformed_cursor")
async def no_cursor(stage: Stage, route: Route) -> Answered:
    _, id_ = await _made(stage, SCHEDULE)
    return await _ask(stage, route, id_, {"where": {"cursor": "nonsense!"}})


@route("import_workflows", "trigger_path_conflict")
async def imported_with_taken_name(stage: Stage, _route: Route) -> Answered:
    name = stage.name()
    definition = {**flow(end("done"), name=name), "triggers": [SCHEDULE]}
    body = {"format": "layover/1", "workflows": [definition], "triggers": [{**SCHEDULE, "workflow": name}]}
    return await stage.api.post("/workflows/import", body)


@route("import_workflows", "unknown_workflow")
async def imported_for_unknown_workflow(stage: Stage, _route: Route) -> Answered:
    body = {"format": "layover/1", "workflows": [], "triggers": [{**SCHEDULE, "workflow": stage.name()}]}
    return await stage.api.post("/workflows/import", body)


# Deliveries


@route("take_delivery", 202)
async def accepted(stage: Stage, _route: Route) -> Answered:
    name, _ = await _made(stage, HOOK)
    return await stage.api.post(f"/hooks/{name}/t", {"a": 1}, as_="")


@route("take_delivery", 200)
async def filtered(stage: Stage, _route: Route) -> Answered:
    name, _ = await _made(stage, HOOK, filter="false")
    return await stage.api.post(f"/hooks/{name}/t", {"a": 1}, as_="")


@route("take_delivery", "bad_signature")
async def unsigned(stage: Stage, _route: Route) -> Answered:
    name, _ = await _made(stage, SIGNED)
    return await stage.api.post(f"/hooks/{name}/t", {"a": 1}, as_="")


@route("take_delivery", "malformed")
async def not_json(stage: Stage, _route: Route) -> Answered:
    name, _ = await _made(stage, HOOK)
    return await stage.api.ask("POST", f"/hooks/{name}/t", raw=b"{", as_="")


@route("take_delivery", "payload_reserved")
async def reserved(stage: Stage, _route: Route) -> Answered:
    name, _ = await _made(stage, HOOK)
    return await stage.api.post(f"/hooks/{name}/t", {"$secret": "KEY"}, as_="")


@route("take_delivery", "trigger_full")
async def full(stage: Stage, _route: Route) -> Answered:
    name, id_ = await _made(stage, HOOK, max_pending=1)
    await stage.api.post(f"/triggers/{id_}/pause")
    await stage.api.post(f"/hooks/{name}/t", {"n": 1}, as_="")
    return await stage.api.post(f"/hooks/{name}/t", {"n": 2}, as_="")


# Deliveries by a token


async def hook_token(stage: Stage) -> str:
    """Return a token with which deliveries are taken."""
    return (await _address(stage)).removeprefix("/hooks/t/")


async def _address(stage: Stage, **more: Any) -> str:
    answered = await stage.api.post("/triggers", {**TOKEN, **more, "workflow": await _bare(stage)})
    return str(answered.json["address"])


@route("take_delivery_by_token", 202)
async def accepted_by_token(stage: Stage, _route: Route) -> Answered:
    return await stage.api.post(await _address(stage), {"a": 1}, as_="")


@route("take_delivery_by_token", 200)
async def filtered_by_token(stage: Stage, _route: Route) -> Answered:
    return await stage.api.post(await _address(stage, filter="false"), {"a": 1}, as_="")


@route("take_delivery_by_token", "bad_signature")
async def no_token_in_a_workflow_t(stage: Stage, _route: Route) -> Answered:
    definition = {**flow(end("done"), name="t"), "secrets": ["NOBODY_HAS_IT"], "triggers": [SIGNED]}
    await stage.api.engine.workflows.register(definition)
    return await stage.api.post("/hooks/t/t", {"a": 1}, as_="")


@route("take_delivery_by_token", "malformed")
async def not_json_by_token(stage: Stage, _route: Route) -> Answered:
    return await stage.api.ask("POST", await _address(stage), raw=b"{", as_="")


@route("take_delivery_by_token", "payload_reserved")
async def reserved_by_token(stage: Stage, _route: Route) -> Answered:
    return await stage.api.post(await _address(stage), {"$secret": "KEY"}, as_="")


@route("take_delivery_by_token", "trigger_full")
async def full_by_token(stage: Stage, _route: Route) -> Answered:
    name = await _bare(stage)
    made = (await stage.api.post("/triggers", {**TOKEN, "max_pending": 1, "workflow": name})).json
    await stage.api.post(f"/triggers/{made['id']}/pause")
    await stage.api.post(made["address"], {"n": 1}, as_="")
    return await stage.api.post(made["address"], {"n": 2}, as_="")
