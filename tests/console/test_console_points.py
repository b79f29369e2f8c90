"""The sheet of one question in a real browser: who decides, by which rules, and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
from playwright.async_api import expect

from tests.console.seen import PHONE, signed_in
from tests.servers.chromium import needs_chromium

if TYPE_CHECKING:
    from playwright.async_api import Browser

    from tests.console.conftest import Served

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="module")]

PURCHASE: Final[dict[str, Any]] = {
    "name": "purchase",
    "nodes": [
        {
            "id": "board",
            "type": "approval",
            "title": "Buy ${input.what}?",
            "shown": {"what": "${input.what}", "offer": {"vendor": "M\u00fcller", "days": 14}, "tags": ["new", "it"]},
            "approvers": {"users": ["ann", "ben", "mia"], "roles": ["approver"]},
            "need": 2,
            "reject_need": 2,
            "comment": "required",
            "undo": "1h",
            "deadline": "3d",
            "on_deadline": "reject",
            "leads_to": {"approved": "The order goes to the vendor", "rejected": "The request is closed"},
        }
    ],
}
CONTRACT: Final[dict[str, Any]] = {
    "name": "contract",
    "nodes": [
        {
            "id": "sign",
            "type": "approval",
            "title": "Sign with ${input.with}?",
            "approvers": {"users": ["ann", "mia", "ben"]},
            "need": 3,
            "order": "sequence",
        }
    ],
}
BOOKING: Final[dict[str, Any]] = {
    "name": "booking",
    "nodes": [
        {
            "id": "room",
            "type": "form",
            "title": "Which room?",
            "schema": {
                "type": "object",
                "required": ["seats"],
                "properties": {"seats": {"type": "integer", "title": "Seats", "maximum": 20}},
            },
        }
    ],
}


async def _point(server: Served, definition: dict[str, Any], given: object) -> str:
    await server.api.engine.workflows.register(definition)
    body = {"workflow": definition["name"], "input": given, "wait": "10s"}
    started = (await server.api.post("/executions", body)).json["id"]
    return str((await server.api.get(f"/pause-points?execution_id={started}")).json["items"][0]["id"])


async def test_a_sheet_says_who_decides_how_many_it_takes_and_what_follows(browser: Browser, server: Served) -> None:
    point = await _point(server, PURCHASE, {"what": "3 laptops"})
    said = await server.api.post(f"/approvals/{point}/reject", {"comment": "Too much"}, as_="ann:approver")
    assert said.status == 201
    for width in (PHONE, 1360):
        async with signed_in(browser, server.api, width, path=f"/console?point={point}", as_="mia:approver") as seen:
            sheet = seen.page.get_by_role("article")
            await expect(sheet).to_contain_text("0 of 2 approved")
            await expect(sheet).to_contain_text("1 of 2 rejected")
            await expect(sheet).to_contain_text("It takes 2 approvals; 2 rejections end it.")
            await expect(sheet).to_contain_text("anybody with the role approver")
            await expect(sheet.get_by_role("term").filter(has_text="When approved")).to_be_visible()
            await expect(sheet).to_contain_text("The order goes to the vendor")
            await expect(sheet).to_contain_text("ann rejected")
            await expect(sheet).to_contain_text("Too much")
            await expect(sheet).to_contain_text("new, it")
            await expect(sheet).to_contain_text("left, then rejected")
            await seen.check(f"point-rules-{width}")


async def test_a_decision_without_the_comment_that_is_asked_for_is_not_sent(browser: Browser, server: Served) -> None:
    point = await _point(server, PURCHASE, {"what": "a desk"})
    async with signed_in(browser, server.api, path=f"/console?point={point}", as_="mia:approver") as seen:
        sheet = seen.page.get_by_role("article")
        await sheet.get_by_role("button", name="Approve").click()
        await expect(sheet.get_by_role("alert")).to_contain_text("asks for a comment with every decision")
        await expect(sheet.get_by_label("Comment (required)")).to_be_focused()
        await sheet.get_by_label("Comment (required)").fill("It is broken")
        await sheet.get_by_role("button", name="Approve").click()
        # It can be taken back, so the sheet stays, and the vote counts from now on.
        await expect(sheet).to_contain_text("1 of 2 approved")
        await expect(sheet).to_contain_text("You can take it back for")
        await expect(sheet).to_contain_text("You have approved. It goes on when enough have decided.")
        await seen.check("point-decided")
        await sheet.get_by_role("button", name="Take back").click()
        await expect(sheet).to_contain_text("mia took back what they had said.")
        await expect(sheet).to_contain_text("0 of 2 approved")
        assert seen.errors == []


async def test_people_who_decide_in_turn_see_whose_turn_it_is(browser: Browser, server: Served) -> None:
    point = await _point(server, CONTRACT, {"with": "Acme"})
    async with signed_in(browser, server.api, path=f"/console?point={point}", as_="mia:approver") as seen:
        sheet = seen.page.get_by_role("article")
        await expect(sheet.get_by_role("listitem").filter(has_text="ann")).to_contain_text("next")
        await expect(sheet).to_contain_text("You cannot answer this")
        await expect(sheet.get_by_role("button", name="Approve")).to_have_count(0)
        assert (await server.api.post(f"/approvals/{point}/approve", {}, as_="ann:approver")).status == 201
        await seen.page.reload()
        await expect(sheet.get_by_role("listitem").filter(has_text="mia")).to_contain_text("your turn")
        await expect(sheet.get_by_role("button", name="Approve")).to_be_visible()
        await seen.check("point-in-turn")


async def test_what_the_server_refuses_stands_beside_its_field(browser: Browser, server: Served) -> None:
    point = await _point(server, BOOKING, {})
    async with signed_in(browser, server.api, path=f"/console?point={point}") as seen:
        sheet = seen.page.get_by_role("article")
        await sheet.get_by_label("Seats").fill("50")
        await seen.press("Control+Enter")
        field = sheet.locator(".field", has=seen.page.get_by_label("Seats"))
        await expect(field).to_contain_text("20")
        await expect(sheet.get_by_label("Seats")).to_have_value("50")  # what was typed is kept
        seen.errors.clear()  # the browser notes the 422
        await sheet.get_by_label("Seats").fill("8")
        await seen.press("Control+Enter")
        await expect(seen.page.get_by_role("article", name="Which room?")).to_have_count(0)
        await seen.open(f"?point={point}", "Waiting for you")
        await expect(sheet).to_contain_text("Answered by admin")
        await expect(sheet).to_contain_text('"seats": 8')
        await seen.check("point-answered")


async def test_a_question_is_asked_and_no_person_sees_a_context_id(browser: Browser, server: Served) -> None:
    """Words of approvers: the node `allow` in the loop of a branch has a context id that nobody should read."""
    found = (await server.api.get(f"/pause-points?execution_id={server.onboarding}")).json["items"]
    point = next(one for one in found if one["node"] == "allow")
    async with signed_in(browser, server.api, path=f"/console?point={point['id']}", as_="mia:approver") as seen:
        page, sheet = seen.page, seen.page.get_by_role("article")
        await sheet.get_by_role("button", name="Ask back").click()
        await expect(sheet.get_by_label("Your question to admin")).to_be_focused()
        await seen.page.keyboard.type("Since when?")
        await seen.press("Enter")
        await expect(sheet).to_contain_text("mia asks admin")
        await expect(sheet).to_contain_text("No reply yet.")
        await page.get_by_role("link", name="See the execution").click()
        await expect(page.get_by_role("list", name="What happened")).to_be_visible()
        for text in (point["context_id"], "each_system."):
            await expect(page.get_by_role("main")).not_to_contain_text(text)
        assert seen.errors == []


async def test_an_inbox_is_sorted_by_deadlines_and_goes_on_behind_its_first_page(
    browser: Browser, server: Served
) -> None:
    role = {"roles": ["nightwatch"]}
    urgent = {"id": "ask", "type": "approval", "title": "Urgent ${input.n}?", "approvers": role}
    urgent |= {"deadline": "1h", "on_deadline": "reject"}
    calm = {"id": "ask", "type": "approval", "title": "Calm ${input.n}?", "approvers": role}
    await server.api.engine.workflows.register({"name": "calm", "settings": {"max_pause": "none"}, "nodes": [calm]})
    await server.api.engine.workflows.register({"name": "urgent", "nodes": [urgent]})
    for n in range(102):
        await server.api.post("/executions", {"workflow": "calm", "input": {"n": n}})
    await server.api.post("/executions", {"workflow": "urgent", "input": {"n": 1}, "wait": "10s"})
    async with signed_in(browser, server.api, as_="nia:nightwatch,approver") as seen:
        page = seen.page
        await seen.open("?order=deadline", "Waiting for you")
        await expect(page.get_by_role("button", name="Deadline first")).to_have_attribute("aria-pressed", "true")
        await page.get_by_role("button", name="Show more").click()
        await expect(page.get_by_role("link", name="Calm 101?")).to_be_visible()
        rows = page.get_by_role("main").locator(".asks .ask-title")
        await expect(rows.first).to_have_text("Urgent 1?")
        await seen.check("inbox-by-deadline")
        await page.get_by_role("button", name="Deadline first").click()
        await expect(rows.first).not_to_have_text("Urgent 1?")
        assert seen.errors == []
