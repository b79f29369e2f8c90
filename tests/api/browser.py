"""A browser without a screen: it keeps cookies by host and path, ignores ports, and says where a request comes from."""

from __future__ import annotations

from contextlib import asynccontextmanager
from http.cookies import SimpleCookie
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import aiohttp

from tests.api.harness import Answered

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

FORM = "application/x-www-form-urlencoded"


class Cookie(NamedTuple):
    """A cookie as a server has set it."""

    name: str
    value: str
    host: str
    path: str
    flags: frozenset[str]
    seconds: int


class PlainBrowser:
    """Keeps cookies as browsers do. `api` asks as a page of the server would; `get` and `post` as a person would."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session
        self.cookies: dict[tuple[str, str, str], Cookie] = {}

    async def ask(
        self, method: str, url: str, *, data: bytes | None = None, headers: dict[str, str] | None = None
    ) -> Answered:
        parts = urlsplit(url)
        sent = {"cookie": self.header(url), **(headers or {})}
        async with self._session.request(
            method, url, data=data, headers={name: one for name, one in sent.items() if one}, allow_redirects=False
        ) as response:
            for line in response.headers.getall("set-cookie", []):
                self._keep(parts.hostname or "", line)
            found = {name.lower(): value for name, value in response.headers.items()}
            return Answered(response.status, await response.read(), found)

    async def api(self, method: str, url: str, body: bytes | None = None, /, **headers: str) -> Answered:
        sent = {"x-layover-console": "1", "sec-fetch-site": "same-origin", "content-type": "application/json"}
        return await self.ask(method, url, data=body, headers={**sent, **_named(headers)})

    async def get(self, url: str, /, **headers: str) -> Answered:
        return await self.ask("GET", url, headers=_named(headers))

    async def post(self, url: str, fields: dict[str, Any], /, **headers: str) -> Answered:
        sent = {"content-type": FORM, "sec-fetch-site": "same-origin", "origin": "null", **_named(headers)}
        return await self.ask("POST", url, data=urlencode(fields).encode(), headers=sent)

    def header(self, url: str) -> str:
        """Return the cookies that go to an address: ports do not matter."""
        parts = urlsplit(url)
        fitting = [
            one
            for one in self.cookies.values()
            if one.host == parts.hostname and (one.path == "/" or f"{parts.path}/".startswith(f"{one.path}/"))
        ]
        return "; ".join(f"{one.name}={one.value}" for one in fitting)

    def named(self, purpose: str) -> list[Cookie]:
        return [one for one in self.cookies.values() if one.name.startswith(f"layover_{purpose}_")]

    def _keep(self, host: str, line: str) -> None:
        name, _, rest = line.partition("=")
        value, _, attributes = rest.partition(";")
        morsels = SimpleCookie(f"x=x;{attributes}")["x"]
        words = frozenset(part.strip() for part in attributes.split(";"))
        cookie = Cookie(name, value, host, morsels["path"] or "/", words, int(morsels["max-age"] or -1))
        if cookie.seconds == 0:
            self.cookies.pop((host, cookie.path, name), None)
        else:
            self.cookies[host, cookie.path, name] = cookie


def _named(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


@asynccontextmanager
async def plain_browser() -> AsyncIterator[PlainBrowser]:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
        yield PlainBrowser(session)
