"""A runtime that is broken on purpose breaks a law. All ways to break it are tried by tools/break_runtime.py."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from layover.testing.simulation.running import run
from tests.simulation.breaking import broken
from tests.simulation.flows import EVERYTHING
from tests.simulation.law_mutants import LAW_MUTANTS
from tests.simulation.mutants import MUTANTS
from tests.simulation.unnoticed_mutants import UNNOTICED

_QUICK = (
    "appends are not fenced",
    "what is leased is claimed",
    "messages are not written",
    "nothing is claimed",
    "commands wake nobody",
    "a start tells of state that is ahead of the log *",
    "a service ends with its first error *",
    "a state is kept that the log has gone on from",
)
_ALSO_ELSEWHERE = ("drop", "take_back_refusal")  # who has it takes no part in a run


@pytest.mark.parametrize("name", _QUICK)
def test_a_broken_runtime_is_noticed(name: str) -> None:
    with broken(MUTANTS[name]):
        assert any(run(seed, EVERYTHING).broken for seed in range(1, 15))


def test_what_is_replaced_is_what_is_called() -> None:
    """A function that others have imported by its name is replaced where they have it, and not where it comes from."""
    every = [*MUTANTS.values(), *(one.changes for one in UNNOTICED.values())]
    every += [one.changes for one in LAW_MUTANTS.values()]
    for owner, name, _ in (change for changes in every for change in changes):
        function = getattr(owner, name)
        is_its_own = getattr(function, "__module__", None) == getattr(owner, "__name__", "")
        if isinstance(owner, ModuleType) and is_its_own and name not in _ALSO_ELSEWHERE:
            others = [one.__name__ for one in list(sys.modules.values()) if one is not owner and _has(one, function)]
            assert not others, f"{others} have {name} of {owner.__name__}"


def _has(module: ModuleType, function: object) -> bool:
    return module.__name__.startswith("layover.") and vars(module).get(getattr(function, "__name__", "")) is function


def test_every_way_to_break_it_is_there_once_and_changes_something() -> None:
    assert not MUTANTS.keys() & UNNOTICED.keys()
    assert len(MUTANTS) >= 40
    for changes in [*MUTANTS.values(), *(one.changes for one in UNNOTICED.values())]:
        for owner, name, value in changes:
            assert getattr(owner, name) is not value
