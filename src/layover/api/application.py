"""The HTTP surface as an ASGI application: to be served by itself, or mounted in another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.applications import Starlette

from layover.api.access.config import AccessSettings
from layover.api.access.guard import KeysAndTokens
from layover.api.endpoint import Answering, request_id_of
from layover.api.problems import Refusal
from layover.api.route_index import RouteIndex
from layover.api.routes import ROUTES
from layover.api.services import Services
from layover.coordination.local import LocalLimiter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import Receive, Scope, Send

    from layover.api.routing import Route
    from layover.api.services import Guard
    from layover.api.settings import ApiSettings
    from layover.ports.limiter import Limiter
    from layover.runtime.engine import Engine


def application(
    engine: Engine,
    *,
    settings: ApiSettings | None = None,
    guard: Guard | None = None,
    limiter: Limiter | None = None,
    access: AccessSettings | None = None,
    routes: Iterable[Route] = ROUTES,
) -> Starlette:
    """Return an application for an engine, which whoever calls this opens and stops.

    `settings` say all about limits; without them, those of `access` hold, and what is usual.
    """
    access = access or AccessSettings()
    services = Services(
        engine,
        settings=settings or access.api_settings(),
        guard=guard or KeysAndTokens(engine, access),
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
        answering = Answering(send, request_id_of(headers), is_head=scope["method"] == "HEAD")
        await answering.refuse(Refusal("not_found", "There is nothing under this path."))
