"""The site is built strictly, and works from a folder that nobody serves: nothing in it asks another machine."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import subprocess
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from playwright.async_api import expect

import layover
import layover.testing
from tests.servers.chromium import chromium, needs_chromium

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from playwright.async_api import Browser, Page

_ROOT = Path(__file__).parents[2]
_DOCS = _ROOT / "docs"

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("sphinx") is None, reason="what the site is built with is not installed: make docs"
)


def _build(*arguments: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, str(_ROOT / "tools" / "docs_site" / "build.py"), *arguments]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)  # noqa: S603 - ours


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site where `make docs` does, unless that has: the first process does, and the others wait for it."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    with (shared / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = _build(str(_ROOT / "site"))
        assert done.returncode == 0, done.stderr
    return _ROOT / "site"


def _objects(site: Path) -> set[str]:
    """Return the names that the inventory of the site has, which other sites could link to."""
    packed = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]
    lines = zlib.decompress(packed).decode().splitlines()
    return {name for name, kind, *_ in map(str.split, lines) if kind.startswith("py:")}


def test_every_page_is_in_it(site: Path) -> None:
    pages = [path.relative_to(_DOCS).with_suffix(".html") for path in _DOCS.rglob("*.md")]
    assert [page for page in pages if not (site / page).exists()] == []
    assert (site / "contributing.html").exists()
    assert (site / "changelog.html").exists()


def test_every_public_name_is_in_it_with_its_methods(site: Path) -> None:
    names = [f"layover.{name}" for name in layover.__all__]
    names += [f"layover.testing.{name}" for name in layover.testing.__all__ if not hasattr(layover, name)]
    assert set(names) - _objects(site) == set()
    assert {f"layover.Workflow.{name}" for name in ("approval", "from_yaml", "hash")} <= _objects(site)


def test_whatever_is_wrong_is_an_error(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    (docs / "reference").mkdir(parents=True)
    (docs / "reference" / "python.md").write_text("# Python\n")
    (docs / "index.md").write_text("# Start\n\n## Pages\n\n- [Python](reference/python.md)\n- [Links](links.md)\n")
    (docs / "links.md").write_text(
        "# Links\n\n[page](gone.md), [part](index.md#gone), [part](#gone), [file](../gone.py)\n"
    )
    (docs / "lost.md").write_text("# No page leads here\n\n```no-such-language\n```\n")
    done = _build("--docs", str(docs), str(tmp_path / "site"))
    assert done.returncode == 1
    for said in (
        "links.md:3: WARNING: 'myst' cross-reference target not found: 'gone.md'",
        "links.md:3: WARNING: local id not found in doc 'index': 'gone'",
        "links.md:3: WARNING: 'myst' cross-reference target not found: 'gone'",
        "links.md:3: WARNING: 'myst' cross-reference target not found: '../gone.py'",
        "lost.md: WARNING: document isn't included in any toctree",
        "lost.md:3: WARNING: Pygments lexer name 'no-such-language' is not known",
    ):
        assert f"{docs}/{said}" in done.stderr


def _in_the_browser(test: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    marked: Callable[..., Awaitable[None]] = needs_chromium(pytest.mark.asyncio(loop_scope="module")(test))
    return marked


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="module")
async def page(browser: Browser, site: Path) -> AsyncIterator[Page]:
    """Open the landing page from its file; afterwards nothing may have gone wrong, and nobody else have been asked."""
    async with await browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light") as context:
        opened = await context.new_page()
        wrong: list[str] = []
        opened.on("console", lambda told: wrong.append(told.text) if told.type == "error" else None)
        opened.on("pageerror", lambda error: wrong.append(str(error)))
        opened.on("request", lambda one: None if one.url.startswith(("file:", "data:")) else wrong.append(one.url))
        await opened.goto(f"{site.as_uri()}/index.html")
        yield opened
        assert wrong == []


@_in_the_browser
async def test_what_is_searched_is_found_in_pages_and_names(page: Page) -> None:
    await page.get_by_role("textbox", name="Search").fill("probe")
    await page.keyboard.press("Enter")
    results = page.locator("#search-results li a")
    await expect(results.filter(has_text="Pause inside a function")).to_have_count(1)
    await page.goto(page.url.replace("q=probe", "q=wait_signal"))
    await results.filter(has_text="layover.Workflow.wait_signal").click()
    await expect(page.locator("[id='layover.Workflow.wait_signal']")).to_be_in_viewport()


@_in_the_browser
async def test_the_navigation_has_a_part_for_each_kind_of_page(page: Page) -> None:
    captions = await page.locator(".sidebar-tree .caption-text").all_text_contents()
    assert captions == ["Tutorial", "How to", "Reference", "Explanation", "Decisions", "Project"]
    await page.locator(".sidebar-tree").get_by_role("link", name="Node types").click()
    await expect(page.get_by_role("heading", level=1).first).to_contain_text("Node types")


@_in_the_browser
async def test_it_is_dark_where_the_reader_wants_that(page: Page) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    light = await page.evaluate(colour)
    await page.emulate_media(color_scheme="dark")
    assert await page.evaluate(colour) != light


@_in_the_browser
@pytest.mark.parametrize(
    "name", ["index.html", "reference/python/layover.Engine.html", "reference/cli.html", "runtime.html", "states.html"]
)
async def test_no_page_is_wider_than_the_screen(page: Page, site: Path, name: str) -> None:
    await page.goto(f"{site.as_uri()}/{name}")
    for width in (1920, 900, 390):
        await page.set_viewport_size({"width": width, "height": 800})
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert await page.evaluate(wide) <= 0, width
