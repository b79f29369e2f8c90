"""What the tests of the decision page have in common: links, and visitors who read pages and send their forms."""

from __future__ import annotations

from contextlib import asynccontextmanager
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import msgspec

from layover.api.settings import ApiSettings
from tests.api.harness import served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from layover.nodes.registry import AnyFunction
    from tests.api.harness import Api

LINK_ALONE = ApiSettings(rate_limit=None, guess_limit=None, link_identity="link")


_INLINE = frozenset({"a", "b", "bdi", "strong", "span", "time", "code"})


class PageRead(HTMLParser):
    """A page as a visitor reads it: its text, its elements, and the fields of its forms as a browser sends them."""

    def __init__(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        super().__init__(convert_charrefs=True)
        self.status = status
        self.headers = headers
        self.markup = body.decode()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.forms: list[dict[str, str]] = []
        self._texts: list[str] = []
        self._inside: list[str] = []
        self._select = self._area = ""
        self.feed(self.markup)
        self.close()

    @property
    def text(self) -> str:
        return " ".join("".join(self._texts).split())

    def named(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag == name]

    @property
    def buttons(self) -> list[str]:
        return [str(one.get("value")) for one in self.named("button")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag not in _INLINE:
            self._texts.append(" ")
        self.elements.append((tag, attributes))
        self._inside.append(tag)
        if tag == "form":
            self.forms.append({})
        elif not self.forms:
            return
        elif tag == "input" and (attributes.get("type") != "checkbox" or "checked" in attributes):
            self.forms[-1][str(attributes["name"])] = attributes.get("value") or ""
        elif tag == "select":
            self._select = str(attributes["name"])
        elif tag == "option" and "selected" in attributes:
            self.forms[-1][self._select] = attributes.get("value") or ""
        elif tag == "textarea":
            self._area = str(attributes["name"])
            self.forms[-1][self._area] = ""

    def handle_endtag(self, tag: str) -> None:
        if tag in self._inside:
            while self._inside.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if "textarea" in self._inside:
            self.forms[-1][self._area] += data.removeprefix("\n")
        elif "style" not in self._inside and "title" not in self._inside:
            self._texts.append(data)


class Visitor(NamedTuple):
    """Somebody with an address, and perhaps with a key."""

    api: Api
    path: str
    as_: str = ""
    cookie: str = ""

    async def read(self, method: str = "GET") -> PageRead:
        return await self._ask(method, None, {})

    async def send(self, act: str, page: PageRead | None = None, /, **fields: str) -> PageRead:
        """Send the form of a page, as a browser does; `__` in the name of a field is a dot."""
        read = page or await self.read()
        form = next((form for form in read.forms), {})
        sent = {**form, "act": act, **{name.replace("__", "."): value for name, value in fields.items()}}
        return await self.post(sent)

    async def post(self, fields: dict[str, str], **headers: str) -> PageRead:
        form = {"content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin", **headers}
        return await self._ask("POST", urlencode(fields).encode(), form)

    async def _ask(self, method: str, data: bytes | None, headers: dict[str, str]) -> PageRead:
        if self.as_:
            headers = {**headers, "authorization": f"Bearer {await self.api.key_of(self.as_)}"}
        if self.cookie:
            headers = {**headers, "cookie": self.cookie}
        url = self.api.url + self.path
        async with self.api.session.request(method, url, data=data, headers=headers, allow_redirects=False) as response:
            found = {name.lower(): value for name, value in response.headers.items()}
            return PageRead(response.status, await response.read(), found)


async def visitor_with_link(api: Api, point: str, user: str, **body: Any) -> Visitor:
    """Make a link, and return who has it."""
    made = await api.post(f"/pause-points/{point}/links", {"user": user, **body})
    assert made.status == 201, made.body
    return Visitor(api, urlsplit(made.json["url"]).path)


async def signed_in(visitor: Visitor, as_: str) -> Visitor:
    """Sign a visitor in with a key, as the page for it does; from then on there is a cookie."""
    api = visitor.api
    body = msgspec.json.encode({"key": await api.key_of(as_)})
    headers = {"content-type": "application/json", "sec-fetch-site": "same-origin"}
    async with api.session.post(f"{api.url}/api/v1/session", data=body, headers=headers) as response:
        assert response.status == 201, await response.text()
        cookie = response.headers["set-cookie"].partition(";")[0]
    api.session.cookie_jar.clear()  # each visitor has a browser of their own
    return visitor._replace(cookie=cookie)


@asynccontextmanager
async def served_links(folder: Path, *nodes: AnyFunction, **settings: Any) -> AsyncIterator[Api]:
    """Serve a database whose links alone are believed."""
    async with served(folder, *nodes, settings=settings.pop("settings", LINK_ALONE), **settings) as api:
        yield api
