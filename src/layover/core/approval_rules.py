"""Approval rules: who may decide an approval, and what the decisions add up to.

The engine, the stores, the inbox and the API all ask here, so that no user is shown an approval that they may not
decide.

**Places.** Each approver has one place, and a place counts once. Usually people take their own; a delegate takes the
place of the person who delegated to them. A person decides once, too: a person with a place of their own never acts in
the place of another, else two approvals could come from one pair of eyes. The first to decide has taken the place.

**Approvers** are the listed users and all users with a listed role; if there are neither, every user. An escalation
adds approvers and removes none. The requester may be excluded; then their place is gone, for their delegates as well. A
recorded delegation is believed, so `check_delegation` says what may be recorded. A delegate who passes a place on is
recorded as acting in the first giver's name: places do not travel through third hands.

**In sequence** there are as many places as listed users, taken in the listed order. An approver who is not listed (by
an escalation) takes the place whose turn it is. A rejection does not wait for the rest: it counts when it is given.

**Outcome.** Approved by `need` approvals, rejected by `reject_need` rejections, whichever the decisions reach first.
Rejected as well when `need` is out of reach: where the places are known and too few of them are left, waiting could
only end in a deadline. That may be so from the start, when the only approver is the excluded requester. As long as an
escalation may still add places, nothing is out of reach. Once there is an outcome, later decisions do not change it.
A decision that can still be taken back counts like any other (`engine/undo_windows.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

Outcome: TypeAlias = Literal["open", "approved", "rejected"]
RefusalCode: TypeAlias = Literal[
    "not_allowed",
    "requester_excluded",
    "not_your_turn",
    "already_decided",
    "comment_required",
    "user_required",
]


class Approver(msgspec.Struct, frozen=True):
    """A user who wants to decide, with their roles."""

    user: str
    roles: tuple[str, ...] = ()


class ApprovalRules(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who is asked and how many of them it takes, at this moment.

    A delegate `(giver, taker)` lets the taker act in the giver's place; the giver may still do so, too.
    """

    users: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    need: int = 1
    reject_need: int = 1
    exclude_requester: bool = False
    requester: str | None = None
    order: Literal["any", "sequence"] = "any"
    comment_required: bool = False
    escalated_users: tuple[str, ...] = ()
    escalated_roles: tuple[str, ...] = ()
    delegates: tuple[tuple[str, str], ...] = ()
    escalation_ahead: bool = False


class RecordedDecision(msgspec.Struct, frozen=True, omit_defaults=True):
    """The decision of one person; `on_behalf_of` names the place they took, if it is not their own.

    `seen` is the hash of the view that they had seen, if their answer named it. It can be taken back until `final_at`,
    and is `final` once the engine has noted that this moment has passed; without one it is final at once.
    """

    by: str
    approved: bool
    at: int
    comment: str = ""
    data: object = None
    on_behalf_of: str | None = None
    seen: str | None = None
    final_at: int | None = None
    final: bool = False


class DecisionRefused(msgspec.Struct, frozen=True):
    """The reason why a person may not decide."""

    code: RefusalCode
    message: str


class DecisionAllowed(msgspec.Struct, frozen=True):
    """The decision may be recorded, in the place of `on_behalf_of` if that is given."""

    on_behalf_of: str | None = None


class Repeated(msgspec.Struct, frozen=True):
    """The same person has decided the same before; nothing is to be recorded."""

    earlier: RecordedDecision


Verdict: TypeAlias = DecisionAllowed | Repeated | DecisionRefused


def may_decide(rules: ApprovalRules, person: Approver, decisions: Sequence[RecordedDecision]) -> DecisionRefused | None:
    """Return why a person may not decide now, or None if they may."""
    place = _place_for(rules, person, decisions)
    return place if isinstance(place, DecisionRefused) else None


def check_decision(
    rules: ApprovalRules, person: Approver, decisions: Sequence[RecordedDecision], *, approved: bool, comment: str = ""
) -> Verdict:
    """Return whether a decision is accepted, repeats an earlier one, or is refused."""
    earlier = _decision_by(person, decisions)
    if earlier is not None and earlier.approved == approved:
        return Repeated(earlier)
    place = _place_for(rules, person, decisions)
    if isinstance(place, DecisionRefused):
        return place
    if rules.comment_required and not comment.strip():
        return DecisionRefused("comment_required", "This decision needs a comment that says why.")
    return DecisionAllowed(None if place == person.user else place)


def check_delegation(
    rules: ApprovalRules, person: Approver, decisions: Sequence[RecordedDecision], taker: str
) -> tuple[str, str] | DecisionRefused:
    """Return the delegation to record when a person lets another decide for them, also when it is not their turn."""
    places = _free_places(rules, person, decisions)
    if isinstance(places, DecisionRefused):
        return places
    if _is_excluded(rules, taker):
        return _refuse_requester()
    if taker == person.user or taker in rules.users or taker in rules.escalated_users:
        return DecisionRefused("not_allowed", f"{taker} is an approver already and cannot act for another one.")
    return places[0], taker


