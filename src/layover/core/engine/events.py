"""Everything that has happened to an execution, kept forever.

Each event has a stable tag and carries everything that replay needs; changes are additive only. `node` is always a
context id, and a node is opened by `NodeScheduled` and closed by one of its ends. A node that the engine decides by
itself (a condition, a set) has only its `NodeCompleted`. Skipped paths are derived from the plan and never logged.

Values in events are plain JSON, so no event can be part of a cycle, and the collector need not look at any of them
(`gc=False`). The same goes for the rows of the state.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from layover.core.engine.event_base import Cause, DomainEvent, Error, Fate, NodeStatus, PointKind, ScopeEnd
from layover.core.engine.execution_events import (
    BreakpointCleared,
    BreakpointSet,
    ExecutionAdmitted,
    ExecutionCancelled,
    ExecutionCompleted,
    ExecutionCreated,
    ExecutionFailed,
    ExecutionMoved,
    ExecutionPaused,
    ExecutionPauseNoted,
    ExecutionPausing,
    ExecutionReopened,
    ExecutionResumed,
    ExecutionResumeScheduled,
    ExecutionStarted,
    LegStarted,
    NodeRewound,
)
from layover.core.engine.fork_events import CarriedNode, CarriedSet, ExecutionForked
from layover.core.engine.node_events import (
    NodeCheckpointed,
    NodeCompleted,
    NodeFailed,
    NodeHandedOver,
    NodeInDoubt,
    NodeProbed,
    NodeRecorded,
    NodeScheduled,
    NodeStarted,
    NodeUndoFailed,
    NodeUndone,
    NodeUndoRequested,
    RetryCancelled,
    ScopeClosed,
    ScopeOpened,
    ScopeReopened,
    VariableSet,
    WaitSkipped,
)
from layover.core.engine.point_events import (
    PausePointAnswered,
    PausePointApplied,
    PausePointAsked,
    PausePointBeat,
    PausePointCancelled,
    PausePointClaimed,
    PausePointClaimEnded,
    PausePointDecided,
    PausePointDelegated,
    PausePointEscalated,
    PausePointExpired,
    PausePointFinal,
    PausePointHeld,
    PausePointOpened,
    PausePointReceived,
    PausePointReleased,
    PausePointReminded,
    PausePointReplied,
    PausePointSignalled,
    PausePointTakenBack,
)

__all__ = [
    "TAKING_UP",
    "AnyEvent",
    "BreakpointCleared",
    "BreakpointSet",
    "CarriedNode",
    "CarriedSet",
    "Cause",
    "DomainEvent",
    "Error",
    "ExecutionAdmitted",
    "ExecutionCancelled",
    "ExecutionCompleted",
    "ExecutionCreated",
    "ExecutionFailed",
    "ExecutionForked",
    "ExecutionMoved",
    "ExecutionPauseNoted",
    "ExecutionPaused",
    "ExecutionPausing",
    "ExecutionReopened",
    "ExecutionResumeScheduled",
    "ExecutionResumed",
    "ExecutionStarted",
    "Fate",
    "LegStarted",
    "NodeCheckpointed",
    "NodeCompleted",
    "NodeFailed",
    "NodeHandedOver",
    "NodeInDoubt",
    "NodeProbed",
    "NodeRecorded",
    "NodeRewound",
    "NodeScheduled",
    "NodeStarted",
    "NodeStatus",
    "NodeUndoFailed",
    "NodeUndoRequested",
    "NodeUndone",
    "PausePointAnswered",
    "PausePointApplied",
    "PausePointAsked",
    "PausePointBeat",
    "PausePointCancelled",
    "PausePointClaimEnded",
    "PausePointClaimed",
    "PausePointDecided",
    "PausePointDelegated",
    "PausePointEscalated",
    "PausePointExpired",
    "PausePointFinal",
    "PausePointHeld",
    "PausePointOpened",
    "PausePointReceived",
    "PausePointReleased",
    "PausePointReminded",
    "PausePointReplied",
    "PausePointSignalled",
    "PausePointTakenBack",
    "PointKind",
    "RetryCancelled",
    "ScopeClosed",
    "ScopeEnd",
    "ScopeOpened",
    "ScopeReopened",
    "VariableSet",
    "WaitSkipped",
]

AnyEvent: TypeAlias = (
    ExecutionCreated
    | ExecutionForked
    | ExecutionAdmitted
    | ExecutionStarted
    | LegStarted
    | ExecutionPausing
    | ExecutionPaused
    | ExecutionPauseNoted
    | ExecutionResumeScheduled
    | ExecutionResumed
    | BreakpointSet
    | BreakpointCleared
    | ExecutionCompleted
    | ExecutionFailed
    | ExecutionCancelled
    | ExecutionReopened
    | ExecutionMoved
    | NodeRewound
    | NodeScheduled
    | NodeStarted
    | NodeCheckpointed
    | NodeRecorded
    | NodeHandedOver
    | NodeInDoubt
    | NodeProbed
    | NodeUndoRequested
    | NodeUndone
    | NodeUndoFailed
    | NodeCompleted
    | NodeFailed
    | WaitSkipped
    | RetryCancelled
    | ScopeOpened
    | ScopeClosed
    | ScopeReopened
    | VariableSet
    | PausePointOpened
    | PausePointDecided
    | PausePointReceived
    | PausePointSignalled
    | PausePointReminded
    | PausePointEscalated
    | PausePointDelegated
    | PausePointClaimed
    | PausePointClaimEnded
    | PausePointAsked
    | PausePointReplied
    | PausePointBeat
    | PausePointHeld
    | PausePointReleased
    | PausePointAnswered
    | PausePointTakenBack
    | PausePointFinal
    | PausePointApplied
    | PausePointExpired
    | PausePointCancelled
)

# All that an execution can say about itself before a call has come to anything. Any other event is progress.
TAKING_UP: Final = frozenset({LegStarted, NodeInDoubt, NodeScheduled, NodeStarted, NodeUndone})
