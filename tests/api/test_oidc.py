"""Signing in by a provider elsewhere: one that keeps the rules, one of a library, and ones that break a rule."""

from __future__ import annotations

from contextlib import asynccontextmanager
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest

from layover import Engine
from layover.api.access.config import AccessSettings, InvalidSetting, OidcSettings, parse_role_map
from layover.api.access.oidc import roles_of
from layover.engine import runtime_of
from layover.ports.access import AuditFilter
from tests.api.browser import plain_browser
from tests.api.harness import ADMIN_KEY, UNLIMITED, listening
from tests.api.oidc_provider import CLIENT, HUGE, SECRET, signing_key, strict_provider
from tests.api.test_session import session_of
from tests.runtime.harness import engine_at
from tests.servers.oidc_library import oidc_library

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.api.browser import PlainBrowser
    from tests.api.harness import Answered, Api
    from tests.api.oidc_provider import StrictProvider

ROLES = {"staff": ("viewer", "approver"), "ops": ("operator",)}


@asynccontextmanager
async def signed_in_by(folder: Path, issuer: str, **wanted: Any) -> AsyncIterator[tuple[Api, PlainBrowser]]:
    """Serve a database to which a provider signs people in."""
    settings = {"client_id": CLIENT, "client_secret": SECRET, "roles": ROLES, **wanted}
    access = AccessSettings(admin_key=ADMIN_KEY, oidc=OidcSettings(issuer=issuer, **settings))
    async with (
        engine_at(folder) as engine,
        listening(engine, access=access) as api,
        plain_browser() as browser,
    ):
        yield api, browser


async def attempt(provider: StrictProvider, api: Api, browser: PlainBrowser, **changed: str) -> Answered:
    """Go to the provider and back; return what is answered then."""
    begun = await browser.get(f"{api.url}/sign-in/oidc?next=/docs")
    assert begun.status == 303, begun
    return await browser.get(provider.sign_in(begun.headers["location"], **changed), sec_fetch_site="cross-site")


async def refusals(api: Api) -> list[str]:
    rows = await api.engine.instance.store.audit.list_entries(AuditFilter(act="session.refuse"))
    return [row.details.decode() for row in rows]


@pytest.mark.usefixtures("each_database")
async def test_a_person_signs_in_at_the_provider_and_gets_the_roles_of_the_map(tmp_path: Path) -> None:
    async with strict_provider() as provider, signed_in_by(tmp_path, provider.url) as (api, browser):
        page = await browser.get(f"{api.url}/sign-in?next=/docs")
        begun = await browser.get(f"{api.url}/sign-in/oidc?next=/docs")
        taken = await browser.get(provider.sign_in(begun.headers["location"]))
        session = await session_of(browser, api.url)
        rows = await api.engine.instance.store.audit.list_entries(AuditFilter())

    host = urlsplit(provider.url).netloc
    assert f"Sign in with <bdi>{host}</bdi>".encode() in page.body
    assert b'href="/sign-in/oidc?next=%2Fdocs"' in page.body
    asked = {name: one for name, (one,) in parse_qs(urlsplit(begun.headers["location"]).query).items()}
    assert (asked["response_type"], asked["client_id"], asked["code_challenge_method"]) == ("code", CLIENT, "S256")
    assert asked["redirect_uri"] == f"{api.url}/sign-in/oidc/callback"
    assert len({asked["nonce"], asked["code_challenge"], asked["state"]}) == 3
    assert (taken.status, taken.headers["location"]) == (303, "/docs")
    assert (session.json["user"], session.json["roles"]) == ("ada", ["viewer", "approver"])
    assert browser.named("elsewhere") == [], "what bound the sign-in to this browser is used up"
    assert [(row.user, row.act, row.credential) for row in rows] == [("ada", "session.open", "oidc")]


async def test_a_provider_of_a_library_signs_a_person_in(tmp_path: Path) -> None:
    ada: dict[str, object] = {"sub": "ada", "realm_access": {"roles": ["staff", "other"]}}
    with oidc_library(ada) as issuer:
        async with signed_in_by(tmp_path, issuer, roles_claim="realm_access.roles") as (api, browser):
            begun = await browser.get(f"{api.url}/sign-in/oidc")
            back = await browser.post(begun.headers["location"], {"sub": "ada"})
            taken = await browser.get(back.headers["location"])
            session = await session_of(browser, api.url)
            begun = await browser.get(f"{api.url}/sign-in/oidc")
            stranger = await browser.post(begun.headers["location"], {"sub": "eve"})
            refused = await browser.get(stranger.headers["location"])

    assert (taken.status, session.json["user"], session.json["roles"]) == (303, "ada", ["viewer", "approver"])
    assert refused.status == 403
    assert b"You have no role here." in refused.body


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "of another sign-in"},
        {"nonce": None},
        {"nonce": 7},
        {"exp": 1_000_000},
        {"exp": None},
        {"iss": "https://evil.example"},
        {"aud": "another application"},
        {"aud": None},
        {"azp": "another application"},
        {"sub": None},
        {"sub": 7},
        {"sub": ""},
        {"sub": "ada\u202e"},
        {"roles": None},
        {"roles": []},
        {"roles": ["admin"]},
        {"roles": "unheard of"},
        {"roles": [["staff"], {"staff": 1}, 7, None]},
        {"roles": {"staff": ["viewer"]}},
    ],
)
async def test_a_token_that_breaks_a_rule_signs_nobody_in(tmp_path: Path, claims: dict[str, object]) -> None:
    async with strict_provider() as provider, signed_in_by(tmp_path, provider.url) as (api, browser):
        provider.claims |= claims
        refused = await attempt(provider, api, browser)
        written = await refusals(api)

    assert refused.status == 403
    assert b"You are not signed in" in refused.body
    assert browser.named("session") == []
    assert written == ['{"by":"oidc"}']


