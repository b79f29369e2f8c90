"""The console with much in it, in a real browser (Chromium): `python bench/console.py`; `--quick`, `--small`: less.

One server and one browser. Times are those that a person waits: from the address to what they came for. The browser,
the server and its database share the machine, so they are upper bounds; the load is printed beside them.
"""

from __future__ import annotations

import asyncio
import gzip
import os
import statistics
import sys
import tempfile
from importlib.resources import files
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from playwright.async_api import expect
from tests.api.harness import served
from tests.console.seen import Seen, signed_in
from tests.servers.chromium import HAS_CHROMIUM, chromium

from measure import Size, size_of, table
from runtime_workloads import many

if TYPE_CHECKING:
    from playwright.async_api import Page
    from tests.api.harness import Api

QUESTION: Final[dict[str, Any]] = {
    "name": "question",
    "nodes": [{"id": "ask", "type": "approval", "title": "${input.n}?"}],
}
LOOP: Final[dict[str, Any]] = {
    "name": "loop",
    "nodes": [
        {
            "id": "each",
            "type": "loop",
            "for_each": "input.items",
            "as": "item",
            "max_iterations": 10_000,
            "body": [{"id": "check", "type": "compute", "output": "${item}"}],
        }
    ],
}
LARGE: Final[dict[str, Any]] = {
    "name": "large",
    "nodes": [{"id": "keep", "type": "compute", "output": "${input.text}"}],
}
_FRAMES: Final = """(count) => new Promise((done) => {
  const list = document.querySelector(".scroll"), taken = [];
  let last = performance.now();
  const step = () => {
    const now = performance.now();
    taken.push(now - last);
    last = now;
    list.scrollTop += 400;
    taken.length < count ? requestAnimationFrame(step) : done(taken);
  };
  requestAnimationFrame(step);
})"""


_LOADED: Final = """() => performance.getEntriesByType("resource")
  .filter((one) => one.name.includes("/console/assets/")).map((one) => [one.name, one.encodedBodySize])"""


def chain(nodes: int) -> dict[str, Any]:
    """Return a workflow of so many nodes: stretches of ten side by side, one stretch after the other."""
    made: list[dict[str, Any]] = []
    for n in range(nodes):
        following = {"true": f"n{n + 1}", "false": f"n{min(n + 10, nodes - 1)}"}
        if n == nodes - 1:
            made.append({"id": f"n{n}", "type": "end"})
        elif n % 10 == 0:
            made.append({"id": f"n{n}", "type": "condition", "if": "true", "next": following})
        else:
            made.append({"id": f"n{n}", "type": "compute", "output": n, "next": f"n{n + 1}"})
    return {"name": f"chain{nodes}", "nodes": made}


