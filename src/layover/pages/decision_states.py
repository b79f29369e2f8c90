"""The states of a pause point in plain words: what has happened, by whom, and what that means for its reader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from layover.pages.facts import short_text
from layover.pages.glyphs import Glyph, glyph
from layover.pages.html import element, fragment, value
from layover.pages.times import length_between, time_of

if TYPE_CHECKING:
    from layover.core.moments import Moment
    from layover.model.points import Decision, PausePoint, Question
    from layover.pages.html import Child, Html

_LONGEST_COMMENT: Final = 2_000
_LONGEST_HINT: Final = 200
_MOST_NAMED: Final = 20
_OUTCOMES: Final = {
    "approve": "it counts as approved",
    "reject": "it counts as rejected",
    "fail": "it fails",
    "expired": "it expires without an answer",
    "continue": "it goes on without an answer",
    "partial": "it goes on with what there is",
    "timeout": "it goes on without an answer",
}
_WHY_NOT: Final = {
    "not_allowed": "You are not asked",
    "requester_excluded": "You asked for this yourself",
    "not_your_turn": "It is not your turn yet",
    "already_decided": "You have decided",
    "claimed": "Somebody else is at it",
    "forbidden": "You may not decide",
}


class PointState(NamedTuple):
    """How a point stands: a code for programs that test it, and sentences."""

    code: str
    title: Child
    lines: tuple[Child, ...] = ()
    glyph: Glyph = "off"
    tone: str = "off"


def state_of(point: PausePoint, user: str, why_not: tuple[str, str] | None, zone: str) -> PointState:
    """Return how a point stands for a user."""
    match point.status:
        case "open":
            return _open(point, user, why_not, zone)
        case "answered" | "applied":
            return _answered(point, user, zone)
        case "expired" | "completed":
            title = "Expired: the time to answer has passed"
            return PointState("expired", title, (_after_deadline(point),), "clock", "wait")
        case "superseded":
            text = "The execution went back to an earlier step, or was asked anew. Nothing that is sent here counts."
            return PointState("superseded", "Superseded: this question no longer counts", (text,))
        case "cancelled":
            title = "Cancelled: this is no longer needed"
            return PointState("cancelled", title, ("Nobody has to answer any more.",))


def _open(point: PausePoint, user: str, why_not: tuple[str, str] | None, zone: str) -> PointState:
    if why_not is None:
        return PointState("open", "", (), "person", "wait")
    code, message = why_not
    own = next((one for one in point.decisions if one.by == user), None)
    if code == "already_decided" and own is not None:
        verb = "approved" if own.approved else "rejected"
        return PointState(code, f"You have {verb}", (_progress(point),), "good" if own.approved else "bad", "good")
    if code == "claimed" and point.claimed_by:
        until: Child = [" until ", time_of(point.claimed_until, zone)] if point.claimed_until is not None else None
        title: Child = [value(short_text(point.claimed_by)), " is at it"]
        return PointState(code, title, (["Claimed", until, ". You may take it over."],), "held", "held")
    title = _WHY_NOT.get(code, "You may not decide this")
    return PointState(code, title, (message,), "held", "held")


def _answered(point: PausePoint, user: str, zone: str) -> PointState:
    by, at = point.answered_by, point.answered_at
    is_own = by == user and bool(by)
    who: Child = "You" if is_own else value(short_text(by)) if by else "The deadline"
    named: Child = [" by ", "you" if is_own else value(short_text(by))] if by else None
    when: Child = [" on ", time_of(at, zone)] if at is not None else None
    if point.kind == "approval":
        is_approved = isinstance(point.answer, Mapping) and point.answer.get("approved") is True
        verb, sign, tone = ("approved", "good", "good") if is_approved else ("rejected", "bad", "bad")
        title: Child = [verb.capitalize(), named]
        return PointState("answered", title, ([who, f" {verb} this", when, "."],), sign, tone)  # type: ignore[arg-type]
    return PointState("answered", ["Answered", named], ([who, " answered this", when, "."],), "good", "good")


def _progress(point: PausePoint) -> str:
    approvals = sum(one.approved for one in point.decisions)
    need = point.need or 1
    return f"{approvals} of {need} approvals so far. It goes on when there are enough."


def _after_deadline(point: PausePoint) -> str:
    verb = "decided" if point.kind == "approval" else "answered"
    return f"It was not {verb} in time, so {_outcome(point)}."


def _outcome(point: PausePoint) -> str:
    """Return what happens at the deadline, and what that leads to if it is known."""
    found = _OUTCOMES.get(point.on_deadline or "", "it goes on without an answer")
    leads_to = point.leads_to.get("expired", "") if point.on_deadline == "expired" else ""
    return f"{found}: {short_text(leads_to, _LONGEST_HINT)}" if leads_to else found


def deadline_of(point: PausePoint, now: Moment, zone: str) -> Html | None:
    """Return until when an open point waits, and what happens then."""
    if point.status != "open" or point.deadline is None:
        return None
    left = length_between(now, point.deadline)
    is_over = point.deadline <= now
    return element(
        "p",
        glyph("clock"),
        element(
            "span",
            "Until ",
            time_of(point.deadline, zone),
            f" ({'over now' if is_over else f'{left} left'}). Then {_outcome(point)}.",
        ),
        class_="note wait",
    )


def decided_of(point: PausePoint, zone: str) -> list[Html]:
    """Return who has decided what, and who took that back."""
    withdrawn = [
        _line("off", element("b", value(short_text(one))), " took back what they had said")
        for one in point.taken_back_by[:_MOST_NAMED]
    ]
    return [*(_decision(one, zone) for one in point.decisions[:_MOST_NAMED]), *withdrawn]


def _decision(one: Decision, zone: str) -> Html:
    behalf: Child = [" for ", value(short_text(one.on_behalf_of))] if one.on_behalf_of else None
    comment = element("div", value(short_text(one.comment, _LONGEST_COMMENT)), class_="hint") if one.comment else None
    return _line(
        "good" if one.approved else "bad",
        element("b", value(short_text(one.by))),
        behalf,
        " approved" if one.approved else " rejected",
        " on ",
        time_of(one.at, zone),
        comment,
    )


def _line(sign: Glyph, *parts: Child) -> Html:
    """Return a line whose text stands beside its sign, also where it is long."""
    return fragment(element("span", glyph(sign), class_=f"sign {sign}"), element("div", list(parts)))


def question_of(one: Question, zone: str) -> Html:
    """Return a question that was asked back, and its reply."""
    reply: Child = element("p", "No reply yet.", class_="hint")
    if one.reply is not None:
        by = value(short_text(one.replied_by or one.to))
        reply = element("p", element("b", by), ": ", value(short_text(one.reply, _LONGEST_COMMENT)))
    asked = element(
        "p",
        element("b", value(short_text(one.by))),
        " asks ",
        value(short_text(one.to)),
        ": ",
        value(short_text(one.question, _LONGEST_COMMENT)),
    )
    return fragment(asked, element("p", time_of(one.at, zone), class_="hint"), reply)


def asked_of(point: PausePoint) -> list[Child]:
    """Return who may decide, and how many of them it takes."""
    lines: list[Child] = []
    asked = point.approvers
    if asked is not None and (asked.users or asked.roles):
        names: list[Child] = [value(short_text(one)) for one in asked.users[:_MOST_NAMED]]
        names += [["everybody with the role ", value(short_text(one))] for one in asked.roles[:_MOST_NAMED]]
        more = len(asked.users) + len(asked.roles) - len(names)
        if more > 0:
            names.append(f"{more} more")
        lines.append(["Asked: ", _joined(names), "."])
    if point.need is not None and point.need > 1:
        lines.append(_progress(point))
    return lines


def _joined(names: list[Child]) -> list[Child]:
    found: list[Child] = []
    for index, name in enumerate(names):
        if index:
            found.append(" and " if index == len(names) - 1 else ", ")
        found.append(name)
    return found
