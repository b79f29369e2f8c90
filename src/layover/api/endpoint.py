"""From a request to its answer, in one order for all: who asks, how often, whether they may, what, then the deed."""

from __future__ import annotations

import logging
import math
import re
import secrets
from time import perf_counter
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect

from layover.api.access_log import CALLER
from layover.api.answering import Answering, problem_response
from layover.api.bodies import check_media_type, decoded, queried, read_body
from layover.api.hosts import is_own_address
from layover.api.idempotency import LONGEST_KEY, OthersReply, Repeatable
from layover.api.problems import Refusal, refusal_of
from layover.api.request import Request, Response, Stream
from layover.api.routing import NoQuery
from layover.errors import LayoverError
from layover.logs.context import REQUEST_ID
from layover.runtime.execution.callback_tokens import has_form_of_token, hash_of
from layover.service.links import find_link
from layover.service.permissions import NOBODY
from layover.service.sessions import is_session

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import Receive, Scope, Send

    from layover.api.routing import Route
    from layover.api.services import Services
    from layover.model.access import Caller
    from layover.ports.access import LinkRow


_log = logging.getLogger("layover.api")

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_MOST_PARAMETERS = 100
_NO_QUERY = NoQuery()
_LOOPBACK = frozenset({"127.0.0.1", "::1"})
_ONCE = (
    *("authorization", "content-length", "content-type", "cookie", "host", "idempotency-key", "if-match"),
    "x-api-key",
)
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")
_FAULTS_FROM = 500
_OPERATING = ("execution:cancel", "admin")
_STREAM = "text/event-stream"
_LATER = {"retry-after": "5", "connection": "close"}
_INTERNAL = Refusal("internal", "Something went wrong here; the request id finds it in the log.")

RESERVED = "layover.reserved"  # of one that answers only operators on a connection, since there are too many


