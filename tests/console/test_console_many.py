"""Very much of everything: executions, nodes, items of a loop. Pages hold little of it, and lead to all of it.

`make torture` has as much as is promised; a normal run has less, of which a page holds as little.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from playwright.async_api import expect

sys.path.append(str(Path(__file__).parents[2] / "bench"))

from copied_executions import Values, copy
from layover.runtime.operations.start_options import Options
from tests.api.harness import listening, served
from tests.conftest import FACTOR
from tests.console.seen import DESK, PHONE, signed_in
from tests.runtime.harness import address_in, engine_at
from tests.servers.chromium import needs_chromium

if TYPE_CHECKING:
    from playwright.async_api import Browser, Locator

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="module")]

_EXECUTIONS: Final = 100_000 if FACTOR > 1 else 3_000
_ITEMS: Final = 10_000 if FACTOR > 1 else 1_000
_NODES: Final = 2_000
_MOST_DRAWN: Final = 300  # elements of one kind, however many there are
_FIRST: Final = Values(number=987_654_321, kind="the-first-kind")

PLAIN: Final[dict[str, Any]] = {
    "name": "plain",
    "nodes": [{"id": "keep", "type": "compute", "output": "${input.kind}"}],
}
LOOP: Final[dict[str, Any]] = {
    "name": "loop",
    "settings": {"max_pause": "none"},
    "nodes": [
        {
            "id": "each",
            "type": "loop",
            "for_each": "input.items",
            "as": "item",
            "max_iterations": 10_000,
            "body": [{"id": "check", "type": "compute", "output": "item ${item}"}],
            "next": "ask",
        },
        {"id": "ask", "type": "approval", "title": "All of them?"},
    ],
}
LONG: Final[dict[str, Any]] = {
    "name": "long",
    "settings": {"max_pause": "none"},
    "nodes": [
        {"id": "n0", "type": "condition", "if": "true", "next": {"true": f"n{_NODES - 2}", "false": "n1"}},
        *({"id": f"n{n}", "type": "compute", "output": n, "next": f"n{n + 1}"} for n in range(1, _NODES - 2)),
        {"id": f"n{_NODES - 2}", "type": "approval", "title": "At last?", "next": f"n{_NODES - 1}"},
        {"id": f"n{_NODES - 1}", "type": "end"},
    ],
}


async def _scroll_to_last(scrolled: Locator, last: Locator) -> None:
    """Go to the end again and again: behind it, more is read."""
    for _ in range(10_000):
        if await last.count() > 0:
            return
        await scrolled.evaluate(
            """(list) => new Promise((done) => {
                const before = list.scrollHeight;
                const step = (left) => {
                    list.scrollTop = list.scrollHeight;
                    list.scrollHeight > before || left === 0 ? done() : requestAnimationFrame(() => step(left - 1));
                };
                step(60);
            })"""
        )
    raise AssertionError("The end is not reached.")


async def test_very_many_executions_are_listed_to_the_last(browser: Browser, tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(PLAIN)
        given = {"kind": _FIRST.kind, "n": _FIRST.number}
        first = (await engine.executions.start("plain", given, wait="end", options=Options(correlation_id="oldest"))).id
        while await engine.instance.store.search_terms.list_unindexed(None, 1):
            await engine.instance.indexer.index_all()
    await copy(address_in(tmp_path), first, _FIRST, _EXECUTIONS - 1, lambda n: Values(n, f"kind-{n % 10}"))
    async with engine_at(tmp_path) as engine, listening(engine) as api, signed_in(browser, api) as seen:
        page = seen.page
        await page.goto(f"{api.url}/console/executions")
        rows = page.locator(".scroll li")
        await expect(rows.first).to_contain_text("plain")
        assert await rows.count() < _MOST_DRAWN
        scrolled = page.get_by_role("region", name="Executions")
        await _scroll_to_last(scrolled, page.locator(f".scroll li[aria-posinset='{_EXECUTIONS}']"))
        assert await rows.count() < _MOST_DRAWN
        await seen.check("many-executions")
        await page.locator(f".scroll li[aria-posinset='{_EXECUTIONS}'] a").click()  # the first that began
        await expect(page.get_by_text("keep finished")).to_be_visible()
        assert page.url.endswith(first)
        assert seen.errors == []


@pytest.mark.parametrize("width", [DESK, PHONE])
async def test_a_graph_of_very_many_nodes_opens_at_what_waits(browser: Browser, tmp_path: Path, width: int) -> None:
    async with served(tmp_path) as api, signed_in(browser, api, width) as seen:
        await api.engine.workflows.register(LONG)
        started = await seen.start("long", {})
        await seen.open(f"/executions/{started}", "long")
        drawn = seen.page.locator(".react-flow__node")
        waiting = drawn.filter(has_text=f"n{_NODES - 2}")
        await expect(waiting).to_be_in_viewport()
        await expect(waiting).to_contain_text("waiting")
        assert 0 < await drawn.count() < _MOST_DRAWN
        await seen.check(f"many-nodes-{width}")
        await waiting.click()
        await expect(seen.page.get_by_role("dialog", name=f"Node n{_NODES - 2}")).to_contain_text("approval")
        assert seen.errors == []


async def test_a_loop_of_very_many_items_is_listed_to_the_last(browser: Browser, tmp_path: Path) -> None:
    async with served(tmp_path) as api, signed_in(browser, api) as seen:
        await api.engine.workflows.register(LOOP)
        started = await seen.start("loop", {"items": list(range(_ITEMS))})
        await api.get(f"/executions/{started}?wait=60s&until=pause")
        page = seen.page
        await seen.open(f"/executions/{started}?node=each", "loop")
        rows = page.locator(".iteration")
        await expect(rows.first).to_contain_text("check")
        assert await rows.count() < _MOST_DRAWN
        last = rows.filter(has=page.get_by_text(f"#{_ITEMS}", exact=True))
        await _scroll_to_last(page.get_by_role("region", name="Iterations"), last)
        assert await rows.count() < _MOST_DRAWN
        await seen.check("many-items")
        await last.click()
        await expect(page.get_by_role("region", name="Output")).to_contain_text(f"item {_ITEMS - 1}")
        assert seen.errors == []
