"""How the console is served: to people who are signed in, compressed, under any path, and bounded in size."""

from __future__ import annotations

import gzip
import re
from importlib.resources import files
from typing import TYPE_CHECKING

from layover.console.assets import asset_headers, console_page, find_asset
from tests.api.browser import plain_browser
from tests.api.harness import served

if TYPE_CHECKING:
    from pathlib import Path

STATIC = files("layover.console") / "static"
FIRST_LOAD, ALL = 200_000, 1_300_000  # bytes: compressed, and as it is in the package


def _named_by_the_page() -> list[str]:
    return re.findall(r"\./assets/([^\"]+)", (STATIC / "index.html").read_text("utf-8"))


async def test_a_visitor_is_led_to_the_sign_in_and_back(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as browser:
        deep = await browser.get(f"{api.url}/console/executions?q=a%20b")
        root = await browser.get(f"{api.url}/")
    assert (deep.status, deep.headers["location"]) == (303, "/sign-in?next=%2Fconsole%2Fexecutions%3Fq%3Da%2520b")
    assert (root.status, root.headers["location"]) == (303, "/console")


async def test_assets_are_kept_forever_and_unknown_ones_are_not_there(tmp_path: Path) -> None:
    name = _named_by_the_page()[0]
    async with served(tmp_path) as api, plain_browser() as browser:
        found = await browser.get(f"{api.url}/console/assets/{name}")
        unknown = await browser.get(f"{api.url}/console/assets/..%2Findex.html")
    assert found.status == 200
    assert "immutable" in found.headers["cache-control"]
    assert unknown.status in (303, 404)


def test_a_client_that_takes_gzip_gets_it_and_others_do_not() -> None:
    asset = find_asset(_named_by_the_page()[0])
    assert asset is not None
    plain, plain_headers = asset_headers(asset, "br, gzip;q=0")
    small, small_headers = asset_headers(asset, "gzip, deflate")
    assert gzip.decompress(small) == plain
    assert ("content-encoding" in plain_headers, small_headers["content-encoding"]) == (False, "gzip")


def test_the_page_says_where_it_is_mounted_and_has_a_policy_of_its_own() -> None:
    page, headers = console_page('/tools/"x')
    other, _ = console_page("")
    assert b'<base href="/tools/&quot;x/console/">' in page
    assert b'<base href="/console/">' in other
    assert headers["cache-control"] == "no-cache"
    nonce = re.search(r"'nonce-([^']+)'", headers["content-security-policy"])
    assert nonce is not None
    assert nonce[1].encode() in page
    assert nonce[1].encode() not in other
    assert "script-src 'self';" in headers["content-security-policy"]


def test_the_first_load_and_the_whole_keep_their_budgets() -> None:
    first = [find_asset(name) for name in _named_by_the_page()]
    assert sum(len(one.compressed or one.plain) for one in first if one is not None) <= FIRST_LOAD
    assert sum(len(one.read_bytes()) for one in (STATIC / "assets").iterdir()) <= ALL
