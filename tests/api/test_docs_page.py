"""The page `/docs` in a real browser: all of the document is there, calls can be sent, and nobody else is asked."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pytest
import pytest_asyncio
from playwright.async_api import expect

from layover.api.openapi import document_of
from layover.api.routes import FAMILIES, ROUTES
from tests.api.acting import resting
from tests.api.harness import ADMIN_KEY, served
from tests.runtime.harness import approval, flow
from tests.servers.chromium import chromium, needs_chromium

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from pathlib import Path

    from playwright.async_api import Browser, Page

    from tests.api.harness import Api

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="module")]

# Every operation of the document is a `details` with its name; what is inside is made when it is opened.
_LISTEN = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));
"""
_OPEN_ALL = "document.querySelectorAll('section > details').forEach((one) => { one.open = true; })"
_TOO_WIDE = """
() => [...document.querySelectorAll("body *")]
  .filter((one) => one.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5)
  .map((one) => `${one.tagName} ${one.className} ${one.closest("details")?.id}`)
"""
_COLOURS = """
(selectors) => selectors.map((selector) => {
  const one = document.querySelector(selector);
  let behind = one;
  while (getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)") behind = behind.parentElement;
  return [getComputedStyle(one).color, getComputedStyle(behind).backgroundColor];
})
"""


class Shown(NamedTuple):
    """A page, the server that it is of, and what it did."""

    page: Page
    api: Api
    errors: list[str]
    asked: list[str]

    async def fill_in_key(self, key: str = ADMIN_KEY) -> None:
        await self.page.get_by_label("Key", exact=True).fill(key)
        await self.page.keyboard.press("Tab")

    async def open(self, operation: str) -> None:
        await self.page.locator(f"#{operation} > summary").click()

    async def send(self, operation: str) -> None:
        await self.page.locator(f"#{operation}").get_by_role("button", name="Send").click()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """Open a browser for all tests here: what one of them does in it, the others do not see."""
    async with chromium() as opened:
        yield opened


@asynccontextmanager
async def shown(browser: Browser, folder: Path, **wanted: Any) -> AsyncIterator[Shown]:
    """Serve a database, and open the page of its server."""
    wanted.setdefault("viewport", {"width": 1280, "height": 900})
    async with served(folder) as api, await browser.new_context(**wanted) as context:
        page = await context.new_page()
        seen = Shown(page, api, [], [])
        page.on("console", lambda told: seen.errors.append(told.text) if told.type == "error" else None)
        page.on("pageerror", lambda error: seen.errors.append(str(error)))
        page.on("request", lambda request: seen.asked.append(request.url))
        await page.add_init_script(_LISTEN)
        await page.goto(f"{api.url}/docs")
        yield seen


async def test_all_of_the_document_is_there_and_no_other_server_is_asked(browser: Browser, tmp_path: Path) -> None:
    document = document_of(FAMILIES)
    async with shown(browser, tmp_path) as seen:
        await expect(seen.page.locator("section > details")).to_have_count(len(ROUTES))
        families = await seen.page.locator("section > h2").all_text_contents()
        links = await seen.page.locator("nav a").all_text_contents()
        lines = await seen.page.locator("section > details > summary").all_text_contents()
        await seen.page.evaluate(_OPEN_ALL)
        await expect(seen.page.get_by_role("button", name="Send")).to_have_count(len(ROUTES))
        violations = await seen.page.evaluate("window.violations")

    assert families == links == [tag["name"] for tag in document["tags"]]
    operations = [
        (method, path, one["summary"].replace("`", ""))
        for path, methods in document["paths"].items()
        for method, one in methods.items()
    ]
    assert sorted(lines) == sorted(f"{method.upper()}{path}{summary}" for method, path, summary in operations)
    assert (seen.errors, violations) == ([], [])
    asked = {url.removeprefix(seen.api.url) for url in seen.asked} - {"data:,"}  # a browser may name the empty icon
    assert asked == {"/docs", "/docs/app.js", "/docs/style.css", "/openapi.json"}


