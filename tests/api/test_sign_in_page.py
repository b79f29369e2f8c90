"""The sign-in page over HTTP: forms that only their visitor can send, links that work once, and no way elsewhere."""

from __future__ import annotations

import asyncio
import re
from html import unescape
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec
import pytest

from layover.api.next_paths import own_path
from layover.api.page_requests import form_token
from layover.ports.access import AuditFilter
from tests.api.browser import plain_browser
from tests.api.harness import ADMIN_KEY, UNLIMITED, listening, served
from tests.api.test_session import mounted, session_of
from tests.runtime.harness import HandWound, engine_at, engine_on

if TYPE_CHECKING:
    from tests.api.browser import PlainBrowser
    from tests.api.harness import Answered, Api

each_database = pytest.mark.usefixtures("each_database")
MINUTE = 60_000


def fields_of(page: Answered) -> dict[str, str]:
    """Return the hidden fields of the last form of a page."""
    text = page.body.decode().rpartition("<form")[2]
    found = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', text)
    return {name: unescape(value) for name, value in found}


async def sign_in(browser: PlainBrowser, url: str, key: str, next_: str = "") -> Answered:
    page = await browser.get(f"{url}/sign-in?next={quote(next_)}")
    return await browser.post(f"{url}/sign-in", {**fields_of(page), "key": key})


async def link_of(api: Api, user: str = "ada", **more: object) -> str:
    made = await api.post("/sign-in-links", {"user": user, "roles": ["viewer"], **more})
    return api.url + str(made.json["url"]).partition("8080")[2]


async def acts(api: Api) -> list[tuple[str, str, str]]:
    rows = await api.engine.instance.store.audit.list_entries(AuditFilter())
    return [(row.user, row.act, row.credential.partition(" ")[0]) for row in reversed(rows) if row.user != "tests"]


# With a key


