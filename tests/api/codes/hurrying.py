"""What is answered to whoever ends waits for time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.api.codes.registry import asked, route
from tests.runtime.harness import call, end, form, until_status

if TYPE_CHECKING:
    from layover.api.routing import Route
    from tests.api.codes.stage import Stage
    from tests.api.harness import Answered

NAP: dict[str, Any] = {"id": "nap", "type": "delay", "duration": "3d"}
RETRIED = {"max_attempts": 5, "delay": "1d", "max_delay": "1d"}


async def _failed(stage: Stage) -> str:
    """Return an execution whose node is to be tried again tomorrow."""
    name = await stage.saved({**call("a"), "retry": RETRIED})
    execution = await stage.engine.executions.start(name)
    (await stage.work.begun()).raises(ValueError("no"))
    await until_status(stage.engine, execution.id, "waiting")
    return execution.id


@route("run_now", 200)
async def run_at_once(stage: Stage, _route: Route) -> Answered:
    begun = await stage.begun(NAP)
    answered = await stage.api.post(f"/executions/{begun.id}/run-now", {"context_id": "nap", "reason": "now"})
    assert (await stage.engine.executions.wait(begun.id)).status == "completed"
    return answered


@route("cancel_retry", 200)
async def tried_no_more(stage: Stage, _route: Route) -> Answered:
    id_ = await _failed(stage)
    answered = await stage.api.post(f"/executions/{id_}/cancel-retry", {"context_id": "a"})
    assert (await stage.engine.executions.wait(id_)).status == "failed"
    return answered


@route("list_retries", 200)
async def retries_listed(stage: Stage, _route: Route) -> Answered:
    id_ = await _failed(stage)
    answered = await stage.api.get("/retries")
    found = {one["execution_id"]: one for one in answered.json["items"]}
    assert (found[id_]["context_id"], found[id_]["failures"]) == ("a", 1)
    return answered


@route("list_retries", "malformed_cursor")
async def retries_listed_from_nowhere(stage: Stage, _route: Route) -> Answered:
    return await stage.api.get("/retries?cursor=nowhere")


@route("run_now", "wrong_state")
@route("cancel_retry", "wrong_state")
async def hurried_too_late(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(form(), end("done"))
    return await stage.api.post(asked(route, id=begun.id).path, {"context_id": "ask"})


@route("run_now", "unknown_node")
@route("cancel_retry", "unknown_node")
async def hurried_nowhere(stage: Stage, route: Route) -> Answered:
    begun = await stage.begun(NAP)
    return await stage.api.post(asked(route, id=begun.id).path, {"context_id": "nowhere"})
