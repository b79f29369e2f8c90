"""One execution in a real browser: steps that no definition names, and every act shown as a plan before it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
import pytest
from playwright.async_api import expect

from layover import NodeContext  # noqa: TC001 - the function is called by its annotations
from tests.api.harness import served
from tests.console.seen import PHONE, signed_in
from tests.servers.chromium import needs_chromium

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.async_api import Browser

    from tests.console.conftest import Served

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="module")]

SHIPPING: Final[dict[str, Any]] = {
    "name": "shipping",
    "nodes": [
        {"id": "send", "type": "ship", "input": {"order": "${input}"}, "next": "done"},
        {"id": "done", "type": "compute", "output": "1"},
    ],
}
NIGHTLY: Final[dict[str, Any]] = {
    "name": "nightly",
    "nodes": [
        {"id": "sleep", "type": "delay", "duration": "6h", "next": "after"},
        {"id": "after", "type": "compute", "output": "1"},
    ],
}


class Shipment(msgspec.Struct):
    """How something travels."""

    carrier: str


async def _reserve(order: str) -> str:
    return f"parcel of {order}"


async def ship(order: str, context: NodeContext) -> str:
    """Reserve a parcel, ask how it travels, and wait for the pick-up."""
    await context.once("reserve", _reserve, order)
    shipment = await context.ask("shipment", Shipment, title=f"How shall {order} travel?")
    await context.sleep("1d", "pick-up")
    return shipment.carrier


async def test_what_a_function_does_grows_in_the_graph_while_it_is_watched(browser: Browser, tmp_path: Path) -> None:
    async with served(tmp_path, ship) as api:
        await api.engine.workflows.register(SHIPPING)
        body = {"workflow": "shipping", "input": "A7", "wait": "10s"}
        started = (await api.post("/executions", body)).json["id"]
        async with signed_in(browser, api, path=f"/console/executions/{started}") as seen:
            page = seen.page
            reserve = page.locator(".react-flow__node", has_text="reserve")
            asked = page.locator(".react-flow__node", has_text="How shall A7 travel?").last
            await expect(reserve).to_contain_text("completed")
            await expect(asked).to_contain_text("waiting")
            await expect(page.get_by_role("list", name="What happened")).to_contain_text("send recorded reserve")
            await seen.check("function-steps")
            point = (await api.get(f"/pause-points?execution_id={started}")).json["items"][0]["id"]
            await api.post(f"/pause-points/{point}/answer", {"data": {"carrier": "rail"}})
            await expect(page.locator(".react-flow__node", has_text="pick-up").last).to_contain_text("waiting")
            await expect(asked).to_contain_text("completed")
            await reserve.click()  # a step leads to the node that it is in
            drawer = page.get_by_role("dialog", name="Node send")
            await drawer.get_by_role("button", name="Go on now").click()
            await drawer.get_by_role("button", name="Close").click()
            await expect(page.get_by_role("main")).to_contain_text("Completed.")
            assert seen.errors == []


async def test_a_wait_for_time_is_ended_in_the_drawer(browser: Browser, server: Served) -> None:
    await server.api.engine.workflows.register(NIGHTLY)
    started = (await server.api.post("/executions", {"workflow": "nightly", "wait": "5s"})).json["id"]
    async with signed_in(browser, server.api, PHONE, path=f"/console/executions/{started}?node=sleep") as seen:
        drawer = seen.page.get_by_role("dialog", name="Node sleep")
        await expect(drawer).to_contain_text("It waits until")
        await seen.check("node-timer-phone")
        await drawer.get_by_role("button", name="Go on now").click()
        await expect(drawer.get_by_role("button", name="Go on now")).to_have_count(0)
        await drawer.get_by_role("button", name="Close").click()
        await expect(seen.page.get_by_role("main")).to_contain_text("Completed.")
        assert seen.errors == []


async def test_a_failed_node_is_retried_from_its_drawer_after_the_plan(browser: Browser, server: Served) -> None:
    failed = await server.api.post("/executions", {"workflow": "broken", "input": {"amount": 1}, "wait": "10s"})
    path = f"/console/executions/{failed.json['id']}?node=share"
    async with signed_in(browser, server.api, path=path) as seen:
        drawer = seen.page.get_by_role("dialog", name="Node share")
        await drawer.get_by_role("button", name="Retry").click()
        plan = seen.page.get_by_role("dialog", name="Retry this execution")
        await expect(plan).to_contain_text("It goes on from what failed.")
        await expect(plan.get_by_role("definition").first).to_have_text("share")
        await seen.check("node-retry")
        await seen.press("Escape")  # closes the plan, and not what is behind it
        await expect(plan).to_have_count(0)
        await expect(drawer).to_be_visible()
        await drawer.get_by_role("button", name="Retry").click()
        await plan.get_by_label("Reason").fill("The amount is mended")
        await plan.get_by_role("button", name="Retry", exact=True).click()
        await expect(seen.page.get_by_role("list", name="What happened")).to_contain_text(
            "reopened for a retry by admin"
        )
        assert seen.errors == []


async def test_a_fork_is_a_plan_first_and_then_another_execution(browser: Browser, server: Served) -> None:
    started = await server.api.post(
        "/executions", {"workflow": "onboarding", "input": {"name": "Ole", "systems": []}, "wait": "10s"}
    )
    path = f"/console/executions/{started.json['id']}"
    async with signed_in(browser, server.api, path=path) as seen:
        page = seen.page
        await page.get_by_role("button", name="Fork").click()
        plan = page.get_by_role("dialog", name="Fork this execution")
        await expect(plan).to_contain_text("prepare")
        await plan.get_by_label("With another input").check()
        await plan.get_by_label("Input", exact=True).fill("{oh no")
        await plan.get_by_role("button", name="Start the fork").click()
        await expect(plan).to_contain_text("This is not valid JSON.")
        await plan.get_by_label("Input", exact=True).fill('{"name": "Eva", "systems": []}')
        await seen.check("fork")
        await page.reload()  # the URL holds the plan
        await expect(plan).to_contain_text("prepare")
        await plan.get_by_role("button", name="Start the fork").click()
        await expect(plan).to_have_count(0)
        await expect(page).not_to_have_url(path)
        await expect(page.get_by_role("heading", level=1)).to_contain_text("onboarding")
        await expect(page.get_by_role("list", name="What happened")).to_contain_text("asks: Which machine for Ole?")
        assert seen.errors == []


async def test_a_viewer_sees_no_acts(browser: Browser, server: Served) -> None:
    path = f"/console/executions/{server.onboarding}?node=prepare"
    async with signed_in(browser, server.api, path=path, as_="vic:viewer") as seen:
        drawer = seen.page.get_by_role("dialog", name="Node prepare")
        await expect(drawer).to_contain_text("completed")
        for act in ("Rewind", "Fork", "Retry"):
            await expect(drawer.get_by_role("button", name=act)).to_have_count(0)
        await drawer.get_by_role("button", name="Close").click()
        for act in ("Pause", "Fork", "Cancel execution"):
            await expect(seen.page.get_by_role("button", name=act)).to_have_count(0)
        assert seen.errors == []


async def test_a_failed_iteration_is_found_among_many(browser: Browser, server: Served) -> None:
    share = {"id": "share", "type": "compute", "output": "${1 / n}"}
    loop = {"id": "each", "type": "parallel", "for_each": "input", "as": "n", "on_failure": "continue", "body": [share]}
    await server.api.engine.workflows.register({"name": "shares", "nodes": [loop]})
    given = [n - 150 for n in range(250)]
    started = (await server.api.post("/executions", {"workflow": "shares", "input": given, "wait": "10s"})).json["id"]
    async with signed_in(browser, server.api, path=f"/console/executions/{started}?node=each") as seen:
        drawer = seen.page.get_by_role("dialog", name="Node each")
        await drawer.get_by_label("Only those that are").select_option("failed")
        rows = drawer.get_by_role("region", name="Iterations").get_by_role("listitem")
        await expect(rows).to_have_count(1)
        await expect(rows).to_contain_text("#151")
        await seen.check("iterations-failed")
        await rows.get_by_role("button").click()
        await expect(seen.page.get_by_role("dialog", name="Node share")).to_contain_text("In each #151")
        assert seen.errors == []
