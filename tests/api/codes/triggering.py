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
async def no_cursor(stage: Stage, route: Route) -> Answered:
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
