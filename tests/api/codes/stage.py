"""Where scenes are played: servers on one database, which many scenes use at the same time.

A request says by a header of its own what is to go wrong in the store while it is answered; all others go on as ever.
"""

from __future__ import annotations

import asyncio
import inspect
import itertools
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec.structs import replace

from layover.api.endpoint import RESERVED
from layover.bootstrap import open_store
from layover.coordination.local import LocalLimiter
from layover.ports.errors import StoreUnavailable
from layover.runtime.operations.start_options import Options
from tests.api.contract import check_answer
from tests.api.harness import ADMIN_KEY, UNLIMITED, Answered, listening
from tests.runtime.harness import Between, Held, engine_on, flow, until_status

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from starlette.types import ASGIApp, Receive, Scope, Send

    from layover.runtime.runtime import Runtime
    from tests.api.harness import Api

SECRET: Final = "postgres://layover:hunter2@db.internal/layover"  # noqa: S105 - what must not be told to anybody
HEADER: Final = "x-fault"
MUCH: Final = replace(UNLIMITED, rate_limit=(1_000_000, 60.0))
ONCE: Final = replace(UNLIMITED, rate_limit=(1, 3_600.0))
STRICT: Final = replace(UNLIMITED, guess_limit=(1, 3_600.0), hosts=())
LITTLE: Final = replace(UNLIMITED, body_limit=30, body_timeout=0.05, streams=0)

PICK: Final = {"id": "pick", "type": "callback", "call": "work", "input": {"token": "${callback.token}"}}

_fault: ContextVar[str] = ContextVar("fault", default="")
_request: ContextVar[asyncio.Task[Any] | None] = ContextVar("request", default=None)


class Hold(NamedTuple):
    """A request that is held at one call of the store."""

    method: str
    there: asyncio.Event
    go_on: asyncio.Event


class Faulty(Between):
    """A store that fails for requests that say so."""

    def __init__(self, address: str) -> None:
        self.store = open_store(address)
        self.held: dict[str, Hold] = {}
        self.left: dict[str, int] = {}  # how many calls of a request go well before one does not

    def __getattr__(self, name: str) -> Any:
        return self._faulty(name, super().__getattr__(name))

    def method(self, family: str, name: str) -> Any:
        return self._faulty(f"{family}.{name}", super().method(family, name))

    def _faulty(self, name: str, found: Any) -> Any:
        fault = _fault.get()
        if not fault or not inspect.iscoroutinefunction(found):
            return found
        if fault in self.left and asyncio.current_task() is _request.get():
            self.left[fault] -= 1
            return _raising(StoreUnavailable(SECRET)) if self.left[fault] == -1 else found
        if fault == "unavailable":
            return _raising(StoreUnavailable(SECRET))
        if fault == "broken":
            return _raising(RuntimeError(SECRET))
        held = self.held.get(fault)
        return found if held is None or held.method != name else _held(held, found)


class FaultyLimiter(LocalLimiter):
    """A limiter that fails for requests that say so."""

    async def take(self, name: str, limit: int, window: float) -> float | None:
        if _fault.get() == "limiter":
            raise RuntimeError(SECRET)
        return await super().take(name, limit, window)


class Marking:
    """Has the store know what a request wants to go wrong."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        _fault.set(headers.get(HEADER.encode(), b"").decode())
        _request.set(asyncio.current_task())
        await self._app(scope, receive, send)


class Begun(NamedTuple):
    """An execution that has come to rest."""

    id: str
    workflow: str
    points: dict[str, str]


class Crowding:
    """Has every connection be one of those that are kept for operators."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["extensions"] = {**scope.get("extensions", {}), RESERVED: {}}
        await self._app(scope, receive, send)


