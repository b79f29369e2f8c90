"""A dry run in the editor whose input is given by a form, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from playwright.async_api import expect

from tests.console.seen import PHONE, signed_in
from tests.console.test_workflow_screens import write
from tests.servers.chromium import needs_chromium

if TYPE_CHECKING:
    from playwright.async_api import Browser

    from tests.console.conftest import Served

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="module")]

COUNTED: Final = (
    "name: counted\ninput:\n  type: object\n  properties:\n    who: {type: string, title: Who}\n"
    "    count: {type: integer, title: How many}\nnodes:\n  - id: tell\n    type: compute\n"
    '    output: "${input.count} for ${input.who}"\n'
)


async def test_a_dry_run_is_given_its_input_by_a_form_that_writes_its_json(browser: Browser, server: Served) -> None:
    async with signed_in(browser, server.api, path="/console/new-workflow") as seen:
        page = seen.page
        await write(page, COUNTED)
        await expect(page.get_by_text("No problems.")).to_be_visible()
        await page.get_by_role("button", name="Dry run").click()
        json = page.get_by_label("Input as JSON")
        await page.get_by_label("Who").fill("Mia")
        await page.get_by_label("How many").fill("2")
        await expect(json).to_have_value('{"who":"Mia","count":2}')
        await page.get_by_label("How many").fill("2x")
        await expect(page.get_by_text("This is not a number.")).to_be_visible()
        await expect(json).to_have_value('{"who":"Mia"}')
        await json.fill('{"who": "Ole", "count": 3, "more": true}')
        await expect(page.get_by_label("Who")).to_have_value("Ole")
        await page.get_by_label("How many").fill("4")
        await expect(json).to_have_value('{"more":true,"who":"Ole","count":4}')
        await seen.check("editor-run-form")
        await page.set_viewport_size({"width": PHONE, "height": 900})
        await seen.check("editor-run-form-phone")
        await page.get_by_role("button", name="Run", exact=True).click()
        await expect(page.locator(".played")).to_contain_text("4 for Ole")
        await json.fill("[")
        await expect(page.get_by_label("Who")).to_have_count(0)
        assert seen.errors == []
