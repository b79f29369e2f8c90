"""A real Prometheus scrapes a server by the files that `layover monitoring` writes, and answers every query of them."""

from __future__ import annotations

import asyncio
import re
import shutil
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import aiohttp
import pytest

from layover.cli.monitoring import write_monitoring
from tests.api.harness import served
from tests.metrics.test_monitoring import DASHBOARD, RULES, queries
from tests.metrics.triggered import GRANTED, fire, register_triggered
from tests.runtime.harness import call, flow, form

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.api.harness import Api

WORKFLOW = "ask"


@pytest.fixture
def program() -> str:
    found = shutil.which("prometheus")
    if found is None:
        pytest.skip("prometheus is not on the PATH: it is in Debian's package prometheus")
    return found


class Prometheus:
    """A server of Prometheus that has been started."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self._url = url
        self._session = session

    async def get(self, path: str, **query: str) -> Any:
        async with self._session.get(f"{self._url}/api/v1/{path}", params=query) as answered:
            body = await answered.json()
        assert body["status"] == "success", body
        return body["data"]

    async def result(self, query: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await self.get("query", query=query))["result"]
        return found

    async def has_scraped(self, query: str, times: int) -> None:
        """Return when a query gives something, so many scrapes later."""
        while not await self.result(query):
            pass
        before = await self._scrapes()
        while await self._scrapes() < before + times:
            pass

    async def _scrapes(self) -> int:
        return int((await self.result("count_over_time(up[1h])"))[0]["value"][1])


@asynccontextmanager
async def prometheus(program: str, folder: Path, target: str) -> AsyncIterator[Prometheus]:
    """Run Prometheus as the files say, but for the target and how often it looks."""
    write_monitoring(folder)
    file = folder / "prometheus.yml"
    text = file.read_text()
    assert "localhost:8080" in text
    file.write_text(re.sub(r"_interval: \S+", "_interval: 100ms", text.replace("localhost:8080", target)))
    process = await asyncio.create_subprocess_exec(
        program,
        f"--config.file={file}",
        f"--storage.tsdb.path={folder / 'data'}",
        "--web.listen-address=127.0.0.1:0",
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    reading: asyncio.Task[bytes] | None = None
    try:
        address = b""
        line = b""
        while b"Server is ready" not in line:
            line = await process.stderr.readline()
            assert line, "it ended"
            found = re.search(rb'"Listening on" address=(\S+)', line)
            address = found[1] if found else address
        reading = asyncio.create_task(process.stderr.read())  # else it would wait for a reader
        async with aiohttp.ClientSession() as session:
            yield Prometheus(f"http://{address.decode()}", session)
    finally:
        process.terminate()
        await process.wait()
        if reading is not None:
            await reading


async def live(api: Api) -> None:
    """Let something happen: a call, a retry, a pause, an answer, a trigger."""
    engine = api.engine
    started = await engine.executions.start(WORKFLOW, wait="rest")
    (point,) = await engine.points.list(started.id)
    await api.post(f"/pause-points/{point.point.id}/answer", {"data": {}})
    await engine.executions.wait(started.id)
    await engine.executions.start("broken", wait="rest")
    await fire(api)


async def test_prometheus_itself_scrapes_evaluates_the_rules_and_answers_the_dashboard(
    program: str, tmp_path: Path
) -> None:
    async def work() -> str:
        return "well"

    async def fail() -> None:
        raise ValueError("no")

    async with served(tmp_path, work, fail, **GRANTED) as api:
        retry = {"max_attempts": 2, "delay": "1ms", "on_exhausted": "pause"}
        await api.engine.workflows.register(flow(call("a"), form(), name=WORKFLOW))
        await api.engine.workflows.register(flow(call("a", "fail", retry=retry), name="broken"))
        await register_triggered(api)
        await live(api)
        async with prometheus(program, tmp_path / "monitoring", urlsplit(api.url).netloc) as server:
            await server.has_scraped("layover_processes", 2)
            await live(api)
            await server.has_scraped("layover_event_loop_lag_seconds_count > 0", 2)

            (target,) = (await server.get("targets"))["activeTargets"]
            assert (target["health"], target["lastError"]) == ("up", "")
            loaded = [rule for group in (await server.get("rules"))["groups"] for rule in group["rules"]]
            assert [rule["name"] for rule in loaded] == [rule["alert"] for rule in RULES]
            assert {rule.get("lastError", "") for rule in loaded} == {""}
            empty = [query for query in queries() if query not in ALERTS and not await server.result(query)]
            assert empty == []
            assert (await server.result("sum(layover_executions_closed_total)"))[0]["value"][1] == "4"


ALERTS = {rule["expr"] for rule in RULES}  # which select nothing while nothing is wrong


def test_the_dashboard_asks_something() -> None:
    assert len([target for panel in DASHBOARD["panels"] for target in panel.get("targets", [])]) > 50
