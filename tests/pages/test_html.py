"""Every value that is put into a page is text: none can become markup, run, or disguise what stands beside it."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layover.pages.glyphs import GLYPHS, glyph
from layover.pages.html import MARK, Html, element, fragment, markup_of, text_field, textarea, value, verbatim
from layover.pages.layout import headers, page

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</textarea>",
    "</style>",
    "&lt;",
    "'",
    "a\0b",
]


class Read(HTMLParser):
    """What a browser would find: elements with their attributes, and texts."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\r")))
def test_any_text_is_found_again_as_one_text_and_one_attribute(text: str) -> None:
    read = Read(element("p", text, title=text).markup)
    assert [name for name, _ in read.elements] == ["p"]
    marked = read.elements[0][1]["title"]
    assert marked is not None
    assert marked == "".join(read.texts)
    assert [(one, there) for one, there in zip(text, marked, strict=True) if there not in (one, MARK)] == []


@pytest.mark.parametrize("text", HOSTILE)
def test_markup_in_a_value_is_text_wherever_it_stands(text: str) -> None:
    made = [element("b", text), value(text), fragment(text), textarea(text), text_field(text), verbatim(text)]
    allowed = {"b", "bdi", "textarea", "input"}
    assert {name for one in made for name, _ in Read(one.markup).elements} <= allowed


def test_what_a_person_typed_comes_back_as_it_was() -> None:
    typed = '\nfirst\u202eline "quoted" & <b>'
    assert Read(text_field(typed).markup).elements[0][1]["value"] == typed
    assert "".join(Read(textarea(typed).markup).texts) == f"\n{typed}"  # of which a browser drops the first


@pytest.mark.parametrize("text", ["\u202e", "\u2066", "\x00", "\x1b", "\x9b", "\ud800"])
def test_characters_that_mislead_are_marked(text: str) -> None:
    assert markup_of(f"pay{text}001") == f"pay{MARK}001"


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", " javascript:x", "//evil.example", "data:text/html,x", "x:y"]
)
def test_an_address_that_a_browser_would_run_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="leads nowhere"):
        element("a", "here", href=address)


@pytest.mark.parametrize("name", ["onclick", "style", "a b", 'x"'])
def test_an_attribute_that_runs_or_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no attribute"):
        element("a", **{name: "x"})


def test_attributes_are_left_out_if_they_say_nothing() -> None:
    made = element("input", type="text", required=True, disabled=False, title=None, aria_label="A", for_="b", size=3)
    assert made.markup == '<input type="text" required aria-label="A" for="b" size="3">'


def test_a_page_has_one_heading_landmarks_and_a_language() -> None:
    read = Read(page("Title <i>", element("h1", "Hello"), who="<Ann>").decode())
    names = [name for name, _ in read.elements]
    assert [names.count(one) for one in ("html", "header", "main", "h1", "script", "i", "ann")] == [1, 1, 1, 1, 0, 0, 0]
    assert read.elements[0] == ("html", {"lang": "en"})


def test_a_page_runs_nothing_and_its_stylesheet_is_the_one_that_its_policy_allows() -> None:
    policy = headers()["content-security-policy"]
    assert "script-src" not in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert len(page("T", element("h1", "T"))) < 8_000


def test_signs_are_hidden_from_screen_readers() -> None:
    assert all(isinstance(glyph(name), Html) and 'aria-hidden="true"' in glyph(name).markup for name in GLYPHS)
