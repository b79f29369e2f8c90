"""The operations screen in a real browser: each tab, in both themes, on a phone and a desk, by keys, by permissions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.api.harness import served
from tests.console.definitions import BROKEN, REFUND
from tests.console.seen import DESK, HOSTILE, PHONE, signed_in
from tests.servers.chromium import needs_chromium

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Browser, Page

    from tests.api.harness import Api

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="module")]

LATER: Final[dict[str, Any]] = {
    "name": "reminder",
    "triggers": [{"name": "monthly", "type": "schedule", "cron": "0 8 1 * *"}],
    "nodes": [{"id": "rest", "type": "delay", "duration": "40d"}],
}
TABS: Final = ("Overview", "Timers", "Batches", "Deliveries", "Destinations", "Triggers", "Keys", "Audit")


class Operated(NamedTuple):
    """A server with something to operate."""

    api: Api
    batch: str


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Operated]:
    async with served(tmp_path_factory.mktemp("operations")) as api:
        for definition in (REFUND, BROKEN, LATER):
            await api.engine.workflows.register(definition)
        for order in ("A-1", "A-2", HOSTILE):
            await api.post("/executions", {"workflow": "refund", "input": {"order": order, "amount": 5}, "wait": "10s"})
        await api.post("/executions", {"workflow": "reminder", "wait": "10s"})
        await api.post("/executions", {"workflow": "broken", "input": {"amount": 1}, "wait": "10s"})
        hook = {"name": "ops-hook", "kind": "webhook", "address": "http://127.0.0.1:1/never"}
        await api.post("/destinations", hook)
        await api.post("/keys", {"name": "leaver", "user": "eve", "roles": ["viewer"]})
        which = {"act": "pause", "where": {"workflow": "refund"}, "with": {"reason": HOSTILE[:200]}, "rate": "1/h"}
        batch = await api.post("/batches", which)
        yield Operated(api, batch.json["id"])


async def _tab(page: Page, name: str) -> None:
    await page.get_by_role("navigation", name="Operations").get_by_role("link", name=name, exact=True).click()
    await expect(page.locator("[aria-current=page]", has_text=name)).to_be_visible()


@pytest.mark.parametrize("width", [DESK, PHONE])
async def test_every_tab_is_accessible_fits_and_keeps_the_policy(
    browser: Browser,
    server: Operated,
    width: int,
) -> None:
    async with signed_in(browser, server.api, width, path="/console/operations") as seen:
        page, name = seen.page, str(width)
        await expect(page.get_by_role("list", name="Instances")).to_contain_text("this one")
        await expect(page.locator(".u-wrap").first).to_be_visible()
        await seen.check(f"ops-overview-{name}")
        for tab in TABS[1:]:
            await _tab(page, tab)
            if tab == "Deliveries":
                await expect(page.get_by_text("Nothing was sent.")).to_be_visible()
            else:
                await expect(page.get_by_role("list", name=tab, exact=True)).to_be_visible()
            await seen.check(f"ops-{tab.lower()}-{name}")
        await page.get_by_role("button", name="Details").first.click()
        await expect(page.get_by_role("dialog")).to_contain_text("credential")
        await seen.check(f"ops-entry-{name}")


async def test_an_operator_stops_a_batch_reads_its_results_and_has_it_continue(
    browser: Browser,
    server: Operated,
) -> None:
    async with signed_in(browser, server.api, path="/console") as seen:
        page = seen.page
        await page.keyboard.press("g")
        await page.keyboard.press("o")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Operations")
        await _tab(page, "Batches")
        await page.get_by_role("button", name="Stop").click()
        await page.get_by_label("Reason").fill("Wrong day")
        await page.get_by_role("dialog").get_by_role("button", name="Stop").click()
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await expect(page.get_by_role("list", name="Batches")).to_contain_text("Wrong day")
        await page.get_by_role("button", name="Results").click()
        await expect(page.get_by_role("dialog", name="Results")).to_be_visible()
        await page.keyboard.press("Escape")
        await page.get_by_role("button", name="Continue").click()
        await expect(page.get_by_role("list", name="Batches")).not_to_contain_text("Wrong day")
        assert (await server.api.get(f"/batches/{server.batch}")).json["status"] != "stopped"
        assert seen.errors == []


async def test_an_operator_needs_no_pointer(browser: Browser, server: Operated) -> None:
    async with signed_in(browser, server.api, path="/console/workflows") as seen:
        page = seen.page
        await seen.press("g", "o")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Operations")
        tabs = page.get_by_role("navigation", name="Operations")
        await seen.tab_to(tabs.get_by_role("link", name="Audit", exact=True))
        await seen.press("Enter")
        entries = page.get_by_role("list", name="Audit", exact=True)
        await seen.tab_to(entries.get_by_role("button", name="Details").first)
        await seen.press("Enter")
        await expect(page.get_by_role("dialog")).to_contain_text("credential")
        await seen.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        assert seen.errors == []


async def test_a_trigger_is_paused_a_destination_disabled_and_a_key_ended(
    browser: Browser,
    server: Operated,
) -> None:
    async with signed_in(browser, server.api, path="/console/operations?tab=triggers") as seen:
        page = seen.page
        await page.get_by_role("button", name="Pause").click()
        await expect(page.get_by_role("list", name="Triggers")).to_contain_text("paused")
        await page.get_by_role("button", name="Inputs").click()
        await expect(page.get_by_role("dialog")).to_contain_text("No input")
        await page.keyboard.press("Escape")
        await _tab(page, "Destinations")
        await page.get_by_role("button", name="Disable").click()
        await page.get_by_role("dialog").get_by_role("button", name="Disable").click()
        await expect(page.get_by_role("button", name="Enable")).to_be_visible()
        await _tab(page, "Keys")
        row = page.get_by_role("listitem").filter(has_text="leaver")
        await row.get_by_role("button", name="End").click()
        await page.get_by_role("dialog").get_by_role("button", name="End").click()
        await expect(row).to_contain_text("ended")
        assert seen.errors == []


async def test_a_key_is_made_and_rotated_and_each_is_shown_once(browser: Browser, server: Operated) -> None:
    async with signed_in(browser, server.api, path="/console/operations?tab=keys") as seen:
        page, dialog = seen.page, seen.page.get_by_role("dialog")
        await page.get_by_role("button", name="New key").click()
        await dialog.get_by_label("What it is for").fill("export")
        await dialog.get_by_label("User", exact=True).fill("robot")
        await dialog.get_by_label("Roles that workflows name").fill("finance, managers")
        await seen.check("ops-new-key")
        await dialog.get_by_role("button", name="Make key").click()
        first = await page.get_by_role("dialog", name="The key export").locator("pre").inner_text()
        await seen.press("Escape")  # does not lose it
        await dialog.get_by_role("button", name="I have it").click()
        await expect(dialog).to_have_count(0)
        assert first not in await page.content()
        me = (await server.api.get("/me", as_="", headers={"authorization": f"Bearer {first}"})).json
        assert (me["user"], set(me["roles"])) == ("robot", {"viewer", "finance", "managers"})
        await page.get_by_role("listitem").filter(has_text="export").get_by_role("button", name="Rotate").click()
        await dialog.get_by_label("The old key works").select_option("no longer, from now on")
        await dialog.get_by_role("button", name="Rotate").click()
        second = await page.get_by_role("dialog", name="The key export").locator("pre").inner_text()
        assert (await server.api.get("/me", as_="", headers={"authorization": f"Bearer {second}"})).status == 200
        assert (await server.api.get("/me", as_="", headers={"authorization": f"Bearer {first}"})).status == 401
        assert seen.errors == []


async def test_a_browser_is_signed_out_from_another_one(browser: Browser, server: Operated) -> None:
    async with (
        signed_in(browser, server.api, as_="viewer") as other,
        signed_in(browser, server.api, path="/console/operations?tab=keys") as seen,
    ):
        row = seen.page.get_by_role("list", name="Signed in").get_by_role("listitem").filter(has_text="viewer")
        await row.last.get_by_role("button", name="Sign out").click()
        await seen.page.get_by_role("dialog").get_by_role("button", name="Sign out").click()
        await expect(seen.page.get_by_role("dialog")).to_have_count(0)
        await other.page.reload()
        await expect(other.page.get_by_label("Key")).to_be_visible()


async def test_the_doctor_says_what_is_wrong_and_what_to_do(browser: Browser, server: Operated) -> None:
    async with signed_in(browser, server.api, path="/console/operations") as seen:
        page = seen.page
        await expect(page.get_by_role("list", name="Health")).to_be_visible()
        found = {"what": "queue", "health": "problem", "text": "3 are late.", "hint": "Start an instance."}
        well = {"what": "disk", "health": "ok", "text": "much is free", "hint": ""}
        told = {"ok": False, "findings": [well, found]}
        await page.route("**/api/v1/doctor", lambda route: route.fulfill(json=told))
        await page.get_by_role("button", name="Examine again").click()
        await expect(page.get_by_role("list", name="Health")).to_contain_text("Start an instance.")
        await expect(page.get_by_text("much is free")).to_be_hidden()
        await page.get_by_text("1 thing is well").click()
        await expect(page.get_by_text("much is free")).to_be_visible()
        await seen.check("ops-doctor")


async def test_what_a_caller_may_not_see_is_not_there_and_says_which_permission(
    browser: Browser,
    server: Operated,
) -> None:
    async with signed_in(browser, server.api, path="/console/operations?tab=keys", as_="operator") as seen:
        page = seen.page
        await expect(page.get_by_text("needs the permission admin")).to_be_visible()
        tabs = page.get_by_role("navigation", name="Operations").get_by_role("link")
        assert await tabs.all_inner_texts() == ["Overview", "Timers", "Batches", "Deliveries", "Triggers"]
        await tabs.filter(has_text="Triggers").click()
        await expect(page.get_by_role("button", name="Inputs")).to_be_visible()
        await expect(page.get_by_role("button", name="Pause")).to_have_count(0)
    async with signed_in(browser, server.api, path="/console", as_="viewer") as seen:
        await expect(seen.page.get_by_role("link", name="Workflows")).to_be_visible()
        await expect(seen.page.get_by_role("link", name="Operations")).to_have_count(0)


async def test_a_problem_is_told_with_its_request_and_can_be_tried_again(
    browser: Browser,
    server: Operated,
) -> None:
    async with signed_in(browser, server.api, path="/console/operations") as seen:
        page = seen.page
        told = {"code": "forbidden", "detail": "Not today."}
        await page.route("**/api/v1/timers**", lambda route: route.fulfill(status=403, json=told))
        await _tab(page, "Timers")
        await expect(page.get_by_role("alert")).to_contain_text("Not today.")
        await page.unroute("**/api/v1/timers**")
        await page.get_by_role("button", name="Try again").click()
        await expect(page.get_by_role("list", name="Timers")).to_contain_text("reminder")


async def test_attempts_of_a_delivery_say_what_went_wrong(browser: Browser, server: Operated) -> None:
    await server.api.post(
        "/destinations", {"name": "nowhere", "kind": "webhook", "address": "http://127.0.0.1:1/never"}
    )
    notify = [{"on": ["pause.opened"], "via": "nowhere"}]
    await server.api.engine.workflows.register({**REFUND, "name": "telling", "notify": notify})
    given = {"order": "A-9", "amount": 5}
    await server.api.post("/executions", {"workflow": "telling", "input": given, "wait": "10s"})
    async with signed_in(browser, server.api, path="/console/operations?tab=deliveries") as seen:
        page = seen.page
        row = page.get_by_role("list", name="Deliveries").get_by_role("listitem").filter(has_text="nowhere")
        await expect(row).to_contain_text("1 attempt")
        await row.get_by_role("button", name="Attempts").click()
        attempts = page.get_by_role("dialog", name="Attempts to send to nowhere")
        await expect(attempts.get_by_role("listitem").first).to_contain_text("failed")
        await seen.check("ops-attempts")
