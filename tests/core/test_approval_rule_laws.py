"""Laws for any rules, any people and any sequence of decisions."""

from __future__ import annotations

from itertools import permutations

import msgspec
from hypothesis import assume, given
from hypothesis import strategies as st

from layover.core.approval_rules import (
    ApprovalRules,
    Approver,
    DecisionAllowed,
    DecisionRefused,
    RecordedDecision,
    Repeated,
    check_decision,
    may_decide,
    outcome,
)

NAMES = st.sampled_from(["ann", "bob", "cat", "dan", "eve", "fay"])
SOME_NAMES = st.lists(NAMES, max_size=4).map(tuple)
SOME_ROLES = st.lists(st.sampled_from(["manager", "cfo"]), max_size=1).map(tuple)
RULES = st.builds(
    ApprovalRules,
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
PEOPLE = st.builds(Approver, NAMES, SOME_ROLES)
TRIES = st.lists(st.tuples(PEOPLE, st.booleans()), max_size=12)
ANY_DECISIONS = st.lists(
    st.builds(RecordedDecision, NAMES, st.booleans(), st.integers(0, 9), on_behalf_of=st.none() | NAMES)
)


def live(rules: ApprovalRules, tries: list[tuple[Approver, bool]], until_closed: bool = True) -> list[RecordedDecision]:
    """Let people try to decide, one after the other, and return the recorded decisions."""
    decisions: list[RecordedDecision] = []
    for at, (person, approved) in enumerate(tries):
        if until_closed and outcome(rules, decisions) != "open":
            break
        verdict = check_decision(rules, person, decisions, approved=approved)
        if isinstance(verdict, DecisionAllowed):
            decisions.append(RecordedDecision(person.user, approved, at, on_behalf_of=verdict.on_behalf_of))
    return decisions


@given(RULES, ANY_DECISIONS, ANY_DECISIONS)
def test_an_outcome_never_changes_when_more_decisions_arrive(
    rules: ApprovalRules, before: list[RecordedDecision], after: list[RecordedDecision]
) -> None:
    first = outcome(rules, before)
    assume(first != "open")
    assert outcome(rules, before + after) == first


@given(RULES, TRIES)
def test_every_person_and_every_place_is_counted_once(rules: ApprovalRules, tries: list[tuple[Approver, bool]]) -> None:
    decisions = live(rules, tries, until_closed=False)
    doubled = [decision for decision in decisions for _ in range(2)]
    assert outcome(rules, doubled) == outcome(rules, decisions)


@given(RULES, TRIES)
def test_every_accepted_decision_is_counted(rules: ApprovalRules, tries: list[tuple[Approver, bool]]) -> None:
    heard: set[str] = set()
    for decision in live(rules, tries, until_closed=False):
        names = {decision.by, decision.on_behalf_of or decision.by}
        assert heard.isdisjoint(names)
        heard |= names


@given(RULES, TRIES)
def test_an_approval_is_never_what_rejects(rules: ApprovalRules, tries: list[tuple[Approver, bool]]) -> None:
    decisions = live(rules, tries)
    if decisions and decisions[-1].approved:
        assert outcome(rules, decisions) != "rejected"


@given(RULES, TRIES, PEOPLE)
def test_who_may_decide_does_not_depend_on_the_order_of_earlier_decisions(
    rules: ApprovalRules, tries: list[tuple[Approver, bool]], person: Approver
) -> None:
    decisions = live(rules, tries[:4])
    refusals = [may_decide(rules, person, order) for order in permutations(decisions)]
    assert len({None if refused is None else refused.code for refused in refusals}) == 1


@given(RULES, TRIES)
def test_only_a_race_of_both_thresholds_depends_on_the_order(
    rules: ApprovalRules, tries: list[tuple[Approver, bool]]
) -> None:
    rules = msgspec.structs.replace(rules, order="any")
    decisions = live(rules, tries, until_closed=False)[:5]
    approvals = sum(decision.approved for decision in decisions)
    assume(approvals < rules.need or len(decisions) - approvals < rules.reject_need)
    assert len({outcome(rules, order) for order in permutations(decisions)}) == 1


@given(RULES, TRIES, PEOPLE, SOME_NAMES, SOME_ROLES)
def test_escalating_never_takes_a_right_away(
    rules: ApprovalRules,
    tries: list[tuple[Approver, bool]],
    person: Approver,
    users: tuple[str, ...],
    roles: tuple[str, ...],
) -> None:
    more = msgspec.structs.replace(
        rules, escalated_users=rules.escalated_users + users, escalated_roles=rules.escalated_roles + roles
    )
    decisions = live(rules, tries)
    if may_decide(rules, person, decisions) is None:
        assert may_decide(more, person, decisions) is None


@given(RULES, TRIES)
def test_an_open_approval_with_known_approvers_has_one_that_may_decide(
    rules: ApprovalRules, tries: list[tuple[Approver, bool]]
) -> None:
    rules = msgspec.structs.replace(rules, roles=(), escalated_roles=(), escalation_ahead=False)
    assume(rules.users)
    decisions = live(rules, tries)
    if outcome(rules, decisions) == "open":
        known = (*rules.users, *rules.escalated_users)
        assert any(may_decide(rules, Approver(name), decisions) is None for name in known)


@given(RULES, ANY_DECISIONS, PEOPLE, st.booleans())
def test_may_decide_agrees_with_check_decision(
    rules: ApprovalRules, decisions: list[RecordedDecision], person: Approver, approved: bool
) -> None:
    verdict = check_decision(rules, person, decisions, approved=approved)
    refused = may_decide(rules, person, decisions)
    if isinstance(verdict, Repeated):
        assert refused is not None
        assert refused.code == "already_decided"
    else:
        assert refused == (verdict if isinstance(verdict, DecisionRefused) else None)
