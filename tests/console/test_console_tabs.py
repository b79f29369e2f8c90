"""Many tabs of one browser: each follows what it shows while it is seen, and none keeps another from loading."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import pytest
from playwright.async_api import expect

from tests.console.seen import signed_in
from tests.servers.chromium import needs_chromium

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

    from tests.console.conftest import Served

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="module")]

_TABS: Final = 8  # a browser has six connections to one host
# A browser without a screen takes each of its tabs for one that is seen.
_HIDE: Final = """() => {
  Object.defineProperty(document, "visibilityState", {configurable: true, get: () => "hidden"});
  document.dispatchEvent(new Event("visibilitychange"));
}"""
_SHOW: Final = """() => {
  delete document.visibilityState;
  document.dispatchEvent(new Event("visibilitychange"));
}"""


async def test_more_tabs_than_connections_are_followed_as_they_are_seen(browser: Browser, server: Served) -> None:
    streams = server.api.services.streams
    async with signed_in(browser, server.api) as seen:
        started = await seen.start("refund", {"order": "T-1", "amount": 1}, correlation_id="T-1")
        await seen.page.evaluate(_HIDE)
        tabs: list[Page] = []
        for _ in range(_TABS):
            if tabs:
                await tabs[-1].evaluate(_HIDE)
            tab = await seen.page.context.new_page()
            await tab.goto(f"{server.api.url}/console/executions/{started}")
            await expect(tab.locator(".feed-state")).to_contain_text("live")
            tabs.append(tab)
        while streams.count > 1:  # noqa: ASYNC110 - a server tells of a stream only by counting it
            await asyncio.sleep(0)
        (point,) = (await server.api.get(f"/pause-points?execution_id={started}")).json["items"]
        await server.api.post(f"/approvals/{point['id']}/approve", {})
        await expect(tabs[-1].get_by_text("review finished: approved")).to_be_visible()
        await tabs[-1].evaluate(_HIDE)
        await tabs[0].evaluate(_SHOW)
        await expect(tabs[0].get_by_text("review finished: approved")).to_have_count(1)
        await expect(tabs[0].locator(".feed-state")).to_contain_text("ended")
        assert seen.errors == []


async def test_more_windows_than_connections_load_and_follow_in_turns(browser: Browser, server: Served) -> None:
    async with signed_in(browser, server.api) as seen:
        started = await seen.start("refund", {"order": "T-2", "amount": 1}, correlation_id="T-2")
        windows: list[Page] = [seen.page]
        for n in range(_TABS):  # each of them is seen
            window = await seen.page.context.new_page()
            await window.goto(f"{server.api.url}/console/executions" + (f"/{started}" if n % 2 else ""))
            await expect(window.get_by_text("T-2").first).to_be_visible()
            windows.append(window)
        (point,) = (await server.api.get(f"/pause-points?execution_id={started}")).json["items"]
        await server.api.post(f"/approvals/{point['id']}/approve", {})
        for n, window in enumerate(windows[1:]):
            if n % 2:
                await expect(window.get_by_text("review finished: approved")).to_have_count(1)
                await expect(window.locator(".feed-state")).to_contain_text("ended")
            else:
                await expect(window.get_by_role("link", name="T-2")).to_contain_text("completed")
        assert seen.errors == []


async def test_a_list_that_was_not_seen_shows_what_became_of_its_rows(browser: Browser, server: Served) -> None:
    async with signed_in(browser, server.api, path="/console/executions?q=correlation_id%3AT-3") as seen:
        started = await seen.start("refund", {"order": "T-3", "amount": 1}, correlation_id="T-3")
        await seen.page.reload()
        row = seen.page.get_by_role("link", name="T-3")
        await expect(row).to_contain_text("person")
        await seen.page.evaluate(_HIDE)
        while server.api.services.streams.count > 0:  # noqa: ASYNC110 - a server tells of a stream only by counting it
            await asyncio.sleep(0)
        (point,) = (await server.api.get(f"/pause-points?execution_id={started}")).json["items"]
        await server.api.post(f"/approvals/{point['id']}/approve", {})
        await server.api.get(f"/executions/{started}?wait=10s&until=end")
        await seen.page.evaluate(_SHOW)
        await expect(row).to_contain_text("completed")
        assert seen.errors == []


async def test_a_person_who_signs_out_in_one_tab_is_signed_out_in_the_others(browser: Browser, server: Served) -> None:
    async with signed_in(browser, server.api) as seen:
        other = await seen.page.context.new_page()
        await other.goto(f"{server.api.url}/console")
        await other.get_by_role("link", name="for order A-3?").click()
        await other.get_by_label("Comment").fill("Kept here")
        assert (
            await seen.page.evaluate(
                """() => fetch("/api/v1/session",
                {method: "DELETE", headers: {"X-Layover-Console": "1"}}).then((answer) => answer.status)"""
            )
        ) < 300
        await other.get_by_role("button", name="Approve").click()
        await expect(other.get_by_role("alert").first).to_contain_text("signed out")
        await expect(other.get_by_label("Comment")).to_have_value("Kept here")