async def test_with_a_key_the_page_shows_its_user_and_sends_requests(browser: Browser, tmp_path: Path) -> None:
    async with shown(browser, tmp_path) as seen:
        execution = await resting(seen.api, flow(approval()))
        await seen.fill_in_key(await seen.api.key_of("mia:operator"))
        await expect(seen.page.locator("#who")).to_have_text("mia: operator")
        await seen.open("list_executions")
        operation = seen.page.locator("#list_executions")
        await operation.get_by_label("status").fill("paused\nwaiting")
        await operation.get_by_label("limit").fill("1")
        await seen.send("list_executions")
        await expect(operation.locator(".status")).to_have_text("200 OK")
        answer = msgspec.json.decode(await operation.get_by_label("answer").inner_text())
        curl = await operation.locator("pre").first.inner_text()

    assert [one["id"] for one in answer["items"]] == [execution["id"]]
    asked = f"{seen.api.url}/api/v1/executions?status=paused&status=waiting&limit=1"
    assert asked in seen.asked
    assert curl == f"curl '{asked}' -H \"Authorization: Bearer $LAYOVER_KEY\"", "the key itself is not shown"
    assert seen.errors == []


async def test_what_is_done_can_be_done_from_an_example(browser: Browser, tmp_path: Path) -> None:
    async with shown(browser, tmp_path) as seen:
        await seen.api.engine.workflows.register(flow(approval(), name="order"))
        await seen.fill_in_key()
        await seen.open("start_execution")
        operation = seen.page.locator("#start_execution")
        await operation.get_by_label("Example").select_option("later_and_important")
        await seen.send("start_execution")
        await expect(operation.locator(".status")).to_have_text("202 Accepted")
        made = msgspec.json.decode(await operation.get_by_label("answer").inner_text())
        headers = operation.locator(".heads")
        await headers.locator("summary").click()
        await expect(headers).to_contain_text(f"location: /api/v1/executions/{made['id']}")

    assert (made["tags"], made["correlation_id"], made["user"]) == (["web"], "cart-4711", "admin")


async def test_a_wrong_key_is_shown_as_wrong(browser: Browser, tmp_path: Path) -> None:
    async with shown(browser, tmp_path) as seen:
        await seen.fill_in_key("no-such-key")
        await expect(seen.page.locator("#who.bad")).not_to_be_empty()
        await seen.open("list_keys")
        await seen.send("list_keys")
        operation = seen.page.locator("#list_keys")
        await expect(operation.locator(".status.bad")).to_have_text("401 Unauthorized")
        await expect(operation.get_by_label("answer")).to_contain_text('"code": "unauthenticated"')


async def test_from_another_machine_the_document_needs_a_key(browser: Browser, tmp_path: Path) -> None:
    async with shown(browser, tmp_path, extra_http_headers={"x-forwarded-for": "203.0.113.7"}) as seen:
        await expect(seen.page.locator("#routes")).to_contain_text("those who have a key")
        await seen.fill_in_key()
        await expect(seen.page.locator("section > details")).to_have_count(len(ROUTES))


async def test_a_stream_is_shown_as_it_comes_until_it_is_stopped(browser: Browser, tmp_path: Path) -> None:
    async with shown(browser, tmp_path) as seen:
        execution = await resting(seen.api, flow(approval()))
        await seen.fill_in_key()
        await seen.open("stream")
        operation = seen.page.locator("#stream")
        await operation.get_by_label("id", exact=True).fill(execution["id"])
        await seen.send("stream")
        await expect(operation.get_by_label("answer")).to_contain_text("data: ")
        await operation.get_by_role("button", name="Stop").click()
        await expect(operation.locator(".status")).to_have_text("200 OK (stopped)")
        await expect(operation.get_by_role("button", name="Stop")).to_be_disabled()


async def test_calls_are_found_by_words(browser: Browser, tmp_path: Path) -> None:
    async with shown(browser, tmp_path) as seen:
        await seen.page.get_by_label("Find").fill("post approvals/")
        await expect(seen.page.locator("section > details:visible")).to_have_count(3)
        found = await seen.page.locator("section > details:visible").evaluate_all("(all) => all.map((one) => one.id)")

    assert found == ["approve", "reject", "delegate"]


