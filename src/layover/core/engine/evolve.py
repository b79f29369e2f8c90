"""Events to state. No rule lives here and nothing can fail: an event that was recorded has happened."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast

from layover.core.engine import apply_execution as executions
from layover.core.engine import apply_fork, apply_move, apply_rewind, conversations, halting
from layover.core.engine import apply_nodes as nodes
from layover.core.engine import apply_points as points
from layover.core.engine import events as ev

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from layover.core.engine.state import ExecutionState

Applier: TypeAlias = "Callable[[ExecutionState, ev.AnyEvent, int], None]"


def evolve(state: ExecutionState, event: ev.AnyEvent, at: int) -> ExecutionState:
    """Apply an event that happened at a moment; the given state itself moves on and is returned."""
    _APPLY[type(event)](state, event, at)
    counts = state.counts.rows
    seq = counts["seq"]
    state.undo_log.note((counts, "seq", seq))  # as `count` does, which is not called here: it would be for every event
    counts["seq"] = seq + 1
    if counts["losses"] and type(event) not in ev.TAKING_UP:
        state.counts.put("losses", 0)
    if state.timed:
        executions.count_active_time(state, at)
    return state


def fold(state: ExecutionState, entries: Iterable[tuple[int, ev.AnyEvent]]) -> ExecutionState:
    """Apply committed events, each with its time; they cannot be undone."""
    for at, event in entries:
        evolve(state, event, at)
    state.undo_log.keep()
    return state


_APPLY: dict[type[ev.DomainEvent], Applier] = cast(
    "dict[type[ev.DomainEvent], Applier]",
    {
        ev.ExecutionCreated: executions.created,
        ev.ExecutionForked: apply_fork.forked,
        ev.ExecutionAdmitted: executions.admitted,
        ev.ExecutionStarted: executions.started,
        ev.LegStarted: executions.leg_started,
        ev.ExecutionPausing: executions.pausing,
        ev.BreakpointSet: executions.breakpoint_set,
        ev.BreakpointCleared: executions.breakpoint_cleared,
        ev.ExecutionPaused: executions.paused,
        ev.ExecutionPauseNoted: executions.pause_noted,
        ev.ExecutionResumeScheduled: executions.resume_scheduled,
        ev.ExecutionResumed: executions.resumed,
        ev.ExecutionCompleted: executions.execution_completed,
        ev.ExecutionFailed: executions.execution_failed,
        ev.ExecutionCancelled: executions.cancelled,
        ev.ExecutionReopened: executions.reopened,
        ev.ExecutionMoved: apply_move.moved,
        ev.NodeRewound: apply_rewind.rewound,
        ev.NodeScheduled: nodes.scheduled,
        ev.NodeStarted: nodes.node_started,
        ev.NodeCheckpointed: nodes.checkpointed,
        ev.NodeRecorded: nodes.recorded,
        ev.NodeHandedOver: nodes.handed_over,
        ev.NodeInDoubt: nodes.in_doubt,
        ev.NodeProbed: nodes.probed,
        ev.NodeUndoRequested: nodes.undo_requested,
        ev.NodeUndone: nodes.undone,
        ev.NodeUndoFailed: nodes.undo_failed,
        ev.NodeCompleted: nodes.node_completed,
        ev.NodeFailed: nodes.node_failed,
        ev.WaitSkipped: nodes.wait_skipped,
        ev.RetryCancelled: nodes.retry_cancelled,
        ev.ScopeOpened: nodes.scope_opened,
        ev.ScopeClosed: nodes.scope_closed,
        ev.ScopeReopened: halting.scope_reopened,
        ev.VariableSet: nodes.variable_set,
        ev.PausePointOpened: points.opened,
        ev.PausePointDecided: points.decided,
        ev.PausePointReceived: points.received,
        ev.PausePointSignalled: points.signalled,
        ev.PausePointReminded: points.reminded,
        ev.PausePointEscalated: points.escalated,
        ev.PausePointDelegated: points.delegated,
        ev.PausePointClaimed: conversations.applied,
        ev.PausePointClaimEnded: conversations.applied,
        ev.PausePointAsked: conversations.applied,
        ev.PausePointReplied: conversations.applied,
        ev.PausePointBeat: points.beat,
        ev.PausePointHeld: points.held,
        ev.PausePointReleased: points.released,
        ev.PausePointAnswered: points.answered,
        ev.PausePointTakenBack: points.taken_back,
        ev.PausePointFinal: points.made_final,
        ev.PausePointApplied: points.point_ended,
        ev.PausePointExpired: points.point_ended,
        ev.PausePointCancelled: points.point_ended,
    },
)
