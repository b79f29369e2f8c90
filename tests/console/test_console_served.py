"""How the console is served: to people who are signed in, compressed, under any path, and bounded in size."""

from __future__ import annotations

import asyncio
import gzip
import re
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import aiohttp
import pytest

from layover.console.assets import asset_headers, console_page, find_asset
from tests.api.browser import plain_browser
from tests.api.harness import ADMIN_KEY, served

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
        unknown = await browser.get(f"{api.url}/console/assets/unknown.js")
    assert found.status == 200
    assert "immutable" in found.headers["cache-control"]
    assert (unknown.status, "immutable" in unknown.headers.get("cache-control", "")) == (404, False)


@pytest.mark.parametrize(
    "name",
    [
        "../index.html",
        "../assets.py",
        "../../../../../../../etc/passwd",
        "..%2findex.html",
        "%2e%2e/index.html",
        "%2e%2e%2f%2e%2e%2fassets.py",
        "..%5cindex.html",
        "..%255cindex.html",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "./",
        "",
        "%00",
        "index.html",
    ],
)
async def test_no_path_leads_to_a_file_that_is_no_asset(tmp_path: Path, name: str) -> None:
    """Paths as they are, which a client of ours would tidy before it sends them."""
    async with served(tmp_path) as api:
        host, port = urlsplit(api.url).netloc.split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(
            f"GET /console/assets/{name} HTTP/1.1\r\nhost: {host}:{port}\r\nconnection: close\r\n\r\n".encode()
        )
        answer = await reader.read()
        writer.close()
    status, body = answer.split(b" ", 2)[1], answer.partition(b"\r\n\r\n")[2]
    assert status in (b"303", b"400", b"404")  # the paths of the console itself lead to the sign-in
    for of_a_file in (b"root:", b"<!doctype html><html", b"import ", b"<!--layover-->"):
        assert of_a_file not in body.lower()


async def test_what_is_sent_is_smaller_where_it_may_be_and_a_head_has_the_same_headers(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        target = f"{api.url}/console/assets/{_named_by_the_page()[0]}"
        raw = aiohttp.ClientSession(auto_decompress=False)
        async with raw:
            found = {}
            for accepted in ("gzip, br", "identity"):
                async with raw.get(target, headers={"accept-encoding": accepted}) as answer:
                    found[accepted] = await answer.read()
                    assert answer.headers["vary"].lower() == "accept-encoding"
                async with raw.head(target, headers={"accept-encoding": accepted}) as head:
                    assert (head.status, await head.read()) == (200, b"")
                    assert head.headers["content-length"] == answer.headers["content-length"]
                    assert head.headers["content-type"] == answer.headers["content-type"]
                    assert head.headers.get("content-encoding") == answer.headers.get("content-encoding")
    assert gzip.decompress(found["gzip, br"]) == found["identity"]


async def test_every_page_says_what_may_run_in_it(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as browser:
        await browser.api("POST", f"{api.url}/api/v1/session", b'{"key":"%s"}' % ADMIN_KEY.encode())
        for path in (
            "/console",
            "/console/executions/x?tab=data",
            "/console/assets/",
            "/sign-in",
            "/d/unknown",
            "/docs",
        ):
            page = await browser.get(api.url + path)
            if page.headers.get("content-type", "").startswith("text/html"):
                policy = page.headers["content-security-policy"]
                assert (path, "default-src 'none'" in policy, "frame-ancestors 'none'" in policy) == (path, True, True)
                assert (path, "unsafe-eval" in policy) == (path, False)
            assert (path, page.headers["x-content-type-options"]) == (path, "nosniff")


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
