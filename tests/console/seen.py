"""A person at the console, in a real browser: signed in, looking, and told of everything that goes wrong in the page.

axe is evaluated by the tools of the browser, since the policy of the page lets no other script run. With
`LAYOVER_TEST_SHOTS=folder`, pictures of the screens are kept there, to be looked at.
"""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from playwright.async_api import expect

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Browser, Locator, Page

    from tests.api.harness import Api

PHONE, DESK = 360, 1360
SHOTS: Final = os.environ.get("LAYOVER_TEST_SHOTS", "")
_MOST_TABS: Final = 120
HOSTILE: Final = "<img src=x onerror=alert(1)> \u202egnirts \u2066" + "W" * 300
_AXE = "(only) => axe.run(document, {resultTypes: ['violations'], preload: false, ...(only.length ? {runOnly: only} : {})}).then((found) => found.violations.map((one) => one.id + ' ' + one.nodes.map((n) => n.html.slice(0, 120)).join(' | ')))"  # noqa: E501 - one script
_OF_COLOURS: Final = ["color-contrast", "link-in-text-block"]  # all that a theme can change
_TOO_WIDE = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"


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
        """Look at a screen in both themes: nothing is too wide, axe finds nothing, and nothing broke the policy.

        A theme can be changed while a page is open, so what leads to a screen is done once for both.
        """
        if not await self.page.evaluate("() => 'axe' in window"):
            await self.page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text("utf-8"))
        for scheme in ("dark", "light"):
            await self.page.emulate_media(color_scheme=scheme)
            await self.shot(f"{name}-{scheme}")
            violations = await self.page.evaluate(_AXE, [] if scheme == "dark" else _OF_COLOURS)
            assert violations == [], (name, scheme, violations)
        assert not await self.page.evaluate(_TOO_WIDE), f"{name} is too wide"
        assert self.errors == [], (name, self.errors)

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.page.keyboard.press(key)

    async def tab_to(self, target: Locator) -> None:
        """Go to an element as a person without a pointer does; fail if it cannot be reached."""
        await expect(target).to_be_visible()
        for _ in range(_MOST_TABS):
            await self.page.keyboard.press("Tab")
            if await target.evaluate("(element) => element === document.activeElement"):
                return
        raise AssertionError(f"{target} is not reached by the Tab key")

    async def start(self, workflow: str, given: object, **more: object) -> str:
        """Start an execution as admin, and return its id once it rests."""
        body = {"workflow": workflow, "input": given, "wait": "10s", **more}
        return str((await self.api.post("/executions", body)).json["id"])


@asynccontextmanager
async def signed_in(
    browser: Browser,
    api: Api,
    width: int = DESK,
    scheme: Literal["dark", "light"] = "light",
    path: str = "/console",
    *,
    as_: str = "admin",
) -> AsyncIterator[Seen]:
    """Sign in at a path of the console; the sign-in leads back to it."""
    async with await browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme) as context:
        page = await context.new_page()
        seen = Seen(page, api, [])
        page.on("console", lambda told: seen.errors.append(told.text) if told.type == "error" else None)
        page.on("pageerror", lambda error: seen.errors.append(str(error)))
        page.on("dialog", lambda dialog: seen.errors.append(f"a dialog: {dialog.message}"))
        await page.goto(f"{api.url}{path}")
        await sign_in(page, await api.key_of(as_))
        seen.errors.clear()
        yield seen


async def sign_in(page: Page, key: str) -> None:
    await page.get_by_label("Key").fill(key)
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("navigation", name="Main")).to_be_visible()
