"""What any route may be answered, played from its declaration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from tests.api.codes.registry import any_route, asked, parts_of, with_query
from tests.api.codes.stage import HEADER
from tests.api.codes.triggering import hook_token
from tests.api.harness import ADMIN_KEY
from tests.runtime.harness import end

if TYPE_CHECKING:
    from layover.api.routing import Route
    from tests.api.codes.registry import Asked
    from tests.api.codes.stage import Stage
    from tests.api.harness import Answered

FROM_ELSEWHERE = {"x-forwarded-for": "203.0.113.7"}


# Who asks


@any_route("unauthenticated")
async def nobody(stage: Stage, route: Route) -> Answered:
    request = asked(route)
    return await stage.api.ask(request.method, request.path, request.body, as_="", headers=FROM_ELSEWHERE)


@any_route("forbidden")
async def somebody_who_may_nothing(stage: Stage, route: Route) -> Answered:
    request = asked(route)
    return await stage.api.ask(request.method, request.path, request.body, as_="eve:gardener")


@any_route("cross_site")
async def a_cookie_from_another_site(stage: Stage, route: Route) -> Answered:
    request = asked(route)
    cookie = (await stage.api.post("/session", {"key": ADMIN_KEY}, as_="")).headers["set-cookie"].partition(";")[0]
    headers = {"cookie": cookie, "x-layover-console": "1", "origin": "https://evil.example"}
    return await stage.api.ask(request.method, request.path, request.body, as_="", headers=headers)


@any_route("rate_limited")
async def the_second_in_an_hour(stage: Stage, route: Route) -> Answered:
    request = asked(route)
    as_ = "" if route.is_open else f"{route.name}:admin"
    await stage.once.ask(request.method, request.path, request.body, as_=as_)
    answered = await stage.once.ask(request.method, request.path, request.body, as_=as_)
    assert int(answered.headers["retry-after"]) > 0
    return answered


@any_route("misdirected")
async def a_name_of_somebody_else(stage: Stage, route: Route) -> Answered:
    request = asked(route)
    return await stage.strict.ask(request.method, request.path, request.body, headers={"host": "evil.example"})


@any_route("too_many_connections")
async def one_of_too_many(stage: Stage, route: Route) -> Answered:
    request = asked(route)
    as_ = "" if route.is_open else "vera:viewer"
    answered = await stage.crowded.ask(request.method, request.path, request.body, as_=as_)
    assert answered.headers["retry-after"] == "5"
    return answered


# What they ask


async def _with_token(stage: Stage, route: Route) -> Asked:
    """Return a request with a token, or for a webhook, that exists: nothing else is looked at before that."""
    if route.name == "take_delivery":
        webhook = {"name": "t", "type": "webhook", "verify": {"scheme": "none"}}
        return asked(route, workflow=await stage.saved(end("done"), triggers=[webhook]), name="t")
    if route.name == "take_delivery_by_token":
        return asked(route, token=await hook_token(stage))
    return asked(route, token=(await stage.called())[1]) if route.open == "token" else asked(route)


@any_route("invalid_parameter")
async def a_parameter_that_nobody_knows(stage: Stage, route: Route) -> Answered:
    request = await _with_token(stage, route)
    wrong = "&".join(["colour=red"] * (101 if route.any_query else 1))
    return await stage.api.ask(request.method, with_query(request.path, wrong), request.body)


@any_route("not_found")
async def a_path_that_nothing_can_have(stage: Stage, route: Route) -> Answered:
    request = asked(route, **{parts_of(route)[-1]: "a%00b"})
    return await stage.api.ask(request.method, request.path, request.body)


@any_route("malformed")
async def no_json(stage: Stage, route: Route) -> Answered:
    request = await _with_token(stage, route)
    return await stage.api.ask(request.method, request.path, raw=b"{")


@any_route("malformed_cursor")
async def a_cursor_that_was_not_given_out(stage: Stage, route: Route) -> Answered:
    return await stage.api.ask(route.method, with_query(asked(route).path, "cursor=%21"))


@any_route("malformed_id")
async def no_id(stage: Stage, route: Route) -> Answered:
    request = asked(route, **{name: "seven" for name in parts_of(route) if name in ("id", "execution")})
    ids = [field.encode_name for field in msgspec.structs.fields(route.query) if field.encode_name.endswith("_id")]
    path = with_query(request.path, f"{ids[0]}=seven" if ids else "")
    return await stage.api.ask(request.method, path, request.body)


@any_route("payload_too_large")
async def a_large_body(stage: Stage, route: Route) -> Answered:
    request = await _with_token(stage, route)
    return await stage.little.ask(request.method, request.path, raw=b" " * 31)


@any_route("request_timeout")
async def a_body_without_an_end(stage: Stage, route: Route) -> Answered:
    request = await _with_token(stage, route)
    return await stage.unfinished(request.method, request.path, request.headers)


@any_route("unsupported_media_type")
async def a_body_of_another_kind(stage: Stage, route: Route) -> Answered:
    request = await _with_token(stage, route)
    return await stage.api.ask(request.method, request.path, raw=b"a,b", headers={"content-type": "text/csv"})


@any_route("invalid_body")
async def a_field_that_nobody_knows(stage: Stage, route: Route) -> Answered:
    request = await _with_token(stage, route)
    answered = await stage.api.ask(request.method, request.path, {**request.body, "colour": "red"})
    assert answered.json["errors"]
    return answered


# What is not there: the examples of the document are made up


@any_route("unknown_execution")
@any_route("unknown_point")
@any_route("unknown_token")
@any_route("unknown_key")
@any_route("unknown_session")
@any_route("unknown_trigger")
async def what_is_made_up(stage: Stage, route: Route) -> Answered:
    request = asked(route)
    return await stage.api.ask(request.method, request.path, request.body)


@any_route("unknown_workflow")
async def a_workflow_that_is_made_up(stage: Stage, route: Route) -> Answered:
    request = asked(route, **dict.fromkeys(("name", "workflow"), "nowhere"))
    return await stage.api.ask(request.method, request.path, request.body)


# The same once more


@any_route("idempotency_mismatch")
async def something_else_with_the_same_key(stage: Stage, route: Route) -> Answered:
    request, key = asked(route), stage.name()
    await stage.api.ask(request.method, request.path, request.body, key=key)
    return await stage.api.ask(request.method, request.path, request.other_body, key=key)


@any_route("in_progress")
async def while_the_first_is_worked_at(stage: Stage, route: Route) -> Answered:
    request, key = asked(route), stage.name()

    async def ask(headers: dict[str, str]) -> Answered:
        return await stage.api.ask(request.method, request.path, request.body, key=key, headers=headers)

    first, second = await stage.meanwhile("idempotency.finish", ask, lambda: ask({}))
    again = await ask({})
    assert (again.status, again.headers.get("idempotency-replayed")) == (first.status, "true")
    return second


# What goes wrong here


@any_route("store_unavailable")
async def a_database_that_is_away(stage: Stage, route: Route) -> Answered:
    answered = await _with_fault(stage, route, "unavailable")
    assert answered.headers["retry-after"] == "1"
    return answered


@any_route("internal")
async def a_fault_of_ours(stage: Stage, route: Route) -> Answered:
    return await _with_fault(stage, route, "limiter" if route.alone else "broken")


@any_route("stopping")
async def an_engine_that_has_stopped(stage: Stage, route: Route) -> Answered:
    request, reaching = asked(route), await _reaching(stage, route)
    return await stage.closed.ask(request.method, request.path, request.body, **reaching)


async def _with_fault(stage: Stage, route: Route, fault: str) -> Answered:
    request, reaching = asked(route), await _reaching(stage, route)
    headers = {**reaching.pop("headers", {}), HEADER: fault}
    return await stage.api.ask(request.method, request.path, request.body, headers=headers, **reaching)


# `examine` tells what is wrong with the database, once it knows who asks.
_ONLY_WHO_ASKS = frozenset(
    {"me", "openapi", "get_session", "sign_out", "list_node_types", "get_definition_schema", "examine"}
)


async def _reaching(stage: Stage, route: Route) -> dict[str, Any]:
    """Return how a request comes to use the store: by what it does, or else by who asks, or by its key."""
    if route.name in _ONLY_WHO_ASKS:
        key = await stage.api.key_of(f"{stage.name()}:viewer")  # nobody has seen it yet
        return {"as_": "", "headers": {"authorization": f"Bearer {key}"}}
    # A workflow that was just deleted is known to be.
    return {"key": stage.name()} if route.name in ("check_definition", "create_trigger", "dry_run_definition") else {}
