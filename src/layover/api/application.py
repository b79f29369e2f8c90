"""The HTTP surface as an ASGI application: to be served by itself, or mounted in another."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from starlette.applications import Starlette

from layover.api.access.config import AccessSettings
from layover.api.access.guard import KeysAndTokens
from layover.api.endpoint import Answering, request_id_of
from layover.api.problems import Refusal
from layover.api.route_index import RouteIndex
from layover.api.routes import ROUTES
from layover.api.services import Services
from layover.api.settings import ApiSettings
from layover.coordination.local import LocalLimiter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import Receive, Scope, Send

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
    routes: Iterable[Route] = ROUTES,
) -> Starlette:
    """Return an application for a runtime, which the caller opens and stops."""
    services = Services(
        runtime,
        settings=settings or ApiSettings(),
        guard=guard or KeysAndTokens(runtime, access or AccessSettings()),
        limiter=limiter or LocalLimiter(),
    )
    app = Starlette(routes=[RouteIndex(routes, services)])
    app.state.services = services
    app.router.redirect_slashes = False
    app.router.default = _not_found
    return app


async def _not_found(scope: Scope, _receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        request_id = request_id_of(headers)
        answering = Answering(send, request_id, scope, is_head=scope["method"] == "HEAD")
        refusal = Refusal("not_found", "There is nothing under this path.")
        services: Services = scope["app"].state.services
        services.access_log.refused(scope, request_id, "", (refusal.status, refusal.code), perf_counter())
        await answering.refuse(refusal)
