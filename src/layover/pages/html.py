"""HTML from values: whatever is put into an element is text, unless it was made here.

There is no way to write markup as a text, so no value can become markup: a name that holds `<script>` shows as that.
Attributes that lead somewhere take only addresses that a browser does not run. Characters that change the direction or
the order of what stands around them are shown as a mark, since a value could else disguise what it says; `bdi` keeps
the direction of a value to itself. What a person typed is given back as it was (`verbatim`).
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

_VOID: Final = frozenset({"br", "hr", "input", "link", "meta"})
_LEADS: Final = frozenset({"action", "formaction", "href", "src"})
_SAFE_ADDRESS: Final = re.compile(r"(https?://|mailto:|#|\?|/(?!/)|\./|data:image/svg\+xml,)", re.IGNORECASE)
_NAME: Final = re.compile(r"[a-z][a-z0-9-]*", re.IGNORECASE)

# Overrides, embeddings and isolates of the direction of writing; controls other than tab and new line; what HTML cannot
# hold. Marks of direction (U+200E, U+200F) are left: inside `bdi` they do no harm, and texts need them.
_MISLEADING: Final = re.compile(
    "[\u202a-\u202e\u2066-\u2069\u0000-\u0008\u000b-\u001f\u007f-\u009f\ud800-\udfff\ufffe\uffff]"
)
MARK: Final = "\ufffd"


class Html:
    """Markup that was made of elements; only this module makes it."""

    __slots__ = ("markup",)

    def __init__(self, markup: str) -> None:
        self.markup = markup

    def __repr__(self) -> str:
        return f"Html({self.markup[:80]!r})"


Child: TypeAlias = "Html | str | int | Iterable[Child] | None"
Attribute: TypeAlias = str | int | bool | None


def element(name: str, /, *children: Child, **attributes: Attribute) -> Html:
    """Return an element; `class_` is the attribute `class`, `aria_label` is `aria-label`.

    An attribute that is None or False is left out, one that is True has no value.
    """
    opening = f"<{name}{''.join([_attribute(*one) for one in attributes.items()])}>"
    return Html(opening if name in _VOID else f"{opening}{markup_of(children)}</{name}>")


def fragment(*children: Child) -> Html:
    """Return elements and texts one behind the other."""
    return Html(markup_of(children))


def value(text: object) -> Html:
    """Return a text that comes from outside: its direction of writing is its own."""
    return element("bdi", str(text))


def verbatim(text: str) -> Html:
    """Return what a person typed, as it was; only what HTML cannot hold is replaced."""
    return Html(escape(text.replace("\0", MARK).encode("utf-8", "replace").decode()))


def textarea(text: str, **attributes: Attribute) -> Html:
    """Return a field of several lines; a browser drops the first line break of its text, so there is one more."""
    opening = "".join([_attribute(*one) for one in attributes.items()])
    return Html(f"<textarea{opening}>\n{verbatim(text).markup}</textarea>")


def text_field(text: str, **attributes: Attribute) -> Html:
    """Return a field of one line with what a person typed."""
    opening = "".join([_attribute(*one) for one in attributes.items()])
    return Html(f'<input{opening} value="{verbatim(text).markup}">')


def stylesheet(css: str) -> Html:
    """Return a stylesheet of the package, which is no value from outside."""
    if "</" in css:
        raise ValueError("a stylesheet cannot hold the end of an element")
    return Html(f"<style>{css}</style>")


def document(root: Html) -> bytes:
    """Return a whole page as it is sent."""
    return f"<!doctype html>\n{root.markup}\n".encode()


def markup_of(child: Child) -> str:
    """Return the markup of whatever may stand inside an element."""
    if child is None:
        return ""
    if isinstance(child, Html):
        return child.markup
    if isinstance(child, str):
        return escaped(child)
    if isinstance(child, int):
        return str(child)
    return "".join([markup_of(one) for one in child])


def escaped(text: str) -> str:
    """Return a text as HTML shows it, with a mark for each character that would mislead."""
    return escape(_MISLEADING.sub(MARK, text))


def _attribute(name: str, given: Attribute) -> str:
    if given is None or given is False:
        return ""
    name = name.removesuffix("_").replace("_", "-")
    if not _NAME.fullmatch(name) or name.startswith("on") or name == "style":
        raise ValueError(f"{name} is no attribute of a page")
    if given is True:
        return f" {name}"
    if name in _LEADS and not _SAFE_ADDRESS.match(str(given)):
        raise ValueError(f"{name} leads nowhere that a page may lead to")
    return f' {name}="{escaped(str(given))}"'
