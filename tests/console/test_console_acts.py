"""What people do in the console, in a real browser: several at once, together with others, and by keys alone."""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import pytest
from playwright.async_api import expect

from tests.console.seen import PHONE, signed_in
from tests.servers.chromium import needs_chromium

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Browser, Page, Route

    from tests.console.conftest import Served

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="module")]

_POINTS: Final = re.compile("/api/v1/pause-points")


@asynccontextmanager
async def unaware(page: Page) -> AsyncIterator[None]:
    """Keep from a page for a while what becomes of questions, as a slow network would."""
    released = asyncio.Event()

    async def hold(route: Route) -> None:
        if route.request.method == "GET":
            await released.wait()
        await route.continue_()

    await page.route(_POINTS, hold)
    yield
    released.set()


async def test_questions_are_decided_together_and_those_that_failed_are_listed(
    browser: Browser, server: Served
) -> None:
    api = server.api
    async with signed_in(browser, api) as seen:
        page = seen.page
        started = [await seen.start("refund", {"order": f"T-{n}", "amount": n}) for n in range(4)]
        points = [(await api.get(f"/pause-points?execution_id={one}")).json["items"][0]["id"] for one in started]
        await page.reload()
        for n in range(4):
            await page.get_by_role("checkbox", name=f"order T-{n}?").check()
        await page.get_by_role("button", name="Decide on 4 together").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog.get_by_role("row")).to_have_count(5)
        await dialog.get_by_role("button", name="Reject 4").click()
        await expect(dialog.get_by_role("alert")).to_contain_text("Say why")
        # Another person decides on two of them before this one sends.
        for point in points[:2]:
            assert (await api.post(f"/approvals/{point}/reject", {"comment": "no"}, as_="ben:approver")).status < 300
        await dialog.get_by_role("button", name="Approve 4").click()
        await expect(dialog.get_by_role("status")).to_contain_text("2 were taken.")
        await expect(dialog.get_by_role("listitem")).to_have_count(2)
        await expect(dialog.get_by_role("listitem").first).to_contain_text("order T-0?")
        seen.errors.clear()  # the browser notes the two answers of 409
        await seen.check("together-failed")
        await dialog.get_by_role("button", name="Close").last.click()
        await expect(page.get_by_role("checkbox", name="order T-3?")).to_have_count(0)
    outcomes = [(await api.get(f"/pause-points/{point}")).json["decisions"][0] for point in points]
    assert [(one["by"], one["approved"]) for one in outcomes] == [
        ("ben", False),
        ("ben", False),
        ("admin", True),
        ("admin", True),
    ]
    assert outcomes[3]["seen"] is not None  # what was shown is pinned


async def test_two_people_on_one_question_see_who_has_claimed_it_and_who_was_first(
    browser: Browser, server: Served
) -> None:
    api = server.api
    mia_ben = ("mia:approver", "ben:approver")
    started = (await api.post("/executions", {"workflow": "refund", "input": {"order": "C-9", "amount": 5}})).json["id"]
    point = (await api.get(f"/pause-points?execution_id={started}")).json["items"][0]["id"]
    path = f"/console?point={point}"
    async with (
        signed_in(browser, api, path=path, as_=mia_ben[0]) as mia,
        signed_in(browser, api, PHONE, path=path, as_=mia_ben[1]) as ben,
    ):
        await expect(ben.page.get_by_role("button", name="Approve")).to_be_visible()
        async with unaware(ben.page):
            await mia.page.get_by_role("button", name="Claim").click()
            await expect(mia.page.get_by_role("button", name="Give back")).to_be_visible()
            await ben.page.get_by_role("button", name="Approve").click()
            await expect(ben.page.get_by_role("alert")).to_contain_text("claimed")
        await expect(ben.page.get_by_role("article")).to_contain_text("claimed by mia")
        async with unaware(mia.page):
            await ben.page.get_by_role("button", name="Take over").click()
            await ben.page.get_by_label("Comment").fill("The lamp is broken")
            await ben.page.get_by_role("button", name="Approve").click()
            await expect(ben.page.get_by_role("article", name="C-9")).to_have_count(0)
            await mia.page.get_by_role("button", name="Approve").click()
            await expect(mia.page.get_by_role("alert")).to_be_visible()
        await expect(mia.page.get_by_role("article")).to_contain_text("ben approved")
        await expect(mia.page.get_by_role("button", name="Approve")).to_have_count(0)


async def test_a_question_is_asked_back_delegated_decided_and_taken_back(browser: Browser, server: Served) -> None:
    api = server.api
    async with signed_in(browser, api) as seen:
        page = seen.page
        started = await seen.start("undoable", {"who": "Zoe"})
        point = (await api.get(f"/pause-points?execution_id={started}")).json["items"][0]["id"]
        await seen.open(f"?point={point}", "Waiting for you")
        await page.get_by_role("button", name="Ask back").click()
        await page.get_by_label("Your question").fill("Since when?")
        await page.get_by_role("button", name="Ask back").last.click()
        await expect(page.get_by_role("article")).to_contain_text("Since when?")
        await page.get_by_role("button", name="Reply").click()
        await page.get_by_label("Your reply").fill("Since May")
        await page.get_by_role("button", name="Reply", exact=True).click()
        await expect(page.get_by_role("article")).to_contain_text("Since May")
        await page.get_by_role("button", name="Approve").click()
        await page.get_by_role("button", name="Take back").click()
        await expect(page.get_by_role("button", name="Approve")).to_be_visible()
        await page.get_by_role("button", name="Delegate").click()
        await page.get_by_label("Who decides in your place").fill("ben")
        await page.get_by_role("button", name="Delegate").last.click()
        await expect(page.get_by_role("article")).to_contain_text("ben decides in your place.")
        assert seen.errors == []