class Endpoint:
    """Everything that is done under one path."""

    def __init__(self, routes: Mapping[str, Route], services: Services) -> None:
        self.routes = routes
        self._services = services
        self._template = next((route.path for route in routes.values()), "")
        self._is_page = any(route.page for route in routes.values())
        self._allow = ", ".join(sorted({*routes, *({"HEAD"} if "GET" in routes else ())}))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, and count it."""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        request_id = request_id_of(headers)
        current = REQUEST_ID.set(request_id)
        try:
            await self._answer(scope, receive, send, headers, request_id)
        finally:
            REQUEST_ID.reset(current)

    async def _answer(
        self, scope: Scope, receive: Receive, send: Send, headers: Mapping[str, str], request_id: str
    ) -> None:
        began = perf_counter()
        answering = Answering(send, request_id, scope, is_head=scope["method"] == "HEAD", is_page=self._is_page)
        route = self.routes.get("GET" if scope["method"] == "HEAD" else scope["method"])
        try:
            if route is None:
                raise Refusal("method_not_allowed", f"Use {self._allow}.", headers={"allow": self._allow})  # noqa: TRY301 - told like all others
            tracer = self._services.runtime.tracer
            if tracer is None:
                reply = await self._reply(route, scope, headers, receive, request_id)
            else:
                with tracer.received(headers.get("traceparent", "")):
                    reply = await self._reply(route, scope, headers, receive, request_id)
        except ClientDisconnect:
            return
        except Exception as error:  # noqa: BLE001 - the edge: whatever it is, the client gets an answer
            refusal = _refusal(error, request_id)
            self._count(route, refusal.status, began)
            told = refusal.status, refusal.code
            self._services.access_log.refused(scope, request_id, self._template, told, began)
            await answering.refuse(refusal)
            return
        status = 200 if isinstance(reply, Stream) else reply.status
        self._services.access_log.answered(scope, request_id, self._template, status, began)
        if isinstance(reply, Stream):
            await answering.stream(reply, receive, self._services.settings.stalled_after)
        else:
            self._count(route, reply.status, began)
            await answering.reply(reply)

    def _count(self, route: Route | None, status: int, began: float) -> None:
        """Count a request by its route; how long a stream lasts says nothing about the server."""
        if route is not None:
            self._services.requests.count(route.method, route.path, status, perf_counter() - began)

    async def _reply(
        self, route: Route, scope: Scope, headers: Mapping[str, str], receive: Receive, request_id: str
    ) -> Response | Stream:
        services, path = self._services, scope["path_params"]
        _check_head(scope, headers)
        self._check_host(headers.get("host"))
        caller = await self._caller(route, scope, headers, request_id)
        scope[CALLER] = caller.user
        if route.limited and RESERVED in scope.get("extensions", {}) and not caller.may(_OPERATING):
            raise Refusal("too_many_connections", "As many connections are open as may be; try again.", headers=_LATER)
        if route.open == "token":
            await self._check_token(path["token"], scope, request_id)
        elif route.limited and route.open != "sender":
            await self._limit_caller(route, caller, scope)
        if caller is not NOBODY and route.needs and not caller.may(route.needs):
            raise Refusal("forbidden", f"This needs the permission {' or '.join(route.needs)}.")
        pairs = _pairs(scope)
        query = _query(route, pairs)
        call: Request[Any, Any] = Request(
            services=services,
            caller=caller,
            body=None,
            query=query,
            pairs=pairs,
            path=path,
            headers=headers,
            request_id=request_id,
            address=services.proxies.host_of(scope),
            scope=scope,
            counted_as=self._known_as(caller, scope) if route.open == "sender" else "",
        )
        if route.by_link:
            call.admitted = await self._find_link(path["token"], scope, request_id)
        if route.admit is not None:
            call.admitted = await route.admit(call)
        if route.body is not None:
            raw = await read_body(receive, headers, services.settings, route.largest_body)
            if raw:  # what is not there is of no kind, whatever a client says that it is
                check_media_type(headers, route)
            call.body = raw if route.body is bytes else decoded(raw, route.body, services.settings)
        if not route.keyed or call.key is None:
            return await route.handle(call)
        return await self._once(route, call, scope["path"], pairs)

    async def _caller(self, route: Route, scope: Scope, headers: Mapping[str, str], request_id: str) -> Caller:
        """Return the caller; one that needs no credentials is `NOBODY`."""
        if route.is_open:
            return NOBODY
        services = self._services
        token = services.sessions.token_in(scope, headers)
        shown = headers.get("authorization"), headers.get("x-api-key"), token or None
        guesses = services.guesses
        if shown != (None, None, None):
            guesses.check(scope)
        try:
            caller = await services.guard.caller_of(headers)
            if caller is None and token:
                caller = await self._signed_in(route, scope, headers, token)
        except Refusal as refusal:
            if refusal.code == "unauthenticated":
                guesses.note(scope, shown, request_id)
            await self._limit(self._known_as(NOBODY, scope))
            raise
        if caller is not None:
            return caller
        if route.open == "visitor" or (route.open == "loopback" and self._is_own_machine(scope, headers)):
            return NOBODY
        await self._limit(self._known_as(NOBODY, scope))
        raise Refusal(
            "unauthenticated",
            "Show credentials: `Authorization: Bearer` with a key or a JWT, or `X-API-Key`.",
            headers={"www-authenticate": "Bearer"},
        )

    async def _signed_in(self, route: Route, scope: Scope, headers: Mapping[str, str], token: str) -> Caller | None:
        """Return whose cookie it is, where a cookie counts; a page is shown to visitors as well."""
        sessions = self._services.sessions
        if route.open == "loopback" and not sessions.is_own(headers):
            return None
        if route.open != "visitor":
            return await self._services.signed_in(scope, headers, token)
        caller = await sessions.caller_of(token)
        if caller is None:
            self._services.guesses.note(scope, token, request_id_of(headers))
        return caller

    def _check_host(self, host: str | None) -> None:
        """Refuse a request to a name that is not the server's: it may be a page that passes for it."""
        if not self._services.hosts.is_answered(host):
            message = f"The server is not called {(host or '')[:100]}; LAYOVER_HOSTS says what it is called."
            raise Refusal("misdirected", message)

    def _is_own_machine(self, scope: Scope, headers: Mapping[str, str]) -> bool:
        """Return whether a request comes from this machine itself, knows it as such, and is not passed on."""
        client, host = scope.get("client"), headers.get("host")
        is_here = client is not None and client[0] in _LOOPBACK and not any(name in headers for name in _FORWARDED)
        return is_here and (host is None or is_own_address(host) or self._services.hosts.is_named(host))

    async def _check_token(self, token: str, scope: Scope, request_id: str) -> None:
        """Refuse a token that does not exist before anything that came with it is read.

        One machine may work for many callbacks, so each token is counted by itself; an unknown one by the address.
        """
        guesses = self._services.guesses
        guesses.check(scope)
        hashed = hash_of(token) if has_form_of_token(token) else None
        if hashed is None or await self._services.store.queries.find_token(hashed) is None:
            guesses.note(scope, token, request_id)
            await self._limit(self._known_as(NOBODY, scope))
            raise Refusal("unknown_token", "This callback token is unknown.")
        await self._limit(f"token {hashed.hex()}")

    async def _find_link(self, token: str, scope: Scope, request_id: str) -> LinkRow | None:
        """Return the link that a page is asked for by; one that does not exist counts as a guess."""
        guesses = self._services.guesses
        guesses.check(scope)
        found = await find_link(self._services.runtime, token)
        if found is None:
            guesses.note(scope, token, request_id)
        return found

    def _known_as(self, caller: Caller, scope: Scope) -> str:
        """Return what requests are counted by: the user, or else the address that they come from."""
        return f"user {caller.user}" if caller.credential else f"address {self._services.proxies.address_of(scope)}"

    async def _limit_caller(self, route: Route, caller: Caller, scope: Scope) -> None:
        """Refuse a caller who asks too often; a page that a person looks at asks more often than a program."""
        if not is_session(caller.credential):
            await self._limit(self._known_as(caller, scope))
        elif route.answer_media != _STREAM:
            await self._take(caller.credential, self._services.settings.session_limit)

    async def _limit(self, name: str) -> None:
        """Refuse a caller who asks too often."""
        await self._take(name, self._services.settings.rate_limit)

    async def _take(self, name: str, rate: tuple[int, float] | None) -> None:
        if rate is None:
            return
        wait = await self._services.limiter.take(name, *rate)
        if wait is not None:
            headers = {"retry-after": str(max(1, math.ceil(wait)))}
            raise Refusal("rate_limited", f"At most {rate[0]} requests in {rate[1]:g} s.", headers=headers)

    async def _once(
        self, route: Route, call: Request[Any, Any], path: str, pairs: list[tuple[str, str]]
    ) -> Response | Stream:
        """Do what a request with a key asks for, unless that was done: then answer what was answered."""
        key = call.key or ""
        if not 0 < len(key) <= LONGEST_KEY or not key.isprintable():
            raise Refusal("invalid_parameter", f"Idempotency-Key: from 1 to {LONGEST_KEY} printable characters.")
        user = call.caller.user
        scope = (user, route.method, path) if route.scope is None else (route.name, route.scope(call))
        body = call.body.hex() if isinstance(call.body, bytes) else call.body
        asked = [pairs, body] if route.same is None else route.same(call)
        if route.pinned and (seen := call.headers.get("if-match")) is not None:
            asked = [asked, seen]
        repeatable = Repeatable(self._services, scope, key, asked, None if route.scope is None else user)
        try:
            before = await repeatable.begin()
        except OthersReply:
            return await route.handle(call)
        if before is not None:
            return before
        try:
            reply = await route.handle(call)
        except LayoverError as error:
            await repeatable.end(problem_response(refusal_of(error) or _INTERNAL, call.request_id))
            raise
        except BaseException:
            await repeatable.drop()
            raise
        if isinstance(reply, Response):
            await repeatable.end(reply if route.kept is None else route.kept(reply))
        return reply