async def test_a_link_leads_to_a_call(browser: Browser, tmp_path: Path) -> None:
    async with shown(browser, tmp_path) as seen:
        await seen.open("get_why")
        await seen.page.wait_for_url(f"{seen.api.url}/docs#get_why")
        await seen.page.reload()
        await expect(seen.page.locator("#get_why").get_by_role("button", name="Send")).to_be_in_viewport()


async def test_everything_can_be_reached_by_keys_alone(browser: Browser, tmp_path: Path) -> None:
    async with shown(browser, tmp_path) as seen:
        page = seen.page
        await expect(page.locator("section > details")).to_have_count(len(ROUTES))
        await _tab_to(page, "#key")
        await page.keyboard.type(ADMIN_KEY)
        await _tab_to(page, "#find")
        await page.keyboard.type("/me")
        await _tab_to(page, "nav a")
        await _tab_to(page, "#me > summary")
        await page.keyboard.press("Enter")
        await _tab_to(page, "#me button.main")
        await page.keyboard.press("Space")
        await expect(page.locator("#me .status")).to_have_text("200 OK")
        await _tab_to(page, "#me [aria-label=answer]")  # it may be longer than its box


async def _tab_to(page: Page, selector: str) -> None:
    """Go on with the tab key until something is reached, and see that this can be seen."""
    for _ in range(40):
        await page.keyboard.press("Tab")
        if await page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            style = "getComputedStyle(document.activeElement).outlineStyle"
            assert await page.evaluate(style) == "solid", selector
            return
    raise AssertionError(f"{selector} is not reached")


async def test_nothing_is_wider_than_the_screen(browser: Browser, tmp_path: Path) -> None:
    async with shown(browser, tmp_path) as seen:
        await expect(seen.page.locator("section > details")).to_have_count(len(ROUTES))
        await seen.page.evaluate(_OPEN_ALL)
        await seen.fill_in_key()
        await expect(seen.page.locator("#who")).not_to_be_empty()
        await expect(seen.page.get_by_role("button", name="Send")).to_have_count(len(ROUTES))
        for width in (1920, 900, 390, 320):
            await seen.page.set_viewport_size({"width": width, "height": 800})
            assert await seen.page.evaluate(_TOO_WIDE) == [], width


async def test_all_text_can_be_read_in_the_light_and_in_the_dark(browser: Browser, tmp_path: Path) -> None:
    kinds = ["h1", "h1 small", "nav a", "h2 + p", ".told", ".path", *(f".{one}" for one in ("get", "post", "put"))]
    kinds += [".delete", "#start_execution .soft", "#start_execution code", "#start_execution pre", "button.main"]
    async with shown(browser, tmp_path, color_scheme="light") as seen:
        await expect(seen.page.locator("section > details")).to_have_count(len(ROUTES))
        await seen.open("start_execution")
        # The browser tells the page of the opened call a moment later; only then does the page fill it.
        await expect(seen.page.locator("#start_execution").get_by_role("button", name="Send")).to_be_visible()
        light = await seen.page.evaluate(_COLOURS, kinds)
        await seen.page.emulate_media(color_scheme="dark")
        dark = await seen.page.evaluate(_COLOURS, kinds)

    assert light != dark
    contrasts = [(kind, _contrast(*map(_rgb, pair))) for kind, pair in zip(kinds * 2, light + dark, strict=True)]
    assert [(kind, contrast) for kind, contrast in contrasts if contrast < 4.5] == []  # as WCAG asks


def _rgb(text: str) -> list[float]:
    return [int(one) / 255 for one in text.removeprefix("rgb(").removesuffix(")").split(",")]


def _contrast(one: Iterable[float], other: Iterable[float]) -> float:
    """Return how well two colours can be told apart, as WCAG counts it: from 1 to 21."""
    less, more = sorted(
        sum(
            weight * (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
            for weight, part in zip((0.2126, 0.7152, 0.0722), colour, strict=True)
        )
        for colour in (one, other)
    )
    return (more + 0.05) / (less + 0.05)
