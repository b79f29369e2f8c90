"""Signs of how something stands, as inline SVG: each stands beside its word, and a screen reader skips it."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

from layover.pages.html import Html, element

# A person is awaited, a time is awaited, held, done, failed or rejected, cancelled or over.
Glyph: TypeAlias = Literal["person", "clock", "held", "good", "bad", "off"]
GLYPHS: Final[tuple[Glyph, ...]] = get_args(Glyph)


def glyph(name: Glyph) -> Html:
    """Return a sign in the colour of the text beside it."""
    return element("svg", *_shapes(name), class_="glyph", viewBox="0 0 16 16", width=16, height=16, aria_hidden="true")


def _shapes(name: Glyph) -> tuple[Html, ...]:
    match name:
        case "person":
            return (_solid("M8 1.5 14.5 8 8 14.5 1.5 8Z"),)
        case "clock":
            return _ring(), _line("M8 4.5V8l2.5 1.8")
        case "held":
            return (_line("M5.5 3v10M10.5 3v10"),)
        case "good":
            return (_line("M3 8.5 6.5 12 13 4.5"),)
        case "bad":
            return (_line("M4 4l8 8M12 4l-8 8"),)
        case "off":
            return _ring(), _line("M4 12 12 4")


def _ring() -> Html:
    return element("circle", cx=8, cy=8, r=6, fill="none", stroke="currentColor", stroke_width="1.75")


def _line(d: str) -> Html:
    return element("path", d=d, fill="none", stroke="currentColor", stroke_width=2, stroke_linecap="round")


def _solid(d: str) -> Html:
    return element("path", d=d, fill="currentColor")
