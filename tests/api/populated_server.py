"""A server with something of everything that a path can name, and for each act one that nothing else is done to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from layover.api.openapi_examples import DEFINITION
from layover.api.routes import ROUTES
from layover.core.ids import trigger_id
from tests.api.acting import points_of, resting
from tests.runtime.harness import Held, call, flow, until_status

if TYPE_CHECKING:
    from layover.api.routing import Route
    from tests.api.harness import Api

EXECUTION: Final = "0195f2a6-7c00-7000-8000-5d1e0f3a9b42"  # as the document has it for an example

# Nobody is called, and anybody may decide.
_INSTEAD: Final[dict[str, dict[str, Any]]] = {
    "pay": {"id": "pay", "type": "set", "values": {"paid": True}},
    "review": {"id": "review", "type": "approval", "title": "May we?"},
}
_ORDER: Final = {**DEFINITION, "nodes": [_INSTEAD.get(node["id"], node) for node in DEFINITION["nodes"]]}
_GIVEN: Final = {"amount": 250}
_FAILS: Final = flow({"id": "share", "type": "compute", "output": "${input.amount / 0}"}, name="fails")
_PRINTS: Final = flow(
    {"id": "print", "type": "callback", "call": "work", "input": {"token": "${callback.token}"}}, name="prints"
)
_DAILY: Final = {"name": "daily", "type": "schedule", "every": "1d"}
_POLL: Final = {"name": "daily", "type": "poll", "source": "nobody_has_it", "every": "1d"}
_HOOK: Final = {"name": "paid", "type": "webhook", "verify": {"scheme": "none"}}


async def populate(api: Api, work: Held) -> dict[str, dict[str, str]]:
    """Have something there for every operation, and return what its path is filled in with."""
    await api.engine.workflows.register(_ORDER)
    await api.engine.executions.start("order", _GIVEN, id=EXECUTION, wait="rest")
    seen = (await api.engine.points.list(EXECUTION))[0].point.id
    return {route.name: await _path_of(api, work, route, seen) for route in ROUTES if "{" in route.path}


async def _path_of(api: Api, work: Held, route: Route, seen: str) -> dict[str, str]:
    """Return what the path of an operation is filled in with: what is only looked at is the same for all."""
    family, acts = route.path.removeprefix("/api/v1").removeprefix("/api").split("/")[1], route.method != "GET"
    if family == "workflows":
        has_its_name = route.method == "PUT" or route.name == "compare_workflow"
        name = f"order.{route.name}" if acts and not has_its_name else "order"
        await api.engine.workflows.register({**_ORDER, "name": name})
        await _hold_workflow(api, route, name)
        return {"workflow" if "{workflow}" in route.path else "name": name}
    if family in _OF_THEIR_OWN:
        return await _OF_THEIR_OWN[family](api, route)
    if route.name == "take_delivery_by_token":
        await api.engine.workflows.register({**_ORDER, "name": "order.token"})
        trigger = {**_HOOK, "name": "by_token", "verify": {"scheme": "token"}, "workflow": "order.token"}
        return {"token": (await api.post("/triggers", trigger)).json["address"].removeprefix("/hooks/t/")}
    if family == "hooks":
        await api.engine.workflows.register({**_ORDER, "name": "order.hook", "triggers": [_HOOK]})
        return {"workflow": "order.hook", "name": "paid"}
    if family == "callbacks":
        return {"token": await _token(api, work)}
    if route.name in _OF_POINTS:
        return await _point(api, route)
    if not acts:
        beside = {"get_pause_point_at": {"context": "review"}}.get(route.name, {})
        return {"id": EXECUTION if family == "executions" else seen, **beside}
    if route.name in ("run_now", "cancel_retry"):
        return {"id": await _waiting(api, work, route)}
    begun = await resting(api, _FAILS if route.name == "retry_execution" else _ORDER, _GIVEN)
    await _hold(api, route, begun["id"])
    if family == "resume":
        return {"workflow": "order", "execution": begun["id"], "context": "review"}
    return {"id": begun["id"] if family == "executions" else begun["points"]["review"]}


async def _hold_workflow(api: Api, route: Route, name: str) -> None:
    """Pause a workflow that is to be resumed, or set the breakpoint that is to be cleared."""
    if route.name in ("resume_workflow", "clear_workflow_resume"):
        await api.engine.workflow_status.pause(name)
    elif route.name == "clear_workflow_breakpoint":
        await api.engine.workflow_status.set_breakpoint(name, "review")


async def _hold(api: Api, route: Route, execution_id: str) -> None:
    """Pause an execution that is to be resumed, or set the breakpoint that is to be cleared."""
    if route.name in ("resume_execution", "clear_resume"):
        await api.engine.control.pause(execution_id)
    elif route.name == "clear_breakpoint":
        await api.engine.control.set_breakpoint(execution_id, "review")


async def _waiting(api: Api, work: Held, route: Route) -> str:
    """Return an execution whose node waits for time, or to be tried again."""
    retry = {"max_attempts": 5, "delay": "1d", "max_delay": "1d"}
    nodes: dict[str, dict[str, Any]] = {
        "run_now": {"id": "review", "type": "delay", "duration": "1d"},
        "cancel_retry": {**call("review"), "retry": retry},
    }
    await api.engine.workflows.register(flow(nodes[route.name], name=f"waits.{route.name}"))
    started = await api.engine.executions.start(f"waits.{route.name}")
    if route.name == "cancel_retry":
        (await work.begun()).raises(ValueError("no"))
    await until_status(api.engine, started.id, "waiting")
    return started.id


async def _point(api: Api, route: Route) -> dict[str, str]:
    """Return a point that stands as an operation needs it: asked about, answered, or applied and proved."""
    undo = "1d" if route.name == "take_back_answer" else "0s"
    nodes = [{**node, "undo": undo} if node["id"] == "review" else node for node in _ORDER["nodes"]]
    await api.engine.workflows.register({**_ORDER, "name": f"order.{route.name}", "nodes": nodes})
    start = {"workflow": f"order.{route.name}", "input": _GIVEN}
    started = await api.post("/executions", start, as_="ann:admin" if route.name == "ask_back" else "admin")
    await until_status(api.engine, started.json["id"], "paused")
    id_ = (await points_of(api, started.json["id"]))["review"]
    if route.name == "reply_back":
        await api.post(f"/pause-points/{id_}/ask", {"question": "Which cost centre is it?"}, as_="ann:admin")
    elif route.name != "ask_back":
        await api.post(f"/pause-points/{id_}/answer", {"approved": True})
    return {"id": id_, **({"user": "admin"} if route.name == "get_receipt" else {})}


async def _key(api: Api, route: Route) -> dict[str, str]:
    """Return a key of its own for an operation."""
    made = await api.post("/keys", {"name": route.name, "user": "fuzz", "roles": ["viewer"]})
    return {"id": str(made.json["id"])}


async def _session(api: Api, route: Route) -> dict[str, str]:
    """Return a session of its own for an operation."""
    await api.post("/session", {"key": await api.key_of(f"{route.name}:viewer")}, as_="")
    found = (await api.get(f"/sessions?user={route.name}")).json["items"]
    return {"id": str(found[0]["id"])}


async def _trigger(api: Api, route: Route) -> dict[str, str]:
    """Return a trigger of its own for an operation, and an input that was rejected if it is about one."""
    name = f"daily.{route.name}"
    trigger = _POLL if route.name == "rewind_trigger" else _DAILY
    await api.engine.workflows.register({**_ORDER, "name": name, "input": {"type": "object"}, "triggers": [trigger]})
    path = {"id": trigger_id(name, "daily")}
    if route.name in ("update_trigger", "delete_trigger", "rotate_trigger_token"):
        token = {**_HOOK, "name": "nightly", "verify": {"scheme": "token"}, "workflow": name}
        return {"id": (await api.post("/triggers", token)).json["id"]}
    if route.name == "resume_trigger":
        await api.post(f"/triggers/{path['id']}/pause")
    if "{input}" in route.path:
        await api.post(f"/triggers/{path['id']}/fire", {"id": "wrong", "data": "no object"})
        path["input"] = "wrong"
    return path


async def _destination(api: Api, route: Route) -> dict[str, str]:
    """Return a destination of its own for an operation."""
    name = f"erp.{route.name}"
    await api.post("/destinations", {"name": name, "kind": "webhook", "address": "https://erp.example/hook"})
    return {"name": name}


async def _person(api: Api, route: Route) -> dict[str, str]:
    """Return a person of its own for an operation."""
    await api.ask("PUT", f"/people/user.{route.name}", {"addresses": {"mail": "ada@example.com"}})
    return {"user": f"user.{route.name}"}


async def _delivery(api: Api, route: Route) -> dict[str, str]:
    """Return a delivery of its own for an operation: pending, since its destination is disabled, or settled."""
    name = f"told.{route.name}"
    await api.post("/destinations", {"name": name, "kind": "webhook", "address": "https://erp.example/hook"})
    await api.post(f"/destinations/{name}/disable")
    notify = [{"on": ["pause.opened"], "via": name}]
    await api.engine.workflows.register({**_ORDER, "name": name, "notify": notify})
    await api.engine.executions.start(name, _GIVEN)
    while True:
        found = (await api.get(f"/deliveries?destination={name}")).json["items"]
        if found:
            break
    if route.name == "redeliver":
        await api.post(f"/deliveries/{found[0]['id']}/discard")
    return {"id": str(found[0]["id"])}


async def _batch(api: Api, route: Route) -> dict[str, str]:
    """Return a batch of its own for an operation, which watches its canary for a day."""
    workflow = f"order.{route.name}"
    await api.engine.workflows.register({**_ORDER, "name": workflow})
    for _ in range(2):
        await api.engine.executions.start(workflow, _GIVEN, wait="rest")
    asked = {"act": "pause", "where": {"workflow": workflow}, "canary": {"share": 0.5, "watch": "1d"}}
    id_ = str((await api.post("/batches", asked)).json["id"])
    if route.name in ("continue_batch", "delete_batch"):
        await api.post(f"/batches/{id_}/stop")
    return {"id": id_}


_OF_THEIR_OWN: Final = {
    "triggers": _trigger,
    "destinations": _destination,
    "deliveries": _delivery,
    "batches": _batch,
    "people": _person,
    "sessions": _session,
    "keys": _key,
}
_OF_POINTS: Final = ("ask_back", "reply_back", "take_back_answer", "get_receipt", "get_own_receipt")


async def _token(api: Api, work: Held) -> str:
    """Return the token of a callback that is waited for."""
    await api.engine.workflows.register(_PRINTS)
    started = await api.engine.executions.start("prints")
    made = await work.begun()
    made.returns()
    await until_status(api.engine, started.id, "waiting")
    return str(made.given["token"])
