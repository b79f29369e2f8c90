from __future__ import annotations

from itertools import permutations

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from layover.core.people import (
    Accepted,
    Decision,
    Outcome,
    Person,
    Refusal,
    Repeated,
    Rules,
    check_decision,
    check_delegation,
    may_decide,
    outcome,
)

ANN, BOB, CAT, DAN, EVE = (Person(name) for name in ("ann", "bob", "cat", "dan", "eve"))
BOSS = Person("zoe", ("staff", "manager"))
TWO = Rules(users=("ann", "bob"), need=2)
IN_TURN = Rules(users=("ann", "bob", "cat"), need=3, order="sequence")


def said(*words: str) -> list[Decision]:
    """`+ann` approves, `-bob` rejects, `+dan/ann` approves in the place of ann."""
    return [_said(word, at) for at, word in enumerate(words)]


def _said(word: str, at: int) -> Decision:
    by, _, place = word[1:].partition("/")
    return Decision(by, word[0] == "+", at, on_behalf_of=place or None)


def refusal(rules: Rules, person: Person, *words: str) -> str | None:
    refused = may_decide(rules, person, said(*words))
    return None if refused is None else refused.code


# Who may decide.


@pytest.mark.parametrize(
    ("rules", "person", "code"),
    [
        (Rules(), ANN, None),
        (Rules(users=("ann",)), ANN, None),
        (Rules(users=("ann",)), BOB, "not_allowed"),
        (Rules(users=("Ann",)), ANN, "not_allowed"),
        (Rules(roles=("manager",)), BOSS, None),
        (Rules(roles=("manager",)), ANN, "not_allowed"),
        (Rules(roles=("ann",)), ANN, "not_allowed"),
        (Rules(users=("ann",), roles=("manager",)), ANN, None),
        (Rules(users=("ann",), roles=("manager",)), BOSS, None),
        (Rules(users=("zoe",), roles=("cfo",)), BOSS, None),
        (Rules(users=("ann",), roles=("cfo",)), BOSS, "not_allowed"),
    ],
)
def test_who_is_asked_may_decide(rules: Rules, person: Person, code: str | None) -> None:
    assert refusal(rules, person) == code


@pytest.mark.parametrize(
    ("rules", "person", "code"),
    [
        (Rules(users=("ann",), escalated_users=("bob",)), ANN, None),
        (Rules(users=("ann",), escalated_users=("bob",)), BOB, None),
        (Rules(users=("ann",), escalated_users=("bob",)), CAT, "not_allowed"),
        (Rules(users=("ann",), escalated_roles=("manager",)), BOSS, None),
        (Rules(roles=("clerk",), escalated_roles=("cfo",)), BOSS, "not_allowed"),
        (Rules(escalated_users=("bob",)), ANN, None),
    ],
)
def test_an_escalation_adds_people_and_takes_none_away(rules: Rules, person: Person, code: str | None) -> None:
    assert refusal(rules, person) == code


