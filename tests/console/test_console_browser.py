"""The console in a real browser: each screen, in both themes, on a phone and a desk, by keys, with hostile names.

One server and one browser for all of it. axe is evaluated by the tools of the browser, since the policy of the page
lets no other script run. With `LAYOVER_TEST_SHOTS=folder`, pictures of the screens are kept there, to be looked at.
"""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import pytest
import pytest_asyncio
from playwright.async_api import expect
from tests.api.harness import served
from tests.servers.chromium import chromium, needs_chromium

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Browser, Page
    from tests.api.harness import Api

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="module")]

PHONE, DESK = 360, 1360
SHOTS: Final = os.environ.get("LAYOVER_TEST_SHOTS", "")
HOSTILE: Final = "<img src=x onerror=alert(1)> \u202egnirts \u2066" + "W" * 300
_AXE = "() => axe.run(document, {resultTypes: ['violations']}).then((found) => found.violations.map((one) => one.id + ' ' + one.nodes.map((n) => n.html.slice(0, 120)).join(' | ')))"  # noqa: E501 - one script
_TOO_WIDE = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"

MACHINE: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["model"],
    "properties": {
        "model": {"type": "string", "title": "Model", "enum": ["light", "strong"]},
        "memory": {"type": "integer", "title": "Memory", "default": 32},
    },
}
ONBOARDING: Final[dict[str, Any]] = {
    "name": "onboarding",
    "description": "Accounts, hardware and a desk for somebody who is new.",
    "input": {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string", "title": "Name"},
            "systems": {"type": "array", "items": {"type": "string"}},
        },
    },
    "nodes": [
        {"id": "prepare", "type": "compute", "output": "${input.name}", "next": "setup"},
        {
            "id": "setup",
            "type": "parallel",
            "branches": [
                {
                    "id": "accounts",
                    "body": [
                        {
                            "id": "each_system",
                            "type": "loop",
                            "for_each": "input.systems",
                            "as": "system",
                            "body": [
                                {"id": "request", "type": "compute", "output": "${system}", "next": "allow"},
                                {"id": "allow", "type": "approval", "title": "Access to ${system} for ${input.name}?"},
                            ],
                        }
                    ],
                },
                {
                    "id": "hardware",
                    "body": [
                        {
                            "id": "choose",
                            "type": "form",
                            "title": "Which machine for ${input.name}?",
                            "schema": MACHINE,
                            "next": "buy",
                        },
                        {"id": "buy", "type": "compute", "output": "ordered"},
                    ],
                },
            ],
            "next": "welcome",
        },
        {"id": "welcome", "type": "compute", "output": "Welcome"},
    ],
}
REFUND: Final[dict[str, Any]] = {
    "name": "refund",
    "nodes": [
        {
            "id": "review",
            "type": "approval",
            "title": "Refund ${input.amount} for order ${input.order}?",
            "shown": {"order": "${input.order}", "amount": "${input.amount}"},
            "deadline": "48h",
            "on_deadline": "reject",
            "leads_to": {"approved": "The money is paid back", "rejected": "The customer is told why"},
        }
    ],
}
BROKEN: Final[dict[str, Any]] = {
    "name": "broken",
    "nodes": [{"id": "share", "type": "compute", "output": "${input.amount / 0}"}],
}


class Seen(NamedTuple):
    """A page of the console, and what went wrong in it."""

    page: Page
    api: Api
    errors: list[str]

    async def open(self, path: str, heading: str) -> None:
        await self.page.goto(f"{self.api.url}/console{path}")
        await expect(self.page.get_by_role("heading", level=1)).to_contain_text(heading)

    async def shot(self, name: str) -> None:
        if SHOTS:
            await self.page.screenshot(path=Path(SHOTS) / f"{name}.png")

    async def check(self, name: str) -> None:
        """Look at a screen as it is: nothing is too wide, axe finds nothing, and nothing broke the policy."""
        await self.shot(name)
        await self.page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text("utf-8"))
        assert (name, await self.page.evaluate(_AXE)) == (name, [])
        assert (name, await self.page.evaluate(_TOO_WIDE)) == (name, False)
        assert (name, self.errors) == (name, [])


class Served(NamedTuple):
    """The server of all tests here, and what is in it."""

    api: Api
    onboarding: str
    failed: str


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    async with served(tmp_path_factory.mktemp("console")) as api:
        for definition in (ONBOARDING, REFUND, BROKEN):
            await api.engine.workflows.register(definition)
        given = {"name": "Mia", "systems": ["mail", "ledger"]}
        onboarding = await api.post(
            "/executions", {"workflow": "onboarding", "input": given, "correlation_id": "Mia", "wait": "10s"}
        )
        for order, amount in (("A-2", 180), ("A-3", 270), (HOSTILE, 1)):
            body = {"workflow": "refund", "input": {"order": order, "amount": amount}, "correlation_id": order[:255]}
            await api.post("/executions", {**body, "wait": "10s"})
        failed = await api.post("/executions", {"workflow": "broken", "input": {"amount": 1}, "wait": "10s"})
        yield Served(api, onboarding.json["id"], failed.json["id"])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as opened:
        yield opened


@asynccontextmanager
async def signed_in(
    browser: Browser,
    api: Api,
    width: int = DESK,
    scheme: Literal["dark", "light"] = "light",
    path: str = "/console",
    role: str = "admin",
) -> AsyncIterator[Seen]:
    """Sign in at a path of the console; the sign-in leads back to it."""
    async with await browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme) as context:
        page = await context.new_page()
        seen = Seen(page, api, [])
        page.on("console", lambda told: seen.errors.append(told.text) if told.type == "error" else None)
        page.on("pageerror", lambda error: seen.errors.append(str(error)))
        await page.goto(f"{api.url}{path}")
        await page.get_by_label("Key").fill(await api.key_of(role))
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_role("navigation", name="Main")).to_be_visible()
        seen.errors.clear()
        yield seen


@pytest.mark.parametrize("width", [DESK, PHONE])
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_screen_is_accessible_fits_and_keeps_the_policy(
    browser: Browser, server: Served, width: int, scheme: Literal["dark", "light"]
) -> None:
    async with signed_in(browser, server.api, width, scheme) as seen:
        page, name = seen.page, f"{scheme}-{width}"
        await seen.open("", "Waiting for you")
        await expect(page.get_by_role("link", name="Refund 180 for order A-2?")).to_be_visible()
        await seen.check(f"inbox-{name}")
        await page.get_by_role("link", name="Which machine for Mia?").click()
        await expect(page.get_by_label("Model")).to_be_visible()
        await seen.check(f"point-{name}")
        await seen.open("/executions", "Executions")
        await expect(page.get_by_role("link", name="onboarding")).to_be_visible()
        await seen.check(f"executions-{name}")
        await seen.open(f"/executions/{server.onboarding}", "onboarding")
        await expect(page.locator(".react-flow__node", has_text="choose")).to_be_visible()
        await expect(page.get_by_text("prepare finished")).to_be_visible()
        await seen.check(f"execution-{name}")
        await seen.open(f"/executions/{server.onboarding}?node=prepare", "onboarding")
        await expect(page.get_by_role("dialog", name="Node prepare")).to_contain_text("Output")
        await seen.check(f"node-{name}")
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
        await expect(page.get_by_role("option", name="onboarding", exact=True)).to_be_visible()
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
        await page.get_by_label("Key").fill(await server.api.key_of("admin"))
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_label("Comment")).to_have_value("Kept")
