"""What pages are answered with, and the forms that are posted from them.

A form holds a token that is bound to what lets its visitor in: another site can send a form here, with the visitor's
cookies, but does not know the token. Browsers also say whether a form comes from another site, and then it is refused
before anything is read. `Origin` alone says nothing: it is `null` for every page that gives no referrer, as ours.
"""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from layover.api.problems import Refusal
from layover.api.request import Response
from layover.pages.layout import HTML, TOKEN_FIELD
from layover.pages.layout import headers as page_headers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.api.request import Request

_OURS: Final = ("same-origin", "none")
_MOST_FIELDS: Final = 1_000


class PostedForm:
    """The fields of a form, each with the values that were given, in their order."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self._fields: dict[str, list[str]] = {}
        for name, value in pairs:
            self._fields.setdefault(name, []).append(value)

    def one(self, name: str) -> str:
        """Return the value of a field, the last if there are several; a field that is not there is empty."""
        return self._fields.get(name, [""])[-1]

    def all(self, name: str) -> list[str]:
        """Return every value of a field."""
        return self._fields.get(name, [])

    def under(self, prefix: str) -> dict[str, list[str]]:
        """Return the fields whose names begin with a prefix, without it."""
        return {name.removeprefix(prefix): given for name, given in self._fields.items() if name.startswith(prefix)}


def page_response(
    page: bytes, status: int = 200, headers: Mapping[str, str] | None = None, *, cookies: tuple[str, ...] = ()
) -> Response:
    """Return a page as an answer."""
    return Response(page, status, {**page_headers(), **(headers or {})}, HTML, cookies)


def see_other(path: str, headers: Mapping[str, str] | None = None, *, cookies: tuple[str, ...] = ()) -> Response:
    """Return the answer to a form that was taken: the page to read next, so that reloading sends nothing again."""
    return Response(b"", 303, {**page_headers(), "location": path, **(headers or {})}, HTML, cookies)


def read_form(call: Request[bytes, Any], secret: bytes, *about: str) -> PostedForm:
    """Return a form that was made for this visitor; refuse one that another site has sent."""
    check_site(call.headers)
    try:
        pairs = parse_qsl(
            (call.body or b"").decode("utf-8"),
            keep_blank_values=True,
            strict_parsing=False,
            errors="strict",
            max_num_fields=_MOST_FIELDS,
        )
    except ValueError as error:
        raise Refusal("malformed", "The form cannot be read.") from error
    form = PostedForm([(name, value.replace("\r\n", "\n")) for name, value in pairs])
    given = form.one(TOKEN_FIELD).encode("utf-8", "replace")
    # Without a secret of the visitor, anybody could make the token of the form.
    if not secret or not hmac.compare_digest(given, form_token(secret, *about).encode()):
        raise Refusal("not_allowed", "This form is not one that was made for you, or is too old. Open the page again.")
    return form


def form_token(secret: bytes, *about: str) -> str:
    """Return the token of a form: bound to what only its visitor has, and to what the form is about."""
    return hmac.new(secret, "\0".join(("layover-form-v1", *about)).encode(), sha256).hexdigest()


def check_site(headers: Mapping[str, str]) -> None:
    """Refuse a form that comes from another site; an old browser does not say, and is left to the token."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin", "null")
    is_other = origin != "null" and origin.partition("://")[2] != headers.get("host", "") if site is None else None
    if is_other or (site is not None and site not in _OURS):
        raise Refusal("not_allowed", "This form was sent by another site.")
