"""Our expressions against Google's implementation of CEL: the same value, or both fail in the same way.

Each overload in the list is the root of generated expressions, and each must be seen to succeed and, where it
can, to fail by itself. `LAYOVER_TORTURE=20` compares twenty times as many, seeded by `--hypothesis-seed`.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from layover.core.expressions import FUNCTIONS as OUR_FUNCTIONS

from . import oracle, subject
from .contexts import contexts
from .covered import ADDED, CANNOT_FAIL, COVERED, FUNCTIONS, LEFT_OUT, MACROS, OPERATORS
from .grammar import rooted_in
from .outcome import Failure, Mistake, Outcome, Rejection, Success, agree

if TYPE_CHECKING:
    from .kinds import Term

ROUNDS = int(os.environ.get("LAYOVER_TORTURE", "0"))
EXAMPLES = 8 * max(ROUNDS, 1)
LEAST_ACCEPTED = 0.95
MOST_TURNS = 8
ABSORBING = ("&&", "||", ".all(", ".exists(")


@pytest.mark.parametrize("name", COVERED)
def test_we_agree_with_google_on(name: str) -> None:
    seen: Counter[str] = Counter()
    # The draws depend on the modules that happen to be loaded: go on until every outcome was seen.
    for turn in range(MOST_TURNS):
        _compare(name, turn, seen)
        if seen["succeeded"] and (seen["failed"] or name in CANNOT_FAIL):
            break
    assert seen["rejected"] <= (1 - LEAST_ACCEPTED) * seen.total()
    assert seen["succeeded"], f"{name} was never seen to succeed: {seen}"
    assert seen["failed"] or name in CANNOT_FAIL, f"{name} was never seen to fail: {seen}"


def _compare(name: str, turn: int, seen: Counter[str]) -> None:
    well, astray = rooted_in(COVERED[name]), rooted_in(COVERED[name], astray=True)

    @settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        derandomize=False,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(contexts(), st.tuples(well, well, astray))
    def compare(context: dict[str, object], terms: tuple[Term, ...]) -> None:
        for term in terms:
            ours, theirs = subject.evaluate(term.source, context), oracle.evaluate(term.source, context)
            assert _agree(term.source, ours, theirs), f"{term.source}\non {context}\nours   {ours}\ntheirs {theirs}"
            seen[_what_was_seen(theirs, term, context)] += 1

    if not ROUNDS:
        compare = seed(turn)(compare)
    compare()


def _agree(source: str, ours: Outcome, theirs: Outcome) -> bool:
    """Where failures are absorbed, CEL leaves open which of several is raised."""
    both_fail = isinstance(ours, Failure) and isinstance(theirs, Failure)
    return agree(ours, theirs) or (both_fail and any(sign in source for sign in ABSORBING))


def _what_was_seen(outcome: Outcome, term: Term, context: dict[str, object]) -> str:
    """Return what an outcome shows of the root: a failure counts only if the parts by themselves are valid."""
    match outcome:
        case Success():
            return "succeeded"
        case Rejection():
            return "rejected"
        case Mistake():
            return "not compared"
        case Failure():
            sound = all(isinstance(oracle.evaluate(part, context), Success) for part in term.parts)
            return "failed" if sound else "failed in a part"


def test_the_comparison_covers_every_operator_macro_and_function() -> None:
    assert {name.split(" ")[0] for name in COVERED} == {*OPERATORS, *MACROS, *FUNCTIONS}


def test_every_function_of_ours_that_cel_defines_is_on_the_list() -> None:
    assert {*OUR_FUNCTIONS} == {*FUNCTIONS, *ADDED}
    assert not {*OUR_FUNCTIONS} & {*LEFT_OUT}
