"""Sessions over HTTP: a key is shown once, then a cookie counts, on requests of the server's own pages."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any

import jwt
import msgspec
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from layover.api.access.config import AccessSettings, JwtSettings
from layover.api.application import application
from layover.api.server import listen, serve
from layover.ports.access import AuditFilter
from layover.service.sessions import MOST_SESSIONS
from tests.api.acting import resting
from tests.api.browser import PlainBrowser, plain_browser
from tests.api.harness import ADMIN_KEY, UNLIMITED, listening, served
from tests.runtime.harness import HOUR, HandWound, approval, engine_at, engine_on, flow

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from layover.runtime.runtime import Runtime
    from tests.api.harness import Answered, Api

each_database = pytest.mark.usefixtures("each_database")
SECRET = "5a0f2b8c9d1e7f3a6b4c8d2e0f1a9b7c3d5e6f80"  # noqa: S105 - of a test
MINUTE = 60_000
JSON = {"content-type": "application/json"}


async def sign_in(browser: PlainBrowser, url: str, key: str, **headers: str) -> Answered:
    body = msgspec.json.encode({"key": key})
    return await browser.ask("POST", f"{url}/api/v1/session", data=body, headers={**JSON, **headers})


async def session_of(browser: PlainBrowser, url: str, **headers: str) -> Answered:
    return await browser.api("GET", f"{url}/api/v1/session", **headers)


async def acts(api: Api) -> list[tuple[str, str, str]]:
    rows = await api.engine.instance.store.audit.list_entries(AuditFilter())
    return [(row.user, row.act, row.credential.partition(" ")[0]) for row in reversed(rows) if row.user != "tests"]


@each_database
async def test_a_key_is_shown_once_and_then_a_cookie_counts(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as browser:
        key = await api.key_of("ada:operator,cfo/execution:read")
        opened = await sign_in(browser, api.url, key)
        shown = await session_of(browser, api.url)
        me = await browser.api("GET", f"{api.url}/api/v1/me")
        refused = await browser.api("GET", f"{api.url}/api/v1/workflows")
        entries = await acts(api)

    assert opened.status == 201
    assert shown.json == opened.json
    assert (me.json["user"], me.json["roles"], me.json["permissions"]) == (
        "ada",
        ["operator", "cfo"],
        ["execution:read"],
    )
    assert me.json["credential"] == shown.json["credential"] == f"session {shown.json['credential'][8:]}"
    assert (refused.status, refused.code) == (403, "forbidden"), "the scopes of the key are those of the session"
    assert entries == [("ada", "session.open", "key")]
    assert key not in opened.body.decode()


@each_database
async def test_what_a_user_has_set_is_there_in_their_other_browsers_and_for_nobody_else(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as desk, plain_browser() as phone, plain_browser() as other:
        settings = f"{api.url}/api/v1/me/settings"
        for browser, who in ((desk, "ada:viewer"), (phone, "ada:approver"), (other, "ben:viewer")):
            await sign_in(browser, api.url, await api.key_of(who))
        before = await phone.api("GET", settings)
        saved = await desk.api("PUT", settings, b'{"theme": "dark", "landing": "executions"}')
        refused = await desk.api("PUT", settings, b'{"theme": "dark", "wallpaper": "cats"}')
        found, others = await phone.api("GET", settings), await other.api("GET", settings)

    usual = {"theme": "auto", "zone": "local", "single_keys": True, "landing": None, "changed_at": None}
    assert before.json == others.json == usual
    assert saved.json == {**usual, "theme": "dark", "landing": "executions", "changed_at": saved.json["changed_at"]}
    assert (refused.status, refused.code) == (422, "invalid_body")
    assert found.json == saved.json
    assert saved.json["changed_at"] is not None


async def test_the_cookie_is_for_this_server_alone_and_no_script_reads_it(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as browser:
        await sign_in(browser, api.url, ADMIN_KEY)
        (cookie,) = browser.named("session")

    port = api.url.rpartition(":")[2]
    assert (cookie.name, cookie.path) == (f"layover_session_{port}", "/")
    assert {"HttpOnly", "SameSite=Lax"} <= cookie.flags
    assert "Secure" not in cookie.flags
    assert cookie.seconds == 12 * 3600
    assert not any(flag.startswith("Domain") for flag in cookie.flags)


@pytest.mark.parametrize(
    ("trusted", "public_url", "headers", "secure"),
    [
        (("127.0.0.1",), "http://localhost:8080", {"x-forwarded-proto": "https"}, True),
        (("127.0.0.1",), "http://localhost:8080", {"x-forwarded-proto": "http"}, False),
        ((), "http://localhost:8080", {"x-forwarded-proto": "https"}, False),
        ((), "https://flows.example.org", {"host": "flows.example.org"}, True),
        ((), "https://flows.example.org", {}, False),
    ],
)
async def test_the_cookie_is_secure_where_the_browser_uses_https(
    tmp_path: Path, trusted: tuple[str, ...], public_url: str, headers: dict[str, str], secure: bool
) -> None:
    settings = msgspec.structs.replace(UNLIMITED, trusted_proxies=trusted)
    async with served(tmp_path, settings=settings, public_url=public_url) as api, plain_browser() as browser:
        await sign_in(browser, api.url, ADMIN_KEY, **headers)
        (cookie,) = browser.named("session")

    assert ("Secure" in cookie.flags) == secure


async def test_two_servers_on_one_host_do_not_break_each_others_sign_in(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    async with served(tmp_path / "one") as one, served(tmp_path / "two") as two, plain_browser() as browser:
        await sign_in(browser, one.url, await one.key_of("ada:viewer"))
        await sign_in(browser, two.url, await two.key_of("ben:viewer"))
        first, second = await session_of(browser, one.url), await session_of(browser, two.url)
        await browser.api("DELETE", f"{two.url}/api/v1/session")
        still, gone = await session_of(browser, one.url), await session_of(browser, two.url)

    assert (first.json["user"], second.json["user"]) == ("ada", "ben")
    assert (still.status, gone.status) == (200, 401)


@asynccontextmanager
async def mounted(engine: Runtime, *paths: str) -> AsyncIterator[str]:
    """Serve an engine under several paths of one port."""
    inner = [application(engine, access=AccessSettings(admin_key=ADMIN_KEY), settings=UNLIMITED) for _ in paths]
    outer = Starlette(routes=[Mount(path, app) for path, app in zip(paths, inner, strict=True)])
    outer.state.services = inner[0].state.services
    socket = listen("127.0.0.1", 0)
    serving = asyncio.get_running_loop().create_task(serve(outer, [socket]))
    try:
        yield f"http://127.0.0.1:{socket.getsockname()[1]}"
    finally:
        inner[0].state.services.stopping.set()
        await serving


async def test_under_a_base_path_the_cookie_is_of_that_path(tmp_path: Path) -> None:
    async with (
        engine_at(tmp_path) as engine,
        mounted(engine, "/tools/layover", "/tools") as url,
        plain_browser() as browser,
    ):
        opened = await sign_in(browser, f"{url}/tools/layover", ADMIN_KEY)
        (cookie,) = browser.named("session")
        here = await session_of(browser, f"{url}/tools/layover")
        other = await session_of(browser, f"{url}/tools")

    port = url.rpartition(":")[2]
    assert (cookie.name, cookie.path) == (f"layover_session_{port}~tools~layover", "/tools/layover")
    assert opened.headers["location"] == "/tools/layover/api/v1/session"
    assert (here.status, other.status) == (200, 401)


# Other sites


@pytest.mark.parametrize(
    "headers",
    [
        {"x_layover_console": ""},
        {"x_layover_console": "0"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"origin": "https://evil.example"},
        {"origin": "http://127.0.0.1:1"},
        {"origin": "null", "sec_fetch_site": ""},
        {"origin": "null", "sec_fetch_site": "cross-site"},
    ],
)
async def test_a_cookie_that_another_site_may_have_sent_does_nothing(tmp_path: Path, headers: dict[str, str]) -> None:
    async with served(tmp_path) as api, plain_browser() as browser:
        await sign_in(browser, api.url, ADMIN_KEY)
        read = await session_of(browser, api.url, **headers)
        body = b'{"name": "k", "user": "eve", "roles": ["admin"]}'
        made = await browser.api("POST", f"{api.url}/api/v1/keys", body, **headers)
        keys = await api.get("/keys")
        ours = await browser.api("GET", f"{api.url}/api/v1/me", origin=api.url)

    assert (read.status, read.code) == (made.status, made.code) == (403, "cross_site")
    assert keys.json["items"] == []
    assert ours.status == 200


async def test_an_act_by_cookie_that_does_not_say_where_it_comes_from_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as browser:
        await sign_in(browser, api.url, ADMIN_KEY)
        body = b'{"name": "k", "user": "eve", "roles": ["admin"]}'
        refused = await browser.api("POST", f"{api.url}/api/v1/keys", body, sec_fetch_site="")
        ended = await browser.api("DELETE", f"{api.url}/api/v1/session", sec_fetch_site="")
        keys = await api.get("/keys")
        read = await session_of(browser, api.url, sec_fetch_site="")
        ours = await browser.api("POST", f"{api.url}/api/v1/keys", body, sec_fetch_site="", origin=api.url)

    assert (refused.status, refused.code) == (ended.status, ended.code) == (403, "cross_site")
    assert keys.json["items"] == []
    assert read.status == 200, "browsers say it of reads by https only"
    assert ours.status == 201


async def test_no_other_site_is_ever_let_in_by_cors(tmp_path: Path) -> None:
    preflight = {"origin": "https://evil.example", "access-control-request-method": "POST"}
    preflight["access-control-request-headers"] = "x-layover-console,content-type"
    async with served(tmp_path) as api, plain_browser() as browser:
        await sign_in(browser, api.url, ADMIN_KEY)
        asked = await browser.ask("OPTIONS", f"{api.url}/api/v1/session", headers=preflight)
        read = await browser.api("GET", f"{api.url}/api/v1/session", origin="https://evil.example")

    assert asked.status == 405
    assert not [name for one in (asked, read) for name in one.headers if name.startswith("access-control")]


async def test_another_site_cannot_sign_a_browser_in(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as browser:
        refused = await sign_in(browser, api.url, ADMIN_KEY, origin="https://evil.example")
        body = b'{"key": "' + ADMIN_KEY.encode() + b'"}'
        plain = await browser.ask(
            "POST", f"{api.url}/api/v1/session", data=body, headers={"content-type": "text/plain"}
        )

    assert (refused.status, refused.code, plain.status) == (403, "cross_site", 415)
    assert browser.cookies == {}


async def test_a_key_in_a_header_goes_before_the_cookie(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as browser:
        await sign_in(browser, api.url, await api.key_of("ada:viewer"))
        key = {"authorization": f"Bearer {await api.key_of('ben:viewer')}"}
        shown = await browser.ask("GET", f"{api.url}/api/v1/me", headers=key)
        session = await browser.ask("GET", f"{api.url}/api/v1/session", headers=key)

    assert shown.json["user"] == "ben"
    assert (session.json["user"], session.json["expires_at"]) == ("ben", None)


# Fixation and replay


@each_database
async def test_a_new_sign_in_ends_the_session_before_and_takes_no_given_token(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as browser, plain_browser() as thief:
        await sign_in(browser, api.url, await api.key_of("ada:viewer"))
        thief.cookies.update(browser.cookies)
        await sign_in(browser, api.url, await api.key_of("ada:viewer"))
        mine, stolen = await session_of(browser, api.url), await session_of(thief, api.url)
        chosen = browser.named("session")[0]._replace(value=f"las_{'x' * 43}")
        browser.cookies = {(chosen.host, chosen.path, chosen.name): chosen}
        await sign_in(browser, api.url, await api.key_of("ada:viewer"))

    assert (mine.status, stolen.status) == (200, 401)
    assert browser.named("session")[0].value != chosen.value


@each_database
async def test_a_cookie_means_nothing_after_the_sign_out(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as browser, plain_browser() as thief:
        await sign_in(browser, api.url, await api.key_of("ada:viewer"))
        thief.cookies.update(browser.cookies)
        before = await session_of(thief, api.url)
        ended = await browser.api("DELETE", f"{api.url}/api/v1/session")
        after = await session_of(thief, api.url)
        entries = await acts(api)

    assert (before.status, ended.status, after.status, after.code) == (200, 204, 401, "unauthenticated")
    assert browser.named("session") == []
    assert [(user, act) for user, act, _ in entries] == [("ada", "session.open"), ("ada", "session.end")]


async def test_only_a_hash_of_the_token_is_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(0)
    async with served(tmp_path) as api, plain_browser() as browser:
        await sign_in(browser, api.url, ADMIN_KEY)
        await session_of(browser, api.url)
        token = browser.named("session")[0].value
        rows = await api.engine.instance.store.sessions.list_sessions("session", "", 10)
        audit = await api.engine.instance.store.audit.list_entries(AuditFilter())

    written = [record.getMessage() for record in caplog.records] + [repr(rows), repr(audit)]
    assert len(rows) == 1
    assert not any(token[4:] in line for line in written)


# How it ends


@each_database
async def test_a_session_lasts_twelve_hours(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine, listening(engine) as api, plain_browser() as browser:
        await sign_in(browser, api.url, ADMIN_KEY)
        begin = clock.now
        await _set(engine, clock, begin + 12 * HOUR - MINUTE)
        before = await session_of(browser, api.url)
        await _set(engine, clock, begin + 12 * HOUR + MINUTE)
        after = await session_of(browser, api.url)

    assert (before.status, after.status) == (200, 401)


async def _set(engine: Runtime, clock: HandWound, now: int) -> None:
    clock.now = now
    engine.instance.clock.set(now)


async def test_a_session_lasts_no_longer_than_its_key(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine, listening(engine) as api, plain_browser() as browser:
        key = {"name": "k", "user": "ada", "roles": ["viewer"], "expires_in": "1h"}
        made = (await api.post("/keys", key)).json
        opened = await sign_in(browser, api.url, made["key"])
        (cookie,) = browser.named("session")
        await _set(engine, clock, clock.now + HOUR + MINUTE)
        after = await session_of(browser, api.url)

    assert opened.json["expires_at"] == made["expires_at"]
    assert cookie.seconds <= 3600
    assert after.status == 401


@each_database
@pytest.mark.parametrize("way", ["end", "rotate"])
async def test_a_session_ends_with_its_key_here_and_on_other_instances(tmp_path: Path, way: str) -> None:
    async with (
        engine_at(tmp_path) as one,
        engine_at(tmp_path) as two,
        listening(one) as here,
        listening(two) as there,
        plain_browser() as browser,
    ):
        made = (await here.post("/keys", {"name": "k", "user": "ada", "roles": ["viewer"]})).json
        await sign_in(browser, there.url, made["key"])
        elsewhere = browser.named("session")[0].value
        await sign_in(browser, here.url, made["key"])
        before = await session_of(browser, here.url)
        if way == "end":
            await here.delete(f"/keys/{made['id']}")
        else:
            await here.post(f"/keys/{made['id']}/rotate")
        after = await session_of(browser, here.url)
        there_ = await there.services.sessions.find(elsewhere)  # it was not asked for before: nothing is remembered

    assert (before.status, after.status) == (200, 401)
    assert there_ is None


async def test_a_session_of_the_admin_key_ends_when_that_is_another(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine, plain_browser() as browser:
        async with listening(engine) as api:
            await sign_in(browser, api.url, ADMIN_KEY)
            before = await session_of(browser, api.url)
            token = browser.named("session")[0].value
        for key in ("another-key-of-an-admin-7421", None):
            async with listening(engine, access=AccessSettings(admin_key=key)) as api:
                assert await api.services.sessions.find(token) is None
        async with listening(engine) as api:
            assert await api.services.sessions.find(token) is not None

    assert (before.json["user"], before.json["roles"]) == ("admin", ["admin"])


async def test_a_jwt_opens_a_session_that_ends_with_it(tmp_path: Path) -> None:
    access = AccessSettings(jwt=JwtSettings(secret=SECRET))
    async with engine_at(tmp_path) as engine, listening(engine, access=access) as api, plain_browser() as browser:
        now = int(time.time())
        token = jwt.encode({"sub": "ada", "roles": ["viewer"], "exp": now + 600}, SECRET)
        over = jwt.encode({"sub": "ada", "roles": ["viewer"], "exp": now - 600}, SECRET)
        opened = await sign_in(browser, api.url, token)
        (cookie,) = browser.named("session")
        shown = await session_of(browser, api.url)
        refused = await sign_in(browser, api.url, over)
        entries = await acts(api)

    assert (opened.status, shown.json["user"], shown.json["roles"]) == (201, "ada", ["viewer"])
    assert 0 < cookie.seconds <= 660
    assert (refused.status, refused.code) == (401, "unauthenticated")
    assert entries == [("ada", "session.open", "jwt"), ("", "session.refuse", "")]


async def test_a_stream_ends_with_its_session(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as browser:
        execution = await resting(api, flow(approval()))
        made = (await api.post("/keys", {"name": "k", "user": "ada", "roles": ["viewer"]})).json
        for end in ("sign out", "key"):
            await sign_in(browser, api.url, made["key"])
            following = asyncio.create_task(browser.api("GET", f"{api.url}/api/v1/executions/{execution['id']}/stream"))
            while not api.services.streams.count:  # noqa: ASYNC110 - a server tells of a stream only by counting it
                await asyncio.sleep(0)
            if end == "sign out":
                await browser.api("DELETE", f"{api.url}/api/v1/session")
            else:
                await api.delete(f"/keys/{made['id']}")
            async with asyncio.timeout(60):
                assert (await following).status == 200


# Limits


async def test_a_user_has_so_many_sessions_and_a_new_one_ends_the_oldest(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as browser:
        key, tokens = await api.key_of("ada:viewer"), list[str]()
        for _ in range(MOST_SESSIONS + 1):
            browser.cookies.clear()
            await sign_in(browser, api.url, key)
            tokens.append(browser.named("session")[0].value)
        rows = await api.engine.instance.store.sessions.list_sessions("session", "", 1_000)
        found = [await api.services.sessions.find(token) is not None for token in (tokens[0], tokens[1], tokens[-1])]

    assert len(rows) == MOST_SESSIONS
    assert found == [False, True, True]


async def test_a_session_has_a_limit_of_its_own_and_streams_do_not_count(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(UNLIMITED, rate_limit=(2, 3600.0), session_limit=(5, 3600.0))
    async with served(tmp_path, settings=settings) as api, plain_browser() as browser:
        await sign_in(browser, api.url, ADMIN_KEY)
        stream = f"{api.url}/api/v1/executions/0195f2a6-7c00-7000-8000-5d1e0f3a9b42/stream"
        streams = [(await browser.api("GET", stream)).status for _ in range(7)]
        asked = [(await session_of(browser, api.url)).status for _ in range(7)]

    assert streams == [404] * 7
    assert asked == [200] * 5 + [429] * 2


async def test_guesses_are_counted_and_written_down_only_so_often(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(UNLIMITED, guess_limit=(3, 3600.0))
    async with served(tmp_path, settings=settings) as api, plain_browser() as browser:
        wrong = [(await sign_in(browser, api.url, f"lay_{n:043}")).status for n in range(5)]
        right = await sign_in(browser, api.url, ADMIN_KEY)
        entries = await acts(api)

    assert wrong == [401] * 3 + [429] * 2
    assert right.status == 429, "a right guess looks like a wrong one"
    assert entries == [("", "session.refuse", "")] * 3


async def test_wrong_cookies_are_guesses(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(UNLIMITED, guess_limit=(3, 3600.0))
    async with served(tmp_path, settings=settings) as api, plain_browser() as browser:
        name = f"layover_session_{api.url.rpartition(':')[2]}"
        guessed = [(await session_of(browser, api.url, cookie=f"{name}=las_{n:043}")).status for n in range(5)]

    assert guessed == [401] * 3 + [429] * 2


async def test_refused_sign_ins_cannot_fill_the_audit_log(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as browser:
        for n in range(40):
            await sign_in(browser, api.url, f"lay_{n:043}")
        entries = await acts(api)

    assert len(entries) == 30


async def test_what_a_session_does_is_audited_by_its_name(tmp_path: Path) -> None:
    async with served(tmp_path) as api, plain_browser() as browser:
        opened = await sign_in(browser, api.url, ADMIN_KEY)
        body = b'{"name": "k", "user": "ben", "roles": ["viewer"]}'
        await browser.api("POST", f"{api.url}/api/v1/keys", body)
        entries: list[Any] = (await api.get("/audit?act=key.add")).json["items"]

    assert [(one["user"], one["credential"]) for one in entries] == [("admin", opened.json["credential"])]
