"""The HTTP surface as an ASGI application: to be served by itself, or mounted in another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.routing import Route as StarletteRoute
from starlette.routing import compile_path

from layover.api.access.config import AccessSettings
from layover.api.access.guard import KeysAndTokens
from layover.api.endpoint import Answering, Endpoint, request_id_of
from layover.api.problems import Refusal
from layover.api.routes import ROUTES
from layover.api.services import Services
from layover.api.settings import ApiSettings
from layover.coordination.local import LocalLimiter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
    by_path = _by_path(routes)
    app = Starlette(routes=[_path(path, by_path, services) for path in by_path])
    app.state.services = services
    app.router.redirect_slashes = False
    app.router.default = _not_found
    return app


class _Path(StarletteRoute):
    """A path whose endpoint answers whatever comes to it, also by a method that it does not have."""

    named: Mapping[str, str] = {}  # what a pattern finds in it, if it is all literal

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["path_params"] = {**self.named, **scope["path_params"]}
        await self.app(scope, receive, send)


def _path(path: str, by_path: Mapping[str, Mapping[str, Route]], services: Services) -> _Path:
    """Return a path. One that is all literal has the other methods of a pattern: a workflow may be called `check`."""
    found, named = by_path[path], None
    for pattern in by_path if "{" not in path else ():
        named = compile_path(pattern)[0].match(path) if "{" in pattern else None
        if named is not None:
            found = {**by_path[pattern], **found}
            break
    made = _Path(path, Endpoint(found, services))
    made.named = named.groupdict() if named is not None else {}
    return made


def _by_path(routes: Iterable[Route]) -> dict[str, dict[str, Route]]:
    """Return all methods of each path; `/executions/paused` comes before `/executions/{id}`, which would match it."""
    found: dict[str, dict[str, Route]] = {}
    for route in routes:
        found.setdefault(route.path, {})[route.method] = route
    return {
        path: found[path]
        for path in sorted(found, key=lambda path: [(part.startswith("{"), part) for part in path.split("/")])
    }


async def _not_found(scope: Scope, _receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        answering = Answering(send, request_id_of(headers), is_head=scope["method"] == "HEAD")
        await answering.refuse(Refusal("not_found", "There is nothing under this path."))
