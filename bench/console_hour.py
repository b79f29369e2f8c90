"""Pages of the console that stay open: `python bench/console_hour.py --minutes 60`; `--small`: a moment of it.

`layover serve` on SQLite, a process of its own, and three pages in Chromium, each seen: an execution that is answered
once a second, the list of executions, to which one is added every other second, and the inbox that they come to and
go from. Each minute it says what the pages keep once all that they do not need is gone, the memory of the server, and
how often the pages asked. Nothing else is measured; the times that a person waits are those of `bench/console.py`.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import tempfile
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.console.seen import sign_in
from tests.load.memory import MB, slope_of
from tests.load.serving import ADMIN_KEY, serving
from tests.load.wire import Wire
from tests.servers.chromium import HAS_CHROMIUM, chromium

from console import heap_of
from measure import table

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page
    from tests.load.serving import Serving

_MOST_ANSWERS: Final = 9_000
_LIVE: Final = """
name: live
nodes:
  - id: each
    type: loop
    for_each: input.items
    as: item
    max_iterations: 10000
    body: [{id: ask, type: approval, title: "Item ${item}?"}]
"""
_QUESTION: Final = """
name: question
nodes: [{id: ask, type: approval, title: "Question ${input.n}?"}]
"""
_OPEN: Final = 50  # questions that wait in the inbox at any time


class Watched:
    """A page that stays open: how often it asked, what was refused, and what it kept."""

    def __init__(self, name: str, page: Page) -> None:
        self.name, self.page = name, page
        self.asked = self.refused = 0
        self.errors: list[str] = []
        self.heap: list[tuple[float, float]] = []
        page.on("request", lambda one: self._count(one.url))
        page.on("response", lambda one: self._look(one.status, one.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _count(self, url: str) -> None:
        self.asked += "/api/" in url

    def _look(self, status: int, url: str) -> None:
        if status >= 400:
            self.refused += 1
            self.errors.append(f"{status} {url}")

    async def sample(self, at: float) -> str:
        """Take what it keeps now, and say it; new rows that wait are shown, as a person does from time to time."""
        fresh = self.page.get_by_role("button", name=re.compile(r"^\d+ new$"))
        if await fresh.count():
            await fresh.click()
        size = await heap_of(self.page)
        self.heap.append((at, size * MB))
        elements = await self.page.evaluate("() => document.getElementsByTagName('*').length")
        return f"{self.name} {size:.1f} MB, {elements} elements"


class Workload:
    """Answers and starts, paced by the clock and one after the other."""

    def __init__(self, server: Serving) -> None:
        self._wire = Wire(server.url, ADMIN_KEY)
        self.answers = self.starts = 0

    async def begin(self) -> str:
        """Start the execution that is looked at."""
        given = {"items": list(range(_MOST_ANSWERS))}
        body = {"workflow": "live", "input": given, "wait": "10s"}
        started = await self._wire.ask("POST", "/api/v1/executions", body)
        return str(started.json["id"])

    async def go_on(self, execution_id: str, seconds: float) -> None:
        """Answer once a second, and start every other second."""
        began = monotonic()
        waiting: list[str] = []
        while monotonic() < began + seconds:
            due = int(monotonic() - began) + 1
            if self.answers < due:
                self.answers += await self._answer(execution_id)
            if self.starts * 2 < due:
                body = {"workflow": "question", "input": {"n": self.starts}, "wait": "5s"}
                waiting.append((await self._wire.ask("POST", "/api/v1/executions", body)).json["id"])
                self.starts += 1
                if len(waiting) > _OPEN:
                    await self._answer(waiting.pop(0))
            await asyncio.sleep(0.1)

    async def _answer(self, execution_id: str) -> bool:
        found = await self._wire.ask("GET", f"/api/v1/pause-points?execution_id={execution_id}&status=open")
        for point in found.json["items"]:
            taken = await self._wire.ask("POST", f"/api/v1/approvals/{point['id']}/approve", {})
            assert taken.status < 300, taken
            return True
        return False


async def _opened(browser: Browser, server: Serving, execution_id: str) -> list[Watched]:
    context = await browser.new_context(viewport={"width": 1360, "height": 900})
    found: list[Watched] = []
    for name, path in (("execution", f"/executions/{execution_id}"), ("list", "/executions"), ("inbox", "?tab=me")):
        page = await context.new_page()
        await page.goto(f"{server.url}/console{path}")
        if not found:
            await sign_in(page, ADMIN_KEY)
        await page.get_by_role("heading", level=1).wait_for()
        found.append(Watched(name, page))
    return found


async def _measure(minutes: float) -> list[str]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        flows = {"live": _LIVE, "question": _QUESTION}
        async with serving(f"sqlite:///{folder}/hour.db", folder, flows) as server, chromium() as browser:
            work = Workload(server)
            started = await work.begin()
            pages = await _opened(browser, server, started)
            working = asyncio.create_task(work.go_on(started, minutes * 60))
            began, resident = monotonic(), list[tuple[float, float]]()
            while not working.done():
                await asyncio.wait({working}, timeout=min(60, minutes * 20))
                at = monotonic() - began
                resident.append((at, float(server.resident)))
                told = [await one.sample(at) for one in pages]
                print(f"{at / 60:6.1f} min  server {resident[-1][1] / MB:.1f} MB; {'; '.join(told)}", flush=True)
            await working
            taken = (monotonic() - began) / 60
            rows: list[tuple[str, ...]] = [("", "first", "last", "line after warming up", "requests a minute")]
            for one in pages:
                per_minute = f"{one.asked / taken:.0f}, {one.refused} refused"
                rows.append((one.name, _mb(one.heap[0]), _mb(one.heap[-1]), str(slope_of(one.heap)), per_minute))
            rows.append(("server", _mb(resident[0]), _mb(resident[-1]), str(slope_of(resident)), ""))
            title = f"{taken:.1f} minutes, {work.answers:,} answers, {work.starts:,} executions started"
            print(table(title, rows), flush=True)
            return [f"{one.name}: {error}" for one in pages for error in one.errors]


def _mb(sample: tuple[float, float]) -> str:
    return f"{sample[1] / MB:.1f} MB"


def main() -> int:
    """Keep the pages open, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--small", action="store_true", help="a few seconds: enough to see that it works")
    options = parser.parse_args()
    if not HAS_CHROMIUM:
        print("There is no Chromium here: nothing is measured.")
        return 0
    errors = asyncio.run(_measure(0.05 if options.small else options.minutes))
    print(*errors[:20], sep="\n")
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())
