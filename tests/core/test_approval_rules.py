from __future__ import annotations

import msgspec
import pytest

from layover.core.approval_rules import (
    ApprovalRules,
    Approver,
    DecisionAllowed,
    DecisionRefused,
    Outcome,
    RecordedDecision,
    Repeated,
    check_decision,
    check_delegation,
    may_decide,
    outcome,
)

ANN, BOB, CAT, DAN = (Approver(name) for name in ("ann", "bob", "cat", "dan"))
BOSS = Approver("zoe", ("staff", "manager"))
TWO = ApprovalRules(users=("ann", "bob"), need=2)
IN_TURN = ApprovalRules(users=("ann", "bob", "cat"), need=3, order="sequence")


def said(*words: str) -> list[RecordedDecision]:
    """`+ann` approves, `-bob` rejects, `+dan/ann` approves in the place of ann."""
    return [_said(word, at) for at, word in enumerate(words)]


def _said(word: str, at: int) -> RecordedDecision:
    by, _, place = word[1:].partition("/")
    return RecordedDecision(by, word[0] == "+", at, on_behalf_of=place or None)


def refusal(rules: ApprovalRules, person: Approver, *words: str) -> str | None:
    refused = may_decide(rules, person, said(*words))
    return None if refused is None else refused.code


# Who may decide.


@pytest.mark.parametrize(
    ("rules", "person", "code"),
    [
        (ApprovalRules(), ANN, None),
        (ApprovalRules(users=("ann",)), ANN, None),
        (ApprovalRules(users=("ann",)), BOB, "not_allowed"),
        (ApprovalRules(users=("Ann",)), ANN, "not_allowed"),
        (ApprovalRules(roles=("manager",)), BOSS, None),
        (ApprovalRules(roles=("manager",)), ANN, "not_allowed"),
        (ApprovalRules(roles=("ann",)), ANN, "not_allowed"),
        (ApprovalRules(users=("ann",), roles=("manager",)), ANN, None),
        (ApprovalRules(users=("ann",), roles=("manager",)), BOSS, None),
        (ApprovalRules(users=("zoe",), roles=("cfo",)), BOSS, None),
        (ApprovalRules(users=("ann",), roles=("cfo",)), BOSS, "not_allowed"),
    ],
)
def test_approvers_may_decide(rules: ApprovalRules, person: Approver, code: str | None) -> None:
    assert refusal(rules, person) == code


@pytest.mark.parametrize(
    ("rules", "person", "code"),
    [
        (ApprovalRules(users=("ann",), escalated_users=("bob",)), ANN, None),
        (ApprovalRules(users=("ann",), escalated_users=("bob",)), BOB, None),
        (ApprovalRules(users=("ann",), escalated_users=("bob",)), CAT, "not_allowed"),
        (ApprovalRules(users=("ann",), escalated_roles=("manager",)), BOSS, None),
        (ApprovalRules(roles=("clerk",), escalated_roles=("cfo",)), BOSS, "not_allowed"),
        (ApprovalRules(escalated_users=("bob",)), ANN, None),
    ],
)
def test_an_escalation_adds_approvers_and_removes_none(
    rules: ApprovalRules, person: Approver, code: str | None
) -> None:
    assert refusal(rules, person) == code


@pytest.mark.parametrize(
    ("rules", "person", "code"),
    [
        (ApprovalRules(exclude_requester=True, requester="ann"), ANN, "requester_excluded"),
        (ApprovalRules(exclude_requester=True, requester="ann"), BOB, None),
        (ApprovalRules(exclude_requester=False, requester="ann"), ANN, None),
        (ApprovalRules(exclude_requester=True, requester=None), ANN, None),
        (ApprovalRules(users=("ann",), exclude_requester=True, requester="ann"), ANN, "requester_excluded"),
        (ApprovalRules(users=("bob",), exclude_requester=True, requester="ann"), ANN, "not_allowed"),
        (ApprovalRules(roles=("manager",), exclude_requester=True, requester="zoe"), BOSS, "requester_excluded"),
        (ApprovalRules(escalated_users=("ann",), exclude_requester=True, requester="ann"), ANN, "requester_excluded"),
    ],
)
def test_an_excluded_requester_may_not_decide_however_they_are_asked(
    rules: ApprovalRules, person: Approver, code: str | None
) -> None:
    assert refusal(rules, person) == code


