"""Take the pictures of the console that the documentation shows: `python tools/console_screenshots.py`.

Beside the pictures it keeps what their screens say (`docs/images/console.txt`), with times and ids left out. `--check`
opens the screens and compares what they say with that: where it differs, the pictures are old.
"""

from __future__ import annotations

import asyncio
import difflib
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from playwright.async_api import expect  # noqa: E402 - below the folder that was just named
from tests.api.harness import served  # noqa: E402
from tests.console.definitions import BROKEN, ONBOARDING, ORDERS, REFUND  # noqa: E402
from tests.console.seen import DESK, PHONE, Seen, signed_in  # noqa: E402
from tests.servers.chromium import HAS_CHROMIUM, chromium  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from playwright.async_api import Browser
    from tests.api.harness import Api

FOLDER: Final = ROOT / "docs" / "images"
TEXT: Final = FOLDER / "console.txt"
_PASSING: Final = (
    (re.compile(r"/(executions|\?point=)/?[0-9a-f-]{36}"), r"/\1/…"),
    (re.compile(r"point=[0-9a-f-]{36}"), "point=…"),
    (re.compile(r"\b[\w.-]+-\d+-[0-9a-f]{8}\b"), "…"),  # the name of an instance
    (re.compile(r"\b[0-9a-f]{8}\b"), "…"),
    (re.compile(r"(choose|allow) waits for an? (answer|decision) by anybody"), "…"),
    (re.compile(r"\b\w{3} \d{1,2}, \d{4}, [\d:]+ [AP]M"), "…"),  # before what has only a time, which is part of it
    (re.compile(r"\d\d:\d\d:\d\d"), "…"),
    (re.compile(r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \w+ \d+"), "…"),
    (re.compile(r"\b\d+ things? (is|are) well"), "…"),
    (re.compile(r"\b\d+ (ms|s|min|h|d)( \d+ (h|min|s))?\b"), "…"),
)


class Scene(NamedTuple):
    """A picture: its name, the path of its screen, what is done there first, and how it is looked at."""

    name: str
    path: str
    prepare: Callable[[Seen], Awaitable[None]]
    width: int = DESK
    is_dark: bool = False


async def _inbox(seen: Seen) -> None:
    await expect(seen.page.get_by_role("link", name="Refund 180 for order A-2?")).to_be_visible()


async def _point(seen: Seen) -> None:
    await seen.page.get_by_role("link", name="Refund 180 for order A-2?").click()
    await expect(seen.page.get_by_role("article").get_by_text("The money is paid back")).to_be_visible()


async def _together(seen: Seen) -> None:
    for order in ("A-2", "A-3", "A-4"):
        await seen.page.get_by_role("checkbox", name=f"for order {order}?").check()
    await seen.page.get_by_role("button", name="Decide on 3 together").click()
    await expect(seen.page.get_by_role("dialog").get_by_role("row")).to_have_count(4)


async def _executions(seen: Seen) -> None:
    await expect(seen.page.get_by_role("link", name="onboarding")).to_be_visible()


async def _execution(seen: Seen) -> None:
    await expect(seen.page.locator(".react-flow__node", has_text="choose")).to_be_visible()
    await expect(seen.page.get_by_text("prepare finished")).to_be_visible()
    await expect(seen.page.get_by_role("link", name="Decide on choose")).to_be_visible()


async def _workflow(seen: Seen) -> None:
    await expect(seen.page.locator(".react-flow__node", has_text="choose")).to_contain_text("1 here")


async def _move(seen: Seen) -> None:
    await seen.page.get_by_label("review is now").select_option("agree")
    await expect(seen.page.get_by_role("dialog")).to_contain_text("3 executions can go on by it")


async def _palette(seen: Seen) -> None:
    await expect(seen.page.get_by_role("link", name="Refund 180 for order A-2?")).to_be_visible()
    await seen.press("Control+k")
    await seen.page.keyboard.type("re")
    await expect(seen.page.get_by_role("option", selected=True)).to_contain_text("refund")


async def _editor(seen: Seen) -> None:
    await expect(seen.page.get_by_text("Nothing is changed yet.")).to_be_visible()
    await expect(seen.page.locator(".react-flow__node", has_text="choose")).to_be_visible()


async def _operations(seen: Seen) -> None:
    await expect(seen.page.get_by_role("list", name="Instances")).to_be_visible()
    await expect(seen.page.get_by_role("list", name="Health")).to_be_visible()
    await expect(seen.page.locator(".plot canvas").first).to_be_visible()


async def _loop(seen: Seen) -> None:
    await expect(seen.page.get_by_role("button", name="#1 check")).to_be_visible()


async def _filled(api: Api) -> tuple[Scene, ...]:
    for definition in (ONBOARDING, REFUND, BROKEN, ORDERS):
        await api.engine.workflows.register(definition)
    given: dict[str, object] = {"name": "Mia", "systems": ["mail", "ledger"]}
    onboarding = await _started(api, "onboarding", given, "Mia")
    for order, amount in (("A-2", 180), ("A-3", 270), ("A-4", 95)):
        await _started(api, "refund", {"order": order, "amount": amount}, order)
    await api.engine.workflows.register({**REFUND, "nodes": [{**REFUND["nodes"][0], "id": "agree"}]})
    await _started(api, "broken", {"amount": 1}, "B-1")
    orders = await _started(api, "orders", {"orders": [f"order {n}" for n in range(250)]}, "today")
    return (
        Scene("console-inbox", "", _inbox),
        Scene("console-inbox-phone", "", _inbox, PHONE),
        Scene("console-point", "", _point),
        Scene("console-together", "", _together),
        Scene("console-executions", "/executions", _executions),
        Scene("console-execution", f"/executions/{onboarding}", _execution),
        Scene("console-execution-dark", f"/executions/{onboarding}", _execution, is_dark=True),
        Scene("console-workflow", "/workflows/onboarding", _workflow),
        Scene("console-move", "/workflows/refund?tab=versions&move=v2", _move),
        Scene("console-palette", "", _palette),
        Scene("console-editor", "/workflows/onboarding/edit", _editor),
        Scene("console-operations", "/operations", _operations),
        Scene("console-loop", f"/executions/{orders}?node=each_order", _loop),
    )


async def _started(api: Api, workflow: str, given: dict[str, object], key: str) -> str:
    body = {"workflow": workflow, "input": given, "correlation_id": key, "wait": "10s"}
    return str((await api.post("/executions", body)).json["id"])


async def _take(browser: Browser, api: Api, scene: Scene, folder: Path | None) -> str:
    """Open a screen, take its picture into the folder, and return what it says."""
    path, scheme = f"/console{scene.path}", "dark" if scene.is_dark else "light"
    async with signed_in(browser, api, scene.width, scheme, path) as seen:  # type: ignore[arg-type]  # one of two words
        await scene.prepare(seen)
        if folder is not None:
            await seen.page.screenshot(path=folder / f"{scene.name}.png", animations="disabled")
        said = await seen.page.locator("main").aria_snapshot()
        health = seen.page.get_by_role("list", name="Health")  # of the machine, such as that its disk is full
        of_machine = await health.aria_snapshot() if await health.count() else ""
        if await seen.page.get_by_role("dialog").count():
            said += "\n" + await seen.page.get_by_role("dialog").aria_snapshot()
    left_out = {line.strip() for line in _masked(of_machine)}
    # What opened in the same millisecond has no order.
    lines = sorted(line for line in set(_masked(said)) if line.strip() not in left_out)
    return "\n".join([f"# {scene.name}", *lines, ""])


def _masked(said: str) -> list[str]:
    """Return the lines of a text without what passes: times and ids."""
    for pattern, instead in _PASSING:
        said = pattern.sub(instead, said)
    return said.splitlines()


async def main(folder: Path | None) -> str:
    """Take all pictures, if there is a folder for them, and return what their screens say."""
    with tempfile.TemporaryDirectory() as database:
        async with served(Path(database)) as api, chromium() as browser:
            return "\n".join([await _take(browser, api, scene, folder) for scene in await _filled(api)])


def _run() -> str | None:
    """Return what is wrong, if anything is."""
    if not HAS_CHROMIUM:
        print("There is no Chromium here: nothing is looked at.")
    elif "--check" not in sys.argv:
        TEXT.write_text(asyncio.run(main(FOLDER)), "utf-8")
    else:
        said = asyncio.run(main(None))
        differ = "".join(
            difflib.unified_diff(TEXT.read_text("utf-8").splitlines(keepends=True), said.splitlines(keepends=True), n=0)
        )
        if differ:
            again = "run tools/console_screenshots.py, look at what it takes, and commit it"
            return f"The pictures of the console are old: {again}.\n{differ}"
    return None


if __name__ == "__main__":
    sys.exit(_run())