async def test_a_token_of_a_stranger_signs_nobody_in(tmp_path: Path) -> None:
    async with strict_provider() as provider, signed_in_by(tmp_path, provider.url) as (api, browser):
        provider.key = signing_key(1)
        refused = await attempt(provider, api, browser)

    assert (refused.status, browser.named("session")) == (403, [])


@pytest.mark.parametrize(
    "changed",
    [
        {"state": "guessed"},
        {"state": "L2RvY3M=." + "0" * 64},
        {"state": "%ff"},
        {"iss": "https://evil.example"},
        {"error": "access_denied"},
        {"code": ""},
        {"code": "of-somebody-else"},
    ],
)
async def test_an_answer_that_was_not_asked_for_signs_nobody_in(tmp_path: Path, changed: dict[str, str]) -> None:
    async with strict_provider() as provider, signed_in_by(tmp_path, provider.url) as (api, browser):
        refused = await attempt(provider, api, browser, **changed)

    assert (refused.status, browser.named("session"), browser.named("elsewhere")) == (403, [], [])


async def test_nobody_is_signed_in_with_the_answer_for_another_browser(tmp_path: Path) -> None:
    async with (
        strict_provider() as provider,
        signed_in_by(tmp_path, provider.url) as (api, eve),
        plain_browser() as browser,
    ):
        begun = await eve.get(f"{api.url}/sign-in/oidc")
        answer = provider.sign_in(begun.headers["location"])
        without = await browser.get(answer)
        await browser.get(f"{api.url}/sign-in/oidc")
        other = await browser.get(answer)

    assert (without.status, other.status) == (403, 403)
    assert browser.named("session") == []
    assert provider.asked == [], "the code was not even shown to the provider"


async def test_a_public_client_shows_no_secret(tmp_path: Path) -> None:
    async with (
        strict_provider() as provider,
        signed_in_by(tmp_path, provider.url, client_secret=None) as (api, browser),
    ):
        provider.basic = ""
        taken = await attempt(provider, api, browser)

    assert taken.status == 303
    assert "client_secret" not in provider.asked[0]


async def test_the_client_secret_may_be_one_of_the_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYOVER_SECRET_OIDC_CLIENT_SECRET", SECRET)
    async with strict_provider() as provider:
        access = AccessSettings(oidc=OidcSettings(issuer=provider.url, client_id=CLIENT, roles=ROLES))
        async with (
            Engine(f"sqlite:///{tmp_path / 'layover.db'}") as engine,
            listening(runtime_of(engine), access=access) as api,
            plain_browser() as browser,
        ):
            taken = await attempt(provider, api, browser)

    assert taken.status == 303


async def test_a_provider_that_wants_the_secret_in_the_form_gets_it_there(tmp_path: Path) -> None:
    async with strict_provider() as provider, signed_in_by(tmp_path, provider.url) as (api, browser):
        provider.discovery = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
        provider.basic = ""
        taken = await attempt(provider, api, browser)

    assert (taken.status, provider.asked[0]["client_secret"]) == (303, SECRET)


