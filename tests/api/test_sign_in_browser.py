"""Signing in with a real browser, without JavaScript, on a phone: by key and by link, in both themes, by keyboard."""

from __future__ import annotations

import os
import re
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import pytest_asyncio
from playwright.async_api import ViewportSize, expect

from layover.api.access.config import AccessSettings, OidcSettings
from tests.api.accessibility import violations
from tests.api.harness import ADMIN_KEY, listening, served
from tests.api.oidc_provider import SECRET
from tests.runtime.harness import engine_at
from tests.servers.chromium import chromium, needs_chromium
from tests.servers.oidc_library import oidc_library

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Browser, BrowserContext, Page

    from tests.api.harness import Api

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="module")]

PHONE: ViewportSize = {"width": 360, "height": 640}
SHOTS = os.environ.get("LAYOVER_TEST_SHOTS", "")  # a folder: pictures of the pages are kept there, to be looked at


class Visit(NamedTuple):
    """A page without JavaScript, and the server that it is of."""

    page: Page
    context: BrowserContext
    api: Api

    async def shot(self, name: str) -> None:
        if SHOTS:
            await self.page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """Open a browser for all tests here: what one of them does in it, the others do not see."""
    async with chromium() as opened:
        yield opened


@asynccontextmanager
async def visit(browser: Browser, folder: Path, **wanted: Any) -> AsyncIterator[Visit]:
    """Serve a database, and open a page of its server as a phone shows it."""
    wanted = {"viewport": PHONE, "java_script_enabled": False, **wanted}
    async with served(folder) as api, await browser.new_context(**wanted) as context:
        page = await context.new_page()
        yield Visit(page, context, api)


async def is_too_wide(page: Page) -> bool:
    """Return whether a page has to be scrolled sideways; boxes are measured from outside, since nothing runs inside."""
    size = page.viewport_size
    boxes = [await one.bounding_box() for one in await page.locator("body *:visible").all()]
    return size is None or any(box is not None and box["x"] + box["width"] > size["width"] + 0.5 for box in boxes)


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_a_person_signs_in_with_a_key_by_keyboard_alone(browser: Browser, tmp_path: Path, theme: Any) -> None:
    async with visit(browser, tmp_path, color_scheme=theme) as seen:
        page = seen.page
        await page.goto(f"{seen.api.url}/sign-in?next=/sign-in")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
        await seen.shot(f"sign-in-{theme}")
        assert not await is_too_wide(page)
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
        await page.get_by_label("Key").focus()
        await page.keyboard.type("lay_wrong")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("alert")).to_contain_text("This key is not valid.")
        await expect(page.get_by_label("Key")).to_have_attribute("aria-invalid", "true")
        await expect(page.get_by_label("Key")).to_have_accessible_description(re.compile("not valid.*begins with lay_"))
        await seen.shot(f"sign-in-wrong-{theme}")
        assert not await is_too_wide(page)
        await page.get_by_label("Key").fill(await seen.api.key_of("ada:approver"))
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("button", name="Sign in")).to_be_focused()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Signed in")
        await expect(page.get_by_role("banner")).to_contain_text("Signed in as ada")
        await seen.shot(f"signed-in-{theme}")
        assert not await is_too_wide(page)
        (cookie,) = [one for one in await seen.context.cookies() if "session" in one.get("name", "")]
        await page.get_by_role("button", name="Sign out").click()
        await expect(page.get_by_label("Key")).to_be_visible()
        left = [one for one in await seen.context.cookies() if "session" in one.get("name", "")]

    assert (cookie.get("httpOnly"), cookie.get("sameSite"), cookie.get("secure")) == (True, "Lax", False)
    assert left == []


async def test_a_person_signs_in_with_a_link(browser: Browser, tmp_path: Path) -> None:
    async with visit(browser, tmp_path) as seen:
        page = seen.page
        made = await seen.api.post("/sign-in-links", {"user": "Ada <b>& Co", "roles": ["approver"]})
        link = seen.api.url + made.json["url"].partition("8080")[2] + "?next=/sign-in"
        for _ in range(2):
            await page.goto(link)
        await expect(page.get_by_role("main")).to_contain_text("This link signs you in as Ada <b>& Co.")
        await seen.shot("link")
        assert not await is_too_wide(page)
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_role("banner")).to_contain_text("Signed in as Ada <b>& Co")
        await page.goto(link)
        await expect(page.get_by_role("heading", level=1)).to_have_text("This link has ended")
        await seen.shot("link-ended")


