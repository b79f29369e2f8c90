"""Values as large as the engine takes, in every field, more than ten at once: pages show a part and stay quick."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest
import pytest_asyncio
from playwright.async_api import expect

from layover import NodeContext, node
from tests.api.harness import served
from tests.console.seen import DESK, PHONE, Seen, signed_in
from tests.servers.chromium import needs_chromium

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Browser

    from tests.api.harness import Api

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="module")]

_SIZE: Final = 900_000  # characters: an event holds a million bytes
_TEXT: Final = "<b>large</b> &amp; " * (_SIZE // 19)
_STEPS: Final = 12
_MOST_SHOWN: Final = 300_000  # characters in a page


@node
async def fill(context: NodeContext, text: str) -> dict[str, Any]:
    """Return and log as much as there may be."""
    context.progress(1, 2, text)
    for n in range(30):
        context.log.warning("%d %s", n, text[:10_000])
    return {"text": text, "rows": list(range(1_000))}


@node
async def refuse(text: str) -> None:
    """Fail with a long message."""
    raise ValueError(text)


LARGE: Final[dict[str, Any]] = {
    "name": "large",
    "input": {"type": "object", "properties": {"text": {"type": "string", "title": "Text"}}},
    "nodes": [
        *(
            {"id": f"step{n}", "type": "fill", "input": {"text": "${input.text}"}, "next": f"step{n + 1}"}
            for n in range(_STEPS - 1)
        ),
        {"id": f"step{_STEPS - 1}", "type": "fill", "input": {"text": "${input.text}"}, "next": "ask"},
        {
            "id": "ask",
            "type": "approval",
            "title": "${input.text}",
            "shown": {"text": "${input.text}", "small": "a fact"},
            "schema": {"type": "object", "properties": {"note": {"type": "string", "title": "Note"}}},
            "next": {"approved": "end", "rejected": "end"},
        },
        {"id": "end", "type": "end", "outcome": "refused", "reason": "${nodes.ask.comment}"},
    ],
}
FAILING: Final[dict[str, Any]] = {
    "name": "failing",
    "nodes": [{"id": "refuse", "type": "refuse", "input": {"text": "${input.text}"}}],
}


class Filled(NamedTuple):
    """A server with large values."""

    api: Api
    large: str
    failing: str


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Filled]:
    async with served(tmp_path_factory.mktemp("large"), fill, refuse, node_logs=True) as api:
        await api.engine.workflows.register(LARGE)
        await api.engine.workflows.register(FAILING)
        ids = [
            (await api.post("/executions", {"workflow": name, "input": {"text": _TEXT}, "wait": "60s"})).json["id"]
            for name in ("large", "failing")
        ]
        yield Filled(api, *ids)


async def _is_bounded(seen: Seen, name: str) -> None:
    """The page holds a part of the values, and is as accessible and as wide as others."""
    shown = await seen.page.evaluate("() => document.body.textContent.length")
    assert (name, shown < _MOST_SHOWN, shown) == (name, True, shown)
    await seen.check(name)


@pytest.mark.parametrize("width", [DESK, PHONE])
async def test_an_execution_with_ten_megabytes_of_data_is_looked_at(
    browser: Browser, server: Filled, width: int
) -> None:
    async with signed_in(browser, server.api, width, path=f"/console/executions/{server.large}") as seen:
        page = seen.page
        await expect(page.locator(".feed-state")).to_contain_text("live")
        await expect(page.get_by_text("step11 finished")).to_be_visible()
        await _is_bounded(seen, f"large-events-{width}")
        await page.get_by_role("button", name="Data").click()
        await expect(page.get_by_role("region", name="Input")).to_contain_text("<b>large</b>")
        await _is_bounded(seen, f"large-data-{width}")
        async with page.expect_download() as started:
            await page.get_by_role("button", name="Download").first.click()
        downloaded = await (await started.value).path()
        assert _TEXT in downloaded.read_text("utf-8")
        await page.get_by_role("button", name="Logs").click()
        await expect(page.get_by_role("region", name="Logs")).to_contain_text("<b>large</b>")
        await _is_bounded(seen, f"large-logs-{width}")
        await page.goto(f"{server.api.url}/console/executions/{server.large}?node=step3")
        await expect(page.get_by_role("dialog", name="Node step3")).to_contain_text("<b>large</b>")
        await _is_bounded(seen, f"large-node-{width}")


async def test_a_failure_with_a_long_message_is_read(browser: Browser, server: Filled) -> None:
    async with signed_in(browser, server.api, PHONE, path=f"/console/executions/{server.failing}") as seen:
        page = seen.page
        await expect(page.locator(".stands")).to_contain_text("<b>large</b>")
        await _is_bounded(seen, "large-failure")
        await page.goto(f"{server.api.url}/console/executions/{server.failing}?node=refuse")
        await expect(page.get_by_role("dialog")).to_contain_text("<b>large</b>")
        await _is_bounded(seen, "large-failure-node")
        await page.goto(f"{server.api.url}/console/executions")
        await expect(page.get_by_role("link", name="failing")).to_be_visible()
        await _is_bounded(seen, "large-list")


@pytest.mark.parametrize("width", [DESK, PHONE])
async def test_a_question_with_large_facts_is_decided(browser: Browser, server: Filled, width: int) -> None:
    async with signed_in(browser, server.api, width) as seen:
        page = seen.page
        await expect(page.get_by_role("link", name="<b>large</b>")).to_be_visible()
        await _is_bounded(seen, f"large-inbox-{width}")
        await page.get_by_role("link", name="<b>large</b>").click()
        await expect(page.get_by_role("article")).to_contain_text("a fact")
        await _is_bounded(seen, f"large-point-{width}")
        await page.get_by_role("article").locator("details summary").first.click()
        await _is_bounded(seen, f"large-point-open-{width}")


async def test_what_is_typed_is_kept_when_it_is_more_than_a_request_may_hold(browser: Browser, server: Filled) -> None:
    async with signed_in(browser, server.api, path="/console/workflows/large/start") as seen:
        page = seen.page
        field = page.get_by_label("Text")
        await field.fill("x" * 3_000_000)
        await page.get_by_role("dialog").get_by_role("button", name="Start").click()
        await expect(page.get_by_role("alert")).to_contain_text("large")
        assert len(await field.input_value()) == 3_000_000