@pytest.mark.parametrize(
    ("rules", "person", "code"),
    [
        (Rules(exclude_requester=True, requester="ann"), ANN, "requester_excluded"),
        (Rules(exclude_requester=True, requester="ann"), BOB, None),
        (Rules(exclude_requester=False, requester="ann"), ANN, None),
        (Rules(exclude_requester=True, requester=None), ANN, None),
        (Rules(users=("ann",), exclude_requester=True, requester="ann"), ANN, "requester_excluded"),
        (Rules(users=("bob",), exclude_requester=True, requester="ann"), ANN, "not_allowed"),
        (Rules(roles=("manager",), exclude_requester=True, requester="zoe"), BOSS, "requester_excluded"),
        (Rules(escalated_users=("ann",), exclude_requester=True, requester="ann"), ANN, "requester_excluded"),
    ],
)
def test_an_excluded_requester_may_not_decide_however_they_are_asked(
    rules: Rules, person: Person, code: str | None
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
def test_in_sequence_people_decide_in_the_listed_order(
    person: Person, words: tuple[str, ...], code: str | None
) -> None:
    assert refusal(IN_TURN, person, *words) == code


def test_a_sequence_passes_over_the_excluded_requester() -> None:
    rules = msgspec.structs.replace(IN_TURN, exclude_requester=True, requester="ann", need=2)
    assert refusal(rules, ANN) == "requester_excluded"
    assert refusal(rules, BOB) is None
    assert refusal(rules, CAT) == "not_your_turn"


def test_an_escalation_takes_the_place_whose_turn_it_is() -> None:
    rules = msgspec.structs.replace(IN_TURN, escalated_users=("dan",), escalated_roles=("manager",))
    assert check_decision(rules, DAN, [], approved=True) == Accepted("ann")
    assert check_decision(rules, BOSS, said("+dan/ann"), approved=True) == Accepted("bob")
    assert refusal(rules, ANN, "+dan/ann") == "already_decided"
    assert refusal(rules, BOB, "+dan/ann") is None
    assert outcome(rules, said("+dan/ann", "+bob", "+cat")) == "approved"


def test_after_a_whole_sequence_nobody_is_left_to_decide() -> None:
    rules = Rules(users=("ann",), order="sequence", escalated_users=("dan",))
    assert refusal(rules, DAN, "+ann") == "not_your_turn"


def test_a_sequence_of_nobody_is_no_sequence() -> None:
    assert refusal(Rules(roles=("manager",), order="sequence"), BOSS) is None
    assert outcome(Rules(roles=("manager",), order="sequence"), said("+zoe")) == "approved"


# Delegates.


@pytest.mark.parametrize(
    ("rules", "words", "verdict"),
    [
        (Rules(users=("ann",), delegates=(("ann", "dan"),)), (), Accepted("ann")),
        (Rules(users=("bob",), delegates=(("ann", "dan"),)), (), "not_allowed"),
        (Rules(users=("ann",), delegates=(("dan", "ann"),)), (), "not_allowed"),
        (Rules(roles=("manager",), delegates=(("zoe", "dan"),)), (), Accepted("zoe")),
        (Rules(users=("ann",), escalated_users=("bob",), delegates=(("bob", "dan"),)), (), Accepted("bob")),
        (Rules(delegates=(("ann", "dan"),)), (), Accepted()),
        (Rules(users=("ann", "dan"), delegates=(("ann", "dan"),)), (), Accepted()),
        # the place has been taken
        (Rules(users=("ann",), delegates=(("ann", "dan"),)), ("+ann",), "already_decided"),
        (Rules(users=("ann",), delegates=(("ann", "dan"), ("ann", "eve"))), ("+eve/ann",), "already_decided"),
        (Rules(users=("ann", "bob"), delegates=(("ann", "dan"), ("bob", "dan"))), ("+ann",), Accepted("bob")),
        (Rules(users=("ann", "bob"), delegates=(("ann", "dan"), ("bob", "dan"))), ("-dan/ann",), "already_decided"),
        # in sequence the place is the giver's
        (msgspec.structs.replace(IN_TURN, delegates=(("ann", "dan"),)), (), Accepted("ann")),
        (msgspec.structs.replace(IN_TURN, delegates=(("bob", "dan"),)), (), "not_your_turn"),
        (msgspec.structs.replace(IN_TURN, delegates=(("bob", "dan"),)), ("+ann",), Accepted("bob")),
        (msgspec.structs.replace(IN_TURN, delegates=(("cat", "dan"), ("ann", "dan"))), (), Accepted("ann")),
        # neither the requester nor anybody in their place
        (
            Rules(users=("ann",), delegates=(("ann", "dan"),), exclude_requester=True, requester="ann"),
            (),
            "requester_excluded",
        ),
        (
            Rules(users=("ann",), delegates=(("ann", "dan"),), exclude_requester=True, requester="dan"),
            (),
            "requester_excluded",
        ),
    ],
)
def test_a_delegate_acts_in_the_place_of_the_giver(
    rules: Rules, words: tuple[str, ...], verdict: Accepted | str
) -> None:
    given_verdict = check_decision(rules, DAN, said(*words), approved=True)
    assert (given_verdict.code if isinstance(given_verdict, Refusal) else given_verdict) == verdict


def test_who_has_a_place_of_their_own_never_acts_in_another() -> None:
    rules = msgspec.structs.replace(IN_TURN, delegates=(("ann", "bob"),))
    assert refusal(rules, BOB) == "not_your_turn"


def test_the_giver_may_not_decide_again_after_the_delegate() -> None:
    rules = Rules(users=("ann", "bob"), need=2, delegates=(("ann", "dan"),))
    assert refusal(rules, ANN, "+dan/ann") == "already_decided"
    assert outcome(rules, said("+dan/ann", "+ann")) == "open"


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
        (Rules(roles=("manager",)), BOSS, (), "dan", ("zoe", "dan")),
    ],
)
def test_what_a_delegation_is_recorded_as(
    rules: Rules, person: Person, words: tuple[str, ...], taker: str, expected: tuple[str, str] | str
) -> None:
    delegate = check_delegation(rules, person, said(*words), taker)
    assert (delegate.code if isinstance(delegate, Refusal) else delegate) == expected


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
    assert isinstance(verdict, Refusal)
    assert verdict.code == "already_decided"


@pytest.mark.parametrize("approved", [True, False])
@pytest.mark.parametrize(
    ("comment", "verdict"), [("", "comment_required"), (" \n", "comment_required"), ("fine", Accepted())]
)
def test_a_comment_can_be_required(approved: bool, comment: str, verdict: Accepted | str) -> None:
    found = check_decision(Rules(comment_required=True), ANN, [], approved=approved, comment=comment)
    assert (found.code if isinstance(found, Refusal) else found) == verdict