async def test_an_approver_needs_no_pointer(browser: Browser, server: Served) -> None:
    async with signed_in(browser, server.api) as seen:
        page = seen.page
        started = [await seen.start("refund", {"order": f"K-{n}", "amount": n}) for n in range(2)]
        await page.reload()
        await expect(page.get_by_role("link", name="order K-1?")).to_be_visible()
        items = page.get_by_role("listitem")
        at = (await items.all_inner_texts()).index(await items.filter(has_text="order K-0?").inner_text())
        await seen.press(*"j" * (at + 1))
        await expect(page.get_by_role("article", name="order K-0?")).to_be_visible()
        await seen.press("x")
        await expect(page.get_by_role("checkbox", name="order K-0?")).to_be_checked()
        await seen.press("x", "a")
        await expect(page.get_by_role("button", name="Approve")).to_be_focused()
        await seen.press("Enter")
        await expect(page.get_by_role("article", name="order K-1?")).to_be_visible()
        await seen.press("r")
        await expect(page.get_by_label("Comment")).to_be_focused()
        await page.keyboard.type("No")
        await seen.press("Tab", "Tab", "Enter")
        await expect(page.get_by_role("link", name="order K-1?")).to_have_count(0)
        assert seen.errors == []
    ends = [(await server.api.get(f"/executions/{one}?wait=10s&until=end")).json["status"] for one in started]
    assert ends == ["completed", "failed"]


async def test_a_batch_shows_its_progress_and_what_became_of_each(browser: Browser, server: Served) -> None:
    async with signed_in(browser, server.api) as seen:
        page = seen.page
        for n in range(3):
            await seen.start("refund", {"order": f"B-{n}", "amount": n}, correlation_id=f"B-{n}", tags=["bulk"])
        await seen.start("broken", {"amount": 1}, correlation_id="B-3", tags=["bulk"])
        await seen.open("/executions?q=tag%3Abulk", "Executions")
        await expect(page.get_by_role("link", name="B-3")).to_be_visible()
        await seen.press("j", "x", "j", "x")
        await expect(page.get_by_role("checkbox", name="Select refund B-2")).to_be_checked()
        await page.get_by_role("button", name="Pause …").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("2 executions")
        await dialog.get_by_role("radio", name="All that fit the filter").check()
        await expect(dialog).to_contain_text("3 executions")  # the one that failed cannot be paused
        await dialog.get_by_role("radio", name="The 2 that are selected").check()
        await dialog.get_by_label("Reason").fill("A check")
        await dialog.get_by_role("button", name="Pause", exact=True).click()
        await expect(dialog).to_contain_text("completed: 1 done, 1 skipped, 0 failed")
        await expect(dialog.get_by_role("listitem")).to_have_count(2)
        await seen.check("batch-done")
        await page.reload()  # the URL holds it
        await expect(dialog.get_by_role("listitem")).to_have_count(2)
        await dialog.get_by_role("button", name="Close").click()
        await page.get_by_role("link", name="B-2").click()
        await expect(page.get_by_role("button", name="Resume")).to_be_visible()
        await seen.press("p")
        await expect(page.get_by_role("button", name="Pause")).to_be_visible()
        assert seen.errors == []


async def test_a_filter_is_chips_or_text_and_new_rows_wait(browser: Browser, server: Served) -> None:
    async with signed_in(browser, server.api, path="/console/executions") as seen:
        page = seen.page
        await seen.start("refund", {"order": "F-1", "amount": 1}, correlation_id="F-1", tags=["filter me"])
        await seen.press("/")
        await page.keyboard.type('workflow:refund tag:"filter me"')
        await seen.press("Enter")
        await expect(page.get_by_role("button", name="Remove workflow:refund")).to_be_visible()
        await expect(page.get_by_role("link", name="F-1")).to_be_visible()
        await page.get_by_role("button", name="Edit as text").click()
        field = page.get_by_label("Filter", exact=True)
        await expect(field).to_have_value('workflow:refund tag:"filter me"')
        await field.fill('tag:"filter me"')
        await seen.press("Enter")
        await expect(page.get_by_role("button", name="Remove workflow:refund")).to_have_count(0)
        await expect(page.get_by_role("link", name="F-1")).to_be_visible()
        await seen.start("refund", {"order": "F-2", "amount": 1}, correlation_id="F-2", tags=["filter me"])
        await page.get_by_role("button", name="1 new").click()
        await expect(page.get_by_role("link", name="F-2")).to_be_visible()
        assert seen.errors == []
