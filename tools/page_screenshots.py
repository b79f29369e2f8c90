"""Take the screenshots of the documentation: `python tools/page_screenshots.py`; `--small` takes one, and drops it.

They show the pages that a server of this release makes, in the browser of the tests (Chromium), so they are made anew
whenever the pages change.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.api.acting import points_of, resting  # noqa: E402 - from the folder that was just named
from tests.api.decision_visits import Visitor, served_links, visitor_with_link  # noqa: E402
from tests.servers.chromium import HAS_CHROMIUM, chromium  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from playwright.async_api import Browser, Page
    from tests.api.harness import Api

PHONE, DESK = 360, 860
REFUND: Final[dict[str, Any]] = {
    "name": "refund",
    "nodes": [
        {
            "id": "review",
            "type": "approval",
            "title": "Refund ${input.amount} € for order ${input.order}?",
            "shown": {"order": "${input.order}", "customer": "${input.customer}", "reason": "${input.reason}"},
            "schema": {
                "type": "object",
                "properties": {
                    "amount": {"type": "number", "title": "Amount to refund", "default": 180},
                    "notify": {"type": "boolean", "title": "Tell the customer by mail", "default": True},
                },
                "required": ["amount"],
            },
            "approvers": {"users": ["ann", "ben"]},
            "need": 2,
            "deadline": "48h",
            "on_deadline": "reject",
            "leads_to": {"approved": "pays the customer", "rejected": "tells the customer why"},
        }
    ],
}
ORDER: Final = {"order": "A-2", "amount": 180, "customer": "Lea Kunz", "reason": "The lamp arrived broken."}


async def main(folder: Path, *, small: bool) -> None:
    """Take all of them, or one."""
    with tempfile.TemporaryDirectory() as database:
        async with served_links(Path(database)) as api, chromium() as browser:
            ann, ben = await _people(api)
            await _take(browser, ann, folder / "decide-phone-light.png")
            if small:
                return
            await _take(browser, ann, folder / "decide-phone-dark.png", scheme="dark")
            await _take(browser, ann, folder / "decide-wrong.png", act=_wrong)
            await _take(browser, ben, folder / "decide-desk.png", DESK)
            await _take(browser, await _undoing(api), folder / "decide-undo.png", DESK)


async def _people(api: Api) -> tuple[Visitor, Visitor]:
    started = await resting(api, REFUND, ORDER)
    [point] = (await points_of(api, started["id"])).values()
    ann, ben = [await visitor_with_link(api, point, user) for user in ("ann", "ben")]
    await ben.send("approve", None, comment="I have seen the photo.")
    return ann, ben


async def _undoing(api: Api) -> Visitor:
    """Return a person who has decided, and can take it back."""
    node = {**REFUND["nodes"][0], "need": 1, "undo": "30s"}
    started = await resting(api, {"name": "refund", "nodes": [node]}, ORDER)
    [point] = (await points_of(api, started["id"])).values()
    ann = await visitor_with_link(api, point, "ann")
    await ann.send("approve", None, comment="Fine.")
    return ann


async def _take(
    browser: Browser,
    visitor: Visitor,
    file: Path,
    width: int = PHONE,
    *,
    scheme: str = "light",
    act: Callable[[Page], Awaitable[None]] | None = None,
) -> None:
    context = await browser.new_context(
        viewport={"width": width, "height": 640},
        color_scheme="dark" if scheme == "dark" else "light",
        java_script_enabled=False,
    )
    page = await context.new_page()
    await page.goto(visitor.api.url + visitor.path)
    if act is not None:
        await act(page)
    await page.screenshot(path=file, full_page=True)
    await context.close()


async def _wrong(page: Page) -> None:
    await page.get_by_label("Amount to refund").fill("all of it")
    await page.get_by_role("button", name="Approve").click()


def _run() -> None:
    if HAS_CHROMIUM and "--small" in sys.argv:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(main(Path(folder), small=True))
    elif HAS_CHROMIUM:
        (ROOT / "docs" / "images").mkdir(exist_ok=True)
        asyncio.run(main(ROOT / "docs" / "images", small=False))
    else:
        print("There is no Chromium here: nothing is taken.")


if __name__ == "__main__":
    _run()
