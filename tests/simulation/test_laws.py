"""A runtime that breaks a promise to those outside breaks the law that is named for it; an unbroken one does not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from layover.testing.simulation.laws import LAWS
from layover.testing.simulation.mixture import drawn
from layover.testing.simulation.running import run
from tests.simulation.breaking import broken
from tests.simulation.flows import EVERYTHING, only
from tests.simulation.law_mutants import LAW_MUTANTS, LawMutant
from tests.simulation.mutants import MUTANTS, NOTICED

if TYPE_CHECKING:
    from layover.testing.simulation.world import Ran

_SEEDS = range(1, 121)


def _ran(mutant: LawMutant, seed: int) -> Ran:
    mixture = drawn(seed, executions=20, minutes=5, **mutant.overdone)
    return run(seed, replace(EVERYTHING, focus=None, start=only(*mutant.workflows)), mixture)


@pytest.mark.parametrize("name", LAW_MUTANTS)
def test_a_broken_promise_is_noticed_by_its_law(name: str) -> None:
    mutant = LAW_MUTANTS[name]
    with broken(mutant.changes):
        assert any(one.law in mutant.laws for seed in _SEEDS for one in _ran(mutant, seed).broken)


def test_every_law_has_a_mutant_that_it_notices() -> None:
    """Those that are not tried here are seen to be noticed by what `tools/break_runtime.py` prints."""
    here = {law for mutant in LAW_MUTANTS.values() for law in mutant.laws}
    elsewhere = {law for laws in NOTICED.values() for law in laws}
    assert set(LAWS) == here | elsewhere | {"EFFECT_ONCE", "NO_LIVELOCK"}  # test_simulate.py, test_endless.py
    assert NOTICED.keys() <= MUTANTS.keys()


@pytest.mark.parametrize("name", LAW_MUTANTS)
def test_what_is_overdone_breaks_nothing_by_itself(name: str) -> None:
    assert not _ran(LAW_MUTANTS[name], 1).broken
