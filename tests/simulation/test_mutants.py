"""A runtime that is broken on purpose breaks a law. All ways to break it are tried by tools/break_runtime.py."""

from __future__ import annotations

import pytest

from layover.testing.simulation.running import run
from tests.simulation.flows import EVERYTHING
from tests.simulation.mutants import MUTANTS, UNNOTICED, broken

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


@pytest.mark.parametrize("name", _QUICK)
def test_a_broken_runtime_is_noticed(name: str) -> None:
    with broken(MUTANTS[name]):
        assert any(run(seed, EVERYTHING).broken for seed in range(1, 15))


def test_every_way_to_break_it_is_there_once_and_changes_something() -> None:
    assert not MUTANTS.keys() & UNNOTICED.keys()
    assert len(MUTANTS) >= 40
    for changes in [*MUTANTS.values(), *(one.changes for one in UNNOTICED.values())]:
        for owner, name, value in changes:
            assert getattr(owner, name) is not value
