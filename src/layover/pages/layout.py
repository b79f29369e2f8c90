"""What all pages have in common: head, bar, main part, foot; and the headers that they are sent with.

The stylesheet is part of the page, and allowed by its hash: a page is one request, shows at once on a slow phone, and
looks right under whatever path the server is mounted at. Nothing else is loaded, and nothing runs.
"""

from __future__ import annotations

import functools
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Final, Literal

from layover.pages.html import Html, document, element, stylesheet

if TYPE_CHECKING:
    from layover.pages.html import Child

HTML: Final = "text/html; charset=utf-8"
LANGUAGE: Final = "en"
TOKEN_FIELD: Final = "form_token"  # noqa: S105 - the name of the field that every form has
MAIN: Final = "main"  # the id of the part that a skip link leads to

_ICON: Final = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
    "%3Crect width='16' height='16' rx='4' fill='%2334479e'/%3E"
    "%3Cpath d='M6 4.5v7M10 4.5v7' stroke='white' stroke-width='2' stroke-linecap='round'/%3E%3C/svg%3E"
)

_LONGEST_NAME: Final = 100

Width = Literal["narrow", "wide"]


def page(title: str, *content: Child, who: str | None = None, by_link: bool = False, width: Width = "narrow") -> bytes:
    """Return a whole page: `content` is its main part, and has its only `h1`.

    `who` is the user who is signed in, or, `by_link`, the one whose link was followed.
    """
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("title", f"{title} · Layover"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="robots", content="noindex, nofollow"),
        element("link", rel="icon", href=_ICON),
        stylesheet(_css()),
    )
    known_by = "Link for " if by_link else "Signed in as "
    signed_in = element("p", known_by, element("bdi", who[:_LONGEST_NAME]), class_="who") if who else None
    body = element(
        "body",
        element("a", "Skip to content", href=f"#{MAIN}", class_="skip"),
        element("header", element("div", element("p", _brand(), class_="brand"), signed_in, class_="inner")),
        element("main", *content, id=MAIN, tabindex=-1, class_=width),
    )
    return document(element("html", head, body, lang=LANGUAGE))


def headers() -> dict[str, str]:
    """Return what every page is sent with, beside what all answers are: nothing runs in it, and nobody frames it."""
    return dict(_headers())


def _brand() -> Html:
    mark = element(
        "svg",
        element("path", d="M5.5 3v10M10.5 3v10", stroke="currentColor", stroke_width=3, stroke_linecap="round"),
        viewBox="0 0 16 16",
        width=14,
        height=14,
        aria_hidden="true",
    )
    return element("span", mark, " Layover")


@functools.cache
def _css() -> str:
    """Return the stylesheet without what only its readers need."""
    text = (files("layover.pages") / "style.css").read_text("utf-8")
    kept = [line.strip() for line in text.splitlines() if not line.strip().startswith("/*")]
    return "".join([one for one in kept if one])


@functools.cache
def _headers() -> tuple[tuple[str, str], ...]:
    hashed = b64encode(sha256(_css().encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{hashed}'; img-src data:; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    )
    return (
        ("content-security-policy", policy),
        ("cross-origin-opener-policy", "same-origin"),
        ("x-robots-tag", "noindex, nofollow"),
    )
