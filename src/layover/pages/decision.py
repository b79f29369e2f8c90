"""The decision page: what is asked, the facts as they were shown, and what can be done about it.

It is made from the point as its reader may see it. Nothing here decides who may do what: that is asked before, and
asked again when a form is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from layover.core.moments import Moment
from layover.model.points import PausePoint
from layover.pages.decision_states import asked_of, deadline_of, decided_of, question_of, state_of
from layover.pages.facts import facts, short_text, title_text
from layover.pages.form_fields import WHOLE, FormField, fields_of, rendered
from layover.pages.glyphs import glyph
from layover.pages.html import Html, element, fragment, text_field, textarea
from layover.pages.layout import TOKEN_FIELD, page
from layover.pages.times import time_of
from layover.pages.view_parts import VIEW_PARTS

if TYPE_CHECKING:
    from layover.pages.decision_states import PointState
    from layover.pages.html import Child

COMMENT: Final = "comment"
SEEN: Final = "seen"
_LONGEST_COMMENT: Final = 10_000
_LONGEST_HINT: Final = 200
_LONGEST_QUESTION: Final = 2_000
_MOST_QUESTIONS: Final = 20


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
    next: str | None = None  # the address of the next point that waits for its reader


def decision_page(view: DecisionView) -> bytes:
    """Return the page of a pause point."""
    point, title = view.point, _title(view.point)
    state = state_of(point, view.user, view.why_not, view.zone)
    can_answer = state.code == "open"
    sheet = element(
        "article",
        element(
            "div", element("p", element("bdi", point.workflow), class_="eyebrow"), element("h1", element("bdi", title))
        ),
        _problem(view),
        _state(state) if not can_answer else None,
        _take_back(view),
        _after(view) if not can_answer else None,
        deadline_of(point, view.now, view.zone),
        _own_claim(view),
        _facts(point),
        _answer_form(view) if can_answer else None,
        _questions(view),
        _others(view, can_answer=can_answer),
        class_="sheet",
    )
    return page(title, sheet, _more(view, can_answer=can_answer), who=view.user or None, by_link=view.by_link)


def _title(point: PausePoint) -> str:
    return title_text(point.title) or ("May it go on?" if point.kind == "approval" else "Please answer")


def _state(state: PointState) -> Html:
    return element(
        "div",
        glyph(state.glyph),
        element("div", element("p", element("strong", state.title)), [element("p", one) for one in state.lines]),
        class_=f"note {state.tone}",
        role="status",
    )


def _take_back(view: DecisionView) -> Html | None:
    """Return a form by which the reader takes back what they have decided, while that is not final."""
    point = view.point
    own = [one.final_at for one in point.decisions if one.by == view.user and view.user]
    if point.kind != "approval" and point.answered_by == view.user and view.user:
        own = [point.final_at]
    final_at = next((at for at in own if at is not None and at > view.now), None)
    if final_at is None or point.status not in ("open", "answered"):
        return None
    until = fragment("You can take it back until ", time_of(final_at, view.zone, seconds=True), ".")
    return element(
        "form",
        _hidden(view),
        element("p", until),
        element("div", _button("take_back", "Take it back"), class_="buttons"),
        method="post",
        action=view.path,
    )


def _after(view: DecisionView) -> Html | None:
    return (
        element("p", element("a", "Next: what else waits for you", href=view.next, class_="button"))
        if view.next
        else None
    )


def _problem(view: DecisionView) -> Html | None:
    """Return what is wrong with what was sent, with links to its fields; it has the focus."""
    problem = view.problem
    if problem is None:
        return None
    fields = {field.name: field for field in form_fields(view.point)}
    items: list[Child] = [
        element("li", element("a", f"{fields[name].label}: {text}", href=f"#{fields[name].id}"))
        for name, text in problem.fields.items()
        if name in fields
    ]
    if problem.comment:
        items.append(element("li", element("a", f"Comment: {problem.comment}", href=f"#{COMMENT}")))
    return element(
        "div",
        glyph("bad"),
        element(
            "div",
            element("h2", problem.title, class_="strong"),
            element("p", problem.text) if problem.text else None,
            element("ul", items) if items else None,
        ),
        class_="note bad",
        role="alert",
        id="problem",
        tabindex=-1,
        autofocus=True,
    )


def _own_claim(view: DecisionView) -> Html | None:
    point = view.point
    if point.status != "open" or not point.claimed_by or point.claimed_by != view.user or point.claimed_until is None:
        return None
    return element(
        "p",
        glyph("held"),
        element("span", "You have claimed this until ", time_of(point.claimed_until, view.zone), "."),
        class_="note held",
    )


def _facts(point: PausePoint) -> Html | None:
    if point.shown in (None, {}, [], ""):
        return None
    return element("section", element("h2", "Facts"), facts(point.shown))


def form_fields(point: PausePoint) -> tuple[FormField, ...]:
    """Return the fields of a point's form."""
    fields = fields_of(point.schema)
    if not fields and point.kind == "form":
        return (FormField(name=WHOLE, kind="json", label="Answer"),)
    return fields


