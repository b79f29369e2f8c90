"""The workflow screen and the editor in a real browser: both themes, a phone and a desk, by keys alone, drafts kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.api.harness import served
from tests.console.seen import DESK, PHONE, signed_in
from tests.servers.chromium import chromium, needs_chromium

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Browser, Page

    from tests.api.harness import Api

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="module")]

FIRST: Final[dict[str, Any]] = {
    "name": "claims",
    "description": "Looks at claims, each by a person.",
    "settings": {"max_pause": "none"},
    "input": {"type": "object", "properties": {"lines": {"type": "array", "items": {"type": "string"}}}},
    "triggers": [{"name": "monthly", "type": "schedule", "cron": "0 8 1 * *", "input": {"lines": ["tax"]}}],
    "nodes": [
        {
            "id": "each",
            "type": "loop",
            "for_each": "input.lines",
            "as": "line",
            "body": [{"id": "look", "type": "approval", "title": "Pay ${line}?"}],
            "next": "archive",
        },
        {"id": "archive", "type": "compute", "output": "yes: it's # odd\nand long", "next": "pay"},
        {"id": "pay", "type": "compute", "output": "paid"},
    ],
}
SECOND: Final[dict[str, Any]] = {
    **FIRST,
    "nodes": [
        {**FIRST["nodes"][0], "body": [{"id": "look", "type": "approval", "title": "Shall ${line} be paid?"}]},
        {"id": "archive", "type": "compute", "output": "kept", "next": "thank"},
        {"id": "thank", "type": "compute", "output": "Thanks"},
    ],
}
BROKEN: Final = (
    "name: claims\nsettings: {max_pause: none}\nnodes:\n  - id: look\n    type: aproval\n    title: May it?\n"
)
YAML: Final = {"content-type": "application/yaml"}
NEW: Final = "name: fresh\nsettings: {max_pause: none}\nnodes:\n  - id: look\n    type: approval\n    title: May it?\n"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Api]:
    async with served(tmp_path_factory.mktemp("workflows")) as opened:
        for definition in (FIRST, SECOND):
            await opened.engine.workflows.register(definition)
        for n in range(3):
            body = {"workflow": "claims", "input": {"lines": [f"claim {n}", "tax"]}, "wait": "10s"}
            await opened.post("/executions", body)
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as opened:
        yield opened


async def write(page: Page, text: str) -> None:
    """Replace the text of the editor, by keys; it indents by itself, so lines are put in as one."""
    await page.get_by_role("textbox", name="Definition in YAML").click()
    await page.keyboard.press("Control+a")
    await page.keyboard.insert_text(text)


@pytest.mark.parametrize("width", [DESK, PHONE])
async def test_workflow_and_editor_are_accessible_fit_and_keep_the_policy(
    browser: Browser, api: Api, width: int
) -> None:
    async with signed_in(browser, api, width) as seen:
        page, name = seen.page, str(width)
        await seen.open("/workflows/claims", "claims")
        await expect(page.locator(".react-flow__node", has_text="look")).to_contain_text("3 here")
        await expect(page.get_by_role("region", name="Now")).to_contain_text("3 executions have not ended")
        await seen.check(f"claims-{name}")
        await page.get_by_role("button", name="YAML").click()
        await expect(page.get_by_role("region", name="Definition in YAML")).to_contain_text("for_each: input.lines")
        await page.get_by_role("button", name="Triggers").click()
        await expect(page.get_by_role("heading", name="Next")).to_be_visible()
        await seen.check(f"claims-yaml-{name}")
        await page.get_by_role("button", name="Versions").click()
        await page.get_by_role("button", name="What changed from version 1 to version 2").click()
        changes = page.get_by_role("dialog", name="What changed")
        await expect(changes).to_contain_text("1 node added, 1 node removed, 2 nodes changed")
        await expect(changes.locator(".react-flow__node", has_text="pay")).to_contain_text("removed")
        await expect(changes.locator(".react-flow__node", has_text="thank")).to_contain_text("added")
        await seen.check(f"claims-diff-{name}")
        await seen.open("/workflows/claims", "claims")
        await page.get_by_role("button", name="Pause workflow").click()
        await expect(page.get_by_role("dialog")).to_contain_text("3 executions are under way. They go on")
        await page.get_by_label("Pause those as well").check()
        await expect(page.get_by_role("dialog")).to_contain_text("They stop before their next step")
        await seen.check(f"claims-pause-{name}")

        await seen.open("/workflows/claims/edit", "Edit claims")
        await expect(page.locator(".react-flow__node", has_text="look")).to_be_visible()
        await expect(page.get_by_text("No problems.")).to_be_visible()
        await write(page, BROKEN)
        await expect(page.get_by_role("region", name="Problems")).to_contain_text("approval")
        await expect(page.locator(".cm-lint-marker-error").first).to_be_visible()
        await seen.check(f"editor-problem-{name}")
        await write(page, BROKEN.replace("aproval", "approval"))
        await expect(page.get_by_text("No problems.")).to_be_visible()
        await page.get_by_role("button", name="Dry run").click()
        await page.get_by_label("Answers of people").fill('{"look": true}')
        await page.get_by_role("button", name="Run", exact=True).click()
        await expect(page.locator(".react-flow__node", has_text="look")).to_contain_text("completed")
        await seen.check(f"editor-run-{name}")
        await page.get_by_role("button", name="Save …").click()
        await expect(page.get_by_role("dialog")).to_contain_text("It becomes version 3")
        await expect(page.get_by_role("dialog").locator(".react-flow__node").first).to_be_visible()
        await seen.check(f"editor-save-{name}")


async def test_a_workflow_is_written_saved_and_changed_by_keys_alone(browser: Browser, api: Api) -> None:
    async with signed_in(browser, api, path="/console/new-workflow") as seen:
        page = seen.page
        text = page.get_by_role("textbox", name="Definition in YAML")
        await expect(page.get_by_text("No problems.")).to_be_visible()
        await text.focus()
        await page.keyboard.press("Control+a")
        await page.keyboard.insert_text(NEW.replace("approval", "aproval"))
        problem = page.get_by_role("region", name="Problems").get_by_role("button").first
        await expect(problem).to_contain_text("line 5")
        await problem.focus()
        await page.keyboard.press("Enter")  # leads to the word that is wrong
        await expect(text).to_be_focused()
        await page.keyboard.press("Control+Shift+ArrowRight")
        await page.keyboard.insert_text("approval")
        await expect(page.get_by_text("No problems.")).to_be_visible()
        await page.keyboard.press("Control+s")
        await expect(page.get_by_role("dialog")).to_contain_text("the first version of fresh")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", level=1)).to_contain_text("fresh")
        saved = (await api.get("/workflows/fresh")).json
        assert saved["definition"]["nodes"] == [{"id": "look", "type": "approval", "title": "May it?"}]
        assert seen.errors == []


async def test_a_workflow_is_looked_at_paused_and_resumed_by_keys_alone(browser: Browser, api: Api) -> None:
    await api.engine.workflows.register({**FIRST, "name": "keyed"})
    async with signed_in(browser, api, path="/console/executions") as seen:
        page = seen.page
        await seen.press("g", "w")
        await seen.tab_to(page.get_by_role("link", name="keyed"))
        await seen.press("Enter")
        await seen.tab_to(page.get_by_role("button", name="YAML"))
        await seen.press("Enter")
        await expect(page.get_by_role("region", name="Definition in YAML")).to_contain_text("for_each: input.lines")
        await page.keyboard.press("Control+Home")
        await seen.tab_to(page.get_by_role("button", name="Pause workflow"))
        await seen.press("Enter")
        await seen.tab_to(page.get_by_role("dialog").get_by_role("button", name="Pause workflow", exact=True))
        await seen.press("Enter")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        assert (await api.get("/workflows/keyed")).json["state"] == "paused"
        await seen.tab_to(page.get_by_role("button", name="Resume workflow"))
        await seen.press("Enter")
        await expect(page.get_by_role("button", name="Pause workflow")).to_be_visible()
        assert seen.errors == []


async def test_the_editor_has_the_text_as_it_was_written_and_keeps_it_with_its_comments(
    browser: Browser, api: Api
) -> None:
    written = f"# Ours since May\n{NEW.replace('fresh', 'kept')}"
    await api.ask("POST", "/workflows", raw=written.encode(), headers=YAML)
    async with signed_in(browser, api, path="/console/workflows/kept/edit") as seen:
        page = seen.page
        await page.get_by_role("textbox", name="Definition in YAML").press("Control+Home")
        await page.keyboard.insert_text("# A remark\n")
        await expect(page.get_by_text("No problems.")).to_be_visible()
        await page.get_by_role("button", name="Save …").click()
        await expect(page.get_by_role("dialog", name="Save the text")).to_contain_text("It runs as version 1 does")
        await page.get_by_role("button", name="Save", exact=True).click()
        await expect(page.get_by_role("heading", level=1)).to_contain_text("kept v1")
        await page.get_by_role("button", name="Text of version 1").click()
        text = page.get_by_role("region", name="Definition in YAML")
        await expect(text).to_have_text(f"# A remark\n{written}")
        await page.get_by_role("link", name="Edit").click()
        await expect(page.get_by_text("# A remark")).to_be_visible()
        await expect(page.get_by_text("Nothing is changed yet.")).to_be_visible()
        assert seen.errors == []
    assert (await api.get("/workflows/kept/source")).json["text"] == f"# A remark\n{written}"


async def test_a_text_that_another_person_wrote_meanwhile_is_told_before_it_is_replaced(
    browser: Browser, api: Api
) -> None:
    await api.ask("POST", "/workflows", raw=NEW.replace("fresh", "shared").encode(), headers=YAML)
    async with signed_in(browser, api, path="/console/workflows/shared/edit") as seen:
        page = seen.page
        await write(page, f"# Mine\n{NEW.replace('fresh', 'shared')}")
        await expect(page.get_by_text("No problems.")).to_be_visible()
        theirs = f"# Theirs\n{NEW.replace('fresh', 'shared')}"
        await api.ask("PUT", "/workflows/shared", raw=theirs.encode(), headers=YAML)
        await page.get_by_role("button", name="Save …").click()
        await expect(page.get_by_role("dialog")).to_contain_text("Another person has written the text")
        await page.keyboard.press("Escape")
        await page.get_by_role("button", name="Discard …").click()
        await page.get_by_role("button", name="Discard", exact=True).click()
        await expect(page.get_by_text("# Theirs")).to_be_visible()


async def test_a_new_workflow_does_not_replace_one_that_has_its_name(browser: Browser, api: Api) -> None:
    async with signed_in(browser, api, path="/console/new-workflow") as seen:
        page = seen.page
        await write(page, NEW.replace("fresh", "claims"))
        await expect(page.get_by_text("No problems.")).to_be_visible()
        await page.get_by_role("button", name="Save …").click()
        await expect(page.get_by_role("dialog")).to_contain_text("There is a workflow claims already")
        await expect(page.get_by_role("dialog").get_by_role("button", name="Save")).to_be_disabled()
        await page.keyboard.press("Escape")
        await page.get_by_role("navigation", name="Main").get_by_role("link", name="Workflows").click()
        await expect(page.get_by_text("You have begun a new workflow")).to_be_visible()


async def test_executions_are_moved_to_a_new_version_after_its_plan_was_seen(browser: Browser, api: Api) -> None:
    before = NEW.replace("fresh", "movable")
    after = before.replace("id: look", "id: review").replace("May it?", "Shall it?")
    await api.ask("POST", "/workflows", raw=before.encode(), headers=YAML)
    started = [(await api.post("/executions", {"workflow": "movable", "wait": "10s"})).json["id"] for _ in range(2)]
    async with signed_in(browser, api, path="/console/workflows/movable/edit") as seen:
        page = seen.page
        await write(page, after)
        await expect(page.get_by_text("No problems.")).to_be_visible()
        await page.get_by_role("button", name="Save …").click()
        saving = page.get_by_role("dialog", name="Save as a new version")
        await expect(saving).to_contain_text("0 could be moved to it, 2 could not")
        await saving.get_by_role("button", name="Save", exact=True).click()
        await page.get_by_role("button", name="Move executions …").click()
        moving = page.get_by_role("dialog", name="Move executions of movable")
        await expect(moving).to_contain_text("2 executions cannot")
        await expect(moving.get_by_role("button", name="Move", exact=True)).to_be_disabled()
        await moving.get_by_label("look is now").select_option("review")
        await expect(moving).to_contain_text("2 executions can go on by it")
        await expect(moving).to_contain_text("People are asked again: review.")
        await seen.check("move")
        await moving.get_by_label("Reason").fill("A better question")
        await moving.get_by_role("button", name="Move 2").click()
        await expect(page.get_by_role("dialog", name="Move executions")).to_contain_text("completed: 2 done")
        assert [(await api.get(f"/executions/{one}")).json["version"] for one in started] == [2, 2]
        await page.get_by_role("button", name="Close").click()
        await page.get_by_role("button", name="Move executions …").click()
        await expect(moving).to_contain_text("2 executions run this version already")
        assert seen.errors == []


async def test_a_workflow_is_found_among_many_by_a_part_of_its_name(browser: Browser, api: Api) -> None:
    for n in range(110):
        await api.engine.workflows.register({**FIRST, "name": f"bulk-{n}", "triggers": []})
    async with signed_in(browser, api, path="/console/workflows") as seen:
        page = seen.page
        rows = page.get_by_role("main").get_by_role("listitem")
        await expect(rows).to_have_count(100)
        await page.get_by_role("button", name="Show more").click()
        await expect(page.get_by_role("link", name="bulk-99")).to_be_visible()
        await seen.press("/")
        await page.keyboard.type("bulk-10")
        await expect(rows).to_have_count(11)
        await page.get_by_role("searchbox").fill("nothing of that name")
        await expect(page.get_by_text("No workflow has this in its name.")).to_be_visible()
        await seen.check("workflows")


async def test_drafts_survive_a_reload_and_a_lost_session_until_they_are_discarded(browser: Browser, api: Api) -> None:
    async with signed_in(browser, api, path="/console/workflows/claims/edit") as seen:
        page = seen.page
        warned: list[str] = []

        async def go_on(dialog: Any) -> None:
            warned.append(dialog.type)
            await dialog.accept()

        page.on("dialog", go_on)
        await expect(page.get_by_text("Nothing is changed yet.")).to_be_visible()
        await write(page, BROKEN)
        await expect(page.get_by_text("Your changes are kept in this tab")).to_be_visible()
        await page.reload()
        assert warned == ["beforeunload"]
        await expect(page.get_by_text("type: aproval")).to_be_visible()
        await page.context.clear_cookies()
        await write(page, BROKEN.replace("May it?", "May it go?"))
        await expect(page.get_by_role("alert").first).to_contain_text("signed out")
        await page.get_by_role("link", name="Sign in").first.click()
        await page.get_by_label("Key").fill(await api.key_of("admin"))
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_text("May it go?")).to_be_visible()
        await page.get_by_role("link", name="claims").click()
        await expect(page.get_by_text("You have unsaved changes")).to_be_visible()
        await page.get_by_role("link", name="Go on editing").click()
        await page.get_by_role("button", name="Discard …").click()
        await page.get_by_role("button", name="Discard", exact=True).click()
        await expect(page.get_by_text("Nothing is changed yet.")).to_be_visible()
        await expect(page.get_by_text("May it go?")).to_have_count(0)


async def test_switches_do_what_they_say(browser: Browser, api: Api) -> None:
    await api.engine.workflows.register({**FIRST, "name": "switched"})
    await api.post("/executions", {"workflow": "switched", "input": {"lines": ["a"]}, "wait": "10s"})
    async with signed_in(browser, api, path="/console/workflows/switched") as seen:
        page = seen.page
        await page.get_by_role("button", name="Pause workflow").click()
        await expect(page.get_by_role("dialog")).to_contain_text("1 execution is under way. It goes on to its end.")
        await page.get_by_label("Pause those as well").check()
        await page.get_by_label("Reason").fill("Prices change")
        await page.get_by_role("button", name="Pause workflow", exact=True).click()
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await expect(page.get_by_text("Prices change")).to_be_visible()
        assert (await api.get("/workflows/switched")).json["state"] == "paused"
        await page.get_by_role("button", name="Resume workflow").click()
        await page.get_by_role("button", name="Switch off …").click()
        await expect(page.get_by_role("dialog")).to_contain_text("whoever tries is refused")
        await page.get_by_role("button", name="Switch off", exact=True).click()
        await page.get_by_role("button", name="Switch on").click()
        await expect(page.get_by_role("button", name="Pause workflow")).to_be_visible()
        assert (await api.get("/workflows/switched")).json["state"] == "active"
        await page.get_by_role("button", name="Triggers").click()
        await page.get_by_role("button", name="Pause trigger").click()
        await expect(page.get_by_role("button", name="Resume trigger")).to_be_visible()
        assert seen.errors == []


async def test_breakpoints_of_a_workflow_are_shown_and_cleared(browser: Browser, api: Api) -> None:
    await api.ask("POST", "/workflows", raw=NEW.replace("fresh", "broken-at").encode(), headers=YAML)
    await api.post("/workflows/broken-at/pause", {"before": "look", "reason": "Watch this"})
    async with signed_in(browser, api, path="/console/workflows/broken-at") as seen:
        page = seen.page
        await expect(page.get_by_text("Executions pause before look.")).to_contain_text("Watch this")
        await seen.check("breakpoint")
        await page.get_by_role("button", name="Do not pause before look").click()
        await expect(page.get_by_text("Executions pause before look.")).to_have_count(0)
        assert (await api.get("/workflows/broken-at")).json["breakpoints"] == {}
        assert seen.errors == []


@pytest.mark.parametrize("width", [DESK, PHONE])
async def test_the_palette_goes_to_screens_workflows_and_executions_and_begins_things(
    browser: Browser, api: Api, width: int
) -> None:
    (one, *_) = (await api.get("/executions?workflow=claims")).json["items"]
    async with signed_in(browser, api, width) as seen:
        page, title = seen.page, seen.page.get_by_role("heading", level=1)
        chosen = page.get_by_role("option", selected=True)

        async def choose(typed: str, shown: str) -> None:
            await seen.press("Control+k")
            await page.keyboard.type(typed)
            await expect(chosen).to_contain_text(shown)
            await seen.press("Enter")

        await seen.press("Control+k")
        await page.keyboard.type("claims")
        await expect(chosen).to_contain_text("claims")
        await seen.check(f"palette-{width}")
        await seen.press("ArrowDown")
        await expect(chosen).to_contain_text("Start claims")
        await seen.press("Enter")
        await expect(page.get_by_role("dialog", name="Start claims")).to_be_visible()
        await seen.press("Escape")
        await choose("operations aud", "Operations: Audit")
        await expect(page.get_by_role("list", name="Audit")).to_be_visible()
        await choose("new work", "New workflow")
        await expect(title).to_contain_text("New workflow")
        await choose(one["id"], one["id"])
        await expect(title).to_contain_text("claims")
        await choose("nothing-has-this-name", "Executions: nothing-has-this-name")
        await expect(page.get_by_text("No execution fits this filter.")).to_be_visible()
        await choose("keyb", "Keyboard")
        await expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
        assert seen.errors == []


async def test_executions_that_one_begins_are_drawn_as_they_come(browser: Browser, api: Api) -> None:
    asking = {"id": "look", "type": "approval", "title": "Go on?"}
    one_by_one = {"id": "run", "type": "workflow", "workflow": "one", "input": "${line}"}
    settings = {"max_pause": "none"}
    await api.engine.workflows.register({"name": "one", "settings": settings, "nodes": [asking]})
    loop = {"id": "each", "type": "loop", "for_each": "input", "as": "line", "body": [one_by_one]}
    await api.engine.workflows.register({"name": "many", "settings": settings, "nodes": [loop]})
    started = (await api.post("/executions", {"workflow": "many", "input": ["a", "b"], "wait": "10s"})).json["id"]
    async with signed_in(browser, api, path=f"/console/executions/{started}?tab=children") as seen:
        page = seen.page
        drawn = page.get_by_role("region", name="What it began").locator(".react-flow__node")
        await expect(drawn).to_have_count(2)  # itself, and the first
        (child,) = (await api.get(f"/executions?parent_id={started}")).json["items"]
        (point,) = (await api.get(f"/pause-points?execution_id={child['id']}")).json["items"]
        await api.post(f"/approvals/{point['id']}/approve", {})
        await expect(drawn).to_have_count(3)  # the second came without a reload
        await seen.check("children")
        await drawn.last.focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", level=1)).to_contain_text("one")
        assert child["id"] not in page.url
        assert seen.errors == []
