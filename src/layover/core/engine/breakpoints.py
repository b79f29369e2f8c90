"""Breakpoints: an execution pauses before a node, as an operator would have paused it at that moment.

An execution has breakpoints of its own, each of which holds it once; and it obeys those of its workflow each time, for
as long as they are set. Those are not in its log: the instance that drives it knows them. That it stopped at one is,
so that playing the log needs neither. What is held is the turn of the node in the queue of ready nodes: when the gate
opens it has had its stop, and a node that gets ready once more, in another round or after a rewind, has another turn.

A call begins once its step is durable, and so would the pause be. So a decision that has begun calls leaves the node in
the queue, and the next decision stops there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.state import CALLING

if TYPE_CHECKING:
    from layover.core.engine.decision_context import DecisionContext
    from layover.core.engine.state import ExecutionState
    from layover.core.plan import Plan, PlannedGraph


def change_breakpoints(context: DecisionContext, command: cmd.SetBreakpoint | cmd.ClearBreakpoint) -> None:
    """Have the execution pause before a node, or no longer before it, or before any."""
    known = context.state.facts.breakpoints
    if isinstance(command, cmd.SetBreakpoint):
        if command.node not in known:
            reason = command.reason or breakpoint_reason(command.node, command.by)
            context.emit(ev.BreakpointSet(node=command.node, reason=reason, by=command.by))
        return
    for node in sorted(known):
        if command.node in ("", node):
            context.emit(ev.BreakpointCleared(node=node, by=command.by))


def breakpoint_reason(node: str, by: str | None) -> str:
    """Return why an execution pauses before a node, if the operator gave no reason."""
    return f"It pauses before `{node}`, as {by or 'an operator'} has asked"


def stop(context: DecisionContext, ticket: int) -> bool:
    """Pause if there is a breakpoint before the node whose turn it is; return whether the node has to wait."""
    state = context.state
    facts, name = state.facts, state.queue.rows[ticket]
    if ticket <= facts.stopped_at:
        return False
    known = {**state.breakpoints, **facts.breakpoints}
    reason = known.get(name) or known.get(name.partition(":")[0])
    if reason is None:
        return False
    if not _has_begun_calls(state):
        context.emit(ev.ExecutionPausing(reason=reason, before=name))
    return True


def _has_begun_calls(state: ExecutionState) -> bool:
    """Return whether calls were begun that are not durable yet."""
    return any(state.node(name).status in CALLING for name in state.undo_log.overwritten(state.nodes.rows))


def has_node(plan: Plan, name: str) -> bool:
    """Return whether a graph has a node with an id, at any depth."""
    return _has_node(plan.graph, name)


def _has_node(graph: PlannedGraph, name: str) -> bool:
    return name in graph.by_id or any(_has_node(body, name) for one in graph.nodes for body in one.bodies.values())