@each_database
async def test_a_person_signs_in_with_a_key_and_out_again(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as browser:
        taken = await sign_in(browser, api.url, f" {await api.key_of('ada:viewer')} ", "/docs?x=1")
        session = await session_of(browser, api.url)
        page = await browser.get(f"{api.url}/sign-in?next=/docs")
        out = await browser.post(f"{api.url}/sign-out", fields_of(page))
        after = await session_of(browser, api.url)
        entries = await acts(api)

    assert (taken.status, taken.headers["location"]) == (303, "/docs?x=1")
    assert (session.status, session.json["user"]) == (200, "ada")
    assert b"signed in as <strong><bdi>ada</bdi></strong>" in page.body
    assert b'href="/docs"' in page.body
    assert (out.status, out.headers["location"], after.status) == (303, "/sign-in?next=/docs", 401)
    assert [one[:2] for one in entries] == [("ada", "session.open"), ("ada", "session.end")]


async def test_the_page_is_html_that_nothing_runs_in_keeps_or_frames(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as browser:
        page = await browser.get(f"{api.url}/sign-in")
        head = await browser.ask("HEAD", f"{api.url}/sign-in")
        (visitor,) = browser.named("visitor")

    assert (page.status, head.status, head.body) == (200, 200, b"")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "form-action 'self'" in policy
    assert "script-src" not in policy
    assert (page.headers["cache-control"], page.headers["referrer-policy"]) == ("no-store", "no-referrer")
    assert {"HttpOnly", "SameSite=Lax"} <= visitor.flags
    assert len(page.body) < 15_000


async def test_a_wrong_key_is_told_and_nobody_is_signed_in(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as browser:
        refused = await sign_in(browser, api.url, "lay_<script>", "/docs")
        entries = await acts(api)

    assert refused.status == 401
    assert b'aria-invalid="true"' in refused.body
    assert b"This key is not valid." in refused.body
    assert b"&lt;script" not in refused.body, "what was typed is not shown again: it may be most of a key"
    assert fields_of(refused)["next"] == "/docs"
    assert browser.named("session") == []
    assert entries == [("", "session.refuse", "")]


async def test_guesses_on_the_page_are_counted(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(UNLIMITED, guess_limit=(3, 3600.0))
    async with served(tmp_path, settings=settings) as api, plain_browser() as browser:
        page = fields_of(await browser.get(f"{api.url}/sign-in"))
        guessed = [(await browser.post(f"{api.url}/sign-in", {**page, "key": f"k{n}"})).status for n in range(5)]
        right = await browser.post(f"{api.url}/sign-in", {**page, "key": ADMIN_KEY})
        links = await browser.get(f"{api.url}/sign-in/link/lak_{'x' * 43}")

    assert (guessed, right.status, links.status) == ([401] * 3 + [429] * 2, 429, 429)


@pytest.mark.parametrize(
    ("fields", "headers"),
    [
        ({"form_token": ""}, {}),
        ({"form_token": "0" * 64}, {}),
        ({}, {"sec_fetch_site": "cross-site"}),
        ({}, {"sec_fetch_site": "", "origin": "https://evil.example"}),
        ({}, {"cookie": "other=1"}),
    ],
)
async def test_another_site_cannot_sign_a_visitor_in(
    tmp_path: Path, fields: dict[str, str], headers: dict[str, str]
) -> None:
    async with served(tmp_path) as api, plain_browser() as browser:
        page = fields_of(await browser.get(f"{api.url}/sign-in"))
        refused = await browser.post(f"{api.url}/sign-in", {**page, "key": ADMIN_KEY, **fields}, **headers)

    assert refused.status == 403
    assert browser.named("session") == []


async def test_the_form_of_another_visitor_signs_nobody_in(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as eve, plain_browser() as browser:
        theirs = fields_of(await eve.get(f"{api.url}/sign-in"))
        await browser.get(f"{api.url}/sign-in")
        refused = await browser.post(f"{api.url}/sign-in", {**theirs, "key": ADMIN_KEY})

    assert (refused.status, browser.named("session")) == (403, [])


async def test_a_visitor_without_a_cookie_has_no_form_that_could_be_foreseen(tmp_path: Path) -> None:
    foreseen = {"form_token": form_token(b"", "sign-in"), "key": ADMIN_KEY}
    async with served(tmp_path) as api, plain_browser() as browser:
        refused = await browser.post(f"{api.url}/sign-in", foreseen)

    assert (refused.status, browser.named("session")) == (403, [])


async def test_another_site_cannot_sign_a_user_out(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as browser:
        await sign_in(browser, api.url, ADMIN_KEY)
        token = fields_of(await browser.get(f"{api.url}/sign-in"))
        wrong = {"form_token": "0" * 64}
        for fields, site in ((wrong, "same-origin"), (token, "cross-site"), (dict[str, str](), "same-origin")):
            assert (await browser.post(f"{api.url}/sign-out", fields, sec_fetch_site=site)).status == 403
        session = await session_of(browser, api.url)

    assert session.status == 200


@pytest.mark.parametrize(
    ("next_", "then"),
    [
        ("", "/sign-in"),
        ("/d/p/x?y=1", "/sign-in?next=/d/p/x%3Fy%3D1"),
        ("//evil.example", "/sign-in"),
        ("https://evil.example", "/sign-in"),
    ],
)
async def test_who_signs_out_to_be_somebody_else_comes_back_to_where_they_were(
    tmp_path: Path, next_: str, then: str
) -> None:
    async with served(tmp_path) as api, plain_browser() as browser:
        await sign_in(browser, api.url, ADMIN_KEY)
        shown = fields_of(await browser.get(f"{api.url}/sign-in?next=/d/p/x"))
        out = await browser.post(f"{api.url}/sign-out", {**shown, "next": next_})

    assert shown["next"] == "/d/p/x"
    assert (out.status, out.headers["location"], browser.named("session")) == (303, then, [])


async def test_who_is_signed_in_already_can_sign_in_as_somebody_else(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as browser:
        page = fields_of(await browser.get(f"{api.url}/sign-in"))
        await browser.post(f"{api.url}/sign-in", {**page, "key": await api.key_of("ada:viewer")})
        before = browser.named("session")[0].value
        await browser.post(f"{api.url}/sign-in", {**page, "key": await api.key_of("ben:viewer")})
        session = await session_of(browser, api.url)
        gone = await api.services.sessions.find(before)

    assert (session.json["user"], gone) == ("ben", None)


async def test_a_cookie_that_means_nothing_shows_the_form(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as browser:
        name = f"layover_session_{api.url.rpartition(':')[2]}"
        page = await browser.get(f"{api.url}/sign-in", cookie=f"{name}=las_{'x' * 43}")

    assert (page.status, b'name="key"' in page.body) == (200, True)


async def test_under_a_base_path_forms_and_ways_stay_below_it(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine, mounted(engine, "/tools/layover") as url, plain_browser() as browser:
        base = f"{url}/tools/layover"
        page = await browser.get(f"{base}/sign-in?next=/docs")
        taken = await browser.post(f"{base}/sign-in", {**fields_of(page), "key": ADMIN_KEY})
        session = await session_of(browser, base)

    assert b'action="/tools/layover/sign-in"' in page.body
    assert fields_of(page)["next"] == "", "a path of another application on this host"
    assert (taken.status, taken.headers["location"]) == (303, "/tools/layover/console")
    assert session.status == 200
    assert {one.path for one in browser.cookies.values()} == {"/tools/layover"}


# Where it leads to


@pytest.mark.parametrize(
    "path", ["/", "/docs", "/d/p/0195f2a6?x=https://evil.example//y#part", "/console/executions?q=a%20b", "/a..b/c"]
)
def test_a_path_of_this_server_may_come_next(path: str) -> None:
    assert own_path(path, "") == path
    assert own_path(f"/tools{path}", "/tools") == f"/tools{path}"


@pytest.mark.parametrize(
    "path",
    [
        *(
            "",
            "docs",
            "https://evil.example",
            "//evil.example",
            "///evil.example",
            "/\\evil.example",
            "\\\\evil.example",
        ),
        *("/\t/evil.example", "/ /evil", "javascript:alert(1)", "/%5cevil.example", "/%2f/evil", "/docs/%2e%2e/x"),
        *("/docs/../x", "/a\nSet-Cookie: x=1", "/ä", "/a//b", "http:docs", "/./docs", f"/{'a' * 2_000}"),
    ],
)
def test_nothing_else_may_come_next(path: str) -> None:
    assert own_path(path, "") == ""


@pytest.mark.parametrize("path", ["/docs", "/toolsmith", "/tool", "/tools/../docs", "//tools/"])
def test_a_path_of_another_application_may_not_come_next(path: str) -> None:
    assert own_path(path, "/tools") == ""


@pytest.mark.parametrize("next_", ["https://evil.example", "//evil.example", "/\\evil.example"])
async def test_a_sign_in_leads_to_no_other_site(tmp_path: Path, next_: str) -> None:
    async with served(tmp_path) as api, plain_browser() as browser:
        page = fields_of(await browser.get(f"{api.url}/sign-in?next={quote(next_)}"))
        taken = await browser.post(f"{api.url}/sign-in", {**page, "key": ADMIN_KEY, "next": next_})

    assert (page["next"], taken.status, taken.headers["location"]) == ("", 303, "/console")


# With a link


@each_database
async def test_a_link_signs_one_browser_in_once(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as browser, plain_browser() as other:
        link = await link_of(api)
        await browser.ask("HEAD", link)
        looks = [await browser.get(link) for _ in range(3)]  # a preview, a scanner, a person: that uses nothing up
        theirs = fields_of(await other.get(link))
        taken = await browser.post(link, {**fields_of(looks[-1]), "next": "/docs"})
        session = await session_of(browser, api.url)
        again, late = await browser.post(link, fields_of(looks[-1])), await other.post(link, theirs)
        seen = await browser.get(link)
        entries = await acts(api)

    assert [(page.status, b"<bdi>ada</bdi>" in page.body) for page in looks] == [(200, True)] * 3
    assert (taken.status, taken.headers["location"]) == (303, "/docs")
    assert (session.json["user"], session.json["roles"]) == ("ada", ["viewer"])
    assert [one.status for one in (again, late, seen)] == [410] * 3
    assert other.named("session") == []
    assert entries[:2] == [("admin", "session.link", "admin"), ("ada", "session.open", "link")]
    assert {one[1] for one in entries[2:]} == {"session.refuse"}


async def test_of_many_who_use_a_link_at_once_one_gets_in(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as browser:
        link = await link_of(api)
        fields = fields_of(await browser.get(link))
        taken = await asyncio.gather(*(browser.post(link, fields) for _ in range(8)))

    assert sorted(one.status for one in taken) == [303] + [410] * 7


@each_database
async def test_a_link_works_for_ten_minutes(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine, listening(engine) as api, plain_browser() as browser:
        link = await link_of(api)
        engine.instance.clock.set(clock.now + 9 * MINUTE)
        before = await browser.get(link)
        engine.instance.clock.set(clock.now + 11 * MINUTE)
        after, used = await browser.get(link), await browser.post(link, fields_of(before))

    assert [one.status for one in (before, after, used)] == [200, 410, 410]


async def test_another_site_cannot_use_a_link_in_the_place_of_a_visitor(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as browser:
        link = await link_of(api)
        fields = fields_of(await browser.get(link))
        other = await browser.post(link, {})
        site = await browser.post(link, fields, sec_fetch_site="cross-site")
        taken = await browser.post(link, fields)

    assert [one.status for one in (other, site, taken)] == [403, 403, 303]


async def test_a_link_permits_no_more_than_it_says_and_its_maker_may(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as browser:
        link = await link_of(api, scopes=["execution:read"])
        await browser.post(link, fields_of(await browser.get(link)))
        session = await session_of(browser, api.url)
        more = await api.post("/sign-in-links", {"user": "eve", "roles": ["admin"]}, as_="ben:admin/admin")

    assert session.json["permissions"] == ["execution:read"]
    assert (more.status, more.code) == (403, "forbidden")
    assert "A sign-in link cannot permit more" in more.json["detail"]


async def test_a_link_is_kept_and_logged_nowhere(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", logger="layover")
    async with served(tmp_path) as api, plain_browser() as browser:
        made = await api.post("/sign-in-links", {"user": "ada", "roles": []}, key="once")
        again = await api.post("/sign-in-links", {"user": "ada", "roles": []}, key="once")
        token = made.json["url"].rpartition("/")[2]
        page = await browser.get(f"{api.url}/sign-in/link/{token}")
        await browser.post(f"{api.url}/sign-in/link/{token}", fields_of(page))
        store = api.engine.instance.store
        rows = [await store.sessions.list_sessions("session", "", 9), await store.audit.list_entries(AuditFilter())]

    assert again.json["url"] is None
    assert len(caplog.records) > 2
    assert not any(token[4:] in line for line in [*(one.getMessage() for one in caplog.records), repr(rows)])