async def test_a_person_signs_in_by_a_provider(browser: Browser, tmp_path: Path) -> None:
    with oidc_library({"sub": "ada", "roles": ["staff"]}) as issuer:
        oidc = OidcSettings(issuer=issuer, client_id="layover", client_secret=SECRET, roles={"staff": ("approver",)})
        async with (
            engine_at(tmp_path) as engine,
            listening(engine, access=AccessSettings(oidc=oidc)) as api,
            await browser.new_context(viewport=PHONE, java_script_enabled=False) as context,
        ):
            seen = Visit(await context.new_page(), context, api)
            page = seen.page
            await page.goto(f"{api.url}/sign-in?next=/sign-in")
            await seen.shot("sign-in-with-provider")
            assert not await is_too_wide(page)
            await page.get_by_role("link", name=re.compile("Sign in with 127.0.0.1")).click()
            await page.get_by_role("button", name="ada").click()
            await expect(page.get_by_role("banner")).to_contain_text("Signed in as ada")
            await page.get_by_role("button", name="Sign out").click()
            await page.get_by_role("link", name=re.compile("Sign in with")).click()
            await page.get_by_placeholder("sub").fill("eve")
            await page.get_by_role("button", name="Authorize").click()
            await expect(page.get_by_role("heading", level=1)).to_have_text("You are not signed in")
            await seen.shot("sign-in-without-role")
            assert not await is_too_wide(page)


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_every_page_of_the_sign_in_is_accessible(browser: Browser, tmp_path: Path, theme: Any) -> None:
    async with visit(browser, tmp_path, java_script_enabled=True, color_scheme=theme) as seen:
        page, url = seen.page, seen.api.url
        await page.goto(f"{url}/sign-in?next=/sign-in")
        assert await violations(page) == []
        await page.get_by_label("Key").fill("lay_wrong")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("alert")).to_be_visible()
        assert await violations(page) == []
        made = await seen.api.post("/sign-in-links", {"user": "ada", "roles": ["approver"]})
        await page.goto(url + made.json["url"].partition("8080")[2] + "?next=/sign-in")
        assert await violations(page) == []
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Signed in")
        assert await violations(page) == []
        for path in ("/sign-in/link/lak_nothing", "/sign-in/oidc", "/d/p/nothing"):
            await page.goto(url + path)
            assert (path, await violations(page)) == (path, [])


async def test_a_page_of_another_site_can_do_nothing_with_the_cookie(browser: Browser, tmp_path: Path) -> None:
    async with visit(browser, tmp_path, java_script_enabled=True) as seen:
        page, url = seen.page, seen.api.url
        await page.goto(f"{url}/sign-in?next=/sign-in")
        await page.get_by_label("Key").fill(ADMIN_KEY)
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Signed in")
        await page.goto(f"{url}/docs")
        ours = [await page.evaluate(_ASK, [f"{url}/api/v1/session", headers]) for headers in ({}, OWN)]
        # Another port is another origin, but the same site: its requests have the cookie, whatever SameSite says.
        form = f'<form method="post" action="{url}/sign-out"><button>Win</button></form>'
        await page.route("http://127.0.0.1:1/**", lambda route: route.fulfill(content_type="text/html", body=form))
        await page.goto("http://127.0.0.1:1/evil")
        theirs = [await page.evaluate(_ASK, [f"{url}/api/v1/session", headers]) for headers in ({}, OWN)]
        await page.get_by_role("button", name="Win").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("You may not do this")
        await page.goto(f"{url}/sign-in")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Signed in")

    assert ours == [403, 200]
    assert theirs == ["TypeError"] * 2, "the browser does not show what was answered, or does not even send it"


OWN = {"X-Layover-Console": "1"}
_ASK = """
async ([url, headers]) => {
  try {
    return (await fetch(url, { headers, credentials: "include" })).status;
  } catch (error) {
    return error.name;
  }
}
"""