def test_who_may_not_decide_is_told_so_before_being_asked_for_a_comment() -> None:
    verdict = check_decision(Rules(users=("bob",), comment_required=True), ANN, [], approved=True)
    assert isinstance(verdict, Refusal)
    assert verdict.code == "not_allowed"


# The outcome.


@pytest.mark.parametrize(
    ("rules", "words", "expected"),
    [
        (Rules(), (), "open"),
        (Rules(), ("+ann",), "approved"),
        (Rules(), ("-ann",), "rejected"),
        (Rules(need=2), ("+ann",), "open"),
        (Rules(need=2), ("+ann", "+ann"), "open"),
        (Rules(need=2), ("+ann", "+bob"), "approved"),
        (Rules(need=2), ("+ann", "-bob"), "rejected"),
        (Rules(need=2, reject_need=2), ("+ann", "-bob"), "open"),
        (Rules(need=2, reject_need=2), ("+ann", "-bob", "-ann"), "open"),
        (Rules(need=2, reject_need=2), ("+ann", "-bob", "-cat", "+dan"), "rejected"),
        (Rules(need=2, reject_need=2), ("+ann", "-bob", "+dan", "-cat"), "approved"),
        # a place is counted once
        (Rules(roles=("manager",), need=2), ("+ann", "+dan/ann"), "open"),
        (Rules(roles=("manager",), need=2), ("+dan/ann", "+dan/bob"), "open"),
        (Rules(roles=("manager",), need=2), ("+dan/ann", "+bob"), "approved"),
        # a rejection in sequence counts at once
        (IN_TURN, ("+ann", "-bob"), "rejected"),
        (IN_TURN, ("+ann", "+bob"), "open"),
        (IN_TURN, ("+ann", "+bob", "+cat"), "approved"),
        (Rules(users=("ann", "bob", "cat"), order="sequence"), ("+ann",), "approved"),
    ],
)
def test_what_decisions_add_up_to(rules: Rules, words: tuple[str, ...], expected: Outcome) -> None:
    assert outcome(rules, said(*words)) == expected


@pytest.mark.parametrize(
    ("rules", "words", "expected"),
    [
        (Rules(users=("ann", "bob"), need=2, reject_need=2), ("-ann",), "rejected"),
        (Rules(users=("ann", "bob", "cat"), need=2, reject_need=2), ("-ann",), "open"),
        (Rules(users=("ann", "bob", "cat"), need=2, reject_need=3), ("-ann", "-bob"), "rejected"),
        (Rules(users=("ann", "bob", "cat"), need=2, reject_need=3), ("-ann", "+bob"), "open"),
        (Rules(users=("ann", "bob"), need=2, reject_need=2, delegates=(("ann", "dan"),)), ("-dan/ann",), "rejected"),
        # so from the start
        (Rules(users=("ann", "ann"), need=2), (), "rejected"),
        (Rules(users=("ann",), exclude_requester=True, requester="ann"), (), "rejected"),
        # others may come
        (Rules(users=("ann",), roles=("manager",), need=2, reject_need=2), ("-ann",), "open"),
        (Rules(users=("ann",), need=2, escalation_ahead=True), ("+ann",), "open"),
        (Rules(users=("ann",), need=2, escalated_users=("bob",)), ("+ann",), "open"),
        (Rules(users=("ann",), need=2, escalated_roles=("cfo",)), ("+ann",), "open"),
        (Rules(users=("ann",), need=2, reject_need=2, escalated_users=("bob",)), ("+ann", "-bob"), "rejected"),
        # but nobody adds a place to a sequence
        (Rules(users=("ann",), need=2, order="sequence", escalation_ahead=True), (), "rejected"),
        (Rules(users=("ann", "bob"), need=2, reject_need=2, order="sequence"), ("-ann",), "rejected"),
    ],
)
def test_what_is_out_of_reach_is_rejected(rules: Rules, words: tuple[str, ...], expected: Outcome) -> None:
    assert outcome(rules, said(*words)) == expected


# Laws.

NAMES = st.sampled_from(["ann", "bob", "cat", "dan", "eve", "fay"])
SOME_NAMES = st.lists(NAMES, max_size=4).map(tuple)
SOME_ROLES = st.lists(st.sampled_from(["manager", "cfo"]), max_size=1).map(tuple)
RULES = st.builds(
    Rules,
    users=SOME_NAMES,
    roles=SOME_ROLES,
    need=st.integers(1, 3),
    reject_need=st.integers(1, 3),
    exclude_requester=st.booleans(),
    requester=st.none() | NAMES,
    order=st.sampled_from(["any", "sequence"]),
    escalated_users=SOME_NAMES,
    escalated_roles=SOME_ROLES,
    delegates=st.lists(st.tuples(NAMES, NAMES), max_size=4).map(tuple),
    escalation_ahead=st.booleans(),
)
PEOPLE = st.builds(Person, NAMES, SOME_ROLES)
TRIES = st.lists(st.tuples(PEOPLE, st.booleans()), max_size=12)
ANY_DECISIONS = st.lists(st.builds(Decision, NAMES, st.booleans(), st.integers(0, 9), on_behalf_of=st.none() | NAMES))


