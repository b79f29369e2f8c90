"""The console when something goes wrong: a server that restarts, a slow one, one that refuses, a session that ended."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from playwright.async_api import expect

from tests.api.harness import listening
from tests.console.definitions import REFUND
from tests.console.seen import sign_in, signed_in
from tests.runtime.harness import engine_at
from tests.servers.chromium import needs_chromium

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.async_api import Browser, Route

    from tests.console.conftest import Served

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="module")]

_TOO_MANY = '{"code": "rate_limited", "title": "Too many requests", "status": 429, "detail": "Later."}'


async def test_a_stream_that_was_cut_by_a_restart_goes_on_and_shows_each_event_once(
    browser: Browser, tmp_path: Path
) -> None:
    async with engine_at(tmp_path) as engine, listening(engine) as api:
        port = urlsplit(api.url).port or 0
        await engine.workflows.register(REFUND)
        body = {"workflow": "refund", "input": {"order": "S-1", "amount": 5}, "wait": "10s"}
        started = (await api.post("/executions", body)).json["id"]
        point = (await api.get(f"/pause-points?execution_id={started}")).json["items"][0]["id"]
        context = await browser.new_context()
        page = await context.new_page()
        await page.goto(f"{api.url}/console/executions/{started}")
        await sign_in(page, await api.key_of("admin"))
        state = page.locator(".feed-state").get_by_role("status").first
        await expect(state).to_have_text("live")
        await expect(page.get_by_text("review asks")).to_have_count(1)
    await expect(state).to_contain_text("trying again")
    await expect(page.get_by_text("old")).to_be_visible()  # the age of the data
    async with engine_at(tmp_path) as engine, listening(engine, port=port) as api:
        await expect(state).to_have_text("live")
        await expect(page.get_by_text("old")).to_have_count(0)
        assert (await api.post(f"/approvals/{point}/approve", {})).status < 300
        await expect(page.get_by_text("review finished: approved")).to_have_count(1)
        await expect(page.get_by_text("review asks")).to_have_count(1)
        await expect(state).to_have_text("ended")
        await context.close()


async def test_a_slow_server_is_waited_for_and_nothing_jumps(browser: Browser, server: Served) -> None:
    async with signed_in(browser, server.api) as seen:
        page, go_on = seen.page, asyncio.Event()

        async def slow(route: Route) -> None:
            await go_on.wait()
            await route.continue_()

        await page.route("**/api/v1/pause-points?*", slow)
        await page.goto(f"{server.api.url}/console")
        await expect(page.get_by_role("status").filter(has_text="Loading")).to_be_visible()
        await seen.check("loading")
        go_on.set()
        await expect(page.get_by_role("link", name="for order A-2?")).to_be_visible()
        await expect(page.get_by_role("status").filter(has_text="Loading")).to_have_count(0)
        assert seen.errors == []


async def test_a_server_that_refuses_is_asked_again_when_it_says_so(browser: Browser, server: Served) -> None:
    async with signed_in(browser, server.api) as seen:
        page = seen.page
        started = [await seen.start("refund", {"order": f"R-{n}", "amount": n}) for n in range(2)]
        refused: dict[str, int] = {}

        async def refuse_first(route: Route) -> None:
            path = urlsplit(route.request.url).path
            refused[path] = refused.get(path, 0) + 1
            headers = {"retry-after": "1", "content-type": "application/problem+json"}
            if refused[path] == 1:
                await route.fulfill(status=429, headers=headers, body=_TOO_MANY)
            else:
                await route.continue_()

        await page.route("**/api/v1/pause-points?*", refuse_first)
        await page.route("**/api/v1/approvals/*/approve", refuse_first)
        await page.goto(f"{server.api.url}/console")
        for n in range(2):
            await page.get_by_role("checkbox", name=f"order R-{n}?").check()
        await page.get_by_role("button", name="Decide on 2 together").click()
        await page.get_by_role("button", name="Approve 2").click()
        await expect(page.get_by_role("dialog")).to_contain_text("2 were taken.")
        assert [n for path, n in refused.items() if path.endswith("/approve")] == [2, 2]
    ends = [(await server.api.get(f"/executions/{one}?wait=10s&until=end")).json["status"] for one in started]
    assert ends == ["completed", "completed"]


async def test_a_server_that_is_gone_is_told_and_what_was_typed_stays(browser: Browser, server: Served) -> None:
    async with signed_in(browser, server.api) as seen:
        page = seen.page
        await page.get_by_role("link", name="for order A-2?").click()
        await page.get_by_label("Comment").fill("Typed before")
        await page.context.set_offline(True)
        await page.get_by_role("button", name="Approve").click()
        await expect(page.get_by_role("alert")).to_contain_text("cannot be reached. What you typed is kept.")
        await expect(page.get_by_label("Comment")).to_have_value("Typed before")
        await seen.shot("unreachable")
        await page.context.set_offline(False)
        await page.reload()
        await expect(page.get_by_label("Comment")).to_have_value("Typed before")
        await page.get_by_role("link", name="Workflows").click()
        await page.get_by_role("link", name="onboarding").click()
        await expect(page.get_by_role("heading", level=1)).to_contain_text("onboarding")


async def test_a_problem_names_its_request_and_can_be_tried_again(browser: Browser, server: Served) -> None:
    async with signed_in(browser, server.api) as seen:
        page = seen.page
        await page.goto(f"{server.api.url}/console/executions/00000000-0000-7000-8000-000000000000")
        await expect(page.get_by_role("alert")).to_contain_text("unknown_execution")
        await expect(page.get_by_role("alert")).to_contain_text("Request")
        await expect(page.get_by_role("button", name="Try again")).to_be_visible()
        seen.errors.clear()  # the browser notes the answer of 404
        await seen.check("problem")


async def test_a_person_who_may_little_is_shown_little(browser: Browser, server: Served) -> None:
    async with signed_in(browser, server.api, as_="vera:viewer", path="/console/executions") as seen:
        page = seen.page
        await expect(page.get_by_role("link", name="onboarding")).to_be_visible()
        await expect(page.get_by_role("checkbox")).to_have_count(0)
        await seen.open(f"/executions/{server.failed}", "broken")
        await expect(page.get_by_text("Division by zero").first).to_be_visible()
        for act in ("Retry", "Pause", "Cancel execution", "Logs"):
            await expect(page.get_by_role("button", name=act)).to_have_count(0)
        await seen.open("", "Waiting for you")
        await expect(page.get_by_text("Nothing waits for you.")).to_be_visible()
        await seen.check("inbox-empty")