def outcome(rules: ApprovalRules, decisions: Sequence[RecordedDecision]) -> Outcome:
    """Return what the decisions, in the order in which they were given, add up to."""
    left = _known_places(rules)
    decided: set[str] = set()
    approvals = rejections = 0
    if _is_out_of_reach(left, rules.need):
        return "rejected"
    for decision in decisions:
        names = _names(decision)
        if not decided.isdisjoint(names):
            continue
        decided |= names
        left = None if left is None else left - names
        approvals += decision.approved
        rejections += not decision.approved
        if approvals >= rules.need:
            return "approved"
        if rejections >= rules.reject_need or _is_out_of_reach(left, rules.need - approvals):
            return "rejected"
    return "open"


def _known_places(rules: ApprovalRules) -> frozenset[str] | None:
    """Return every place that can ever be taken, or None if that is not known."""
    if _is_sequence(rules):
        names = rules.users
    elif _is_open_to_all(rules) or rules.roles or rules.escalated_roles or rules.escalation_ahead:
        return None
    else:
        names = rules.users + rules.escalated_users
    return frozenset(name for name in names if not _is_excluded(rules, name))


def _is_out_of_reach(left: frozenset[str] | None, missing: int) -> bool:
    return left is not None and len(left) < missing


def _place_for(rules: ApprovalRules, person: Approver, decisions: Sequence[RecordedDecision]) -> str | DecisionRefused:
    """Return the place that a person would take now."""
    places = _free_places(rules, person, decisions)
    if isinstance(places, DecisionRefused):
        return places
    return _place_in_sequence(rules, places, _names_in(decisions)) if _is_sequence(rules) else places[0]


def _free_places(
    rules: ApprovalRules, person: Approver, decisions: Sequence[RecordedDecision]
) -> list[str] | DecisionRefused:
    """Return the places that a person may take, at least one: their own, or else those delegated to them."""
    user, decided = person.user, _names_in(decisions)
    if rules.exclude_requester and not user:  # a program that names no user may be the requester
        return DecisionRefused("user_required", "This approval excludes the requester: decide as a user.")
    if user in decided:
        return DecisionRefused(
            "already_decided", f"{user}, or a delegate of theirs, has decided; that cannot be changed."
        )
    places = [user] if _is_asked(rules, person) else _delegated_places(rules, user)
    if not places:
        return DecisionRefused("not_allowed", f"{user} is not one of the approvers.")
    open_to = [] if _is_excluded(rules, user) else [name for name in places if not _is_excluded(rules, name)]
    if not open_to:
        return _refuse_requester()
    free = [name for name in open_to if name not in decided]
    return free or DecisionRefused("already_decided", f"The decision of {open_to[0]} has been made already.")


def _place_in_sequence(rules: ApprovalRules, free: Sequence[str], decided: set[str]) -> str | DecisionRefused:
    turn = next((name for name in rules.users if name not in decided and not _is_excluded(rules, name)), None)
    if turn is None:
        return DecisionRefused("not_your_turn", "All approvers in the sequence have decided.")
    if turn in free or any(name not in rules.users for name in free):
        return turn
    return DecisionRefused("not_your_turn", f"It is the turn of {turn}; later approvers decide after them.")


def _is_asked(rules: ApprovalRules, person: Approver) -> bool:
    return (
        _is_open_to_all(rules)
        or person.user in rules.users
        or person.user in rules.escalated_users
        or any(role in rules.roles or role in rules.escalated_roles for role in person.roles)
    )


def _delegated_places(rules: ApprovalRules, user: str) -> list[str]:
    # The roles of a user who is not the caller are not known.
    believed = bool(rules.roles or rules.escalated_roles)
    givers = dict.fromkeys(giver for giver, taker in rules.delegates if taker == user)
    return [name for name in givers if believed or name in rules.users or name in rules.escalated_users]


def _is_sequence(rules: ApprovalRules) -> bool:
    return rules.order == "sequence" and bool(rules.users)


def _is_open_to_all(rules: ApprovalRules) -> bool:
    return not rules.users and not rules.roles


def _is_excluded(rules: ApprovalRules, name: str) -> bool:
    return rules.exclude_requester and name == rules.requester


def _refuse_requester() -> DecisionRefused:
    return DecisionRefused(
        "requester_excluded", "The requester may not decide this approval, and neither may their delegates."
    )


def _decision_by(person: Approver, decisions: Sequence[RecordedDecision]) -> RecordedDecision | None:
    return next((decision for decision in decisions if decision.by == person.user), None)


def _names_in(decisions: Sequence[RecordedDecision]) -> set[str]:
    return {name for decision in decisions for name in _names(decision)}


def _names(decision: RecordedDecision) -> frozenset[str]:
    """Return who cannot decide any more after a decision: its author, and the owner of the place."""
    return frozenset({decision.by, decision.on_behalf_of or decision.by})
