"""Everything that follows by itself, until nothing does: ready nodes begin, finished scopes close, answers are applied.

Behind a closed gate nothing begins; the execution is paused as soon as everything in flight has come to rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine import events as ev
from layover.core.engine import gate
from layover.core.engine.activate import begin, finish
from layover.core.engine.containers import close_scope, go_on, leaf_output
from layover.core.engine.failures import cancel_points, error_of
from layover.core.engine.node_transitions import container_of
from layover.core.engine.points import apply, next_answered
from layover.core.engine.sizes import bounded
from layover.core.expressions import ExpressionError

if TYPE_CHECKING:
    from layover.core.engine.decision_context import DecisionContext


def advance(turn: DecisionContext) -> None:
    """Go on until the execution rests, waits for calls, or is closed, or has got as far as it may in one turn."""
    state = turn.state
    while not (facts := state.facts).closed:
        if facts.gate != "open":
            if facts.gate == "pausing" and gate.has_drained(state):
                gate.rest(turn)
            return
        if turn.settled:
            _look_at_scope(turn, turn.settled.pop())
        elif state.queue.rows:
            if len(turn.events) >= turn.most:
                return  # all else is settled: whatever is told to the execution next goes on from here
            begin(turn, state.queue.rows[state.counts.rows["first_ticket"]])
        elif state.answered.rows and (point := next_answered(turn)) is not None:
            apply(turn, point)
        else:
            return


def look_everywhere(turn: DecisionContext) -> None:
    """Go on with whatever came to an end while the gate was closed."""
    turn.settled.extend(sorted(turn.state.scopes.rows))
    for name in sorted(name for name, node in turn.state.nodes.rows.items() if node.status == "entered"):
        if not turn.state.facts.closed and turn.state.node(name).status == "entered":
            go_on(turn, name)


def _look_at_scope(turn: DecisionContext, path: str) -> None:
    """Close a scope whose nodes are all settled; where none is open, its container goes on."""
    scope = turn.state.scopes.rows.get(path)
    if scope is None:
        name = container_of(path)
        if turn.state.node(name).status == "entered":
            go_on(turn, name)
    elif scope.open == 0:
        if path:
            close_scope(turn, path)
        else:
            _finish(turn)


def _finish(turn: DecisionContext) -> None:
    """End the execution with what its last nodes give, if that can stand in an event."""
    try:
        output = bounded(leaf_output(turn, ""), "What its last nodes give")
    except ExpressionError as failure:
        cancel_points(turn, "")
        turn.emit(ev.ExecutionFailed(error=error_of(failure)))
    else:
        finish(turn, output)