def _answer_form(view: DecisionView) -> Html:
    point, problem = view.point, view.problem
    errors = problem.fields if problem is not None else {}
    inputs = [rendered(field, view.typed, errors.get(field.name)) for field in form_fields(point)]
    return element(
        "form",
        _hidden(view),
        inputs,
        _comment(view) if point.kind == "approval" else None,
        _buttons(point),
        method="post",
        action=view.path,
        class_="answer",
        novalidate=True,  # what is wrong is said by the server, in one place, also to those who cannot see colours
    )


def _hidden(view: DecisionView) -> Html:
    fields = {TOKEN_FIELD: view.form_token, SEEN: view.point.view or "", VIEW_PARTS: view.view_parts}
    return fragment([element("input", type="hidden", name=name, value=text) for name, text in fields.items()])


def _comment(view: DecisionView) -> Html:
    error = view.problem.comment if view.problem is not None else ""
    return element(
        "div",
        element("label", "Comment", element("span", " (optional)", class_="hint") if not error else None, for_=COMMENT),
        element("p", error, id="comment-error", class_="error") if error else None,
        textarea(
            view.texts.get(COMMENT, ""),
            id=COMMENT,
            name=COMMENT,
            rows=3,
            maxlength=_LONGEST_COMMENT,
            dir="auto",
            aria_invalid="true" if error else None,
            aria_describedby="comment-error" if error else None,
        ),
        class_="field",
    )


def _buttons(point: PausePoint) -> Html:
    leads_to = {port: f"Then: {short_text(text, _LONGEST_HINT)}" for port, text in point.leads_to.items() if text}
    if point.kind == "approval":
        buttons = [
            _button("approve", "Approve", leads_to.get("approved", ""), is_main=True),
            _button("reject", "Reject", leads_to.get("rejected", "")),
        ]
    else:
        buttons = [_button("answer", "Send answer", leads_to.get("done", ""), is_main=True)]
    return element("div", buttons, class_="buttons")


def _button(act: str, text: str, leads_to: str = "", *, is_main: bool = False) -> Html:
    hint = f"leads-{act}" if leads_to else None
    button = element(
        "button", text, type="submit", name="act", value=act, class_="main" if is_main else None, aria_describedby=hint
    )
    return element("div", button, element("p", leads_to, id=hint, class_="hint") if leads_to else None)


def _others(view: DecisionView, *, can_answer: bool) -> Html | None:
    """Return who has decided, and who may."""
    decided, asked = decided_of(view.point, view.zone), asked_of(view.point) if can_answer else []
    if not decided and not asked:
        return None
    return element(
        "section",
        element("h2", "Who decides" if view.point.kind == "approval" else "Who answers"),
        [element("p", one) for one in asked],
        element("ul", [element("li", one) for one in decided], class_="plain") if decided else None,
    )


