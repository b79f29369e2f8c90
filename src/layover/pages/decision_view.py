"""What a decision page is made from, and the parts that all of its forms share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from layover.core.moments import Moment
from layover.model.points import PausePoint
from layover.pages.form_fields import WHOLE, FormField, fields_of
from layover.pages.html import Html, element, fragment
from layover.pages.layout import TOKEN_FIELD
from layover.pages.view_parts import VIEW_PARTS

COMMENT: Final = "comment"
SEEN: Final = "seen"


class PageProblem(msgspec.Struct, frozen=True, kw_only=True):
    """Why what was sent was not taken: in all, and by field."""

    title: str
    text: str = ""
    fields: dict[str, str] = {}
    comment: str = ""


class DecisionView(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a page shows."""

    point: PausePoint
    user: str
    path: str  # that its forms are sent to
    form_token: str
    now: Moment
    zone: str = ""
    by_link: bool = False  # the link alone says who it is
    why_not: tuple[str, str] | None = None  # the code and the sentence, if its reader may not answer
    problem: PageProblem | None = None
    typed: Mapping[str, list[str]] | None = None  # the fields of the form, as they were sent
    view_parts: str = ""  # by which a change of what is shown is told
    texts: Mapping[str, str] = {}  # other fields, as they were sent
    is_asked_anew: bool = False
    next: str | None = None  # the address of the next point that waits for its reader


def form_fields(point: PausePoint) -> tuple[FormField, ...]:
    """Return the fields of a point's form."""
    fields = fields_of(point.schema)
    if not fields and point.kind == "form":
        return (FormField(name=WHOLE, kind="json", label="Answer"),)
    return fields


def hidden_fields(view: DecisionView) -> Html:
    """Return what each form of the page brings along: who sends it, and what they have seen."""
    fields = {TOKEN_FIELD: view.form_token, SEEN: view.point.view or "", VIEW_PARTS: view.view_parts}
    return fragment([element("input", type="hidden", name=name, value=text) for name, text in fields.items()])


def act_button(act: str, text: str, leads_to: str = "", *, is_main: bool = False) -> Html:
    """Return a button that does something, and below it what that leads to."""
    hint = f"leads-{act}" if leads_to else None
    button = element(
        "button", text, type="submit", name="act", value=act, class_="main" if is_main else None, aria_describedby=hint
    )
    return element("div", button, element("p", leads_to, id=hint, class_="hint") if leads_to else None)
