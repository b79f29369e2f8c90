"""Run every rule that follows by itself: ready nodes start, settled scopes close, answers are applied.

Behind a closed gate nothing starts; the execution is paused as soon as every call in flight has ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine import events as ev
from layover.core.engine import gate
from layover.core.engine.activate import activate, finish
from layover.core.engine.breakpoints import stop
from layover.core.engine.containers import close_scope, continue_container, leaf_output
from layover.core.engine.failures import cancel_points, error_of
from layover.core.engine.node_transitions import container_of
from layover.core.engine.points import apply, next_answered
from layover.core.engine.sizes import bounded
from layover.core.expressions import ExpressionError

if TYPE_CHECKING:
    from layover.core.engine.decision_context import DecisionContext


def advance(context: DecisionContext) -> None:
    """Decide until the execution rests, waits for calls, is closed, or has reached its limit of events per decision."""
    state = context.state
    while not (facts := state.facts).closed:
        if facts.gate != "open":
            if facts.gate == "pausing" and gate.has_drained(state):
                gate.rest(context)
            return
        if context.settled:
            _check_scope(context, context.settled.pop())
        elif state.queue.rows:
            if len(context.events) >= context.most:
                return  # the next command goes on from here
            ticket = state.counts.rows["first_ticket"]
            if (state.breakpoints or facts.breakpoints) and stop(context, ticket):
                if facts is state.facts:
                    return  # the next command stops there
            else:
                activate(context, state.queue.rows[ticket])
        elif state.answered.rows and (point := next_answered(context)) is not None:
            apply(context, point)
        else:
            return


def check_all_scopes(context: DecisionContext) -> None:
    """Check every scope and container: some may have settled while the gate was closed."""
    context.settled.extend(sorted(context.state.scopes.rows))
    for name in sorted(name for name, node in context.state.nodes.rows.items() if node.status == "entered"):
        if not context.state.facts.closed and context.state.node(name).status == "entered":
            continue_container(context, name)


def _check_scope(context: DecisionContext, path: str) -> None:
    """Close a scope whose nodes are all settled; a container without open scopes goes on."""
    scope = context.state.scopes.rows.get(path)
    if scope is None:
        name = container_of(path)
        if context.state.node(name).status == "entered":
            continue_container(context, name)
    elif scope.open == 0:
        if path:
            close_scope(context, path)
        else:
            _finish(context)


def _finish(context: DecisionContext) -> None:
    """End the execution with the output of its last nodes, if that is not too large for an event."""
    try:
        output = bounded(leaf_output(context, ""), "The output of the last nodes")
    except ExpressionError as failure:
        cancel_points(context, "")
        context.emit(ev.ExecutionFailed(error=error_of(failure)))
    else:
        finish(context, output)
