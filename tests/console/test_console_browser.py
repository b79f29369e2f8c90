"""The console in a real browser: each screen, in both themes, on a phone and a desk, by keys, with hostile names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.async_api import expect

from tests.api.harness import Api, listening
from tests.console.definitions import REFUND
from tests.console.seen import DESK, PHONE, sign_in, signed_in
from tests.runtime.harness import engine_at
from tests.servers.chromium import needs_chromium

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.async_api import Browser
    from starlette.types import ASGIApp, Receive, Scope, Send

    from tests.console.conftest import Served

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="module")]


@pytest.mark.parametrize("width", [DESK, PHONE])
async def test_every_screen_is_accessible_fits_and_keeps_the_policy(
    browser: Browser, server: Served, width: int
) -> None:
    async with signed_in(browser, server.api, width) as seen:
        page, name = seen.page, str(width)
        await seen.open("", "Waiting for you")
        await expect(page.get_by_role("link", name="Refund 180 for order A-2?")).to_be_visible()
        await seen.check(f"inbox-{name}")
        for order in ("A-2", "A-3"):
            await page.get_by_role("checkbox", name=f"for order {order}?").check()
        await expect(page.get_by_role("checkbox", name="Which machine for Mia?")).to_be_disabled()
        await page.get_by_role("button", name="Decide on 2 together").click()
        await expect(page.get_by_role("dialog").get_by_role("table")).to_contain_text("270")
        await seen.check(f"together-{name}")
        await page.keyboard.press("Escape")
        await page.get_by_role("link", name="Which machine for Mia?").click()
        await expect(page.get_by_label("Model")).to_be_visible()
        await seen.check(f"point-{name}")
        await seen.open("/executions", "Executions")
        await expect(page.get_by_role("link", name="onboarding")).to_be_visible()
        await seen.check(f"executions-{name}")
        await page.get_by_role("checkbox", name="Select broken").check()
        await page.get_by_role("button", name="Retry").click()
        await expect(page.get_by_role("dialog")).to_contain_text("one execution")
        await seen.check(f"batch-{name}")
        await seen.open(f"/executions/{server.onboarding}", "onboarding")
        await expect(page.locator(".react-flow__node", has_text="choose")).to_be_visible()
        await expect(page.get_by_text("prepare finished")).to_be_visible()
        await seen.check(f"execution-{name}")
        for tab in ("Data", "Children", "Logs"):
            await page.get_by_role("button", name=tab, exact=True).click()
            await seen.check(f"execution-{tab.lower()}-{name}")
        await seen.open(f"/executions/{server.onboarding}?node=prepare", "onboarding")
        await expect(page.get_by_role("dialog", name="Node prepare")).to_contain_text("Output")
        await seen.check(f"node-{name}")
        await seen.open(f"/executions/{server.orders}?node=each_order", "orders")
        iterations = page.get_by_role("region", name="Iterations")
        await expect(iterations.get_by_role("button", name="#1 check")).to_be_visible()
        await seen.check(f"loop-{name}")
        await iterations.get_by_role("button", name="#2 check").click()
        await expect(page.get_by_role("dialog", name="Node check")).to_contain_text("order 1")
        await seen.open(f"/executions/{server.failed}", "broken")
        await page.get_by_role("button", name="Retry").click()
        await expect(page.get_by_role("dialog")).to_contain_text("Starts again")
        await seen.check(f"retry-{name}")
        await seen.open("/workflows", "Workflows")
        await expect(page.get_by_role("link", name="onboarding")).to_be_visible()
        await seen.check(f"workflows-{name}")
        await seen.open("/workflows/onboarding", "onboarding")
        await expect(page.locator(".react-flow__node", has_text="choose")).to_be_visible()
        await seen.check(f"workflow-{name}")
        await seen.open("/workflows/onboarding?start=1", "onboarding")
        await expect(page.get_by_label("Name")).to_be_visible()
        await seen.check(f"start-{name}")


async def test_a_deep_link_leads_through_the_sign_in_back_to_itself(browser: Browser, server: Served) -> None:
    path = "/console/executions?q=workflow%3Arefund"
    async with signed_in(browser, server.api, path=path) as seen:
        await expect(seen.page.get_by_role("button", name="Remove workflow:refund")).to_be_visible()
        await expect(seen.page.get_by_role("link", name="A-3")).to_be_visible()
        assert seen.page.url == f"{server.api.url}{path}"


async def test_a_decision_opens_the_next_one_and_a_rejection_asks_why(browser: Browser, server: Served) -> None:
    for order in ("B-1", "B-2"):
        body = {"workflow": "refund", "input": {"order": order, "amount": 5}, "wait": "10s"}
        await server.api.post("/executions", body)
    async with signed_in(browser, server.api) as seen:
        page = seen.page
        await page.get_by_role("link", name="for order B-1?").click()
        await page.get_by_role("button", name="Reject").click()
        await expect(page.get_by_role("alert")).to_contain_text("Say why")
        await page.get_by_label("Comment").fill("Too late")
        await page.reload()
        await expect(page.get_by_label("Comment")).to_have_value("Too late")
        await page.get_by_role("button", name="Reject").click()
        await expect(page.get_by_role("article", name="for order B-2?")).to_be_visible()
        await expect(page.get_by_role("link", name="for order B-1?")).to_have_count(0)
        assert seen.errors == []


async def test_an_execution_is_followed_live_and_by_keys_alone(browser: Browser, server: Served) -> None:
    body = {"workflow": "refund", "input": {"order": "C-1", "amount": 5}, "correlation_id": "C-1", "wait": "10s"}
    started = (await server.api.post("/executions", body)).json["id"]
    async with signed_in(browser, server.api, path=f"/console/executions/{started}") as seen:
        page = seen.page
        await expect(page.get_by_role("status").filter(has_text="live")).to_be_visible()
        (point,) = (await server.api.get(f"/pause-points?execution_id={started}")).json["items"]
        await server.api.post(f"/approvals/{point['id']}/approve", {})
        await expect(page.get_by_text("review finished: approved")).to_be_visible()
        await expect(page.locator(".react-flow__node", has_text="review")).to_contain_text("completed")
        await page.keyboard.press("Control+k")
        await page.keyboard.type("onboard")
        await expect(page.get_by_role("option", selected=True)).to_contain_text("onboarding")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", level=1)).to_contain_text("onboarding")
        await page.keyboard.press("g")
        await page.keyboard.press("e")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Executions")
        await page.keyboard.press("?")
        await expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
        await page.keyboard.press("Escape")
        await page.keyboard.press("j")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("region", name="Graph")).to_be_visible()
        assert seen.errors == []


async def test_a_session_that_ended_is_told_and_drafts_stay(browser: Browser, server: Served) -> None:
    async with signed_in(browser, server.api) as seen:
        page = seen.page
        await page.get_by_role("link", name="for order A-3?").click()
        await page.get_by_label("Comment").fill("Kept")
        await page.context.clear_cookies()
        await page.get_by_role("button", name="Approve").click()
        await expect(page.get_by_role("alert").first).to_contain_text("signed out")
        await page.get_by_role("link", name="Sign in").first.click()
        await sign_in(page, await server.api.key_of("admin"))
        await expect(page.get_by_label("Comment")).to_have_value("Kept")


async def test_it_works_under_a_path_sign_in_and_graph_included(browser: Browser, tmp_path: Path) -> None:
    class UnderPath:
        """A proxy that has the server under a path."""

        def __init__(self, app: ASGIApp) -> None:
            self._app = app

        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http":
                assert scope["path"].startswith("/tools/layover/"), scope["path"]
                scope = {**scope, "root_path": "/tools/layover"}
            await self._app(scope, receive, send)

    async with engine_at(tmp_path) as engine, listening(engine, before=UnderPath) as root:
        await engine.workflows.register(REFUND)
        started = (await engine.executions.start("refund", {"order": "U-1", "amount": 5}, wait="rest")).id
        api = Api(root.services, f"{root.url}/tools/layover", root.session)
        asked: list[str] = []
        async with signed_in(browser, api, path=f"/console/executions/{started}?tab=data") as seen:
            page = seen.page
            page.on("request", lambda request: asked.append(request.url))
            await expect(page.locator(".react-flow__node", has_text="review")).to_be_visible()
            await expect(page.get_by_role("button", name="Data")).to_have_attribute("aria-pressed", "true")
            await page.get_by_role("button", name="Events").click()
            await expect(page.get_by_role("status").filter(has_text="live")).to_be_visible()
            await page.get_by_role("link", name="Inbox").click()
            await page.get_by_role("link", name="for order U-1?").click()
            await page.get_by_role("button", name="Approve").click()
            await expect(page.get_by_text("Nothing waits for you.")).to_be_visible()
            assert page.url.startswith(f"{api.url}/console")
            assert [one for one in asked if not one.startswith(api.url)] == []
            assert seen.errors == []


async def test_a_phone_shows_where_one_is_in_the_navigation(browser: Browser, server: Served) -> None:
    async with signed_in(browser, server.api, PHONE, path="/console/operations") as seen:
        for name in ("Operations", "Inbox", "Workflows"):
            link = seen.page.get_by_role("navigation", name="Main").get_by_role("link", name=name)
            await link.click()
            await expect(link).to_have_attribute("aria-current", "page")
            await expect(link).to_be_in_viewport(ratio=1)
        await seen.page.goto(f"{server.api.url}/console/operations")
        link = seen.page.get_by_role("navigation", name="Main").get_by_role("link", name="Operations")
        await expect(link).to_be_in_viewport(ratio=1)
        assert seen.errors == []
