"""What is answered to systems that send signals and call back, to whoever makes keys, and to whoever looks after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from tests.api.codes.registry import asked, route
from tests.api.codes.stage import HEADER
from tests.api.harness import ADMIN_KEY

if TYPE_CHECKING:
    from layover.api.routing import Route
    from layover.runtime.dispatch.standby import StandbyRenewer
    from tests.api.codes.stage import Stage
    from tests.api.harness import Answered

KEY = {"name": "nightly import", "user": "ada", "roles": ["operator"]}


# Signals


@route("send_signal", 202)
async def sent(stage: Stage, _route: Route) -> Answered:
    return await stage.api.post("/signals", {"name": stage.name()})


@route("send_signal", 200)
async def sent_twice(stage: Stage, _route: Route) -> Answered:
    signal = {"name": "payment", "id": stage.name()}
    await stage.api.post("/signals", signal)
    answered = await stage.api.post("/signals", signal)
    assert answered.json["repeated"]
    return answered


@route("send_signal", "payload_reserved")
async def sent_with_a_reference(stage: Stage, _route: Route) -> Answered:
    return await stage.api.post("/signals", {"name": "payment", "data": {"$secret": "KEY"}})


# Callbacks


@route("call_back", 202)
@route("fail_callback", 202)
@route("beat", 202)
async def called_back(stage: Stage, route: Route) -> Answered:
    _, token = await stage.called()
    return await stage.api.post(route.path.replace("{token}", token), as_="")


@route("call_back", "token_used")
@route("fail_callback", "token_used")
@route("beat", "token_used")
async def called_back_too_late(stage: Stage, route: Route) -> Answered:
    execution, token = await stage.called()
    await stage.engine.control.cancel(execution)
    return await stage.api.post(route.path.replace("{token}", token), as_="")


@route("call_back", "invalid_body")
async def called_back_with_a_number_that_is_none(stage: Stage, route: Route) -> Answered:
    _, token = await stage.called()
    return await stage.api.ask("POST", asked(route, token=token).path, raw=b"1e999", as_="")


@route("call_back", "payload_reserved")
async def called_back_with_a_reference(stage: Stage, _route: Route) -> Answered:
    _, token = await stage.called()
    return await stage.api.post(f"/callbacks/{token}", {"$secret": "KEY"}, as_="")


# Keys


async def _made(stage: Stage) -> str:
    return str((await stage.api.post("/keys", KEY)).json["id"])


@route("sign_in", 201)
async def signed_in(stage: Stage, _route: Route) -> Answered:
    return await stage.api.post("/session", {"key": ADMIN_KEY}, as_="")


@route("get_session", 200)
@route("sign_out", 204)
async def asked_about_a_session(stage: Stage, route: Route) -> Answered:
    return await stage.api.ask(route.method, route.path)


@route("list_sessions", 200)
async def listed_sessions(stage: Stage, route: Route) -> Answered:
    await stage.api.post("/session", {"key": ADMIN_KEY}, as_="")
    return await stage.api.get(route.path)


@route("end_session", 204)
async def ended_a_session(stage: Stage, _route: Route) -> Answered:
    await stage.api.post("/session", {"key": ADMIN_KEY}, as_="")
    found = (await stage.api.get("/sessions")).json["items"][0]["id"]
    return await stage.api.delete(f"/sessions/{found}")


@route("create_sign_in_link", 201)
async def made_a_link(stage: Stage, _route: Route) -> Answered:
    return await stage.api.post("/sign-in-links", {"user": "ada", "roles": ["viewer"]})


@route("me", 200)
@route("audit", 200)
@route("list_keys", 200)
@route("list_secrets", 200)
async def looked_up(stage: Stage, route: Route) -> Answered:
    await _made(stage)
    return await stage.api.get(route.path)


@route("add_key", 201)
async def made(stage: Stage, _route: Route) -> Answered:
    return await stage.api.post("/keys", KEY)


@route("end_key", 204)
async def ended(stage: Stage, _route: Route) -> Answered:
    return await stage.api.delete(f"/keys/{await _made(stage)}")


@route("rotate_key", 201)
async def rotated(stage: Stage, _route: Route) -> Answered:
    return await stage.api.post(f"/keys/{await _made(stage)}/rotate")


# Health, and the document


@route("healthz", 200)
@route("readyz", 200)
@route("metrics", 200)
@route("openapi", 200)
@route("docs", 200)
@route("docs_script", 200)
@route("docs_style", 200)
async def shown(stage: Stage, route: Route) -> Answered:
    return await stage.api.get(route.path, as_="")


class _LetGo:
    has_let_go = True


@route("healthz", 503)
async def not_healthy(stage: Stage, route: Route) -> Answered:
    engine = stage.api.engine
    standby, engine._standby = engine._standby, cast("StandbyRenewer", _LetGo())  # noqa: SLF001 - slow to let go
    try:
        answered = await stage.api.get(route.path, as_="")
    finally:
        engine._standby = standby  # noqa: SLF001 - as above
    assert answered.json["status"] == "failing"
    return answered


@route("readyz", 503)
async def not_ready(stage: Stage, route: Route) -> Answered:
    answered = await stage.api.get(route.path, as_="", headers={HEADER: "unavailable"})
    assert {name for name, check in answered.json["checks"].items() if not check["ok"]} == {"database", "migrations"}
    return answered


@route("metrics", "rate_limited")
async def numbers_for_whoever_guesses(stage: Stage, _route: Route) -> Answered:
    await stage.strict.get("/metrics", as_="", headers={"x-api-key": "a guess"})
    answered = await stage.strict.get("/metrics", as_="", headers={"x-api-key": "another"})
    assert int(answered.headers["retry-after"]) > 0
    return answered