@pytest.mark.parametrize(
    ("person", "words", "code"),
    [
        (ANN, (), None),
        (BOB, (), "not_your_turn"),
        (CAT, ("+ann",), "not_your_turn"),
        (BOB, ("+ann",), None),
        (BOB, ("-ann",), None),
        (CAT, ("+ann", "+bob"), None),
        (ANN, ("+ann",), "already_decided"),
        (DAN, (), "not_allowed"),
    ],
)
def test_in_sequence_approvers_decide_in_the_listed_order(
    person: Approver, words: tuple[str, ...], code: str | None
) -> None:
    assert refusal(IN_TURN, person, *words) == code


def test_a_sequence_passes_over_the_excluded_requester() -> None:
    rules = msgspec.structs.replace(IN_TURN, exclude_requester=True, requester="ann", need=2)
    assert refusal(rules, ANN) == "requester_excluded"
    assert refusal(rules, BOB) is None
    assert refusal(rules, CAT) == "not_your_turn"


def test_an_escalation_takes_the_place_whose_turn_it_is() -> None:
    rules = msgspec.structs.replace(IN_TURN, escalated_users=("dan",), escalated_roles=("manager",))
    assert check_decision(rules, DAN, [], approved=True) == DecisionAllowed("ann")
    assert check_decision(rules, BOSS, said("+dan/ann"), approved=True) == DecisionAllowed("bob")
    assert refusal(rules, ANN, "+dan/ann") == "already_decided"
    assert refusal(rules, BOB, "+dan/ann") is None
    assert outcome(rules, said("+dan/ann", "+bob", "+cat")) == "approved"


def test_after_a_whole_sequence_no_decision_is_accepted() -> None:
    rules = ApprovalRules(users=("ann",), order="sequence", escalated_users=("dan",))
    assert refusal(rules, DAN, "+ann") == "not_your_turn"


def test_a_sequence_without_users_has_no_order() -> None:
    assert refusal(ApprovalRules(roles=("manager",), order="sequence"), BOSS) is None
    assert outcome(ApprovalRules(roles=("manager",), order="sequence"), said("+zoe")) == "approved"


# Delegates.


@pytest.mark.parametrize(
    ("rules", "words", "verdict"),
    [
        (ApprovalRules(users=("ann",), delegates=(("ann", "dan"),)), (), DecisionAllowed("ann")),
        (ApprovalRules(users=("bob",), delegates=(("ann", "dan"),)), (), "not_allowed"),
        (ApprovalRules(users=("ann",), delegates=(("dan", "ann"),)), (), "not_allowed"),
        (ApprovalRules(roles=("manager",), delegates=(("zoe", "dan"),)), (), DecisionAllowed("zoe")),
        (
            ApprovalRules(users=("ann",), escalated_users=("bob",), delegates=(("bob", "dan"),)),
            (),
            DecisionAllowed("bob"),
        ),
        (ApprovalRules(delegates=(("ann", "dan"),)), (), DecisionAllowed()),
        (ApprovalRules(users=("ann", "dan"), delegates=(("ann", "dan"),)), (), DecisionAllowed()),
        # the place has been taken
        (ApprovalRules(users=("ann",), delegates=(("ann", "dan"),)), ("+ann",), "already_decided"),
        (ApprovalRules(users=("ann",), delegates=(("ann", "dan"), ("ann", "eve"))), ("+eve/ann",), "already_decided"),
        (
            ApprovalRules(users=("ann", "bob"), delegates=(("ann", "dan"), ("bob", "dan"))),
            ("+ann",),
            DecisionAllowed("bob"),
        ),
        (
            ApprovalRules(users=("ann", "bob"), delegates=(("ann", "dan"), ("bob", "dan"))),
            ("-dan/ann",),
            "already_decided",
        ),
        # in sequence the place is the giver's
        (msgspec.structs.replace(IN_TURN, delegates=(("ann", "dan"),)), (), DecisionAllowed("ann")),
        (msgspec.structs.replace(IN_TURN, delegates=(("bob", "dan"),)), (), "not_your_turn"),
        (msgspec.structs.replace(IN_TURN, delegates=(("bob", "dan"),)), ("+ann",), DecisionAllowed("bob")),
        (msgspec.structs.replace(IN_TURN, delegates=(("cat", "dan"), ("ann", "dan"))), (), DecisionAllowed("ann")),
        # neither the requester nor their delegates
        (
            ApprovalRules(users=("ann",), delegates=(("ann", "dan"),), exclude_requester=True, requester="ann"),
            (),
            "requester_excluded",
        ),
        (
            ApprovalRules(users=("ann",), delegates=(("ann", "dan"),), exclude_requester=True, requester="dan"),
            (),
            "requester_excluded",
        ),
    ],
)
def test_a_delegate_acts_in_the_place_of_the_giver(
    rules: ApprovalRules, words: tuple[str, ...], verdict: DecisionAllowed | str
) -> None:
    given_verdict = check_decision(rules, DAN, said(*words), approved=True)
    assert (given_verdict.code if isinstance(given_verdict, DecisionRefused) else given_verdict) == verdict


