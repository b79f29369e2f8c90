"""Sessions are listed and ended: one's own, and with `admin` those of others."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.ports.access import AuditFilter
from tests.api.acting import resting
from tests.api.browser import PlainBrowser, plain_browser
from tests.api.harness import ADMIN_KEY, Api, served
from tests.api.test_session import session_of, sign_in
from tests.runtime.harness import approval, flow


async def listed(api: Api, browser: PlainBrowser, query: str = "") -> list[tuple[str, bool]]:
    page = await browser.api("GET", f"{api.url}/api/v1/sessions{query}")
    return [(one["user"], one["current"]) for one in page.json["items"]]


@pytest.mark.usefixtures("each_database")
async def test_an_administrator_sees_and_ends_the_session_of_a_lost_phone(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as phone, plain_browser() as desk:
        execution = await resting(api, flow(approval()))
        await sign_in(phone, api.url, await api.key_of("ada:viewer"))
        await sign_in(desk, api.url, ADMIN_KEY)
        everyones = await listed(api, desk)
        of_ada = (await desk.api("GET", f"{api.url}/api/v1/sessions?user=ada")).json["items"]
        following = asyncio.create_task(phone.api("GET", f"{api.url}/api/v1/executions/{execution['id']}/stream"))
        while not api.services.streams.count:  # noqa: ASYNC110 - a server tells of a stream only by counting it
            await asyncio.sleep(0)
        ended = await desk.api("DELETE", f"{api.url}/api/v1/sessions/{of_ada[0]['id']}")
        async with asyncio.timeout(60):
            stream = await following
        after = await session_of(phone, api.url)
        again = await desk.api("DELETE", f"{api.url}/api/v1/sessions/{of_ada[0]['id']}")
        left = await listed(api, desk)
        (entry,) = await api.engine.instance.store.audit.list_entries(AuditFilter(act="session.end"))
        token = phone.named("session")[0].value

    assert everyones == [("ada", False), ("admin", True)]
    assert [one["opened_by"].partition(" ")[0] for one in of_ada] == ["key"]
    assert token not in str(of_ada)
    assert (ended.status, stream.status, after.status) == (204, 200, 401)
    assert (again.status, again.code) == (404, "unknown_session")
    assert left == [("admin", True)]
    assert (entry.target, entry.user) == (of_ada[0]["id"], "admin")
    assert b"ada" in entry.entry


async def test_without_admin_a_user_sees_and_ends_only_their_own(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as phone, plain_browser() as desk, plain_browser() as other:
        key = await api.key_of("ada:viewer")
        await sign_in(phone, api.url, key)
        await sign_in(desk, api.url, key)
        await sign_in(other, api.url, await api.key_of("ben:viewer"))
        of_ben = (await other.api("GET", f"{api.url}/api/v1/session")).json["credential"].removeprefix("session ")
        mine = (await desk.api("GET", f"{api.url}/api/v1/sessions")).json["items"]
        foreign = await desk.api("GET", f"{api.url}/api/v1/sessions?user=ben")
        refused = await desk.api("DELETE", f"{api.url}/api/v1/sessions/{of_ben}")
        still = await session_of(other, api.url)
        ended = await desk.api("DELETE", f"{api.url}/api/v1/sessions/{mine[0]['id']}")
        gone, here = await session_of(phone, api.url), await session_of(desk, api.url)

    assert [(one["user"], one["current"]) for one in mine] == [("ada", False), ("ada", True)]
    assert (foreign.status, foreign.code) == (403, "forbidden")
    assert (refused.status, refused.code, still.status) == (404, "unknown_session", 200)
    assert (ended.status, gone.status, here.status) == (204, 401, 200)


async def test_sessions_come_in_pages(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as browser:
        key = await api.key_of("ada:viewer")
        for _ in range(3):
            browser.cookies.clear()
            await sign_in(browser, api.url, key)
        first = (await api.get("/sessions?limit=2")).json
        second = (await api.get(f"/sessions?limit=2&cursor={first['next']}")).json
        found = [one["id"] for page in (first, second) for one in page["items"]]

    assert (len(set(found)), found, second["next"]) == (3, sorted(found), None)
