"""What axe finds in a page.

It is evaluated by the tools of the browser, since the policy of our pages lets no script run.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.async_api import Page

_AXE = "() => axe.run(document, {resultTypes: ['violations']}).then((found) => found.violations.map((one) => one.id))"


async def violations(page: Page) -> list[str]:
    """Return the rules that a page breaks; its browser has to run JavaScript."""
    await page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text("utf-8"))
    found: list[str] = await page.evaluate(_AXE)
    return found
