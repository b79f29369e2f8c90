"""What is answered to who looks at destinations, deliveries and people, or changes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from layover.ports.delivery_records import DeliveryChange
from tests.api.codes.registry import any_route, asked, route

if TYPE_CHECKING:
    from layover.api.routing import Route
    from tests.api.codes.stage import Stage
    from tests.api.harness import Answered

HOOK: dict[str, Any] = {"kind": "webhook", "address": "https://erp.example/hook"}


async def _destination(stage: Stage) -> str:
    name = stage.name()
    await stage.api.post("/destinations", {**HOOK, "name": name})
    return name


async def _of_another(stage: Stage) -> str:
    """Return a destination that the settings of another instance have: only its row is known here."""
    name = stage.name()
    await stage.api.engine.instance.store.deliveries.set_destination_state(name, "active", "", 1)
    return name


async def _delivery(stage: Stage) -> str:
    """Return a delivery that stays pending: its destination is disabled."""
    name = await _destination(stage)
    await stage.api.post(f"/destinations/{name}/disable")
    nodes = [{"id": "ok", "type": "approval"}]
    definition = {"name": name, "nodes": nodes, "notify": [{"on": ["pause.opened"], "via": name}]}
    await stage.api.engine.workflows.register(definition)
    await stage.api.engine.executions.start(name)
    while True:
        found = (await stage.api.get(f"/deliveries?destination={name}")).json["items"]
        if found:
            return str(found[0]["id"])


async def _ask(stage: Stage, route: Route, body: Any = None, **path: str) -> Answered:
    return await stage.api.ask(route.method, asked(route, **path).path, body)


@any_route("unknown_destination")
@any_route("unknown_delivery")
@any_route("unknown_person")
async def made_up(stage: Stage, route: Route) -> Answered:
    path = {name: "nowhere" for name in ("name", "user") if f"{{{name}}}" in route.path}
    body = {**HOOK, "name": "nowhere"} if route.method == "PUT" else asked(route).body
    return await stage.api.ask(route.method, asked(route, **path).path, body)


@route("list_destinations", 200)
@route("list_deliveries", 200)
@route("list_people", 200)
@route("redeliver_all", 200)
async def of_all(stage: Stage, route: Route) -> Answered:
    return await _ask(stage, route, {"where": {"destination": stage.name()}} if route.method == "POST" else None)


@route("redeliver_all", "malformed_cursor")
async def no_cursor(stage: Stage, route: Route) -> Answered:
    return await _ask(stage, route, {"where": {"cursor": "nonsense!"}})


@route("redeliver_all", "malformed_id")
async def no_id(stage: Stage, route: Route) -> Answered:
    return await _ask(stage, route, {"where": {"execution_id": "seven"}})


@route("create_destination", 201)
async def created(stage: Stage, route: Route) -> Answered:
    return await _ask(stage, route, {**HOOK, "name": stage.name()})


@route("create_destination", "destination_exists")
async def created_twice(stage: Stage, route: Route) -> Answered:
    return await _ask(stage, route, {**HOOK, "name": await _destination(stage)})


@route("create_destination", "invalid_definition")
@route("update_destination", "invalid_definition")
async def of_no_use(stage: Stage, route: Route) -> Answered:
    name = stage.name() if route.method == "POST" else await _destination(stage)
    path = {} if route.method == "POST" else {"name": name}
    return await _ask(stage, route, {**HOOK, "name": name, "address": "ftp://erp.example"}, **path)


@route("update_destination", 200)
async def updated(stage: Stage, route: Route) -> Answered:
    name = await _destination(stage)
    return await _ask(stage, route, {**HOOK, "name": name, "rate": "1/s"}, name=name)


@route("get_destination", 200)
@route("delete_destination", 204)
@route("test_destination", 200)
@route("enable_destination", 200)
@route("disable_destination", 200)
async def of_one(stage: Stage, route: Route) -> Answered:
    return await _ask(stage, route, {} if route.method == "POST" else None, name=await _destination(stage))


@route("update_destination", "managed_by_settings")
@route("delete_destination", "managed_by_settings")
async def of_the_settings(stage: Stage, route: Route) -> Answered:
    name = await _of_another(stage)
    return await _ask(stage, route, {**HOOK, "name": name} if route.method == "PUT" else None, name=name)


@route("get_delivery", 200)
@route("discard_delivery", 200)
async def of_a_delivery(stage: Stage, route: Route) -> Answered:
    return await _ask(stage, route, {} if route.method == "POST" else None, id=await _delivery(stage))


@route("redeliver", 200)
@route("discard_delivery", "wrong_state")
async def of_a_settled_one(stage: Stage, route: Route) -> Answered:
    id_ = await _delivery(stage)
    await stage.api.post(f"/deliveries/{id_}/discard")
    if route.name == "discard_delivery":
        change = DeliveryChange(id=id_, of=("discarded",), state="moot", at=1)
        await stage.api.engine.instance.store.deliveries.change(change)
    return await _ask(stage, route, {}, id=id_)


@route("redeliver", "wrong_state")
async def pending(stage: Stage, route: Route) -> Answered:
    return await _ask(stage, route, {}, id=await _delivery(stage))


@route("redeliver", "delivery_emptied")
async def no_longer_kept(stage: Stage, route: Route) -> Answered:
    id_ = await _delivery(stage)
    await stage.api.post(f"/deliveries/{id_}/discard")
    await stage.api.engine.instance.store.deliveries.delete_old(2**52, 0, 1_000_000)
    return await _ask(stage, route, {}, id=id_)


@route("get_person", 200)
@route("delete_person", 204)
async def of_a_person(stage: Stage, route: Route) -> Answered:
    user = stage.name()
    await stage.api.ask("PUT", f"/people/{user}", {"addresses": {"mail": "ada@example.com"}})
    return await _ask(stage, route, user=user)


@route("save_person", 200)
async def saved(stage: Stage, route: Route) -> Answered:
    return await _ask(stage, route, {"roles": ["finance"]}, user=stage.name())