def test_an_approver_never_acts_for_another_approver() -> None:
    rules = msgspec.structs.replace(IN_TURN, delegates=(("ann", "bob"),))
    assert refusal(rules, BOB) == "not_your_turn"


def test_the_giver_may_not_decide_again_after_the_delegate() -> None:
    rules = ApprovalRules(users=("ann", "bob"), need=2, delegates=(("ann", "dan"),))
    assert refusal(rules, ANN, "+dan/ann") == "already_decided"
    assert outcome(rules, said("+dan/ann", "+ann")) == "open"


def test_an_approver_whose_delegate_decided_cannot_act_for_others() -> None:
    rules = ApprovalRules(roles=("manager",), delegates=(("bob", "cat"), ("cat", "ann")))
    assert refusal(rules, CAT) is None
    assert refusal(rules, CAT, "-ann/cat") == "already_decided"


@pytest.mark.parametrize(
    ("rules", "person", "words", "taker", "expected"),
    [
        (TWO, ANN, (), "dan", ("ann", "dan")),
        (TWO, DAN, (), "eve", "not_allowed"),
        (TWO, ANN, ("+ann",), "dan", "already_decided"),
        (TWO, ANN, (), "ann", "not_allowed"),
        (TWO, ANN, (), "bob", "not_allowed"),
        (IN_TURN, CAT, (), "dan", ("cat", "dan")),
        (msgspec.structs.replace(TWO, delegates=(("ann", "dan"),)), DAN, (), "eve", ("ann", "eve")),
        (msgspec.structs.replace(TWO, delegates=(("ann", "dan"),)), DAN, ("-ann",), "eve", "already_decided"),
        (msgspec.structs.replace(TWO, escalated_users=("dan",)), ANN, (), "dan", "not_allowed"),
        (msgspec.structs.replace(TWO, exclude_requester=True, requester="dan"), ANN, (), "dan", "requester_excluded"),
        (msgspec.structs.replace(TWO, exclude_requester=True, requester="ann"), ANN, (), "dan", "requester_excluded"),
        (ApprovalRules(roles=("manager",)), BOSS, (), "dan", ("zoe", "dan")),
    ],
)
def test_check_delegation_returns_the_delegate_or_a_refusal(
    rules: ApprovalRules, person: Approver, words: tuple[str, ...], taker: str, expected: tuple[str, str] | str
) -> None:
    delegate = check_delegation(rules, person, said(*words), taker)
    assert (delegate.code if isinstance(delegate, DecisionRefused) else delegate) == expected


# One decision.


def test_the_same_decision_again_is_a_repetition() -> None:
    earlier = said("+ann")
    assert check_decision(TWO, ANN, earlier, approved=True) == Repeated(earlier[0])
    taken = said("-dan/ann")
    rules = msgspec.structs.replace(TWO, delegates=(("ann", "dan"),), reject_need=2)
    assert check_decision(rules, DAN, taken, approved=False) == Repeated(taken[0])


def test_a_repetition_needs_neither_a_turn_nor_a_comment() -> None:
    rules = msgspec.structs.replace(IN_TURN, comment_required=True)
    assert check_decision(rules, ANN, said("+ann"), approved=True) == Repeated(said("+ann")[0])


def test_a_decision_cannot_be_turned_around() -> None:
    verdict = check_decision(TWO, ANN, said("+ann"), approved=False)
    assert isinstance(verdict, DecisionRefused)
    assert verdict.code == "already_decided"


@pytest.mark.parametrize("approved", [True, False])
@pytest.mark.parametrize(
    ("comment", "verdict"), [("", "comment_required"), (" \n", "comment_required"), ("fine", DecisionAllowed())]
)
def test_a_comment_can_be_required(approved: bool, comment: str, verdict: DecisionAllowed | str) -> None:
    found = check_decision(ApprovalRules(comment_required=True), ANN, [], approved=approved, comment=comment)
    assert (found.code if isinstance(found, DecisionRefused) else found) == verdict