class Stage:
    """Servers, and what scenes need of them."""

    def __init__(self, engine: Runtime, store: Faulty, work: Held, servers: dict[str, Api]) -> None:
        self.engine = engine
        self.store = store
        self.work = work
        self.api = servers["api"]
        self.little = servers["little"]  # takes small bodies, if they come soon, and follows nobody
        self.once = servers["once"]  # answers everybody once
        self.closed = servers["closed"]  # its engine has stopped
        self.strict = servers["strict"]  # has no name, and checks no credentials after the first that are not valid
        self.crowded = servers["crowded"]  # has more connections than it answers
        self._numbers = itertools.count()

    def name(self) -> str:
        """Return a name that nobody else has."""
        return f"n{next(self._numbers)}"

    async def saved(self, *nodes: dict[str, Any], **fields: Any) -> str:
        """Keep a workflow of nodes, and return its name."""
        name = self.name()
        await self.engine.workflows.register(flow(*nodes, name=name, **fields))
        return name

    async def begun(self, *nodes: dict[str, Any], user: str | None = None, **fields: Any) -> Begun:
        """Start a workflow of nodes, and return the execution once it rests or has ended."""
        name = await self.saved(*nodes, **fields)
        started = await self.engine.executions.start(name, wait="rest", options=Options(user=user))
        rows = await self.engine.points.list(started.id)
        return Begun(started.id, name, {row.point.node: row.point.id for row in rows})

    async def over(self, *nodes: dict[str, Any]) -> Begun:
        """Start a workflow of nodes, and return the execution once it has ended, with all of its points."""
        name = await self.saved(*nodes)
        started = await self.engine.executions.start(name, wait="end")
        rows = await self.engine.points.list(started.id, status=())
        return Begun(started.id, name, {row.point.node: row.point.id for row in rows})

    async def called(self) -> tuple[str, str]:
        """Return an execution that waits to be called back, and its token."""
        started = await self.engine.executions.start(await self.saved(PICK))
        called = await self.work.begun()
        called.returns()
        await until_status(self.engine, started.id, "waiting")
        return started.id, str(called.given["token"])

    async def meanwhile(
        self,
        method: str,
        ask: Callable[[dict[str, str]], Awaitable[Answered]],
        other: Callable[[], Awaitable[Answered]],
    ) -> tuple[Answered, Answered]:
        """Hold a request at a call of the store until another one is answered; return what both were answered."""
        name = self.name()
        held = self.store.held[name] = Hold(method, asyncio.Event(), asyncio.Event())
        first = asyncio.ensure_future(ask({HEADER: name}))
        there = asyncio.ensure_future(held.there.wait())
        try:
            await asyncio.wait({first, there}, return_when=asyncio.FIRST_COMPLETED)
            assert there.done(), f"it does not call {method}: {first.result()}"
            second = await other()
        finally:
            there.cancel()
            held.go_on.set()
        return await first, second

    async def unfinished(self, method: str, path: str, headers: dict[str, str]) -> Answered:
        """Send a request whose body does not come to its end."""
        host, port = self.little.url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        lines = [f"{method} {path} HTTP/1.1", "host: here", f"x-api-key: {ADMIN_KEY}", "content-length: 20"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join([*lines, "", "{"]).encode("latin-1"))
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")  # until the server closes the connection
        writer.close()
        first, *rest = head.decode("latin-1").split("\r\n")
        found = {name.lower(): value for name, _, value in (line.partition(": ") for line in rest)}
        answered = Answered(int(first.split(" ")[1]), body, found)
        check_answer(method, path, answered.status, answered.headers, answered.body)
        return answered

    async def followed(self, path: str) -> Answered:
        """Return what a stream says first."""
        headers = {"authorization": f"Bearer {ADMIN_KEY}"}
        async with self.api.session.get(self.api.url + path, headers=headers) as response:
            found = {name.lower(): value for name, value in response.headers.items()}
            answered = Answered(response.status, await response.content.readline(), found)
        check_answer("GET", path, answered.status, answered.headers, answered.body)
        return answered


@asynccontextmanager
async def staged(address: str) -> AsyncIterator[Stage]:
    """Have servers on a database while the block lasts."""
    store, work = Faulty(address), Held()
    async with engine_on(store, work, allow_secrets={"*": ("NOBODY_*",)}) as engine:
        async with engine_on(open_store(address)) as stopped:
            pass
        async with (
            listening(engine, before=Marking, settings=MUCH, limiter=FaultyLimiter()) as api,
            listening(engine, settings=LITTLE) as little,
            listening(engine, settings=ONCE) as once,
            listening(stopped) as closed,
            listening(engine, before=Crowding) as crowded,
            listening(engine, settings=STRICT) as strict,
        ):
            servers = {
                "api": api,
                "little": little,
                "once": once,
                "closed": closed,
                "crowded": crowded,
                "strict": strict,
            }
            yield Stage(engine, store, work, servers)


def _raising(error: Exception) -> Callable[..., Awaitable[Any]]:
    async def fail(*_args: object, **_fields: object) -> None:
        raise error

    return fail


def _held(held: Hold, method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def wait(*args: object, **fields: object) -> Any:
        held.there.set()
        await held.go_on.wait()
        return await method(*args, **fields)

    return wait
