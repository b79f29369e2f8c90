"""The least that the same stack can do: one route that answers a small struct, served as the HTTP surface is served.

It prints where it listens, and stops when its input ends.
"""

from __future__ import annotations

import asyncio
import sys
from types import SimpleNamespace

import msgspec
import uvloop
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from layover.api.server import listen, serve
from layover.api.settings import ApiSettings
from layover.api.trusted_proxies import TrustedProxies


class Hello(msgspec.Struct, frozen=True):
    """What is answered."""

    message: str
    id: str


async def hello(_request: object) -> Response:
    said = Hello("hello", "0195f2a6-7c00-7000-8000-5d1e0f3a9b42")
    return Response(msgspec.json.encode(said), media_type="application/json")


async def main() -> None:
    app = Starlette(routes=[Route("/hello", hello)])
    stopping = asyncio.Event()
    settings = ApiSettings()
    proxies = TrustedProxies(settings.trusted_proxies)
    app.state.services = SimpleNamespace(stopping=stopping, settings=settings, proxies=proxies)
    listening = listen("127.0.0.1", 0)
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    loop = asyncio.get_running_loop()
    loop.run_in_executor(None, sys.stdin.read).add_done_callback(lambda _: stopping.set())
    await serve(app, [listening])


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