def test_a_missing_permission_is_reported_before_a_missing_comment() -> None:
    verdict = check_decision(ApprovalRules(users=("bob",), comment_required=True), ANN, [], approved=True)
    assert isinstance(verdict, DecisionRefused)
    assert verdict.code == "not_allowed"


# The outcome.


@pytest.mark.parametrize(
    ("rules", "words", "expected"),
    [
        (ApprovalRules(), (), "open"),
        (ApprovalRules(), ("+ann",), "approved"),
        (ApprovalRules(), ("-ann",), "rejected"),
        (ApprovalRules(need=2), ("+ann",), "open"),
        (ApprovalRules(need=2), ("+ann", "+ann"), "open"),
        (ApprovalRules(need=2), ("+ann", "+bob"), "approved"),
        (ApprovalRules(need=2), ("+ann", "-bob"), "rejected"),
        (ApprovalRules(need=2, reject_need=2), ("+ann", "-bob"), "open"),
        (ApprovalRules(need=2, reject_need=2), ("+ann", "-bob", "-ann"), "open"),
        (ApprovalRules(need=2, reject_need=2), ("+ann", "-bob", "-cat", "+dan"), "rejected"),
        (ApprovalRules(need=2, reject_need=2), ("+ann", "-bob", "+dan", "-cat"), "approved"),
        # a place is counted once
        (ApprovalRules(roles=("manager",), need=2), ("+ann", "+dan/ann"), "open"),
        (ApprovalRules(roles=("manager",), need=2), ("+dan/ann", "+dan/bob"), "open"),
        (ApprovalRules(roles=("manager",), need=2), ("+dan/ann", "+bob"), "approved"),
        # a rejection in sequence counts at once
        (IN_TURN, ("+ann", "-bob"), "rejected"),
        (IN_TURN, ("+ann", "+bob"), "open"),
        (IN_TURN, ("+ann", "+bob", "+cat"), "approved"),
        (ApprovalRules(users=("ann", "bob", "cat"), order="sequence"), ("+ann",), "approved"),
    ],
)
def test_decisions_add_up_to_an_outcome(rules: ApprovalRules, words: tuple[str, ...], expected: Outcome) -> None:
    assert outcome(rules, said(*words)) == expected


@pytest.mark.parametrize(
    ("rules", "words", "expected"),
    [
        (ApprovalRules(users=("ann", "bob"), need=2, reject_need=2), ("-ann",), "rejected"),
        (ApprovalRules(users=("ann", "bob", "cat"), need=2, reject_need=2), ("-ann",), "open"),
        (ApprovalRules(users=("ann", "bob", "cat"), need=2, reject_need=3), ("-ann", "-bob"), "rejected"),
        (ApprovalRules(users=("ann", "bob", "cat"), need=2, reject_need=3), ("-ann", "+bob"), "open"),
        (
            ApprovalRules(users=("ann", "bob"), need=2, reject_need=2, delegates=(("ann", "dan"),)),
            ("-dan/ann",),
            "rejected",
        ),
        # so from the start
        (ApprovalRules(users=("ann", "ann"), need=2), (), "rejected"),
        (ApprovalRules(users=("ann",), exclude_requester=True, requester="ann"), (), "rejected"),
        # others may come
        (ApprovalRules(users=("ann",), roles=("manager",), need=2, reject_need=2), ("-ann",), "open"),
        (ApprovalRules(users=("ann",), need=2, escalation_ahead=True), ("+ann",), "open"),
        (ApprovalRules(users=("ann",), need=2, escalated_users=("bob",)), ("+ann",), "open"),
        (ApprovalRules(users=("ann",), need=2, escalated_roles=("cfo",)), ("+ann",), "open"),
        (ApprovalRules(users=("ann",), need=2, reject_need=2, escalated_users=("bob",)), ("+ann", "-bob"), "rejected"),
        # but a sequence never gets another place
        (ApprovalRules(users=("ann",), need=2, order="sequence", escalation_ahead=True), (), "rejected"),
        (ApprovalRules(users=("ann", "bob"), need=2, reject_need=2, order="sequence"), ("-ann",), "rejected"),
    ],
)
def test_an_approval_that_is_out_of_reach_is_rejected(
    rules: ApprovalRules, words: tuple[str, ...], expected: Outcome
) -> None:
    assert outcome(rules, said(*words)) == expected
