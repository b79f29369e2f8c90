"""The decision page: what is asked, the facts as they were shown, and what can be done about it.

It is made from the point as its reader may see it. Nothing here decides who may do what: that is asked before, and
asked again when a form is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from layover.pages.decision_acts import ask_back_form, claim_forms, delegation_form, questions_of
from layover.pages.decision_states import asked_of, deadline_of, decided_of, state_of
from layover.pages.decision_view import COMMENT, act_button, form_fields, hidden_fields
from layover.pages.facts import facts, short_text, title_text
from layover.pages.form_fields import rendered
from layover.pages.glyphs import glyph
from layover.pages.html import Html, element, fragment, textarea
from layover.pages.layout import page
from layover.pages.times import time_of

if TYPE_CHECKING:
    from layover.model.points import PausePoint
    from layover.pages.decision_states import PointState
    from layover.pages.decision_view import DecisionView
    from layover.pages.html import Child

_LONGEST_COMMENT: Final = 10_000
_LONGEST_HINT: Final = 200


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
        _state(state, is_asked_anew=view.is_asked_anew) if not can_answer else None,
        _taken_back(view),
        _take_back(view),
        _after(view) if not can_answer else None,
        deadline_of(point, view.now, view.zone),
        _own_claim(view),
        _facts(point),
        _answer(point),
        _answer_form(view) if can_answer else None,
        questions_of(view),
        _others(view, can_answer=can_answer),
        class_="sheet",
    )
    return page(title, sheet, _more(view, can_answer=can_answer), who=view.user or None, by_link=view.by_link)


def _title(point: PausePoint) -> str:
    return title_text(point.title) or ("May it go on?" if point.kind == "approval" else "Please answer")


def _state(state: PointState, *, is_asked_anew: bool) -> Html:
    lines = [element("p", one) for one in state.lines]
    if is_asked_anew and state.code == "answered":
        lines.append(element("p", "Since then it was asked again."))
    return element(
        "div",
        glyph(state.glyph),
        element("div", element("p", element("strong", state.title)), lines),
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
        hidden_fields(view),
        element("p", until),
        element("div", act_button("take_back", "Take it back"), class_="buttons"),
        method="post",
        action=view.path,
    )


def _taken_back(view: DecisionView) -> Html | None:
    """Return that the reader took back what they had decided, and that it is asked anew."""
    if view.point.status != "open" or view.user not in view.point.taken_back_by:
        return None
    title = element("p", element("strong", "You have taken it back"))
    text = element("p", "Nothing of what you had said counts. You can say something else, or leave it to others.")
    return element("div", glyph("off"), element("div", title, text), class_="note off", role="status")


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


def _answer(point: PausePoint) -> Html | None:
    """Return what was answered: the data of a form, or of the decision that settled an approval."""
    if point.status not in ("answered", "applied"):
        return None
    answer = point.answer
    if point.kind == "approval":
        answer = answer.get("data") if isinstance(answer, Mapping) else None
    return element("section", element("h2", "Answer"), facts(answer)) if answer not in (None, {}, [], "") else None


def _answer_form(view: DecisionView) -> Html:
    point, problem = view.point, view.problem
    errors = problem.fields if problem is not None else {}
    inputs = [rendered(field, view.typed, errors.get(field.name)) for field in form_fields(point)]
    return element(
        "form",
        hidden_fields(view),
        inputs,
        _comment(view) if point.kind == "approval" else None,
        _buttons(point),
        method="post",
        action=view.path,
        class_="answer",
        novalidate=True,  # what is wrong is said by the server, in one place, also to those who cannot see colours
    )


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
            act_button("approve", "Approve", leads_to.get("approved", ""), is_main=True),
            act_button("reject", "Reject", leads_to.get("rejected", "")),
        ]
    else:
        buttons = [act_button("answer", "Send answer", leads_to.get("done", ""), is_main=True)]
    return element("div", buttons, class_="buttons")


def _others(view: DecisionView, *, can_answer: bool) -> Html | None:
    """Return who has decided, and who may."""
    decided, asked = decided_of(view.point, view.zone), asked_of(view.point) if can_answer else []
    if not decided and not asked:
        return None
    return element(
        "section",
        element("h2", "Who decides" if view.point.kind == "approval" else "Who answers"),
        [element("p", one) for one in asked],
        element("ul", [element("li", one) for one in decided], class_="plain signed") if decided else None,
    )


def _more(view: DecisionView, *, can_answer: bool) -> Html | None:
    """Return what else can be done: take the point over, claim it, ask, let another user decide."""
    point = view.point
    if point.status != "open":
        return None
    parts = [claim_forms(view, can_answer=can_answer)]
    if can_answer:
        parts.append(ask_back_form(view) if point.requester not in (None, view.user) else None)
        parts.append(delegation_form(view) if point.kind == "approval" else None)
    found = [one for one in parts if one is not None]
    return element("div", found, class_="sheet more") if found else None
