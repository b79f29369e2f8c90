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


def advance(context: DecisionContext) -> None:
    """Go on until the execution rests, waits for calls, or is closed, or has got as far as it may in one turn."""
    state = context.state
    while not (facts := state.facts).closed:
        if facts.gate != "open":
            if facts.gate == "pausing" and gate.has_drained(state):
                gate.rest(context)
            return
        if context.settled:
            _look_at_scope(context, context.settled.pop())
        elif state.queue.rows:
            if len(context.events) >= context.most:
                return  # all else is settled: whatever is told to the execution next goes on from here
            begin(context, state.queue.rows[state.counts.rows["first_ticket"]])
        elif state.answered.rows and (point := next_answered(context)) is not None:
            apply(context, point)
        else:
            return


def look_everywhere(context: DecisionContext) -> None:
    """Go on with whatever came to an end while the gate was closed."""
    context.settled.extend(sorted(context.state.scopes.rows))
    for name in sorted(name for name, node in context.state.nodes.rows.items() if node.status == "entered"):
        if not context.state.facts.closed and context.state.node(name).status == "entered":
            go_on(context, name)


def _look_at_scope(context: DecisionContext, path: str) -> None:
    """Close a scope whose nodes are all settled; where none is open, its container goes on."""
    scope = context.state.scopes.rows.get(path)
    if scope is None:
        name = container_of(path)
        if context.state.node(name).status == "entered":
            go_on(context, name)
    elif scope.open == 0:
        if path:
            close_scope(context, path)
        else:
            _finish(context)


def _finish(context: DecisionContext) -> None:
    """End the execution with what its last nodes give, if that can stand in an event."""
    try:
        output = bounded(leaf_output(context, ""), "What its last nodes give")
    except ExpressionError as failure:
        cancel_points(context, "")
        context.emit(ev.ExecutionFailed(error=error_of(failure)))
    else:
        finish(context, output)
