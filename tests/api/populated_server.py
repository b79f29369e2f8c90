"""A server with something of everything that a path can name, and for each act one that nothing else is done to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from layover.api.openapi_examples import DEFINITION
from layover.api.routes import ROUTES
from layover.core.ids import trigger_id
from tests.api.acting import resting
from tests.runtime.harness import Held, flow, until_status

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
        name = f"order.{route.name}" if acts and route.method != "PUT" else "order"  # what is put has its name
        await api.engine.workflows.register({**_ORDER, "name": name})
        if route.name in ("resume_workflow", "clear_workflow_resume"):
            await api.engine.workflow_status.pause(name)
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
    if family == "keys":
        made = await api.post("/keys", {"name": route.name, "user": "fuzz", "roles": ["viewer"]})
        return {"id": str(made.json["id"])}
    if route.name == "get_pause_point_at":
        return {"id": EXECUTION, "context": "review"}
    if not acts:
        return {"id": EXECUTION if family == "executions" else seen}
    begun = await resting(api, _FAILS if route.name == "retry_execution" else _ORDER, _GIVEN)
    if route.name in ("resume_execution", "clear_resume"):
        await api.engine.control.pause(begun["id"])
    if family == "resume":
        return {"workflow": "order", "execution": begun["id"], "context": "review"}
    return {"id": begun["id"] if family == "executions" else begun["points"]["review"]}


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


_OF_THEIR_OWN: Final = {
    "triggers": _trigger,
    "destinations": _destination,
    "deliveries": _delivery,
    "people": _person,
}


async def _token(api: Api, work: Held) -> str:
    """Return the token of a callback that is waited for."""
    await api.engine.workflows.register(_PRINTS)
    started = await api.engine.executions.start("prints")
    call = await work.begun()
    call.returns()
    await until_status(api.engine, started.id, "waiting")
    return str(call.given["token"])
