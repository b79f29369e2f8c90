"""Hostile names and values in every field that a workflow or a person can fill: they are shown, and do nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
from playwright.async_api import expect

from tests.console.seen import DESK, HOSTILE, PHONE, Seen, signed_in
from tests.servers.chromium import needs_chromium

if TYPE_CHECKING:
    from playwright.async_api import Browser

    from tests.console.conftest import Served

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="module")]

_BEGINNING: Final = "<img src=x onerror=alert(1)>"
_SHORT: Final = HOSTILE[:200]
_FORM: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["choice"],
    "properties": {
        "choice": {"type": "string", "title": _SHORT, "description": HOSTILE, "enum": [HOSTILE, "plain"]},
        _SHORT: {"type": "string", "title": HOSTILE, "default": HOSTILE},
    },
}
WORKFLOW: Final[dict[str, Any]] = {
    "name": "hostile",
    "description": HOSTILE,
    "input": {
        "type": "object",
        "properties": {
            "text": {"type": "string", "title": HOSTILE, "description": HOSTILE},
            _SHORT: {"type": "string", "title": _SHORT, "enum": [HOSTILE, "plain"]},
        },
    },
    "nodes": [
        {
            "id": "ask",
            "type": "approval",
            "label": _SHORT,
            "title": "${input.text}",
            "shown": {_SHORT: "${input.text}", "nested": {"<b>": ["${input.text}"]}, "large": "${input.large}"},
            "schema": _FORM,
            "leads_to": {"approved": _SHORT, "rejected": "</dd><script>alert(2)</script>"},
            "next": {"approved": "share", "rejected": "share"},
        },
        {"id": "share", "type": "end", "outcome": "refused", "reason": "${input.text}"},
    ],
}


async def _is_inert(seen: Seen, name: str) -> None:
    """Nothing became an element, nothing ran, and the screen is as accessible and as wide as others."""
    assert (name, await seen.page.locator("img[src='x'], script:not([src])").count()) == (name, 0)
    await seen.check(name)


@pytest.mark.parametrize("width", [DESK, PHONE])
async def test_hostile_texts_are_texts_at_a_question_and_in_its_execution(
    browser: Browser, server: Served, width: int
) -> None:
    api = server.api
    await api.engine.workflows.register(WORKFLOW)
    given = {"text": HOSTILE, "large": "<i>&" * 20_000, HOSTILE: HOSTILE}
    body = {"workflow": "hostile", "input": given, "correlation_id": _SHORT, "tags": [_SHORT], "wait": "10s"}
    started = (await api.post("/executions", body, as_=f"{_SHORT.replace(':', '')}:operator")).json["id"]
    point = (await api.get(f"/pause-points?execution_id={started}")).json["items"][0]["id"]
    async with signed_in(browser, api, width) as seen:
        page = seen.page
        await seen.open(f"?point={point}", "Waiting for you")
        await expect(page.get_by_role("article")).to_contain_text(_BEGINNING)
        await _is_inert(seen, f"hostile-point-{width}")
        await page.get_by_role("button", name="Ask back").click()
        await page.get_by_label("Your question").fill(HOSTILE)
        await page.get_by_role("button", name="Ask back").last.click()
        await expect(page.get_by_role("article")).to_contain_text("No reply yet.")
        await expect(page.get_by_role("article").locator(".asked-back")).to_contain_text(_BEGINNING)
        await page.get_by_label("Comment").fill(HOSTILE)
        await page.get_by_role("combobox").select_option(index=1)
        await page.get_by_role("button", name="Reject").click()
        await expect(page.get_by_role("link", name=_BEGINNING)).to_have_count(1)  # the refund of the server stays
        await seen.open(f"/executions/{started}", "hostile")
        await expect(page.locator(".stands")).to_contain_text(_BEGINNING)
        await _is_inert(seen, f"hostile-execution-{width}")
    done = (await api.get(f"/executions/{started}?wait=10s&until=end")).json
    assert (done["outcome"], done["outcome_reason"]) == ("refused", HOSTILE)


@pytest.mark.parametrize("width", [DESK, PHONE])
async def test_hostile_texts_are_texts_in_a_workflow_its_editor_and_its_form(
    browser: Browser, server: Served, width: int
) -> None:
    await server.api.engine.workflows.register(WORKFLOW)
    given = {"text": HOSTILE, "large": HOSTILE}
    body = {"workflow": "hostile", "input": given, "correlation_id": _SHORT, "tags": [_SHORT], "wait": "10s"}
    await server.api.post("/executions", body)
    async with signed_in(browser, server.api, width) as seen:
        page = seen.page
        await seen.open("/workflows/hostile", "hostile")
        await expect(page.locator(".react-flow__node", has_text=_BEGINNING).first).to_be_visible()
        await _is_inert(seen, f"hostile-workflow-{width}")
        await seen.open("/workflows/hostile/edit", "Edit hostile")
        await expect(page.locator(".cm-content")).to_contain_text("onerror")
        await _is_inert(seen, f"hostile-editor-{width}")
        await seen.open("/workflows/hostile/start", "hostile")
        await expect(page.get_by_role("dialog")).to_contain_text(_BEGINNING)
        await _is_inert(seen, f"hostile-start-{width}")
        await seen.open("/executions?q=workflow%3Ahostile", "Executions")
        await expect(page.get_by_role("link", name=_BEGINNING).first).to_be_visible()
        await _is_inert(seen, f"hostile-executions-{width}")


@pytest.mark.parametrize("width", [DESK, PHONE])
async def test_a_hostile_name_of_a_view_is_a_text_and_one_that_no_view_may_have_says_why(
    browser: Browser, server: Served, width: int
) -> None:
    name = f'"><img src=x onerror=alert(1)> \u05e9\u05dc\u05d5\u05dd #?%2e {width} ' + "W" * 50
    async with signed_in(browser, server.api, width, path="/console/executions?q=workflow%3Arefund") as seen:
        page, dialog = seen.page, seen.page.get_by_role("dialog")
        await page.get_by_role("button", name="Save as a view").click()
        # A change of the direction of text cannot be printed.
        for refused, why in ((_SHORT[:100], "all of them printable"), ("a/b", "no “/”"), ("..", "more than dots")):
            await dialog.get_by_label("Name").fill(refused)
            await seen.press("Enter")
            await expect(dialog.get_by_role("alert")).to_contain_text(why)
            await expect(dialog.get_by_label("Name")).to_have_value(refused)
        seen.errors.clear()  # the browser notes each refusal
        await dialog.get_by_label("Name").fill(name)
        await seen.press("Enter")
        view = page.get_by_role("group", name="Saved views").get_by_role("button", name=name, exact=True)
        await expect(view).to_have_attribute("aria-pressed", "true")
        await _is_inert(seen, f"hostile-view-{width}")
        await page.get_by_role("button", name="Delete the view").click()
        await expect(view).to_have_count(0)
        assert seen.errors == []
