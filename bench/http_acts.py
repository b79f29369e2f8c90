"""Requests to the application of a tree, without a server: what bench/instructions.py counts of HTTP."""

from __future__ import annotations

import asyncio
import json
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from engines import Engine

HTTP_ACTS: Final = ("get", "list 50", "post start", "post answer")

_ADMIN_KEY: Final = "an-admin-key-of-a-bench-only-0123456789"
_START: Final = {"workflow": "question", "input": {"order": "A-1", "total": 12.5}}
_LISTED: Final = 50


class HttpActs:
    """The acts by requests of one caller with a key."""

    def __init__(self, engine: Engine) -> None:
        self._app = _application(engine)
        self._key = _ADMIN_KEY
        self._started = ""
        self._points: list[str] = []

    async def prepare(self, name: str, times: int) -> None:
        """Make a key, and what so many acts need."""
        made = await self._ask("POST", "keys", {"name": "bench", "user": "bench", "roles": ["operator", "approver"]})
        self._key = made["key"]
        for _ in range(times if name == "post answer" else _LISTED):
            self._started = (await self._ask("POST", "executions", _START))["id"]
        if name != "post answer":
            return
        cursor: str | None = ""
        while cursor is not None:
            query = "status=open&limit=100" + (f"&cursor={cursor}" if cursor else "")
            page = await self._ask("GET", "pause-points", query=query)
            self._points += [one["id"] for one in page["items"]]
            cursor = page["next"]

    def named(self, name: str) -> Callable[[], Awaitable[object]]:
        """Return an act."""
        return {"get": self.get, "list 50": self.list, "post start": self.start, "post answer": self.answer}[name]

    async def get(self) -> None:
        """Read an execution that rests at a form."""
        await self._ask("GET", f"executions/{self._started}")

    async def list(self) -> None:
        """List fifty executions."""
        assert len((await self._ask("GET", "executions", query=f"limit={_LISTED}"))["items"]) == _LISTED

    async def start(self) -> None:
        """Start an execution, which goes on to a form afterwards."""
        await self._ask("POST", "executions", _START)

    async def answer(self) -> None:
        """Answer a form."""
        await self._ask("POST", f"pause-points/{self._points.pop()}/answer", {"data": {"n": 1}})

    async def _ask(self, method: str, path: str, body: object = None, query: str = "") -> Any:
        raw = json.dumps(body).encode() if body is not None else b""
        pieces: list[dict[str, Any]] = []
        received = [{"type": "http.request", "body": raw, "more_body": False}]

        async def receive() -> dict[str, Any]:
            return received.pop() if received else await asyncio.Future()

        async def send(message: dict[str, Any]) -> None:
            pieces.append(message)

        headers = [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {self._key}".encode())]
        if raw:
            headers += [(b"content-type", b"application/json"), (b"content-length", str(len(raw)).encode())]
        whole = f"/api/v1/{path}"
        asked = {"method": method, "path": whole, "raw_path": whole.encode(), "query_string": query.encode()}
        server = {"scheme": "http", "http_version": "1.1", "root_path": "", "asgi": {"version": "3.0"}}
        scope = {"type": "http", **server, **asked, "headers": headers, "client": ("127.0.0.1", 1), "extensions": {}}
        await self._app(scope, receive, send)
        head, answered = pieces
        assert head["status"] < 300, answered
        return json.loads(answered["body"])


def _application(engine: Engine) -> Any:
    try:
        make = import_module("layover.asgi").application
    except ImportError:  # a tree from before there were handles
        make = import_module("layover.api.application").application
    access = import_module("layover.api.access.config").AccessSettings(admin_key=_ADMIN_KEY)
    settings = import_module("layover.api.settings").ApiSettings(rate_limit=None)
    return make(engine._engine, access=access, settings=settings)  # noqa: SLF001 - what there is behind the adapter
