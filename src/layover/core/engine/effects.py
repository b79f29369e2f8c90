"""What the world outside has to do about events that have become durable: make calls, stop them, keep its rows.

A pure translation: whoever runs the engine does these things after the commit, in this order. A call that is stopped
may still report; the engine tells by its attempt that nobody waits for it. What another execution is told carries the
number of the event that it comes from: of one event, each is told at most one thing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, assert_never

import msgspec

from layover.core.definitions.node_types import Call as CallNode
from layover.core.definitions.node_types import ChildWorkflow, WaitSignal
from layover.core.engine import events as ev
from layover.core.engine.gate import open_children
from layover.core.engine.in_doubt import is_probing
from layover.core.engine.node_transitions import scope_path
from layover.core.engine.signals import awaited_signals
from layover.core.engine.state import Point

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from layover.core.engine.state import Execution


class Call(msgspec.Struct, frozen=True, gc=False):
    """Make a call and report what it came to, with its attempt.

    With a `point` it is told how to call back. A `probe` asks whether an earlier call, which was lost, had its effect.
    """

    node: str
    node_type: str
    attempt: int
    input: object
    timeout_at: int | None = None
    point: str = ""
    probe: bool = False
    heartbeat: int | None = None
    checkpoint: object = None
    journal: dict[str, object] = {}


class StopCalls(msgspec.Struct, frozen=True):
    """Ask the calls in a scope, and in the scopes within it, to stop; the empty path means all."""

    path: str


class StopCall(msgspec.Struct, frozen=True):
    """Ask the call of a node to stop: what it was made for has come to an end without it."""

    node: str


class OpenPoint(msgspec.Struct, frozen=True):
    """Make a point visible to whoever is waited for."""

    point: Point


class ClosePoint(msgspec.Struct, frozen=True):
    """Nobody is waited for at a point any more."""

    point: str
    how: str


class StartChild(msgspec.Struct, frozen=True):
    """Start another workflow under an id; what it comes to is reported to the point, if it is not detached.

    `seq` is the number of the event that this comes from, here and in the other messages to executions.
    """

    point: str
    workflow: str
    version: int | None
    input: object
    detached: bool
    child: str
    seq: int = 0


class TellChild(msgspec.Struct, frozen=True):
    """Pause, resume or cancel a child execution; `order` is the number of the pause."""

    child: str
    what: Literal["pause", "resume", "cancel"]
    reason: str = ""
    order: int = 0
    seq: int = 0


class TellParent(msgspec.Struct, frozen=True):
    """Tell the parent, at the point where it waits, that this execution is paused, goes on, or is closed."""

    parent: str
    point: str
    what: Literal["paused", "resumed", "closed"]
    output: object = None
    error: ev.Error | None = None
    order: int = 0
    seq: int = 0


class Scan(msgspec.Struct, frozen=True):
    """Look for signals that have come before their point was open, from a moment on."""

    point: str
    signals: tuple[tuple[str, str], ...]
    since: int
    seq: int


class Notify(msgspec.Struct, frozen=True):
    """Tell the people who are asked: a point was opened, it is time to remind, more are asked."""

    point: str
    why: str


class Close(msgspec.Struct, frozen=True):
    """The execution is closed: tell whoever waits for it."""

    status: str


Effect: TypeAlias = (
    Call | StopCalls | StopCall | OpenPoint | ClosePoint | StartChild | TellChild | TellParent | Scan | Notify | Close
)

# Most steps are made of these: they are passed over before anything is asked about them.
_WITHOUT_EFFECT: frozenset[type[ev.Event]] = frozenset(
    {ev.NodeScheduled, ev.NodeCompleted, ev.NodeFailed, ev.ScopeOpened, ev.VariableSet}
)
_ENDS: dict[type[ev.Event], str] = {
    ev.PausePointApplied: "applied",
    ev.PausePointExpired: "expired",
    ev.PausePointCancelled: "cancelled",
}
_EXPIRED = "Its parent waits for it no longer: the time has passed."


def effects(state: Execution, events: Sequence[ev.AnyEvent]) -> list[Effect]:
    """Return what is to be done about the last events that the state has taken in."""
    told: list[Effect] = []
    new_children: set[object] = set()
    first = state.counts.rows["seq"] - len(events)
    for seq, event in enumerate(events, first):
        if type(event) in _WITHOUT_EFFECT:
            continue
        if isinstance(event, ev.NodeStarted):
            started = _started(state, event, seq)
            if started is not None:
                told.append(started)
            continue
        if isinstance(event, ev.ExecutionPausing):
            later = sum(1 for one in events[seq - first + 1 :] if isinstance(one, ev.ExecutionPausing))
            told.extend(_pause_children(state, event, seq, state.facts.pauses - later))
            continue
        told.extend(_effects_of(state, event, seq))
        if isinstance(event, ev.PausePointOpened) and event.kind == "child":
            new_children.add(event.details["child"])
    return _once_started(told, new_children) if new_children else told


def _once_started(told: list[Effect], new_children: set[object]) -> list[Effect]:
    """Leave out what a child would be told before it is started, or although it never is: its point was given up."""
    kept: list[Effect] = []
    for effect in told:
        if isinstance(effect, StartChild):
            new_children.discard(effect.child)
        if not (isinstance(effect, TellChild) and effect.child in new_children):
            kept.append(effect)
    return kept


def _pause_children(state: Execution, event: ev.ExecutionPausing, seq: int, order: int) -> Iterator[Effect]:
    for point in open_children(state):
        yield TellChild(point.child, "pause", event.reason, order=order, seq=seq)


def _effects_of(state: Execution, event: ev.AnyEvent, seq: int) -> Iterator[Effect]:
    match event:
        case ev.ScopeClosed(end="failed" | "cancelled"):
            yield StopCalls(scope_path(event.node, event.key))
        case ev.NodeRewound():
            yield StopCalls(event.node.partition(":")[2])
        case ev.ExecutionCompleted() | ev.ExecutionFailed() | ev.ExecutionCancelled():
            yield StopCalls("")
            yield Close(state.status)
            yield from _tell_parent(state, event, seq)
        case ev.ExecutionPaused():
            yield from _tell_parent(state, event, seq)
        case ev.ExecutionPauseNoted() if state.facts.gate != "pausing":  # else it says so when it is paused
            yield from _tell_parent(state, event, seq)
        case ev.ExecutionResumed():
            yield from (TellChild(point.child, "resume", event.reason, seq=seq) for point in open_children(state))
            yield from _tell_parent(state, event, seq)
        case _:
            yield from _effects_of_point(state, event, seq)


def _started(state: Execution, event: ev.NodeStarted, seq: int) -> Effect | None:
    node, planned = state.node(event.node), state.planned(event.node)
    kind = planned.node
    if isinstance(kind, ChildWorkflow):  # one that is waited for has a point instead
        child = state.child_id(event.node, event.attempt)
        return StartChild("", kind.workflow, kind.version, event.input, True, child, seq)  # noqa: FBT003 - detached
    # A later event of the same decision may have ended it, and a container makes no call.
    if node.status != "running" or node.attempt != event.attempt:
        return None
    called, heartbeat = (kind.type, kind.heartbeat) if isinstance(kind, CallNode) else (planned.calls, None)
    return Call(
        event.node,
        called,
        event.attempt,
        event.input,
        event.timeout_at,
        node.point,
        node.doubt and is_probing(state, event.node),
        heartbeat,
        node.checkpoint,
        node.journal,
    )


_ToParent: TypeAlias = (
    ev.ExecutionPaused
    | ev.ExecutionPauseNoted
    | ev.ExecutionResumed
    | ev.ExecutionCompleted
    | ev.ExecutionFailed
    | ev.ExecutionCancelled
)


def _tell_parent(state: Execution, event: _ToParent, seq: int) -> Iterator[Effect]:
    parent, point = state.facts.parent, state.facts.parent_point
    if parent is None or point is None:
        return
    match event:
        case ev.ExecutionPaused() | ev.ExecutionPauseNoted():
            yield TellParent(parent, point, "paused", order=event.order, seq=seq)
        case ev.ExecutionResumed():
            yield TellParent(parent, point, "resumed", seq=seq)
        case ev.ExecutionCompleted():
            yield TellParent(parent, point, "closed", output=event.output, seq=seq)
        case ev.ExecutionFailed():
            yield TellParent(parent, point, "closed", error=event.error, seq=seq)
        case ev.ExecutionCancelled():
            message = event.reason or "The child execution was cancelled."
            error = ev.Error(code="child_cancelled", message=message, retryable=False)
            yield TellParent(parent, point, "closed", error=error, seq=seq)
        case _:
            assert_never(event)


def _effects_of_point(state: Execution, event: ev.AnyEvent, seq: int) -> Iterator[Effect]:
    match event:
        case ev.PausePointOpened():
            yield from _opened(state, event, seq)
        case ev.PausePointReminded():
            yield Notify(event.point, "reminded")
        case ev.PausePointEscalated():
            yield Notify(event.point, "escalated")
        case ev.PausePointAnswered():
            yield ClosePoint(event.point, "answered")
        case ev.PausePointApplied() | ev.PausePointExpired() | ev.PausePointCancelled():
            yield from _ended(event, seq)
        case _:
            pass


def _ended(event: ev.PausePointApplied | ev.PausePointExpired | ev.PausePointCancelled, seq: int) -> Iterator[Effect]:
    yield ClosePoint(event.point, _ENDS[type(event)])
    if event.call:
        yield StopCall(event.call)
    if not isinstance(event, ev.PausePointApplied) and event.child:
        reason = event.reason if isinstance(event, ev.PausePointCancelled) else _EXPIRED
        yield TellChild(event.child, "cancel", reason, seq=seq)


def _opened(state: Execution, event: ev.PausePointOpened, seq: int) -> Iterator[Effect]:
    point = state.points.get(event.point)
    if point is None:
        return  # it was settled in the same decision
    yield OpenPoint(point)
    node = state.planned(event.node).node
    if isinstance(node, ChildWorkflow):
        given = event.details.get("input")
        child = str(event.details["child"])
        yield StartChild(event.point, node.workflow, node.version, given, False, child, seq)  # noqa: FBT003 - waited for
    elif isinstance(node, WaitSignal):
        yield Scan(event.point, awaited_signals(point), point.opened_at - node.lookback, seq)
    elif event.kind in ("approval", "form"):
        yield Notify(event.point, "opened")
