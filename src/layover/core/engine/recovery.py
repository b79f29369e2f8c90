"""Continuing after a lost instance, a failure, or a rewind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine import events as ev
from layover.core.engine.activate import attempt, start_attempt
from layover.core.engine.failures import fail
from layover.core.engine.in_doubt import ask_about, record_doubt
from layover.core.engine.rewind import can_go_back, go_back, reopen_execution
from layover.core.engine.starting import start

if TYPE_CHECKING:
    from layover.core.engine import commands as cmd
    from layover.core.engine.decision_context import DecisionContext
    from layover.core.engine.state import NodeState


def recover(context: DecisionContext, *, lost: bool = True) -> None:
    """Repeat the calls that were out when their instance was lost or stopped in order."""
    for name, node in sorted(context.state.nodes.rows.items()):
        if context.state.facts.closed or context.state.nodes.get(name) is not node:
            continue
        if node.status == "running":
            _recover_call(context, name, node, lost=lost)
        elif node.status == "scheduled":
            start_attempt(context, name, context.state.planned(name), node.attempt)


def release_incidents(context: DecisionContext) -> None:
    """Retry the nodes that wait for an operator after their last attempt, once the gate is open."""
    state = context.state
    for name in sorted(name for name, node in state.nodes.rows.items() if node.status == "incident"):
        # The failure of one of them may have ended the execution, or the scope of another.
        if state.facts.gate == "open" and not state.facts.closed and state.node(name).status == "incident":
            attempt(context, name, state.planned(name), "retried")


def retry(context: DecisionContext, command: cmd.Retry) -> None:
    """Reopen a failed execution: it continues from what failed; calls that were out are recovered."""
    if context.state.facts.closed != "failed":
        if not context.state.facts.closed:
            release_incidents(context)
        return
    reopen_execution(context, "retry", command)
    start(context)
    recover(context)


def rewind(context: DecisionContext, command: cmd.Rewind) -> None:
    """Go back to a node that has been reached, in a scope that is not done; otherwise nothing changes."""
    if can_go_back(context.state, command.to):
        was_closed = bool(context.state.facts.closed)
        go_back(context, command.to, command.reason, command=command)
        if was_closed:
            recover(context)


def _recover_call(context: DecisionContext, name: str, node: NodeState, *, lost: bool) -> None:
    point = context.state.points.get(node.point) if node.point else None
    if point is not None and point.status == "answered":
        context.emit(ev.NodeHandedOver(node=name))  # the callback is there: no need for another call
        return
    asked = record_doubt(context, name)
    if lost and node.recoveries >= context.state.plan.definition.settings.max_recoveries:
        message = f"Its instance was lost {node.recoveries + 1} times while it ran."
        fail(context, name, ev.Error(code="max_recoveries", message=message, retryable=False, attempt=node.attempt))
    elif asked:
        ask_about(context, name)
    else:
        attempt(context, name, context.state.planned(name), "recovered", lost=lost)