def live(rules: Rules, tries: list[tuple[Person, bool]], until_closed: bool = True) -> list[Decision]:
    """Let people try to decide, one after the other, and return what was recorded."""
    decisions: list[Decision] = []
    for at, (person, approved) in enumerate(tries):
        if until_closed and outcome(rules, decisions) != "open":
            break
        verdict = check_decision(rules, person, decisions, approved=approved)
        if isinstance(verdict, Accepted):
            decisions.append(Decision(person.user, approved, at, on_behalf_of=verdict.on_behalf_of))
    return decisions


@given(RULES, ANY_DECISIONS, ANY_DECISIONS)
def test_an_outcome_never_changes_when_more_decisions_arrive(
    rules: Rules, before: list[Decision], after: list[Decision]
) -> None:
    first = outcome(rules, before)
    assume(first != "open")
    assert outcome(rules, before + after) == first


@given(RULES, TRIES)
def test_every_person_and_every_place_is_counted_once(rules: Rules, tries: list[tuple[Person, bool]]) -> None:
    decisions = live(rules, tries, until_closed=False)
    people = [decision.by for decision in decisions]
    places = [decision.on_behalf_of or decision.by for decision in decisions]
    assert len(set(people)) == len(people)
    assert len(set(places)) == len(places)
    doubled = [decision for decision in decisions for _ in range(2)]
    assert outcome(rules, doubled) == outcome(rules, decisions)


@given(RULES, TRIES)
def test_an_approval_is_never_what_rejects(rules: Rules, tries: list[tuple[Person, bool]]) -> None:
    decisions = live(rules, tries)
    if decisions and decisions[-1].approved:
        assert outcome(rules, decisions) != "rejected"


@given(RULES, TRIES, PEOPLE)
def test_who_may_decide_does_not_depend_on_the_order_of_those_before(
    rules: Rules, tries: list[tuple[Person, bool]], person: Person
) -> None:
    decisions = live(rules, tries[:4])
    refusals = [may_decide(rules, person, order) for order in permutations(decisions)]
    assert len({None if refused is None else refused.code for refused in refusals}) == 1


@given(RULES, TRIES)
def test_only_a_race_of_both_thresholds_depends_on_the_order(rules: Rules, tries: list[tuple[Person, bool]]) -> None:
    rules = msgspec.structs.replace(rules, order="any")
    decisions = live(rules, tries, until_closed=False)[:5]
    approvals = sum(decision.approved for decision in decisions)
    assume(approvals < rules.need or len(decisions) - approvals < rules.reject_need)
    assert len({outcome(rules, order) for order in permutations(decisions)}) == 1


@given(RULES, TRIES, PEOPLE, SOME_NAMES, SOME_ROLES)
def test_escalating_never_takes_a_right_away(
    rules: Rules, tries: list[tuple[Person, bool]], person: Person, users: tuple[str, ...], roles: tuple[str, ...]
) -> None:
    more = msgspec.structs.replace(
        rules, escalated_users=rules.escalated_users + users, escalated_roles=rules.escalated_roles + roles
    )
    decisions = live(rules, tries)
    if may_decide(rules, person, decisions) is None:
        assert may_decide(more, person, decisions) is None


@given(RULES, TRIES)
def test_an_open_approval_among_known_people_has_somebody_who_may_decide(
    rules: Rules, tries: list[tuple[Person, bool]]
) -> None:
    rules = msgspec.structs.replace(rules, roles=(), escalated_roles=(), escalation_ahead=False)
    assume(rules.users)
    decisions = live(rules, tries)
    if outcome(rules, decisions) == "open":
        known = (*rules.users, *rules.escalated_users)
        assert any(may_decide(rules, Person(name), decisions) is None for name in known)


@given(RULES, ANY_DECISIONS, PEOPLE, st.booleans())
def test_the_two_checks_agree(rules: Rules, decisions: list[Decision], person: Person, approved: bool) -> None:
    verdict = check_decision(rules, person, decisions, approved=approved)
    refused = may_decide(rules, person, decisions)
    if isinstance(verdict, Repeated):
        assert refused is not None
        assert refused.code == "already_decided"
    else:
        assert refused == (verdict if isinstance(verdict, Refusal) else None)
