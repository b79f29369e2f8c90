"""What is answered to who makes batches, looks at them, or stops them. No instance of these servers works on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from layover.ports.batch_records import BatchChange
from tests.api.codes.registry import any_route, asked, route
from tests.runtime.harness import end

if TYPE_CHECKING:
    from layover.api.routing import Route
    from tests.api.codes.stage import Stage
    from tests.api.harness import Answered

BODY: dict[str, Any] = {"act": "pause", "where": {"workflow": "order"}}


async def _batch(stage: Stage) -> str:
    return str((await stage.api.post("/batches", BODY)).json["id"])


async def _ended(stage: Stage) -> str:
    id_ = await _batch(stage)
    change = BatchChange(id=id_, of=("collecting",), state="completed", at=1)
    await stage.api.engine.instance.store.batches.change(change)
    return id_


async def _ask(stage: Stage, route: Route, body: Any = None, **path: str) -> Answered:
    return await stage.api.ask(route.method, asked(route, **path).path, body)


@any_route("unknown_batch")
async def made_up(stage: Stage, route: Route) -> Answered:
    request = asked(route)
    return await stage.api.ask(request.method, request.path, request.body)


@route("create_batch", 202)
@route("list_batches", 200)
async def of_all(stage: Stage, route: Route) -> Answered:
    return await _ask(stage, route, BODY if route.method == "POST" else None)


@route("create_batch", 200)
async def counted(stage: Stage, route: Route) -> Answered:
    return await _ask(stage, route, {**BODY, "dry_run": True})


@route("create_batch", "malformed_id")
async def no_id(stage: Stage, route: Route) -> Answered:
    return await _ask(stage, route, {"act": "pause", "where": {"ids": ["seven"]}})


@route("create_batch", "invalid_filter")
async def no_condition(stage: Stage, route: Route) -> Answered:
    return await _ask(stage, route, {"act": "pause", "where": {"where": ["nonsense"]}})


@route("create_batch", "unknown_version")
async def no_version(stage: Stage, route: Route) -> Answered:
    return await _ask(stage, route, {"act": "move", "where": {"workflow": "nowhere"}, "with": {"version": 1}})


@route("create_batch", "unknown_node")
async def no_node(stage: Stage, route: Route) -> Answered:
    name = await stage.saved(end("done"))
    body = {"act": "move", "where": {"workflow": name}, "with": {"version": 1, "map": {"ask": "nowhere"}}}
    return await _ask(stage, route, body)


@route("get_batch", 200)
@route("list_batch_items", 200)
@route("stop_batch", 200)
async def of_one(stage: Stage, route: Route) -> Answered:
    return await _ask(stage, route, {} if route.method == "POST" else None, id=await _batch(stage))


@route("continue_batch", 200)
@route("delete_batch", 204)
async def of_a_stopped_one(stage: Stage, route: Route) -> Answered:
    id_ = await _batch(stage)
    await stage.api.post(f"/batches/{id_}/stop")
    return await _ask(stage, route, {} if route.method == "POST" else None, id=id_)


@route("stop_batch", "wrong_state")
@route("continue_batch", "wrong_state")
async def of_a_completed_one(stage: Stage, route: Route) -> Answered:
    return await _ask(stage, route, {}, id=await _ended(stage))


@route("continue_batch", "not_allowed")
async def of_answers_of_another(stage: Stage, route: Route) -> Answered:
    body = {"act": "answer", "where": {"workflow": "order", "node": "ask"}, "with": {"data": 1}}
    id_ = str((await stage.api.post("/batches", body, as_="ann:approver")).json["id"])
    await stage.api.post(f"/batches/{id_}/stop")
    return await _ask(stage, route, {}, id=id_)


@route("delete_batch", "wrong_state")
async def of_one_that_is_not_over(stage: Stage, route: Route) -> Answered:
    return await _ask(stage, route, id=await _batch(stage))
