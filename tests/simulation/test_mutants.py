"""A runtime that is broken on purpose breaks a law. All ways to break it are tried by tools/break_runtime.py."""

from __future__ import annotations

import pytest

from layover.testing.simulation.running import run
from tests.simulation.flows import EVERYTHING
from tests.simulation.mutants import MUTANTS, broken

_QUICK = ("appends are not fenced", "what is leased is claimed", "messages are not written", "nothing is claimed")


@pytest.mark.parametrize("name", _QUICK)
def test_a_broken_runtime_is_noticed(name: str) -> None:
    with broken(MUTANTS[name]):
        assert any(run(seed, EVERYTHING).broken for seed in range(1, 15))
