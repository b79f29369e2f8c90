"""Every screen with a slow server, one that refuses, one that restarts, and after its session has ended.

What is asked first is held up until the test lets it go; refusals say that they may be repeated at once: nothing is
waited for.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

import pytest
from playwright.async_api import expect

from tests.api.harness import listening
from tests.console.definitions import ONBOARDING, REFUND
from tests.console.seen import DESK, PHONE, Seen, sign_in, signed_in
from tests.runtime.harness import engine_at
from tests.servers.chromium import needs_chromium

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.async_api import Browser, Locator, Page, Route

    from tests.console.conftest import Served

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="module")]

_TOO_MANY: Final = '{"code": "rate_limited", "title": "Too many requests", "status": 429, "detail": "Too often."}'
_REFUSAL: Final = {"retry-after": "0.01", "content-type": "application/problem+json"}
_SIGN_OUT: Final = """() => fetch("/api/v1/session",
  {method: "DELETE", headers: {"X-Layover-Console": "1"}}).then((answer) => answer.status)"""
_NEW: Final = "name: typed\nnodes:\n  - id: look\n    type: compute\n    output: 1\n"


class Screen(NamedTuple):
    """A screen: its address, what it reads, and what is there once it has read."""

    path: str
    reads: str  # the end of the path of the request without which it shows nothing
    shows: str  # text


SCREENS: Final = {
    "executions": Screen("/executions", "/executions", "A-2"),
    "execution": Screen("/executions/{onboarding}", "/executions/{onboarding}", "choose asks"),
    "graph": Screen("/executions/{onboarding}", "/executions/{onboarding}/graph", "welcome"),
    "node": Screen("/executions/{onboarding}?node=prepare", "/executions/{onboarding}/nodes", "Output"),
    "workflow": Screen("/workflows/onboarding", "/workflows/onboarding", "Accounts, hardware"),
    "editor": Screen("/workflows/refund/edit", "/workflows/refund/source", "No problems."),
    "check": Screen("/workflows/refund/edit", "/workflows/check", "No problems."),
    "timers": Screen("/operations?tab=timers", "/timers", "refund"),
}


async def _check_refused(seen: Seen, name: str, status: str) -> None:
    """Look at a screen while requests are refused, which the browser notes whenever one is."""
    await seen._replace(errors=[]).check(name)
    assert [one for one in seen.errors if status not in one] == []


def _shown(page: Page, screen: Screen) -> Locator:
    return page.get_by_role("main").get_by_text(screen.shows).first


@pytest.mark.parametrize("name", SCREENS)
async def test_a_screen_waits_for_a_slow_server_and_tries_again_when_it_is_refused(
    browser: Browser, server: Served, name: str
) -> None:
    path, reads, shows = (text.format(onboarding=server.onboarding) for text in SCREENS[name])
    screen = Screen(path, reads, shows)
    width = PHONE if name in ("executions", "node") else DESK
    async with signed_in(browser, server.api, width, path="/console/workflows") as seen:
        page, go_on, asked = seen.page, asyncio.Event(), 0

        async def slow(route: Route) -> None:
            if urlsplit(route.request.url).path.endswith(f"/api/v1{reads}"):
                await go_on.wait()
            await route.continue_()

        async def refuse(route: Route) -> None:
            nonlocal asked
            if not urlsplit(route.request.url).path.endswith(f"/api/v1{reads}"):
                await route.continue_()
                return
            asked += 1
            await route.fulfill(status=429, headers=_REFUSAL, body=_TOO_MANY)

        await page.route("**/api/v1/**", slow)
        await page.goto(f"{server.api.url}/console{path}")
        waits = page.get_by_text("Checking …") if name == "check" else page.get_by_text("Loading").first
        await expect(waits).to_be_attached()
        await expect(_shown(page, screen)).to_have_count(0)
        await seen.check(f"slow-{name}")
        go_on.set()
        await expect(_shown(page, screen)).to_be_visible()
        assert seen.errors == []

        await page.unroute("**/api/v1/**")
        await page.route("**/api/v1/**", refuse)
        await page.reload()
        alert = page.get_by_role("alert").filter(has_text="Too often.")
        await expect(alert.first).to_be_visible()
        assert asked >= 1 if name == "check" else asked >= 4  # it is asked again by itself first
        await _check_refused(seen, f"refused-{name}", "429")
        await page.unroute("**/api/v1/**")
        if name == "check":
            await expect(alert).to_have_count(0)
        else:
            await alert.first.get_by_role("button", name="Try again").click()
        await expect(_shown(page, screen)).to_be_visible()


async def test_an_act_that_is_refused_keeps_what_was_typed_and_is_done_at_the_next_press(
    browser: Browser, server: Served
) -> None:
    async with signed_in(browser, server.api, path="/console/workflows/refund/start") as seen:
        page, refused = seen.page, set[str]()

        async def refuse_first(route: Route) -> None:
            path = urlsplit(route.request.url).path
            if route.request.method == "GET" or path in refused:
                await route.continue_()
                return
            refused.add(path)
            await route.fulfill(status=429, headers=_REFUSAL, body=_TOO_MANY)

        await page.route("**/api/v1/**", refuse_first)
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("textbox").fill('{"order": "F-1", "amount": 1}')
        await dialog.get_by_role("button", name="Start").click()
        await expect(dialog.get_by_role("alert")).to_contain_text("Too often.")
        await expect(dialog.get_by_role("textbox")).to_have_value('{"order": "F-1", "amount": 1}')
        await dialog.get_by_role("button", name="Start").click()
        await expect(page.get_by_text("review asks: Refund 1 for order F-1?")).to_be_visible()

        await page.goto(f"{server.api.url}/console/executions?q=workflow%3Arefund")
        await page.get_by_role("button", name="Save as a view").click()
        await dialog.get_by_label("Name").fill("Refunds F")
        await dialog.get_by_role("button", name="Save").click()
        await expect(dialog.get_by_role("alert")).to_contain_text("Too often.")
        await expect(dialog.get_by_label("Name")).to_have_value("Refunds F")
        await dialog.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("button", name="Refunds F", exact=True)).to_be_visible()

        await page.goto(f"{server.api.url}/console/operations?tab=keys")
        await page.get_by_role("button", name="New key").click()
        await dialog.get_by_label("What it is for").fill("refused")
        await dialog.get_by_label("User", exact=True).fill("robot")
        await dialog.get_by_role("button", name="Make key").click()
        await expect(dialog.get_by_role("alert")).to_contain_text("Too often.")
        await expect(dialog.get_by_label("What it is for")).to_have_value("refused")
        await dialog.get_by_role("button", name="Make key").click()
        await expect(page.get_by_role("dialog", name="The key refused")).to_be_visible()


async def _write(page: Page) -> None:
    await page.get_by_role("textbox", name="Definition in YAML").click()
    await page.keyboard.press("Control+a")
    await page.keyboard.insert_text(_NEW)


async def test_a_question_about_the_session_that_is_refused_takes_nothing_from_the_screen(
    browser: Browser, server: Served
) -> None:
    async with signed_in(browser, server.api) as seen:
        page, refused = seen.page, asyncio.Event()
        await page.clock.install()
        await page.goto(f"{server.api.url}/console/executions?q=workflow%3Arefund+status%3Apaused")
        await expect(page.get_by_role("link", name="A-2")).to_be_visible()
        await page.get_by_role("button", name="Save as a view").click()
        await page.get_by_label("Name").fill("Typed")

        async def refuse(route: Route) -> None:
            await route.fulfill(status=429, headers=_REFUSAL, body=_TOO_MANY)
            refused.set()

        await page.route("**/api/v1/session", refuse)
        await page.clock.fast_forward(70_000)
        await page.evaluate("() => document.dispatchEvent(new Event('visibilitychange', {bubbles: true}))")
        await refused.wait()
        for _ in range(5):
            await page.clock.fast_forward(1_000)
        await expect(page.get_by_label("Name")).to_have_value("Typed")


@pytest.mark.parametrize("name", ["executions", "workflow", "editor", "operations"])
async def test_a_session_that_ends_is_told_and_what_was_typed_is_there_after_the_next_sign_in(
    browser: Browser, server: Served, name: str
) -> None:
    api = server.api
    path = {
        "executions": "/executions",
        "workflow": "/workflows/refund/start",
        "editor": "/workflows/refund/edit",
        "operations": "/operations?tab=keys",
    }[name]
    async with signed_in(browser, api, path=f"/console{path}") as seen:
        page, dialog = seen.page, seen.page.get_by_role("dialog")
        if name == "editor":
            await expect(page.get_by_text("No problems.")).to_be_visible()
        elif name == "workflow":
            await dialog.get_by_role("textbox").fill('{"order": "typed"}')
        elif name == "executions":
            await expect(page.get_by_role("link", name="A-2")).to_be_visible()
        else:
            await page.get_by_role("button", name="New key").click()
            await dialog.get_by_label("What it is for").fill("typed")
            await dialog.get_by_label("User", exact=True).fill("robot")
        assert await page.evaluate(_SIGN_OUT) < 300
        if name == "editor":
            await _write(page)
        elif name == "executions":
            await page.get_by_label("Filter").fill("workflow:refund")
            await seen.press("Enter")
        else:
            await dialog.get_by_role("button", name="Start" if name == "workflow" else "Make key").click()
        await expect(page.get_by_role("alert").first).to_contain_text("You are signed out. What you typed is kept")
        await _check_refused(seen, f"signed-out-{name}", "401")
        page.once("dialog", lambda dialog: dialog.accept())  # the editor has the browser ask before the page is left
        await page.get_by_role("link", name="Sign in").first.click()
        await sign_in(page, await api.key_of("admin"))
        if name == "editor":
            await expect(page.locator(".cm-content")).to_contain_text("name: typed")
        elif name == "workflow":
            await expect(dialog.get_by_role("textbox")).to_have_value('{"order": "typed"}')
        elif name == "executions":
            await expect(page.get_by_role("button", name="Remove workflow:refund")).to_be_visible()
            await expect(page.get_by_role("link", name="A-2")).to_be_visible()
        else:
            await page.get_by_role("button", name="New key").click()
            await expect(dialog.get_by_label("What it is for")).to_have_value("typed")


async def test_screens_go_on_after_a_restart_with_what_was_typed(browser: Browser, tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine, listening(engine) as api:
        port = urlsplit(api.url).port or 0
        for definition in (REFUND, ONBOARDING):
            await engine.workflows.register(definition)
        body = {"workflow": "refund", "input": {"order": "S-2", "amount": 5}, "correlation_id": "S-2", "wait": "10s"}
        started = (await api.post("/executions", body)).json["id"]
        point = (await api.get(f"/pause-points?execution_id={started}")).json["items"][0]["id"]
        context = await browser.new_context()
        listed = await context.new_page()
        await listed.goto(f"{api.url}/console/executions")
        await sign_in(listed, await api.key_of("admin"))
        editor, workflow, timers = [await context.new_page() for _ in range(3)]
        await editor.goto(f"{api.url}/console/workflows/refund/edit")
        await workflow.goto(f"{api.url}/console/workflows/refund/start")
        await timers.goto(f"{api.url}/console/operations")
        await expect(listed.get_by_role("link", name="S-2")).to_contain_text("person")
        await expect(editor.get_by_text("No problems.")).to_be_visible()
        await workflow.get_by_role("dialog").get_by_role("textbox").fill('{"order": "S-3", "amount": 1}')
        await expect(timers.get_by_role("list", name="Instances")).to_be_visible()
    await _write(editor)
    await expect(editor.get_by_role("alert")).to_contain_text("cannot be reached")
    await expect(editor.get_by_text("Not checked yet.")).to_be_visible()
    await workflow.get_by_role("dialog").get_by_role("button", name="Start").click()
    await expect(workflow.get_by_role("alert")).to_contain_text("cannot be reached")
    await timers.get_by_role("navigation", name="Operations").get_by_role("link", name="Timers").click()
    await expect(timers.get_by_role("alert")).to_contain_text("cannot be reached")
    async with engine_at(tmp_path) as engine, listening(engine, port=port) as api:
        assert (await api.post(f"/approvals/{point}/approve", {})).status < 300
        await expect(listed.get_by_role("link", name="S-2")).to_contain_text("completed")
        await expect(editor.get_by_text("No problems.")).to_be_visible()  # it was checked again by itself
        await expect(editor.locator(".cm-content")).to_contain_text("name: typed")
        await workflow.get_by_role("dialog").get_by_role("button", name="Start").click()
        await expect(workflow.get_by_text("review asks: Refund 1 for order S-3?")).to_be_visible()
        await expect(timers.get_by_role("list", name="Timers")).to_contain_text("refund")
        await context.close()
