"""The HTTP surface as an ASGI application: to be served by itself, or mounted in another."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.routing import Match

from layover.api.access.config import AccessSettings
from layover.api.access.guard import KeysAndTokens
from layover.api.answering import Answering
from layover.api.endpoint import request_id_of
from layover.api.problems import Refusal
from layover.api.route_index import RouteIndex
from layover.api.routes import PAGE_ROUTES, ROUTES
from layover.api.services import Services
from layover.api.settings import ApiSettings
from layover.coordination.local import LocalLimiter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import ASGIApp, Receive, Scope, Send

    from layover.api.routing import Route
    from layover.api.services import Guard
    from layover.ports.limiter import Limiter
    from layover.runtime.runtime import Runtime


def application(
    runtime: Runtime,
    *,
    settings: ApiSettings | None = None,
    guard: Guard | None = None,
    limiter: Limiter | None = None,
    access: AccessSettings | None = None,
    routes: Iterable[Route] = (*ROUTES, *PAGE_ROUTES),
) -> Starlette:
    """Return an application for a runtime, which the caller opens and stops."""
    access = access or AccessSettings()
    services = Services(
        runtime,
        settings=settings or ApiSettings(),
        guard=guard or KeysAndTokens(runtime, access),
        limiter=limiter or LocalLimiter(),
        access=access,
    )
    app = _Application(RouteIndex(routes, services))
    app.state.services = services
    return app


class _Application(Starlette):
    """Leads a request straight to its endpoint, which answers errors itself.

    Middleware that is added to it comes before that, as usual; the two layers of Starlette that answer errors do not.
    """

    def __init__(self, index: RouteIndex) -> None:
        super().__init__(routes=[index])
        self._index = index
        self.router.redirect_slashes = False
        self.router.default = _not_found

    def build_middleware_stack(self) -> ASGIApp:
        """Return what answers requests."""
        app: ASGIApp = self._answer
        for middleware, given, named in reversed(self.user_middleware):
            app = middleware(app, *given, **named)
        return app

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        match, found = self._index.matches(scope)
        if match is Match.NONE:
            await self.router(scope, receive, send)
        else:
            scope.update(found)
            await found["endpoint"](scope, receive, send)


async def _not_found(scope: Scope, _receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        request_id = request_id_of(headers)
        answering = Answering(send, request_id, scope, is_head=scope["method"] == "HEAD")
        refusal = Refusal("not_found", "There is nothing under this path.")
        services: Services = scope["app"].state.services
        services.access_log.refused(scope, request_id, "", (refusal.status, refusal.code), perf_counter())
        await answering.refuse(refusal)
