"""Taking work up again: after a lost instance, a failure, or a change of mind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine import events as ev
from layover.core.engine.activate import attempt, start_attempt
from layover.core.engine.failures import fail
from layover.core.engine.in_doubt import ask_about, doubted
from layover.core.engine.rewind import can_go_back, go_back, reopen_execution
from layover.core.engine.starting import start

if TYPE_CHECKING:
    from layover.core.engine import commands as cmd
    from layover.core.engine.decision_context import DecisionContext
    from layover.core.engine.state import NodeState


def recover(turn: DecisionContext, *, lost: bool = True) -> None:
    """Make again the calls that were out when their instance was lost, or was stopped in order."""
    for name, node in sorted(turn.state.nodes.rows.items()):
        if turn.state.facts.closed or turn.state.nodes.get(name) is not node:
            continue
        if node.status == "running":
            _recover_call(turn, name, node, lost=lost)
        elif node.status == "scheduled":
            start_attempt(turn, name, turn.state.planned(name), node.attempt)


def release_incidents(turn: DecisionContext) -> None:
    """Try again what waits for an operator after its last attempt, once the gate is open."""
    state = turn.state
    for name in sorted(name for name, node in state.nodes.rows.items() if node.status == "incident"):
        # The failure of one of them may have ended the execution, or the scope that another is in.
        if state.facts.gate == "open" and not state.facts.closed and state.node(name).status == "incident":
            attempt(turn, name, state.planned(name), "retried")


def retry(turn: DecisionContext, command: cmd.Retry) -> None:
    """Reopen a failed execution: it goes on from what failed and what that took with it; what was out is recovered."""
    if turn.state.facts.closed != "failed":
        if not turn.state.facts.closed:
            release_incidents(turn)
        return
    reopen_execution(turn, "retry", command)
    start(turn)
    recover(turn)


def rewind(turn: DecisionContext, command: cmd.Rewind) -> None:
    """Go back to a node that has been reached, in a scope that is not done; anything else changes nothing."""
    if can_go_back(turn, command.to):
        was_closed = bool(turn.state.facts.closed)
        go_back(turn, command.to, command.reason, command=command)
        if was_closed:
            recover(turn)


def _recover_call(turn: DecisionContext, name: str, node: NodeState, *, lost: bool) -> None:
    point = turn.state.points.get(node.point) if node.point else None
    if point is not None and point.status == "answered":
        turn.emit(ev.NodeHandedOver(node=name))  # who has replied need not be called once more
        return
    asked = doubted(turn, name)
    if lost and node.recoveries >= turn.state.plan.definition.settings.max_recoveries:
        message = f"Its instance was lost {node.recoveries + 1} times while it ran."
        fail(turn, name, ev.Error(code="max_recoveries", message=message, retryable=False, attempt=node.attempt))
    elif asked:
        ask_about(turn, name)
    else:
        attempt(turn, name, turn.state.planned(name), "recovered", lost=lost)
