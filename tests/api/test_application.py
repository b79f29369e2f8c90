"""The application by itself: mounted in another, and paths that look alike."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import aiohttp
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from layover.api.access.config import AccessSettings
from layover.api.application import application
from layover.api.serving import listen, serve
from tests.api.harness import ADMIN_KEY, served
from tests.runtime.harness import engine_at

if TYPE_CHECKING:
    from pathlib import Path

ASK = "name: {name}\nnodes: [{{id: a, type: form, schema: {{type: object}}}}]"


async def test_it_can_be_mounted_in_another_application(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.register(ASK.format(name="ask"))
        inner = application(engine, access=AccessSettings(admin_key=ADMIN_KEY))
        outer = Starlette(routes=[Mount("/flows", inner)])
        outer.state.services = inner.state.services
        socket = listen("127.0.0.1", 0)
        serving = asyncio.get_running_loop().create_task(serve(outer, [socket]))
        base = f"http://127.0.0.1:{socket.getsockname()[1]}"
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
        await api.engine.register(ASK.format(name=name))
        found = await api.get(f"/workflows/{name}")
        gone = await api.delete(f"/workflows/{name}")
        patched = await api.ask("PATCH", f"/workflows/{name}")

    assert (found.status, found.json["name"]) == (200, name)
    assert gone.status == 204
    assert (patched.status, patched.code) == (405, "method_not_allowed")


async def test_a_body_that_is_empty_is_of_no_kind(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.register(ASK.format(name="ask"))
        execution = await api.engine.start("ask", wait="rest")
        kind = {"content-type": "application/octet-stream"}
        paused = await api.ask("POST", f"/executions/{execution.id}/pause", headers=kind, raw=b"")
        refused = await api.ask("POST", f"/executions/{execution.id}/pause", headers=kind, raw=b"{}")

    assert (paused.status, paused.json["status"]) == (200, "paused")
    assert (refused.status, refused.code) == (415, "unsupported_media_type")


async def test_a_server_that_answers_nobody_stops_without_waiting_for_a_moment_to_pass(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine, aiohttp.ClientSession() as session:
        app = application(engine)
        socket = listen("127.0.0.1", 0)
        url = f"http://127.0.0.1:{socket.getsockname()[1]}/healthz"
        serving = asyncio.get_running_loop().create_task(serve(app, [socket]))
        async with session.get(url) as answered:  # its connection stays open
            assert answered.status == 200
        app.state.services.stopping.set()
        for _ in range(100):  # turns of the loop, in which nothing is waited for
            await asyncio.sleep(0)

        assert serving.done()
