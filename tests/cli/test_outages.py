"""A database that goes away while somebody looks, and comes back: commands that stay say so, wait, and go on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from layover import Engine
from tests.api.harness import ADMIN_KEY, served
from tests.cli.terminal import Terminal
from tests.runtime.harness import flow, form
from tests.servers.proxy import Proxy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.servers.postgres import Databases

ASKING = "name: asking\nnodes: [{id: a, type: approval}]"


class Scene:
    """An execution that waits for a person, in a database at the end of a line that can be cut."""

    def __init__(self, engine: Engine, proxy: Proxy, address: str, folder: Path) -> None:
        self.engine = engine
        self.proxy = proxy
        self.address = address
        self.folder = folder

    def terminal(self, *words: str) -> Terminal:
        return Terminal(*words, "--db", self.address, folder=self.folder, columns=300)

    async def start(self) -> str:
        return (await self.engine.start("asking", until="rest", timeout="30s")).id

    def go_away(self) -> None:
        self.proxy.is_refusing = True
        self.proxy.cut()

    def come_back(self) -> None:
        self.proxy.is_refusing = False


@pytest.fixture
async def scene(postgres: Databases, tmp_path: Path) -> AsyncIterator[Scene]:
    address = postgres.address()
    async with Engine(address) as engine, Proxy(address) as proxy:
        await engine.register(ASKING)
        yield Scene(engine, proxy, proxy.address(address), tmp_path)


async def until(terminal: Terminal, text: str) -> str:
    return await asyncio.to_thread(terminal.until, text)


async def left(terminal: Terminal) -> int:
    terminal.control_c()
    return await asyncio.to_thread(terminal.end)


async def test_all_executions_are_watched_across_an_outage(scene: Scene) -> None:
    first = await scene.start()
    with scene.terminal("watch") as terminal:
        await until(terminal, f"{first}  asking  paused")
        scene.go_away()
        await until(terminal, "It is tried again.")
        second = await scene.start()
        scene.come_back()
        await until(terminal, "It is there again.")
        await until(terminal, f"{second}  asking  paused")
        assert terminal.text.count("It is tried again.") == 1
        assert await left(terminal) == 130


async def test_an_execution_is_watched_across_an_outage_without_a_flood_of_lines(scene: Scene) -> None:
    started = await scene.start()
    with scene.terminal("watch", started) as terminal:
        await until(terminal, "waiting")
        scene.go_away()
        await until(terminal, "read_failed")
        (point,) = await (await scene.engine.execution(started)).points().all()
        await point.approve()
        scene.come_back()
        await until(terminal, f"{started} completed")
        assert await asyncio.to_thread(terminal.end) == 0
        assert "service_failed" not in terminal.text
        assert terminal.text.count("read_failed") == 1


async def test_top_keeps_its_last_picture_and_says_what_is_wrong(scene: Scene) -> None:
    await scene.start()
    with scene.terminal("top", "--every", "20ms") as terminal:
        await until(terminal, "1 paused")
        await until(terminal, "0.0 started/s")
        scene.go_away()
        await until(terminal, "reached")
        await until(terminal, "1 paused")
        scene.come_back()
        await scene.start()
        await until(terminal, "2 paused")
        assert "service_failed" not in terminal.text
        assert await left(terminal) == 0


async def test_top_says_for_how_long_there_is_no_answer(scene: Scene) -> None:
    await scene.start()
    with scene.terminal("top", "--every", "20ms") as terminal:
        await until(terminal, "1 paused")
        await until(terminal, "0.0 started/s")
        scene.proxy.stall()
        await until(terminal, "no answer for ")
        assert await left(terminal) == 0
        scene.proxy.go_on()


async def test_an_unreachable_database_at_the_beginning_ends_the_command(scene: Scene) -> None:
    scene.go_away()
    for words in (("watch",), ("top",)):
        with scene.terminal(*words) as terminal:
            assert await asyncio.to_thread(terminal.end) == 2
            assert "--db or --url is its address" in terminal.text


@pytest.mark.parametrize("words", [(), ("--json",)])
async def test_an_execution_on_a_server_is_watched_across_an_outage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("LAYOVER_KEY", ADMIN_KEY)
    async with served(tmp_path) as api, Proxy(api.url) as proxy:
        await api.engine.workflows.register(flow(form()))
        started = await api.engine.executions.start("flow", wait="rest")
        watching = ("watch", started.id, "--url", proxy.address(api.url), *words)
        with Terminal(*watching, folder=tmp_path, columns=1_000) as terminal:
            await until(terminal, "PausePointOpened" if words else "waiting")
            proxy.is_refusing = True
            proxy.cut(is_noticed=False)
            await until(terminal, "It is tried again.")
            (point,) = await api.engine.points.list(started.id)
            await api.post(f"/pause-points/{point.point.id}/answer", {"data": {}})
            proxy.is_refusing = False
            await until(terminal, "It is there again.")
            await until(terminal, "ExecutionCompleted" if words else f"{started.id} completed")
            assert await asyncio.to_thread(terminal.end) == 0
            if words:
                assert terminal.text.count('"ExecutionStarted"') <= 1
                assert terminal.text.count('"PausePointOpened"') == 1
