"""What can be done at a pause point besides answering it: claim it, ask back and reply, let another user decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.pages.decision_states import question_of
from layover.pages.decision_view import act_button, hidden_fields
from layover.pages.html import Html, element, text_field, textarea

if TYPE_CHECKING:
    from layover.pages.decision_view import DecisionView

_LONGEST_QUESTION: Final = 2_000
_MOST_QUESTIONS: Final = 20


def claim_forms(view: DecisionView, *, can_answer: bool) -> Html | None:
    """Return a form by which the reader claims the point, takes it over or gives it back."""
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
        hidden_fields(view),
        element("div", act_button(act, text, hint), class_="buttons"),
        method="post",
        action=view.path,
    )


def ask_back_form(view: DecisionView) -> Html:
    """Return a form by which the reader asks the requester."""
    question = view.texts.get("question", "")
    return element(
        "details",
        element("summary", "Ask before you decide" if view.point.kind == "approval" else "Ask before you answer"),
        element(
            "form",
            hidden_fields(view),
            _long_input(
                "question", "Your question", "It goes to who asked for this. The time goes on meanwhile.", question
            ),
            element("div", act_button("ask", "Ask"), class_="buttons"),
            method="post",
            action=view.path,
        ),
        open=bool(question),
    )


def delegation_form(view: DecisionView) -> Html:
    """Return a form by which the reader lets another user decide."""
    to = view.texts.get("to", "")
    return element(
        "details",
        element("summary", "Let somebody else decide"),
        element(
            "form",
            hidden_fields(view),
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
            element("div", act_button("delegate", "Delegate"), class_="buttons"),
            method="post",
            action=view.path,
        ),
        open=bool(to),
    )


def questions_of(view: DecisionView) -> Html | None:
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
            hidden_fields(view),
            element("input", type="hidden", name="number", value=waiting.number),
            _long_input("reply", "Your reply", "", view.texts.get("reply", "")),
            element("div", act_button("reply", "Reply", is_main=True), class_="buttons"),
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
