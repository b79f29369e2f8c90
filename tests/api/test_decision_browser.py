"""The decision page in a real browser: without JavaScript, on a phone and a desk, by keys alone, light and dark.

What can be seen is also what a screen reader gets: axe finds nothing.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.api.accessibility import violations
from tests.api.acting import ended, points_of
from tests.api.decision_visits import served_links, visitor_with_link
from tests.api.harness import UNLIMITED, served
from tests.api.test_decision_page import HOSTILE, MACHINE, REFUND, asked
from tests.runtime.harness import approval, end, flow, form
from tests.servers.chromium import chromium, needs_chromium

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from playwright.async_api import Browser, Page

    from tests.api.decision_visits import Visitor
    from tests.api.harness import Api

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="module")]

GIVEN = {"order": "A-2", "amount": 180, "items": [{"name": "Lamp", "count": 2}]}
PHONE, DESK = 360, 1360
_LOOKS: Final[list[tuple[int, Literal["dark", "light"]]]] = [
    (PHONE, "dark"),
    (PHONE, "light"),
    (DESK, "dark"),
    (DESK, "light"),
]
_TOO_WIDE = """
() => [...document.querySelectorAll("body *")]
  .filter((one) => !one.closest(".skip"))
  .filter((one) => one.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5)
  .map((one) => `${one.tagName} ${one.className}`)
"""
_TOO_SMALL = """
() => [...document.querySelectorAll("button, select, input:not([type=hidden]):not([type=checkbox]), summary, .button")]
  .map((one) => [one.outerHTML.slice(0, 80), one.getBoundingClientRect().height])
  .filter(([, height]) => height > 0 && height < 44)
