"""A request as a node describes it, and as it is sent."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Literal, TypeAlias
from urllib.parse import urlencode

import msgspec
from multidict import CIMultiDict
from yarl import URL

from layover.nodes.http_errors import HttpBadRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

Scalar: TypeAlias = str | bool | int | float | None

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]*")
_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "upgrade", "expect", "te", "trailer"})
_FORM = "application/x-www-form-urlencoded"


class Login(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A user name and a password."""

    user: str
    password: str


class Auth(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The credentials of a request: one of both."""

    basic: Login | None = None
    bearer: str | None = None

    def header(self) -> str:
        """Return the value of the header `Authorization`."""
        if (self.basic is None) == (self.bearer is None):
            raise HttpBadRequest("`auth` has either `basic` (with `user` and `password`) or `bearer`.")
        if self.basic is None:
            return f"Bearer {self.bearer}"
        pair = f"{self.basic.user}:{self.basic.password}".encode()
        return f"Basic {base64.b64encode(pair).decode()}"


class HttpNodeRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The request that a node describes; fields that are null are left out."""

    url: str
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    headers: dict[str, Scalar] = {}
    query: dict[str, Scalar | list[Scalar]] = {}
    body: object = None
    auth: Auth | None = None

    def target(self) -> URL:
        """Return the address, with its own query and the added one."""
        try:
            url = URL(self.url)
        except ValueError as error:
            raise HttpBadRequest("`url` is not a valid address.") from error
        if url.scheme not in ("http", "https") or not url.host:
            raise HttpBadRequest("`url` starts with `http://` or `https://` and a host.")
        return url.extend_query(_pairs(self.query))

    def outgoing(self, key: str, traceparent: str = "") -> tuple[CIMultiDict[str], bytes | None]:
        """Return the headers and the body as they are sent; the key is the same for every attempt."""
        headers = CIMultiDict[str]()
        for name, value in self.headers.items():
            if name.lower() in _OURS:
                raise HttpBadRequest(f"The header `{name}` cannot be set: it belongs to the connection.")
            if value is not None:
                headers[name] = _text(value)
        headers.setdefault("Idempotency-Key", key)
        if traceparent:
            headers.setdefault("traceparent", traceparent)
        if self.auth is not None:
            headers["Authorization"] = self.auth.header()
        body = self._encoded(headers) if self.body is not None else None
        for name, text in headers.items():
            if not _NAME.fullmatch(name) or not _VALUE.fullmatch(text):
                raise HttpBadRequest(f"The header `{name[:100]!a}` has a character that is not allowed in headers.")
        return headers, body

    def _encoded(self, headers: CIMultiDict[str]) -> bytes:
        """Return the body encoded by its content type, which is JSON unless a header says otherwise."""
        kind = headers.setdefault("Content-Type", "application/json").partition(";")[0].strip().lower()
        if is_json(kind):
            return msgspec.json.encode(self.body)
        if isinstance(self.body, str):
            return self.body.encode()
        if kind == _FORM and isinstance(self.body, dict):
            return urlencode(_pairs(self.body)).encode()
        raise HttpBadRequest(f"A `body` of the type `{kind[:100]}` must be text: only JSON and forms take data.")


def read_request(given: dict[str, object]) -> HttpNodeRequest:
    """Return the request that a node describes."""
    try:
        return msgspec.convert(given, HttpNodeRequest)
    except msgspec.ValidationError as error:
        raise HttpBadRequest(f"The request cannot be made: {error}.") from error


def is_json(kind: str) -> bool:
    """Return whether a content type is JSON."""
    return kind in ("application/json", "text/json") or kind.endswith("+json")


def _pairs(fields: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return the fields of a query or a form; a list repeats its field."""
    several = ((name, value if isinstance(value, list) else [value]) for name, value in fields.items())
    return [(name, _text(one)) for name, values in several for one in values if one is not None]


def _text(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