def _refusal(error: BaseException, request_id: str) -> Refusal:
    """Return an error as the client gets it; a fault of ours is in the log, under the request's id."""
    found = refusal_of(error) if isinstance(error, LayoverError) else None
    if found is None:
        _log.error("request_failed request=%s", request_id, exc_info=error)
        return _INTERNAL
    if found.status >= _FAULTS_FROM:
        _log.warning(
            "request_failed request=%s status=%s code=%s error=%s", request_id, found.status, found.code, error
        )  # what is wrong with a request may quote it, and its path may hold a token: the access log has neither
    return found


def request_id_of(headers: Mapping[str, str]) -> str:
    """Return the id by which a request is found in the log: the caller's own, if it is one."""
    given = headers.get("x-request-id", "")
    return given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)


def _check_head(scope: Scope, headers: Mapping[str, str]) -> None:
    """Refuse what could be read in two ways, and paths that nothing can have."""
    if len(headers) != len(scope["headers"]):
        names = [name.decode("latin-1") for name, _ in scope["headers"]]
        twice = [name for name in _ONCE if names.count(name) > 1]
        if twice:
            raise Refusal("invalid_parameter", f"The header `{twice[0]}` is given twice.")
    if "\0" in scope["path"]:
        raise Refusal("not_found", "There is nothing under this path.")


def _query(route: Route, pairs: list[tuple[str, str]]) -> Any:
    is_free = route.any_query or (not pairs and route.query is NoQuery)
    return _NO_QUERY if is_free else queried(pairs, route.query)


def _pairs(scope: Scope) -> list[tuple[str, str]]:
    text = scope.get("query_string", b"").decode("latin-1")
    try:
        return parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_PARAMETERS) if text else []
    except ValueError as error:
        raise Refusal("invalid_parameter", f"At most {_MOST_PARAMETERS} parameters.") from error