"""


class Seen(NamedTuple):
    """A page in a browser, and what it did."""

    page: Page
    api: Api
    asked: list[str]
    errors: list[str]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as opened:
        yield opened


@asynccontextmanager
async def visiting(
    browser: Browser,
    visitor: Visitor,
    width: int = PHONE,
    scheme: Literal["dark", "light"] = "light",
    *,
    scripts: bool = False,
) -> AsyncIterator[Seen]:
    """Open a page; without `scripts`, the browser runs none, not even those of the test."""
    async with await browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, java_script_enabled=scripts
    ) as context:
        page = await context.new_page()
        seen = Seen(page, visitor.api, [], [])
        page.on("request", lambda request: seen.asked.append(request.url))
        page.on("console", lambda told: seen.errors.append(told.text) if told.type == "error" else None)
        await page.goto(visitor.api.url + visitor.path)
        yield seen


async def test_a_decision_is_made_without_javascript_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    async with served_links(tmp_path) as api:
        _, ann = await asked(api, approval(**REFUND), GIVEN)
        async with visiting(browser, ann) as seen:
            page = seen.page
            await expect(page.get_by_role("heading", level=1)).to_have_text("Refund 180 for order A-2?")
            await page.get_by_label("Comment").fill("Fine")
            await page.get_by_role("button", name="Approve").click()
            await expect(page.get_by_role("status")).to_contain_text("You approved this on")
            await page.reload()
            await expect(page.get_by_role("status")).to_contain_text("Approved")
            assert {url.removeprefix(api.url) for url in seen.asked if not url.startswith("data:")} == {ann.path}
            assert seen.errors == []


async def test_a_form_is_filled_in_by_keys_alone_and_its_errors_have_the_focus(
    browser: Browser, tmp_path: Path
) -> None:
    async with served_links(tmp_path) as api:
        execution, ann = await asked(api, form(schema=MACHINE))
        async with visiting(browser, ann, scripts=True) as seen:
            page = seen.page
            await _tab_to(page, "Memory")
            await page.keyboard.type("much")
            await page.keyboard.press("Enter")
            await expect(page.get_by_role("alert")).to_be_focused()
            await page.keyboard.press("Tab")
            await page.keyboard.press("Enter")  # the first link of the summary
            await _tab_to(page, "Model", backwards=True)
            await page.keyboard.press("ArrowDown")
            await _tab_to(page, "Memory")
            await page.keyboard.press("Control+a")
            await page.keyboard.type("16")
            await _tab_to(page, "Send answer")
            await page.keyboard.press("Space")
            await expect(page.get_by_role("status")).to_contain_text("You answered this")
        output = (await api.engine.executions.wait(execution)).output
    assert output == {"model": "light", "memory": 16, "quiet": False}


async def _tab_to(page: Page, name: str, *, backwards: bool = False) -> None:
    """Go on with the tab key until something is reached, and see that this can be seen."""
    for _ in range(40):
        focused = page.locator(":focus")
        if await focused.count():
            label = await focused.evaluate("(one) => (one.labels?.[0]?.innerText ?? one.innerText ?? '')")
            if label.startswith(name):
                assert await focused.evaluate("(one) => getComputedStyle(one).outlineStyle") == "solid", name
                return
        await page.keyboard.press("Shift+Tab" if backwards else "Tab")
    raise AssertionError(f"{name} is not reached")


async def test_every_state_is_accessible_and_fits_the_screen(browser: Browser, tmp_path: Path) -> None:
    async with served_links(tmp_path) as api:
        for name, visitor, prepare in await _states(api):
            async with visiting(browser, visitor, scripts=True) as seen:
                await prepare(seen.page)
                for width, scheme in _LOOKS:
                    await seen.page.set_viewport_size({"width": width, "height": 800})
                    await seen.page.emulate_media(color_scheme=scheme)
                    looked_at = (name, width, scheme)
                    assert (*looked_at, await violations(seen.page)) == (*looked_at, [])
                    assert (*looked_at, await seen.page.evaluate(_TOO_WIDE)) == (*looked_at, [])
                    assert (*looked_at, await seen.page.evaluate(_TOO_SMALL)) == (*looked_at, [])
                assert (name, await seen.page.locator("h1").count()) == (name, 1)


async def _states(api: Api) -> list[tuple[str, Visitor, Any]]:
    """Return visitors of pages in many states, each with what is done there first."""

    async def nothing(_page: Page) -> None:
        pass

    async def send_wrong(page: Page) -> None:
        await page.get_by_label("Memory").fill("much")
        await page.get_by_role("button", name="Send answer").click()
        await expect(page.get_by_role("alert")).to_be_visible()

    async def send_old(page: Page) -> None:
        await page.locator("form.answer [name=seen]").evaluate("(one) => { one.value = '0'.repeat(64) }")
        await page.get_by_role("button", name="Approve").click()
        await expect(page.get_by_role("alert")).to_contain_text("What you saw has changed")

    async def open_more(page: Page) -> None:
        await page.get_by_text("Let somebody else decide").click()

    two = {**REFUND, "need": 2}
    first, ann = await asked(api, approval(**two), GIVEN)
    [point] = (await points_of(api, first)).values()
    ben, eve = [await visitor_with_link(api, point, user) for user in ("ben", "eve")]
    await ben.send("approve", None, comment="The parcel came late.")
    _, machine = await asked(api, form(schema=MACHINE, deadline="3h", on_deadline="fail"))
    _, done = await asked(api, approval(**REFUND), GIVEN)
    await done.send("reject", None, comment="No")
    last, claimed = await asked(api, approval(approvers={"users": ["ann", "ben"]}))
    await (await visitor_with_link(api, (await points_of(api, last))["review"], "ben")).send("claim")
    _, hostile = await asked(api, approval(title=HOSTILE.replace("$", ""), shown={HOSTILE: "x" * 500}))
    over = await visitor_with_link(api, point, "zoe", expires_in="1ms")
    _, window = await asked(api, approval(**REFUND, undo="1h"), GIVEN)
    await window.send("approve")
    _, taken_back = await asked(api, approval(**two, undo="1h"), GIVEN)
    await taken_back.send("approve")
    await taken_back.send("take_back")
    again, superseded = await asked(api, approval(**REFUND), GIVEN)
    await api.post(f"/executions/{again}/rewind", {"to": "review"})
    turn, _ = await asked(api, approval(**two, order="sequence"), GIVEN)
    later = await visitor_with_link(api, (await points_of(api, turn))["review"], "ben")
    gone, cancelled = await asked(api, approval(**REFUND), GIVEN)
    await api.post(f"/executions/{gone}/cancel")
    return [
        ("open", ann, open_more),
        ("decided", ben, nothing),
        ("not asked", eve, nothing),
        ("form", machine, nothing),
        ("wrong answer", machine, send_wrong),
        ("rejected", done, nothing),
        ("claimed", claimed, nothing),
        ("hostile", hostile, nothing),
        ("can be taken back", window, nothing),
        ("taken back", taken_back, open_more),
        ("superseded", superseded, nothing),
        ("cancelled", cancelled, nothing),
        ("not your turn", later, nothing),
        ("expired", await _expired(api), nothing),
        ("changed", ann, send_old),
        ("expired link", over, nothing),
        ("unknown link", ann._replace(path="/d/nothing"), nothing),
        ("sign in", ann._replace(path=f"/d/p/{point}"), nothing),
    ]


async def _expired(api: Api) -> Visitor:
    """Return a visitor of a point whose deadline has passed."""
    node = approval(**{**REFUND, "deadline": "1ms"}, next=dict.fromkeys(("approved", "rejected"), "finish"))
    await api.engine.workflows.register(flow(node, end("done")))
    execution = (await api.post("/executions", {"workflow": "flow", "input": GIVEN})).json["id"]
    await ended(api, execution)
    row = await api.engine.points.find(execution, "review")
    assert row is not None
    return await visitor_with_link(api, row.point.id, "ann")


async def test_who_gets_a_link_of_somebody_else_signs_in_as_them_and_decides(browser: Browser, tmp_path: Path) -> None:
    async with served(tmp_path, settings=UNLIMITED) as api:  # a link and a sign-in are needed
        execution, ann = await asked(api, approval(**REFUND), GIVEN)
        async with visiting(browser, ann) as seen:
            page = seen.page
            await expect(page.get_by_role("heading", level=1)).to_have_text("Sign in to decide")
            await page.get_by_role("link", name="Sign in", exact=True).click()
            await page.get_by_label("Key").fill(await api.key_of("ben:approver"))
            await page.get_by_role("button", name="Sign in").click()
            await expect(page.get_by_role("main")).to_contain_text("This link is for ann, and you are signed in as ben")
            await page.get_by_role("link", name="Sign in as somebody else").click()
            await page.get_by_role("button", name="Sign out").click()
            await page.get_by_label("Key").fill(await api.key_of("ann:approver"))
            await page.get_by_role("button", name="Sign in").click()
            await page.get_by_role("button", name="Approve").click()
            await expect(page.get_by_role("status")).to_contain_text("You approved this on")
        assert (await ended(api, execution))["by"] == "ann"


async def test_nothing_that_others_have_written_runs(browser: Browser, tmp_path: Path) -> None:
    node = approval(title="${input}", shown={"a": "${input}"}, approvers={"users": ["ann", HOSTILE]})
    async with served_links(tmp_path) as api:
        _, ann = await asked(api, node, HOSTILE)
        async with visiting(browser, ann, scripts=True) as seen:
            seen.page.on("dialog", lambda dialog: seen.errors.append(dialog.message))
            await seen.page.get_by_label("Comment").fill(HOSTILE)
            await seen.page.get_by_role("button", name="Reject").click()
            await expect(seen.page.get_by_role("status")).to_contain_text("Rejected")
            assert await seen.page.locator("script, img, iframe").count() == 0
            assert seen.errors == []


async def test_another_page_cannot_show_it_in_a_frame(browser: Browser, tmp_path: Path) -> None:
    async with served_links(tmp_path) as api, await browser.new_context() as context:
        _, ann = await asked(api, approval())
        page = await context.new_page()
        await page.set_content(f'<iframe src="{api.url}{ann.path}"></iframe>')
        frame = page.frames[-1]
        await frame.wait_for_load_state()
        assert "May it?" not in await frame.content()