def _more(view: DecisionView, *, can_answer: bool) -> Html | None:
    """Return what else can be done: take the point over, claim it, ask, let another user decide."""
    point = view.point
    if point.status != "open":
        return None
    parts = [_claims(view, can_answer=can_answer)]
    if can_answer:
        parts.append(_ask_back(view) if point.requester not in (None, view.user) else None)
        parts.append(_delegation(view) if point.kind == "approval" else None)
    found = [one for one in parts if one is not None]
    return element("div", found, class_="sheet more") if found else None


def _claims(view: DecisionView, *, can_answer: bool) -> Html | None:
    point = view.point
    if not can_answer:
        is_claimed = view.why_not is not None and view.why_not[0] == "claimed"
        return (
            _act_form(view, "take", "Take it over", "You decide in their place; they are not asked.")
            if is_claimed
            else None
        )
    if point.claimed_by == view.user and point.claimed_by:
        return _act_form(view, "release", "Give it back", "Then others can decide, too.")
    asked = point.approvers
    if asked is not None and len(asked.users) == 1 and not asked.roles:
        return None  # nobody else could come first
    return _act_form(view, "claim", "Claim it for 15 minutes", "Nobody else decides while you look into it.")


def _act_form(view: DecisionView, act: str, text: str, hint: str) -> Html:
    return element(
        "form",
        _hidden(view),
        element("div", _button(act, text, hint), class_="buttons"),
        method="post",
        action=view.path,
    )


def _ask_back(view: DecisionView) -> Html:
    question = view.texts.get("question", "")
    return element(
        "details",
        element("summary", "Ask before you decide" if view.point.kind == "approval" else "Ask before you answer"),
        element(
            "form",
            _hidden(view),
            _long_input(
                "question", "Your question", "It goes to who asked for this. The time goes on meanwhile.", question
            ),
            element("div", _button("ask", "Ask"), class_="buttons"),
            method="post",
            action=view.path,
        ),
        open=bool(question),
    )


def _delegation(view: DecisionView) -> Html:
    to = view.texts.get("to", "")
    return element(
        "details",
        element("summary", "Let somebody else decide"),
        element(
            "form",
            _hidden(view),
            element(
                "div",
                element("label", "Who decides in your place", for_="to"),
                element("p", "Their user name. You may still decide yourself.", class_="hint", id="to-hint"),
                text_field(
                    to,
                    id="to",
                    name="to",
                    type="text",
                    maxlength=255,
                    autocomplete="off",
                    dir="auto",
                    aria_describedby="to-hint",
                ),
                class_="field",
            ),
            element("div", _button("delegate", "Delegate"), class_="buttons"),
            method="post",
            action=view.path,
        ),
        open=bool(to),
    )


def _questions(view: DecisionView) -> Html | None:
    """Return what was asked back, and a form to reply with for who may."""
    point = view.point
    if not point.questions:
        return None
    waiting = next((one for one in point.questions if one.reply is None), None)
    may_reply = waiting is not None and point.may is not None and point.may.reply and point.status == "open"
    return element(
        "section",
        element("h2", "Questions"),
        element(
            "ul",
            [element("li", question_of(one, view.zone)) for one in point.questions[:_MOST_QUESTIONS]],
            class_="plain",
        ),
        element(
            "form",
            _hidden(view),
            element("input", type="hidden", name="number", value=waiting.number),
            _long_input("reply", "Your reply", "", view.texts.get("reply", "")),
            element("div", _button("reply", "Reply", is_main=True), class_="buttons"),
            method="post",
            action=view.path,
        )
        if waiting is not None and may_reply
        else None,
    )


def _long_input(name: str, label: str, hint: str, text: str) -> Html:
    return element(
        "div",
        element("label", label, for_=name),
        element("p", hint, class_="hint", id=f"{name}-hint") if hint else None,
        textarea(
            text,
            id=name,
            name=name,
            rows=3,
            maxlength=_LONGEST_QUESTION,
            dir="auto",
            aria_describedby=f"{name}-hint" if hint else None,
        ),
        class_="field",
    )
