"""Lists in the console that keep themselves up to date, and what a person keeps for themselves, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.async_api import expect

from tests.console.seen import signed_in
from tests.servers.chromium import needs_chromium

if TYPE_CHECKING:
    from playwright.async_api import Browser

    from tests.console.conftest import Served

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="module")]


async def test_an_inbox_hears_of_a_question_and_of_its_answer_at_once(browser: Browser, server: Served) -> None:
    async with signed_in(browser, server.api) as seen:
        page = seen.page
        await expect(page.get_by_role("link", name="for order A-2?")).to_be_visible()
        started = await seen.start("refund", {"order": "H-1", "amount": 1})
        await expect(page.get_by_role("link", name="for order H-1?")).to_be_visible()
        (point,) = (await server.api.get(f"/pause-points?execution_id={started}")).json["items"]
        await server.api.post(f"/approvals/{point['id']}/approve", {})
        await expect(page.get_by_role("link", name="for order H-1?")).to_have_count(0, timeout=10_000)
        assert seen.errors == []


async def test_rows_of_a_list_change_in_place(browser: Browser, server: Served) -> None:
    async with signed_in(browser, server.api, path="/console/executions?q=correlation_id%3AH-2") as seen:
        started = await seen.start("refund", {"order": "H-2", "amount": 1}, correlation_id="H-2")
        await seen.page.reload()
        row = seen.page.get_by_role("link", name="H-2")
        await expect(row).to_contain_text("person")
        asked: list[str] = []
        seen.page.on("request", lambda request: asked.append(request.url))
        (point,) = (await server.api.get(f"/pause-points?execution_id={started}")).json["items"]
        await server.api.post(f"/approvals/{point['id']}/approve", {})
        await expect(row).to_contain_text("completed")
        assert not [one for one in asked if "correlation_id" in one and "limit=100" not in one]
        assert seen.errors == []


async def test_what_one_asked_and_what_one_has_decided_have_lists_of_their_own(
    browser: Browser, server: Served
) -> None:
    api = server.api
    for n in range(2):
        body = {"workflow": "refund", "input": {"order": f"M-{n}", "amount": 1}, "wait": "10s"}
        await api.post("/executions", body, as_="mia:admin")
    async with signed_in(browser, api, as_="mia:admin") as seen:
        page = seen.page
        await page.get_by_role("link", name="I asked").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Asked by you")
        await expect(page.get_by_role("listitem")).to_have_count(2)
        await seen.check("asked")
        await page.get_by_role("link", name="Done").click()
        await expect(page.get_by_text("You have decided nothing yet.")).to_be_visible()
        await page.get_by_role("link", name="For me").click()
        await page.get_by_role("link", name="for order M-0?").click()
        await page.get_by_role("button", name="Approve").click()
        await expect(page.get_by_role("link", name="for order M-0?")).to_have_count(0)
        await page.get_by_role("link", name="Done").click()
        await expect(page.get_by_role("listitem")).to_have_count(1)
        await expect(page.get_by_role("listitem")).to_contain_text("order M-0?")
        await page.get_by_role("link", name="I asked").click()
        await expect(page.get_by_role("listitem")).to_have_count(1)
        assert seen.errors == []
    body = {"workflow": "refund", "input": {"order": "N-0", "amount": 1}, "wait": "10s"}
    await api.post("/executions", body, as_="ole:operator")
    async with signed_in(browser, api, as_="ole:operator", path="/console?tab=asked") as seen:
        await seen.page.get_by_role("link", name="Inbox").click()
        await seen.page.get_by_role("link", name="For me").click()
        await expect(seen.page.get_by_role("main")).to_contain_text("Which machine for Mia?")  # a form asks anybody
        assert seen.errors == []


async def test_a_person_who_is_asked_nothing_sees_the_next_deadline_of_what_they_asked(
    browser: Browser, server: Served
) -> None:
    body = {"workflow": "refund", "input": {"order": "V-0", "amount": 1}, "wait": "10s"}
    await server.api.post("/executions", body, as_="vic:operator")
    async with signed_in(browser, server.api, as_="vic:viewer") as seen:
        await expect(seen.page.get_by_role("main")).to_contain_text("Nothing waits for you.")
        await expect(seen.page.get_by_role("main")).to_contain_text("Refund 1 for order V-0?")
        await expect(seen.page.get_by_role("main")).to_contain_text("left, then rejected")
        await seen.check("inbox-next-deadline")


async def test_who_operates_and_decides_nothing_lands_on_the_executions(browser: Browser, server: Served) -> None:
    async with signed_in(browser, server.api, as_="ole:operator") as seen:
        heading = seen.page.get_by_role("heading", level=1)
        await expect(heading).to_have_text("Executions")
        await seen.page.get_by_role("link", name="Inbox").click()
        await expect(heading).to_have_text("Waiting for you")
        assert seen.errors == []


async def test_a_filter_is_kept_as_a_view_and_deleted(browser: Browser, server: Served) -> None:
    async with signed_in(browser, server.api, path="/console/executions?q=workflow%3Arefund+since%3A2d") as seen:
        page = seen.page
        await page.get_by_role("button", name="Save as a view").click()
        await page.get_by_label("Name").fill("Refunds <b>")
        await seen.press("Enter")
        view = page.get_by_role("button", name="Refunds <b>", exact=True)
        await expect(view).to_have_attribute("aria-pressed", "true")
        await seen.check("views")
        await page.goto(f"{server.api.url}/console/executions")
        await view.click()
        await expect(page.get_by_role("button", name="Remove workflow:refund")).to_be_visible()
        await expect(page.get_by_role("link", name="A-2")).to_be_visible()
        saved = (await server.api.get("/me/views")).json["items"]
        assert saved[0]["filter"] == {"workflow": "refund", "since": "2d"}
        await page.get_by_role("button", name="Delete the view").click()
        await expect(view).to_have_count(0)
        assert seen.errors == []


async def test_a_batch_can_be_tried_on_a_few_first(browser: Browser, server: Served) -> None:
    async with signed_in(browser, server.api, path="/console/executions?q=tag%3Acanary") as seen:
        page = seen.page
        for n in range(3):
            await seen.start("refund", {"order": f"Y-{n}", "amount": n}, correlation_id=f"Y-{n}", tags=["canary"])
        await page.reload()
        for n in range(3):
            await page.get_by_role("checkbox", name=f"Select refund Y-{n}").check()
        await page.get_by_role("button", name="Pause …").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("First try it on a few").check()
        await dialog.get_by_label("How many").select_option("25%")
        await dialog.get_by_label("Watch them for").select_option("1 hour")
        await seen.check("canary")
        await dialog.get_by_role("button", name="Pause", exact=True).click()
        await expect(dialog).to_contain_text("watching the first ones: 1 done")
        await dialog.get_by_role("button", name="Stop").click()
        await expect(dialog).to_contain_text("stopped")
        assert seen.errors == []


async def test_addresses_name_a_node_a_plan_and_a_form(browser: Browser, server: Served) -> None:
    async with signed_in(browser, server.api) as seen:
        page, started = seen.page, server.onboarding
        await seen.open(f"/executions/{started}/node/choose:setup.hardware", "onboarding")
        await expect(page.get_by_role("dialog", name="Node choose")).to_be_visible()
        await seen.open(f"/executions/{started}/rewind?to=prepare", "onboarding")
        await expect(page.get_by_role("dialog", name="Rewind to prepare")).to_contain_text("Starts again")
        await page.reload()
        await expect(page.get_by_role("dialog", name="Rewind to prepare")).to_contain_text("Starts again")
        await page.get_by_role("dialog", name="Rewind to prepare").get_by_role("button", name="Cancel").click()
        await expect(page.get_by_role("dialog", name="Node prepare")).to_be_visible()
        await seen.open("/workflows/onboarding/start", "onboarding")
        await expect(page.get_by_role("dialog", name="Start onboarding")).to_be_visible()
        assert seen.errors == []


async def test_executions_are_counted_and_found_by_what_they_wait_on(browser: Browser, server: Served) -> None:
    definition = {"name": "parcel", "nodes": [{"id": "arrived", "type": "wait_signal", "signal": "parcel"}]}
    await server.api.engine.workflows.register(definition)
    async with signed_in(browser, server.api, path="/console/executions") as seen:
        page = seen.page
        for n in range(3):
            await seen.start("parcel", {}, correlation_id=f"W-{n}", tags=["signals"])
        await page.reload()
        await expect(page.get_by_role("button", name="waiting for people")).to_be_visible()
        signals = page.get_by_role("group", name="Waiting on").get_by_role("button", name="a signal 3")
        await signals.focus()
        await seen.press("Enter")  # of the button, and not of a row
        await expect(signals).to_have_attribute("aria-pressed", "true")
        await expect(page.get_by_role("link", name="W-2")).to_be_visible()
        await expect(page.get_by_role("link", name="refund")).to_have_count(0)
        await seen.check("executions-on")
        # A batch takes every filter of the list.
        await page.get_by_role("checkbox", name="Select parcel W-0").check()
        await page.get_by_role("button", name="Pause …").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("radio", name="All that fit the filter").check()
        await expect(dialog).to_contain_text("3 executions")
        await dialog.get_by_role("button", name="Pause", exact=True).click()
        await expect(dialog).to_contain_text("completed: 3 done")
        assert seen.errors == []


async def test_an_execution_that_fits_a_filter_which_found_nothing_is_told_of(browser: Browser, server: Served) -> None:
    async with signed_in(browser, server.api, path="/console/executions?q=tag%3Alate") as seen:
        await expect(seen.page.get_by_text("No execution fits this filter.")).to_be_visible()
        await seen.start("refund", {"order": "L-1", "amount": 1}, correlation_id="L-1", tags=["late"])
        await seen.page.get_by_role("button", name="1 new").click()
        await expect(seen.page.get_by_role("link", name="L-1")).to_be_visible()
        assert seen.errors == []


async def test_settings_are_the_same_in_another_browser(browser: Browser, server: Served) -> None:
    async with signed_in(browser, server.api, as_="sam:approver") as seen:
        page = seen.page
        await page.get_by_role("button", name="Settings").click()
        await page.get_by_label("Theme").select_option("dark")
        await page.get_by_label("Times").select_option("utc")
        await page.get_by_label("Single-key shortcuts").uncheck()
        await page.get_by_label("The console opens with").select_option("workflows")
        await expect(page.get_by_role("dialog")).to_contain_text("the same in each of your browsers")
        await seen.check("settings")
        expected = {"theme": "dark", "zone": "utc", "single_keys": False, "landing": "workflows"}

        async def saved() -> dict[str, object]:
            return {key: (await server.api.get("/me/settings", as_="sam:approver")).json[key] for key in expected}

        await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        await page.get_by_role("dialog").get_by_role("button", name="Close").click()
    async with signed_in(browser, server.api, as_="sam:approver") as seen:
        await expect(seen.page.get_by_role("heading", level=1)).to_have_text("Workflows")
        await expect(seen.page.locator("html")).to_have_attribute("data-theme", "dark")
        await seen.page.get_by_role("link", name="Inbox").click()
        await expect(seen.page.get_by_role("heading", level=1)).to_have_text("Waiting for you")
        await seen.press("g", "e")  # single keys are off
        await seen.page.get_by_role("button", name="Settings").click()
        await expect(seen.page.get_by_label("Times")).to_have_value("utc")
        await expect(seen.page.get_by_role("heading", level=1)).to_have_text("Waiting for you")
        assert await saved() == expected
        assert seen.errors == []


async def test_what_waits_at_a_node_leads_to_the_executions(browser: Browser, server: Served) -> None:
    async with signed_in(browser, server.api, path="/console/workflows/onboarding") as seen:
        page = seen.page
        await page.get_by_role("region", name="Now").get_by_role("link", name="waits for a person").first.click()
        await expect(page.get_by_role("button", name="Remove on:")).to_be_visible()
        await expect(page.get_by_role("link", name="Mia")).to_be_visible()
        await expect(page.get_by_role("listitem")).to_have_count(1)
        assert seen.errors == []
