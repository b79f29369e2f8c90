"""The HTTP surface as an ASGI application: to be served by itself, or mounted in another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.routing import Route as StarletteRoute

from layover.api.access.config import AccessSettings
from layover.api.access.guard import KeysAndTokens
from layover.api.endpoint import Answering, Endpoint, request_id_of
from layover.api.problems import Refusal
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
        settings=settings or ApiSettings(rate_limit=access.rate_limit, body_limit=access.body_limit),
        guard=guard or KeysAndTokens(engine, access),
        limiter=limiter or LocalLimiter(),
    )
    app = Starlette(routes=[_path(path, found, services) for path, found in _by_path(routes)])
    app.state.services = services
    app.router.redirect_slashes = False
    app.router.default = _not_found
    return app


class _Path(StarletteRoute):
    """A path whose endpoint answers whatever comes to it, also by a method that it does not have."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)


def _path(path: str, found: dict[str, Route], services: Services) -> _Path:
    """Return a path. One that is all literal leaves other methods to a pattern: a workflow may be called `check`."""
    return _Path(path, Endpoint(found, services), methods=None if "{" in path else [*found])


def _by_path(routes: Iterable[Route]) -> list[tuple[str, dict[str, Route]]]:
    """Return all methods of each path; `/executions/paused` comes before `/executions/{id}`, which would match it."""
    found: dict[str, dict[str, Route]] = {}
    for route in routes:
        found.setdefault(route.path, {})[route.method] = route
    return sorted(found.items(), key=lambda item: [(part.startswith("{"), part) for part in item[0].split("/")])


async def _not_found(scope: Scope, _receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        answering = Answering(send, request_id_of(headers), is_head=scope["method"] == "HEAD")
        await answering.refuse(Refusal("not_found", "There is nothing under this path."))
