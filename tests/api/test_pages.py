"""Pages beside the API: how they are declared, sent and refused, and whose forms are taken."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from layover.api.page_requests import form_token, page_response, read_form, see_other
from layover.api.problems import Refusal
from layover.api.routes import FAMILIES, PAGES, ROUTES
from layover.api.routing import FORM_MEDIA, LARGEST_FORM, Pages
from layover.pages.html import element
from layover.pages.layout import TOKEN_FIELD, page
from tests.api.harness import Answered, listening
from tests.runtime.harness import engine_at

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from layover.api.request import Request, Response
    from layover.api.routing import NoQuery
    from tests.api.harness import Api

pages = Pages("Pages of a test", "For people.", prefix="/docs/test")  # where the harness does not add /api/v1
_SECRET = b"of the visitor"
TAKEN: list[str] = []


@pages.get("/{name}")
async def read(call: Request[None, NoQuery]) -> Response:
    """Show a name."""
    if call.path["name"] == "refused":
        raise Refusal("not_allowed", "You are <b>not</b> asked.")
    if call.path["name"] == "broken":
        raise ValueError("a secret of the server")
    return page_response(page("Name", element("h1", call.path["name"], " for ", call.caller.user or "a visitor")))


@pages.post("/{name}")
async def take(call: Request[bytes, NoQuery]) -> Response:
    """Take a form."""
    TAKEN.append(read_form(call, _SECRET, call.path["name"]).one("said"))
    return see_other(f"/docs/test/{call.path['name']}")


@asynccontextmanager
async def served_pages(folder: Path) -> AsyncIterator[Api]:
    TAKEN.clear()
    async with engine_at(folder) as engine, listening(engine, routes=[*ROUTES, *pages.routes]) as api:
        yield api


async def post(api: Api, name: str, fields: dict[str, str], **headers: str) -> Answered:
    sent = {"content-type": FORM_MEDIA} | {one.replace("_", "-"): value for one, value in headers.items()}
    async with api.session.post(
        f"{api.url}/docs/test/{name}", data=urlencode(fields).encode(), headers=sent, allow_redirects=False
    ) as response:
        found = {one.lower(): value for one, value in response.headers.items()}
        return Answered(response.status, await response.read(), found)


async def test_a_page_is_html_that_nothing_runs_in_keeps_or_frames(tmp_path: Path) -> None:
    async with served_pages(tmp_path) as api:
        got = await api.get("/docs/test/mia", as_="")
        known = await api.get("/docs/test/mia", as_="ann:viewer")
        head = await api.ask("HEAD", "/docs/test/mia", as_="")

    assert (got.status, got.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert b"mia for a visitor" in got.body
    assert b"mia for ann" in known.body
    assert (head.status, head.body) == (200, b"")
    for name, value in (("referrer-policy", "no-referrer"), ("cache-control", "no-store"), ("x-frame-options", "DENY")):
        assert got.headers[name] == value
    assert "frame-ancestors 'none'" in got.headers["content-security-policy"]
    assert "script-src" not in got.headers["content-security-policy"]


async def test_a_problem_is_a_page_too(tmp_path: Path) -> None:
    async with served_pages(tmp_path) as api:
        refused = await api.get("/docs/test/refused", as_="")
        broken = await api.get("/docs/test/broken", as_="")
        other = await api.ask("DELETE", "/docs/test/mia", as_="")
        wrong = await api.get("/docs/test/mia", headers={"authorization": "Bearer nothing"}, as_="")

    assert [one.status for one in (refused, broken, other, wrong)] == [403, 500, 405, 401]
    assert b"You are &lt;b&gt;not&lt;/b&gt; asked." in refused.body
    assert b"secret" not in broken.body
    assert other.headers["allow"] == "GET, HEAD, POST"
    for one in (refused, broken, other, wrong):
        assert one.headers["content-type"] == "text/html; charset=utf-8"
        assert "default-src 'none'" in one.headers["content-security-policy"]
        assert one.headers["x-request-id"].encode() in one.body


async def test_a_form_with_the_token_of_its_visitor_is_taken_once(tmp_path: Path) -> None:
    fields = {TOKEN_FIELD: form_token(_SECRET, "mia"), "said": "yes\r\nand no"}
    async with served_pages(tmp_path) as api:
        taken = await post(api, "mia", fields, sec_fetch_site="same-origin", origin="null")

    assert (taken.status, taken.headers["location"], TAKEN) == (303, "/docs/test/mia", ["yes\nand no"])


@pytest.mark.parametrize(
    ("fields", "headers"),
    [
        ({}, {}),
        ({TOKEN_FIELD: form_token(_SECRET, "ben")}, {}),
        ({TOKEN_FIELD: form_token(b"of another", "mia")}, {}),
        ({TOKEN_FIELD: "\u20ac"}, {}),
        ({TOKEN_FIELD: form_token(_SECRET, "mia")}, {"sec_fetch_site": "cross-site"}),
        ({TOKEN_FIELD: form_token(_SECRET, "mia")}, {"sec_fetch_site": "same-site"}),
        ({TOKEN_FIELD: form_token(_SECRET, "mia")}, {"origin": "https://evil.example"}),
    ],
)
async def test_a_form_of_another_site_or_visitor_is_refused(
    tmp_path: Path, fields: dict[str, str], headers: dict[str, str]
) -> None:
    async with served_pages(tmp_path) as api:
        refused = await post(api, "mia", {"said": "x", **fields}, **headers)

    assert (refused.status, TAKEN) == (403, [])


@pytest.mark.parametrize(
    ("body", "media", "status"),
    [(b"a=%ff", FORM_MEDIA, 400), (b"{}", "application/json", 415), (b"a=1&" * 2_000, FORM_MEDIA, 400)],
)
async def test_what_is_no_form_is_refused(tmp_path: Path, body: bytes, media: str, status: int) -> None:
    async with served_pages(tmp_path) as api:
        answered = await api.ask("POST", "/docs/test/mia", raw=body, headers={"content-type": media}, as_="")
        large = await api.ask("POST", "/docs/test/mia", raw=b"a" * (LARGEST_FORM + 1), as_="")

    assert (answered.status, large.status) == (status, 413)


def test_pages_are_not_in_the_document() -> None:
    assert not {one.family for one in PAGES} & {one.family for one in FAMILIES}
    assert all(route.page for family in PAGES for route in family.routes)
    assert not any(route.page for route in ROUTES)