class Figures:
    """What was measured, in the order of the table."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, ...]] = [("", "measured")]

    def add(self, what: str, figure: str) -> None:
        self.rows.append((what, figure))
        print(f"  {what}: {figure}", flush=True)


async def _seconds(page: Page, url: str, selector: str) -> float:
    """Return how long it takes from an address until something is seen; the median of three."""
    taken = []
    for _ in range(3):
        await page.goto("about:blank")
        began = perf_counter()
        await page.goto(url)
        await page.wait_for_selector(selector, timeout=120_000)
        taken.append(perf_counter() - began)
    return statistics.median(taken)


async def _sizes(seen: Seen, _size: Size, figures: Figures) -> None:
    """What a browser loads, as it comes over the wire: of each screen what those before it have not loaded."""
    await seen.api.engine.workflows.register(QUESTION)
    started = await seen.start("question", {"n": 0})
    known: set[str] = set()
    for what, path, selector in (
        ("the first screen", "?tab=me", "h1"),
        ("the list of executions, beside that", "/executions", ".scroll li"),
        ("an execution, beside those", f"/executions/{started}", ".react-flow__node"),
        ("the editor, beside those", "/workflows/question/edit", ".cm-content"),
        ("operations, beside those", "/operations", "canvas"),
    ):
        await seen.page.goto(f"{seen.api.url}/console{path}")
        await seen.page.wait_for_selector(selector, timeout=120_000)
        loaded = dict(await seen.page.evaluate(_LOADED))
        figures.add(f"loaded by {what}", f"{sum(loaded[name] for name in loaded.keys() - known) / 1e3:.0f} KB")
        known |= loaded.keys()
    assets = [one.read_bytes() for one in (files("layover.console") / "static" / "assets").iterdir()]
    packed = sum(len(gzip.compress(one, 9)) for one in assets)
    figures.add("all of it: as it is, compressed", f"{sum(map(len, assets)) / 1e3:,.0f} KB, {packed / 1e3:,.0f} KB")


async def _list(seen: Seen, size: Size, figures: Figures) -> None:
    count = size.of(100_000, quick=5_000, small=150)
    engine = seen.api.engine
    await engine.workflows.register(QUESTION)
    numbers = iter(range(count))

    async def start() -> None:
        await seen.api.engine.executions.start("question", {"n": next(numbers)})

    await many(start, count, 100)
    page = seen.page
    taken = await _seconds(page, f"{seen.api.url}/console/executions", ".scroll li")
    figures.add(f"{count:,} executions: first rows", f"{taken:.2f} s")
    for _ in range(size.of(100, quick=10, small=1)):  # pages are read as they come near
        await page.keyboard.press("End")
        await page.locator(".scroll").evaluate("(list) => { list.scrollTop = list.scrollHeight; }")
        await page.wait_for_timeout(50)
    frames = await page.evaluate(_FRAMES, size.of(120, quick=60, small=5))
    rows = await page.locator(".scroll li").count()
    figures.add("the same, scrolled: median frame, rows in the page", f"{statistics.median(frames):.0f} ms, {rows}")


async def _graphs(seen: Seen, size: Size, figures: Figures) -> None:
    for nodes in size.of((20, 2_000, 5_000), quick=(20, 2_000), small=(60,)):
        await seen.api.engine.workflows.register(chain(nodes))
        taken = await _seconds(seen.page, f"{seen.api.url}/console/workflows/chain{nodes}", ".react-flow__node")
        drawn = await seen.page.locator(".react-flow__node").count()
        figures.add(f"a graph of {nodes:,} nodes (of which in the page)", f"{taken:.2f} s ({drawn})")


async def _loop(seen: Seen, size: Size, figures: Figures) -> None:
    items = size.of(10_000, quick=1_000, small=120)
    await seen.api.engine.workflows.register(LOOP)
    started = await seen.start("loop", {"items": list(range(items))})
    await seen.api.get(f"/executions/{started}?wait=60s&until=end")
    url = f"{seen.api.url}/console/executions/{started}"
    figures.add(
        f"a loop of {items:,} items: its execution", f"{await _seconds(seen.page, url, '.react-flow__node'):.2f} s"
    )
    taken = await _seconds(seen.page, f"{url}?node=each", ".iteration")
    figures.add("the same: its iterations, rows in the page", f"{taken:.2f} s, {await _count(seen, '.iteration')}")


async def _values(seen: Seen, size: Size, figures: Figures) -> None:
    megabytes = size.of(0.9, quick=0.9, small=0.01)  # an input of one request; ten of them are what a page holds
    await seen.api.engine.workflows.register(LARGE)
    started = await seen.start("large", {"text": "<b>&" * int(megabytes * 250_000)})
    taken = await _seconds(seen.page, f"{seen.api.url}/console/executions/{started}?tab=data", ".data pre")
    figures.add(f"data of {megabytes} MB: seen", f"{taken:.2f} s")


async def _live(seen: Seen, size: Size, figures: Figures) -> None:
    """An execution that is looked at while it goes on: how often the page asks, and what it keeps."""
    events = size.of(3_000, quick=500, small=20)
    asking = {
        "name": "live",
        "nodes": [
            {
                "id": "each",
                "type": "loop",
                "for_each": "input.items",
                "as": "item",
                "max_iterations": 10_000,
                "body": [{"id": "ask", "type": "approval", "title": "${item}?"}],
            }
        ],
    }
    await seen.api.engine.workflows.register(asking)
    started = await seen.start("live", {"items": list(range(events))})
    asked: list[str] = []
    seen.page.on("request", lambda request: asked.append(request.url) if "/api/" in request.url else None)
    await seen.page.goto(f"{seen.api.url}/console/executions/{started}")
    await expect(seen.page.locator(".feed-state")).to_contain_text("live")
    before, asked_before, began = await heap_of(seen.page), len(asked), perf_counter()
    answered = 0
    while answered < events - 1:
        points = (await seen.api.get(f"/pause-points?execution_id={started}&status=open")).json["items"]
        for point in points:
            answered += (await seen.api.post(f"/approvals/{point['id']}/approve", {})).status in (200, 201)
    minutes = (perf_counter() - began) / 60
    figures.add(
        f"an open execution with {events:,} answers in {minutes:.1f} min: requests a minute",
        f"{(len(asked) - asked_before) / max(minutes, 1 / 60):.0f}",
    )
    figures.add("the same: memory of the page before and after", f"{before:.1f} MB, {await heap_of(seen.page):.1f} MB")


async def heap_of(page: Page) -> float:
    """Return what the page keeps, in megabytes, once all that it does not need is gone."""
    tools = await page.context.new_cdp_session(page)
    await tools.send("HeapProfiler.collectGarbage")
    used = await tools.send("Runtime.getHeapUsage")
    await tools.detach()
    return float(used["usedSize"]) / 1e6


async def _count(seen: Seen, selector: str) -> int:
    return await seen.page.locator(selector).count()


async def _measure(api: Api, size: Size, parts: list[str]) -> None:
    figures = Figures()
    known = {"sizes": _sizes, "graphs": _graphs, "loop": _loop, "values": _values, "live": _live, "list": _list}
    async with chromium() as browser, signed_in(browser, api) as seen:
        for name, part in known.items():
            if not parts or name in parts:
                await part(seen, size, figures)
    print(table(f"The console in Chromium (load {os.getloadavg()[0]:.1f})", figures.rows), flush=True)


async def main(size: Size, parts: list[str]) -> None:
    """Measure all of it, or the parts that are named."""
    with tempfile.TemporaryDirectory() as folder:
        async with served(Path(folder)) as api:
            await _measure(api, size, parts)


if __name__ == "__main__":
    if HAS_CHROMIUM:
        asyncio.run(main(size_of(sys.argv), [word for word in sys.argv[1:] if not word.startswith("-")]))
    else:
        print("There is no Chromium here: nothing is measured.")
