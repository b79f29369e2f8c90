"""A decision that is cut short is continued by the next command, and both together equal one long decision."""

from __future__ import annotations

import pytest

from layover.core.engine import commands as cmd
from layover.core.engine.decide import play
from layover.core.engine.state import ExecutionState
from layover.core.plan import load

NOW = 1_800_000_000_000

BODY = [{"id": "rest", "type": "delay", "duration": "0s", "next": "one"}, {"id": "one", "type": "compute", "output": 1}]
INNER = {"id": "inner", "type": "loop", "times": 3, "body": BODY}
FLOW = {
    "name": "w",
    "nodes": [
        {"id": "rounds", "type": "loop", "times": 20, "body": [INNER], "next": "each"},
        {"id": "each", "type": "parallel", "for_each": "[1, 2, 3]", "body": BODY},
    ],
}


@pytest.mark.parametrize("most", [1, 7, 50])
def test_a_decision_in_parts_is_the_same_as_at_once(most: int) -> None:
    create = cmd.Create(id="0195f2a6-7c00-7000-8000-5d1e0f3a9b42", input=None, instance="i")
    whole = play(ExecutionState(load(FLOW)), create, NOW)
    state = ExecutionState(load(FLOW))
    parts = [play(state, create, NOW, most=most)]
    while not state.facts.closed:
        assert not state.resting
        parts.append(play(state, cmd.Wake(), NOW, most=most))
    assert [event for part in parts for event in part] == whole
    assert len(parts) > 3
    assert max(map(len, parts)) < most + 12
