"""The undo log leads back to nothing that holds it: tables are kept out of the garbage collector."""

from __future__ import annotations

import gc
import weakref

from layover.core.engine import commands as cmd
from layover.core.engine.decide import play
from layover.core.engine.state import ExecutionState

from .flows import rehearse


class Given:
    """An input that tells when it is gone."""


def test_a_state_whose_decision_is_neither_kept_nor_undone_is_freed_without_the_collector() -> None:
    given = Given()
    gone = weakref.ref(given)
    state = ExecutionState(rehearse("  - {id: a, type: form, title: Well}\n").plan)
    play(state, cmd.Create(id="execution", input=given, instance="here"), 1)
    gc.disable()
    try:
        del given, state
        assert gone() is None
    finally:
        gc.enable()


def test_going_back_puts_the_single_values_back() -> None:
    state = ExecutionState(rehearse("  - {id: a, type: form, title: Well}\n").plan)
    play(state, cmd.Create(id="execution", instance="here"), 1)
    assert state.facts.started_at == 1
    state.revert()
    assert (state.facts.id, state.facts.started_at) == ("", 0)
    assert not state.points.rows
