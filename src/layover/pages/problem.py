"""A problem as a page: what happened, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.pages.glyphs import glyph
from layover.pages.html import element
from layover.pages.layout import page

if TYPE_CHECKING:
    from layover.model.problems import ProblemDetails

_TITLES: Final = {
    401: "Sign in first",
    403: "You may not do this",
    404: "There is nothing here",
    405: "This cannot be done here",
    408: "That took too long",
    413: "That is too large",
    421: "This is not the server's name",
    429: "Too many requests",
    503: "Not available just now",
}
_TRY_AGAIN: Final = frozenset({408, 429, 500, 503})


def problem_page(problem: ProblemDetails) -> bytes:
    """Return why a request was not done, for a person."""
    title = _TITLES.get(problem.status, "Something went wrong" if problem.status >= 500 else "This did not work")
    after = problem.retry_after
    again = f"Try again in {after} seconds." if after else "Try again in a moment."
    return page(
        title,
        element(
            "article",
            element("h1", glyph("off"), title),
            element("p", problem.detail),
            element("p", again) if problem.status in _TRY_AGAIN else None,
            element(
                "p",
                "Code ",
                element("code", problem.code),
                ", request ",
                element("code", problem.request_id),
                class_="small",
            ),
            class_="sheet",
        ),
    )
