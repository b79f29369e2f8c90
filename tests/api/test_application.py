"""The application by itself: mounted in another, and paths that look alike."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

import aiohttp
import pytest
import uvloop
from starlette.applications import Starlette
from starlette.routing import Mount

from layover.api.access.config import AccessSettings
from layover.api.application import application
from layover.api.server import listen, serve
from tests.api.harness import ADMIN_KEY, served
from tests.runtime.harness import engine_at

if TYPE_CHECKING:
    from pathlib import Path

_LONGEST = 60  # seconds, also on a machine that is busy with other things
ASK = "name: {name}\nnodes: [{{id: a, type: form, schema: {{type: object}}}}]"


async def test_it_can_be_mounted_in_another_application(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(ASK.format(name="ask"))
        inner = application(engine, access=AccessSettings(admin_key=ADMIN_KEY))
        outer = Starlette(routes=[Mount("/flows", inner)])
        outer.state.services = inner.state.services
        listening = listen("127.0.0.1", 0)
        serving = asyncio.get_running_loop().create_task(serve(outer, [listening]))
        base = f"http://127.0.0.1:{listening.getsockname()[1]}"
        headers = {"authorization": f"Bearer {ADMIN_KEY}"}
        async with aiohttp.ClientSession(base, headers=headers) as session:
            async with session.post("/flows/api/v1/executions", json={"workflow": "ask"}) as started:
                place = started.headers["location"]
            async with session.get(place) as found:
                execution = await found.json()
            async with session.get("/flows/openapi.json") as document:
                servers = (await document.json())["servers"]
            async with session.get("/api/v1/executions") as elsewhere:
                pass
            async with session.get("/flows/api/v1/nothing") as nothing:
                code = (await nothing.json(content_type=None))["code"]
        inner.state.services.stopping.set()
        await serving

    assert started.status == 202
    assert place == f"/flows/api/v1/executions/{execution['id']}"
    assert servers[0]["url"] == "/flows"
    assert elsewhere.status == 404
    assert (nothing.status, code) == (404, "not_found")


@pytest.mark.parametrize("name", ["check", "import"])
async def test_a_workflow_may_be_called_like_a_word_of_a_path(tmp_path: Path, name: str) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(ASK.format(name=name))
        found = await api.get(f"/workflows/{name}")
        gone = await api.delete(f"/workflows/{name}")
        patched = await api.ask("PATCH", f"/workflows/{name}")

    assert (found.status, found.json["name"]) == (200, name)
    assert gone.status == 204
    assert (patched.status, patched.code) == (405, "method_not_allowed")


async def test_a_body_that_is_empty_is_of_no_kind(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(ASK.format(name="ask"))
        execution = await api.engine.executions.start("ask", wait="rest")
        kind = {"content-type": "application/octet-stream"}
        paused = await api.ask("POST", f"/executions/{execution.id}/pause", headers=kind, raw=b"")
        refused = await api.ask("POST", f"/executions/{execution.id}/pause", headers=kind, raw=b"{}")

    assert (paused.status, paused.json["status"]) == (200, "paused")
    assert (refused.status, refused.code) == (415, "unsupported_media_type")


async def test_an_idle_server_stops_without_waiting(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine, aiohttp.ClientSession() as session:
        app = application(engine)
        listening = listen("127.0.0.1", 0)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/healthz"
        serving = asyncio.get_running_loop().create_task(serve(app, [listening]))
        async with session.get(url) as answered:  # its connection stays open
            assert answered.status == 200
        app.state.services.stopping.set()
        for _ in range(100):  # turns of the loop, in which nothing is waited for
            await asyncio.sleep(0)

        assert serving.done()


@pytest.mark.parametrize("turns", range(6))
def test_new_connections_do_not_keep_a_server_from_stopping(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turns: int
) -> None:
    async def stop_while_they_come() -> None:
        async with asyncio.timeout(_LONGEST), engine_at(tmp_path) as engine:
            app = application(engine)
            listening = listen("127.0.0.1", 0)
            place = listening.getsockname()
            serving = asyncio.get_running_loop().create_task(serve(app, [listening]))
            async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{place[1]}/healthz"):
                pass  # it serves
            clients = [socket.create_connection(place) for _ in range(20)]
            for client in clients:
                client.sendall(b"GET /healthz HTTP/1.1\r\nhost: here\r\n\r\n")
            for _ in range(turns):  # of the loop, in which they are let in and heard
                await asyncio.sleep(0)
            app.state.services.stopping.set()
            await serving
            for client in clients:
                client.close()

    monkeypatch.setattr("layover.api.server._GRACE", 10 * _LONGEST)
    uvloop.run(stop_while_they_come())  # the loop of `layover serve`
