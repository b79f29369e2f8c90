"""With all of its rules, the protocol keeps all of its promises."""

from __future__ import annotations

import pytest

from tests.conftest import FACTOR

from .caches import StateCache
from .children import ParentAndChild
from .execution import OneExecution
from .scenarios import LONGER, LONGER_FAMILY, ONE_EXECUTION
from .search import explore
from .signals import SignalAndWait
from .state import Budget, Did
from .triggers import OneStartForEachInput, Source

torture = pytest.mark.skipif(FACTOR == 1, reason="long; make torture runs it")

# Nobody looks first and answers later, as long as answering is one transaction.
NEVER_SEEN = {Did.LOOKED}


def test_the_protocol_holds() -> None:
    states, seen = 0, set[str]()
    for name, budget in ONE_EXECUTION.items():
        report = explore(OneExecution(budget))
        assert report.violation is None, f"{name}\n{report.violation}"
        states += report.states
        seen |= report.kinds
    # A model that explores nothing breaks nothing either.
    assert states > 180_000
    assert seen == set(Did) - NEVER_SEEN


def test_the_protocol_holds_between_parent_and_child() -> None:
    report = explore(ParentAndChild())
    assert report.violation is None, str(report.violation)
    assert report.states > 30_000
    assert report.kinds >= {"child wanted", "paused", "resumed", "taken", "delivered", "deleted", "crashed"}
    assert report.kinds >= {"child closed", "parent closed"}


def test_the_protocol_holds_between_signal_and_wait() -> None:
    report = explore(SignalAndWait())
    assert report.violation is None, str(report.violation)
    assert report.states > 100
    assert report.kinds == {"written", "committed", "looked", "told", "noted", "crashed"}


KINDS = {
    "schedule": {"read", "claimed", "refused"},
    "sender": {"sent"},
    "poll": {"leased", "polled", "refused"},
}


@pytest.mark.parametrize("source", ["schedule", "sender", "poll"])
def test_each_input_of_a_trigger_starts_one_execution(source: Source) -> None:
    report = explore(OneStartForEachInput(source=source))
    assert report.violation is None, str(report.violation)
    assert report.states > 100
    assert report.kinds >= {"picked", "started", "too late", "purged", "forgotten", "crashed"}
    assert report.kinds >= KINDS[source]


def test_the_cache_never_lies() -> None:
    report = explore(StateCache())
    assert report.violation is None, str(report.violation)
    assert report.states > 1_000
    assert report.kinds >= {"hit", "loaded", "cached", "landed", "fenced", "commands moved", "failed over"}


@torture
@pytest.mark.parametrize("budget", LONGER.values(), ids=LONGER.keys())
def test_the_protocol_holds_for_longer(budget: Budget) -> None:
    report = explore(OneExecution(budget), most=10_000_000)
    assert report.violation is None, str(report.violation)


@torture
def test_the_protocol_holds_for_longer_between_parent_and_child() -> None:
    report = explore(ParentAndChild(start=LONGER_FAMILY), most=10_000_000)
    assert report.violation is None, str(report.violation)
