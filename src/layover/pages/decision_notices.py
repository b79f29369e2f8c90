"""Pages that stand in the place of a decision page: nothing of what is asked is told there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.pages.facts import short_text
from layover.pages.glyphs import Glyph, glyph
from layover.pages.html import element, value
from layover.pages.layout import page

if TYPE_CHECKING:
    from layover.pages.html import Child


def sign_in_page(path: str | None) -> bytes:
    """Return the page of a visitor who has to sign in first; `path` is where, if there is a page for it."""
    where = element("p", element("a", "Sign in", href=path, class_="button main")) if path else None
    text = "You are asked for a decision. What it is about is shown after you have signed in."
    return _notice("Sign in to decide", "person", [element("p", text), where])


def not_you_page(asked: str, visitor: str, sign_in: str | None = None) -> bytes:
    """Return the page of a visitor who is signed in as somebody else."""
    text = element(
        "p",
        "This link is for ",
        element("b", value(short_text(asked))),
        ", and you are signed in as ",
        element("b", value(short_text(visitor))),
        ". Sign in as the one whom it is for, or let them know.",
    )
    where = element("p", element("a", "Sign in as somebody else", href=sign_in, class_="button")) if sign_in else None
    return _notice("This is not for you", "held", [text, where], who=visitor)


def link_over_page(*, is_revoked: bool) -> bytes:
    """Return the page of a link that works no longer."""
    title = "This link was revoked" if is_revoked else "This link has expired"
    return _notice(title, "off", element("p", "Ask whoever sent it to you for a new one, or sign in."))


def _notice(title: str, sign: Glyph, text: Child, who: str | None = None) -> bytes:
    return page(title, element("article", element("h1", glyph(sign), title), text, class_="sheet"), who=who)
