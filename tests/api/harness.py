"""A server on a real port of this machine, and callers with every role who talk to it over HTTP.

A file of tests runs on every database by `pytestmark = pytest.mark.usefixtures("each_database")`.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import aiohttp
import msgspec

from layover.api.access.config import AccessSettings
from layover.api.application import application
from layover.api.server import listen, serve
from layover.api.settings import ApiSettings
from layover.ports.access import Key
from layover.ports.records import AuditRow
from layover.runtime.ids import new_id
from layover.service.api_keys import hash_of, new_key, prefix_of
from tests.api.contract import check_answer
from tests.runtime.harness import engine_at

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from starlette.types import ASGIApp

    from layover.api.services import Services
    from layover.nodes.registry import AnyFunction
    from layover.runtime.runtime import Runtime

ADMIN_KEY = "an-admin-key-for-tests-only"
UNLIMITED = ApiSettings(rate_limit=None, guess_limit=None)
_ELSEWHERE = ("/.well-known", "/hooks", "/api/", "/healthz", "/readyz", "/metrics", "/openapi.json", "/docs")


class Answered(NamedTuple):
    """What came back."""

    status: int
    body: bytes
    headers: dict[str, str]

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)

    @property
    def code(self) -> str:
        """The code of a problem."""
        return str(self.json["code"])


class Api:
    """A server, and callers of it: `as_` is `admin`, a role, `name:role,role`, or empty for nobody.

    `name:role/permission,permission` has no other permissions of its roles than those.

    Every answer has to be as the document says; a server with routes of its own is not `documented`.
    """

    def __init__(
        self, services: Services, url: str, session: aiohttp.ClientSession, *, documented: bool = True
    ) -> None:
        self.services = services
        self.engine = services.runtime
        self.url = url
        self.session = session
        self._documented = documented
        self._keys: dict[str, str] = {"admin": ADMIN_KEY}

    async def key_of(self, name: str) -> str:
        """Return the key of a caller, made when it is first asked for."""
        if name not in self._keys:
            person, slash, scopes = name.partition("/")
            user, colon, roles = person.partition(":")
            key, now = new_key(), self.engine.instance.clock.now()
            row = Key(
                id=new_id(now),
                prefix=prefix_of(key),
                hash=hash_of(key),
                name=f"for {name}",
                user=user,
                roles=tuple(roles.split(",")) if colon else (user,),
                scopes=tuple(scopes.split(",")) if slash else None,
                created_at=now,
            )
            entry = AuditRow(id=new_id(now), at=now, user="tests", act="key.add", target=row.id)
            await self.engine.instance.store.api_keys.add(row, entry)
            self._keys[name] = key
        return self._keys[name]

    async def ask(  # noqa: PLR0913 - each is named where it is given
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        as_: str = "admin",
        key: str | None = None,
        headers: dict[str, str] | None = None,
        raw: bytes | None = None,
    ) -> Answered:
        """Send one request; a path without `/api` is one of `/api/v1`. `key` is the idempotency key."""
        sent = dict(headers or {})
        if as_:
            sent.setdefault("authorization", f"Bearer {await self.key_of(as_)}")
        if key is not None:
            sent["idempotency-key"] = key
        data = raw if raw is not None else msgspec.json.encode(body) if body is not None else None
        if data is not None:
            sent.setdefault("content-type", "application/json")
        target = path if path.startswith(_ELSEWHERE) else f"/api/v1{path}"
        async with self.session.request(method, self.url + target, data=data, headers=sent) as response:
            found = {name.lower(): value for name, value in response.headers.items()}
            answered = Answered(response.status, await response.read(), found)
        if self._documented:
            check_answer(method, target, answered.status, answered.headers, answered.body)
        return answered

    async def get(self, path: str, **asked: Any) -> Answered:
        return await self.ask("GET", path, **asked)

    async def post(self, path: str, body: object = None, **asked: Any) -> Answered:
        return await self.ask("POST", path, body if body is not None else {}, **asked)

    async def put(self, path: str, body: object = None, **asked: Any) -> Answered:
        return await self.ask("PUT", path, body, **asked)

    async def delete(self, path: str, **asked: Any) -> Answered:
        return await self.ask("DELETE", path, **asked)


@asynccontextmanager
async def served(
    folder: Path, *nodes: AnyFunction, settings: ApiSettings = UNLIMITED, **engine_settings: object
) -> AsyncIterator[Api]:
    """Serve the database of a folder while the block lasts."""
    async with engine_at(folder, *nodes, **engine_settings) as engine, listening(engine, settings=settings) as api:
        yield api


@asynccontextmanager
async def listening(
    engine: Runtime, *, before: Callable[[ASGIApp], ASGIApp] | None = None, port: int = 0, **made_with: Any
) -> AsyncIterator[Api]:
    """Serve an engine that is open; `before` is middleware, which sees what is asked first. Port 0 is a free one."""
    made_with.setdefault("settings", UNLIMITED)
    made_with.setdefault("access", AccessSettings(admin_key=ADMIN_KEY))
    app = application(engine, **made_with)
    if before is not None:
        app.add_middleware(before)
    socket = listen("127.0.0.1", port)
    serving = asyncio.get_running_loop().create_task(serve(app, [socket]))
    try:
        async with aiohttp.ClientSession() as session:
            url = f"http://127.0.0.1:{socket.getsockname()[1]}"
            yield Api(app.state.services, url, session, documented="routes" not in made_with)
    finally:
        app.state.services.stopping.set()
        await serving
