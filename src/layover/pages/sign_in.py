"""Signing in: with a key, with a link that was given to a person, or by a provider elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.pages.glyphs import glyph
from layover.pages.html import element, value
from layover.pages.layout import TOKEN_FIELD, page

if TYPE_CHECKING:
    from layover.pages.html import Html


class SignInView(msgspec.Struct, frozen=True, kw_only=True):
    """What the page of a sign-in shows."""

    base: str  # the path that the server is mounted at
    form_token: str
    next: str = ""  # where to go then
    provider: str = ""  # what the provider is called; nothing without one
    provider_path: str = ""
    problem: str = ""


def sign_in_page(view: SignInView) -> bytes:
    """Return the page on which a visitor signs in."""
    return page(
        "Sign in",
        element(
            "article",
            element("h1", "Sign in"),
            _problem(view.problem),
            _provider(view),
            _key_form(view),
            class_="sheet",
        ),
    )


def link_page(view: SignInView, token: str, user: str) -> bytes:
    """Return the page of a link: nothing happens until its button is pressed, so that a preview does not use it up."""
    return page(
        "Sign in",
        element(
            "article",
            element("h1", "Sign in"),
            element("p", "This link signs you in as ", element("strong", value(user)), ". It works once."),
            element(
                "form",
                _hidden(TOKEN_FIELD, view.form_token),
                _hidden("next", view.next),
                element("button", "Sign in", type="submit", class_="main"),
                method="post",
                action=f"{view.base}/sign-in/link/{token}",
            ),
            class_="sheet",
        ),
    )


def ended_link_page(base: str) -> bytes:
    """Return what a link shows that was used, or is too old."""
    return page(
        "This link has ended",
        element(
            "article",
            element("h1", glyph("off"), "This link has ended"),
            element("p", "A sign-in link works once, and only for a few minutes. Ask for a new one, or use a key."),
            element("a", "Sign in with a key", href=f"{base}/sign-in", class_="button"),
            class_="sheet",
        ),
    )


def refused_page(base: str, why: str) -> bytes:
    """Return why a provider elsewhere has not signed a person in."""
    return page(
        "You are not signed in",
        element(
            "article",
            element("h1", glyph("bad"), "You are not signed in"),
            element("p", why),
            element("a", "Try again", href=f"{base}/sign-in", class_="button"),
            class_="sheet",
        ),
    )


def signed_in_page(view: SignInView, user: str, until: str) -> bytes:
    """Return the page of a visitor who is signed in, with the way out."""
    return page(
        "Signed in",
        element(
            "article",
            element("h1", glyph("good"), "Signed in"),
            element("p", "You are signed in as ", element("strong", value(user)), f", until {until}."),
            element("a", "Continue", href=view.next, class_="button main") if view.next else None,
            element(
                "form",
                _hidden(TOKEN_FIELD, view.form_token),
                _hidden("next", view.next),  # who signs out here may want to come back as somebody else
                element("button", "Sign out", type="submit"),
                method="post",
                action=f"{view.base}/sign-out",
            ),
            class_="sheet",
        ),
        who=user,
    )


def _provider(view: SignInView) -> Html | None:
    if not view.provider:
        return None
    name = element("span", "Sign in with ", value(view.provider))
    return element("a", name, href=view.provider_path, class_="button main")


def _key_form(view: SignInView) -> Html:
    is_wrong = bool(view.problem)
    return element(
        "form",
        _hidden(TOKEN_FIELD, view.form_token),
        _hidden("next", view.next),
        element(
            "div",
            element("label", "Key", for_="key"),
            element("p", "It begins with lay_, or is the admin key of the server.", id="key-hint", class_="hint"),
            element(
                "input",
                id="key",
                name="key",
                type="password",
                required=True,
                autocomplete="current-password",
                autocapitalize="none",
                spellcheck="false",
                maxlength=10_000,
                aria_describedby="problem key-hint" if is_wrong else "key-hint",
                aria_invalid="true" if is_wrong else None,
            ),
            class_="field",
        ),
        element("button", "Sign in", type="submit", class_=None if view.provider else "main"),
        method="post",
        action=f"{view.base}/sign-in",
    )


def _problem(text: str) -> Html | None:
    if not text:
        return None
    return element(
        "div", glyph("bad"), element("div", element("p", text, id="problem")), class_="note bad", role="alert"
    )


def _hidden(name: str, text: str) -> Html:
    return element("input", type="hidden", name=name, value=text)