async def test_behind_a_proxy_with_tls_people_come_back_by_https(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(UNLIMITED, trusted_proxies=("127.0.0.1",))
    async with strict_provider() as provider:
        access = AccessSettings(oidc=OidcSettings(issuer=provider.url, client_id=CLIENT, roles=ROLES))
        async with (
            engine_at(tmp_path) as engine,
            listening(engine, access=access, settings=settings) as api,
            plain_browser() as browser,
        ):
            sent = {"host": "flows.example.org", "x-forwarded-proto": "https"}
            begun = await browser.ask("GET", f"{api.url}/sign-in/oidc", headers=sent)

    asked = parse_qs(urlsplit(begun.headers["location"]).query)
    assert asked["redirect_uri"] == ["https://flows.example.org/sign-in/oidc/callback"]
    assert "Secure" in browser.named("elsewhere")[0].flags


async def test_a_code_counts_once(tmp_path: Path) -> None:
    async with strict_provider() as provider, signed_in_by(tmp_path, provider.url) as (api, browser):
        begun = await browser.get(f"{api.url}/sign-in/oidc")
        kept = dict(browser.cookies)
        answer = provider.sign_in(begun.headers["location"])
        first = await browser.get(answer)
        again = await browser.get(answer)
        browser.cookies = kept
        replayed = await browser.get(answer)

    assert [one.status for one in (first, again, replayed)] == [303, 403, 403]
    assert len(provider.asked) == 2


async def test_an_address_has_to_be_verified_to_be_a_name(tmp_path: Path) -> None:
    async with (
        strict_provider() as provider,
        signed_in_by(tmp_path, provider.url, user_claim="email") as (api, browser),
    ):
        provider.claims["email"] = "ada@example.org"
        unverified = await attempt(provider, api, browser)
        provider.claims["email_verified"] = True
        taken = await attempt(provider, api, browser)
        session = await session_of(browser, api.url)

    assert (unverified.status, taken.status, session.json["user"]) == (403, 303, "ada@example.org")


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/token", "/jwks"])
@pytest.mark.parametrize("reply", [HUGE, b"{", b"[]", 500, 302])
async def test_a_provider_that_does_not_work_is_told_of(tmp_path: Path, path: str, reply: bytes | int) -> None:
    async with strict_provider() as provider, signed_in_by(tmp_path, provider.url) as (api, browser):
        provider.replies[path] = reply
        begun = await browser.get(f"{api.url}/sign-in/oidc")
        answered = begun
        if begun.status == 303:
            answered = await browser.get(provider.sign_in(begun.headers["location"]))
        other = await browser.get(f"{api.url}/sign-in")

    assert (answered.status, answered.headers["retry-after"]) in ((503, "30"), (503, "60"))
    assert b"Not available just now" in answered.body
    assert browser.named("session") == []
    assert other.status == 200, "a key still signs in"


async def test_a_provider_that_is_down_is_told_of(tmp_path: Path) -> None:
    async with strict_provider() as provider:
        issuer = provider.url
    async with signed_in_by(tmp_path, issuer) as (api, browser):
        answered = await browser.get(f"{api.url}/sign-in/oidc")

    assert answered.status == 503


@pytest.mark.parametrize(
    "said", [{"issuer": "https://evil.example"}, {"token_endpoint": "http://evil.example/token"}, {"jwks_uri": 7}]
)
async def test_a_provider_that_says_something_else_of_itself_is_not_believed(
    tmp_path: Path, said: dict[str, object]
) -> None:
    async with strict_provider() as provider, signed_in_by(tmp_path, provider.url) as (api, browser):
        provider.discovery = said
        answered = await browser.get(f"{api.url}/sign-in/oidc")

    assert answered.status == 503


async def test_without_a_provider_there_is_no_way_to_it(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine, listening(engine) as api, plain_browser() as browser:
        page = await browser.get(f"{api.url}/sign-in")
        begun = await browser.get(f"{api.url}/sign-in/oidc")
        back = await browser.get(f"{api.url}/sign-in/oidc/callback?code=x&state=y")

    assert b"Sign in with" not in page.body
    assert (begun.status, back.status) == (404, 404)


@pytest.mark.parametrize(
    ("claimed", "roles"),
    [
        (["ops", "staff", "ops"], ("guest", "operator", "viewer")),
        ("staff", ("guest", "viewer")),
        (None, ("guest",)),
        (["*"], ("guest",)),
        (["x"] * 5_000 + ["ops"], ("guest",)),
    ],
)
def test_roles_come_from_the_map_alone(claimed: object, roles: tuple[str, ...]) -> None:
    assert roles_of(claimed, {"staff": ("viewer",), "ops": ("operator",), "*": ("guest",)}) == roles


@pytest.mark.parametrize(
    ("wrong", "setting"),
    [
        ({"issuer": "http://id.example.org"}, "oidc_issuer"),
        ({"issuer": "file:///etc/passwd"}, "oidc_issuer"),
        ({"issuer": "https://user:pass@id.example.org"}, "oidc_issuer"),
        ({"client_id": ""}, "oidc_client_id"),
        ({"roles": {}}, "oidc_role_map"),
        ({"scopes": "profile"}, "oidc_scopes"),
    ],
)
def test_settings_that_would_let_in_too_many_or_none_are_refused(wrong: dict[str, Any], setting: str) -> None:
    right: dict[str, Any] = {"issuer": "https://id.example.org", "client_id": CLIENT, "roles": ROLES}
    assert SECRET not in repr(OidcSettings(**right, client_secret=SECRET))
    with pytest.raises(InvalidSetting) as refused:
        OidcSettings(**{**right, **wrong})
    assert refused.value.errors[0][0] == setting


@pytest.mark.parametrize("text", ["[]", "{", '{"staff": "viewer"}', '{"staff": [""]}', '{"staff": [7]}'])
def test_a_role_map_is_json_with_lists_of_roles(text: str) -> None:
    assert parse_role_map('{"staff": ["viewer"]}') == {"staff": ("viewer",)}
    with pytest.raises(InvalidSetting):
        parse_role_map(text)
