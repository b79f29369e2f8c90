"""What the world outside has to do about events that have become durable: make calls, stop them, keep its rows.

A pure translation: whoever runs the engine does these things after the commit, in this order. A call that is stopped
may still report; the engine tells by its attempt that nobody waits for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, assert_never

import msgspec

from layover.core.definitions.node_types import Callback, ChildWorkflow
from layover.core.engine import events as ev
from layover.core.engine.gate import open_children
from layover.core.engine.movement import scope_path
from layover.core.engine.state import Point
from layover.core.ids import child_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from layover.core.engine.state import Execution


class Call(msgspec.Struct, frozen=True, gc=False):
    """Make a call and report what it came to, with its attempt."""

    node: str
    node_type: str
    attempt: int
    input: object
    timeout_at: int | None = None


class StopCalls(msgspec.Struct, frozen=True):
    """Ask the calls in a scope, and in the scopes within it, to stop; the empty path means all."""

    path: str


class OpenPoint(msgspec.Struct, frozen=True):
    """Make a point visible to whoever is waited for."""

    point: Point


class ClosePoint(msgspec.Struct, frozen=True):
    """Nobody is waited for at a point any more."""

    point: str
    how: str


class StartChild(msgspec.Struct, frozen=True):
    """Start another workflow under an id; what it comes to is reported to the point, if it is not detached."""

    point: str
    workflow: str
    version: int | None
    input: object
    detached: bool
    child: str


class TellChild(msgspec.Struct, frozen=True):
    """Pause, resume or cancel a child execution."""

    child: str
    what: Literal["pause", "resume", "cancel"]
    reason: str = ""


class TellParent(msgspec.Struct, frozen=True):
    """Tell the parent, at the point where it waits, that this execution is paused, goes on, or is closed."""

    parent: str
    point: str
    what: Literal["paused", "resumed", "closed"]
    output: object = None
    error: ev.Error | None = None


class Notify(msgspec.Struct, frozen=True):
    """Tell the people who are asked: a point was opened, it is time to remind, more are asked."""

    point: str
    why: str


class Close(msgspec.Struct, frozen=True):
    """The execution is closed: tell whoever waits for it."""

    status: str


Effect: TypeAlias = Call | StopCalls | OpenPoint | ClosePoint | StartChild | TellChild | TellParent | Notify | Close

# Most steps are made of these: they are passed over before anything is asked about them.
_WITHOUT_EFFECT: frozenset[type[ev.Event]] = frozenset(
    {ev.NodeScheduled, ev.NodeCompleted, ev.NodeFailed, ev.ScopeOpened, ev.VariableSet}
)
_EXPIRED = "Its parent waits for it no longer: the time has passed."


def effects(state: Execution, events: Iterable[ev.AnyEvent]) -> list[Effect]:
    """Return what is to be done about events that the state has taken in."""
    told: list[Effect] = []
    new_children: set[object] = set()
    for event in events:
        if type(event) in _WITHOUT_EFFECT:
            continue
        if isinstance(event, ev.NodeStarted):
            started = _started(state, event)
            if started is not None:
                told.append(started)
            continue
        told.extend(_effects_of(state, event))
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


def _effects_of(state: Execution, event: ev.AnyEvent) -> Iterator[Effect]:
    match event:
        case ev.ScopeClosed(end="failed" | "cancelled"):
            yield StopCalls(scope_path(event.node, event.key))
        case ev.NodeRewound():
            yield StopCalls(event.node.partition(":")[2])
        case ev.ExecutionCompleted() | ev.ExecutionFailed() | ev.ExecutionCancelled():
            yield StopCalls("")
            yield Close(state.status)
            yield from _tell_parent(state, event)
        case ev.ExecutionPausing():
            yield from (TellChild(point.child, "pause", event.reason) for point in open_children(state))
        case ev.ExecutionPaused():
            yield from _tell_parent(state, event)
        case ev.ExecutionResumed():
            yield from (TellChild(point.child, "resume", event.reason) for point in open_children(state))
            yield from _tell_parent(state, event)
        case _:
            yield from _effects_of_point(state, event)


def _started(state: Execution, event: ev.NodeStarted) -> Effect | None:
    node, planned = state.node(event.node), state.planned(event.node).node
    if isinstance(planned, ChildWorkflow):  # one that is waited for has a point instead
        child = child_id(state.facts.id, event.node, event.attempt)
        return StartChild("", planned.workflow, planned.version, event.input, True, child)  # noqa: FBT003 - detached
    # A later event of the same decision may have ended it, and a container makes no call.
    if node.status == "running" and node.attempt == event.attempt:
        return Call(event.node, planned.type, event.attempt, event.input, event.timeout_at)
    return None


_ToParent: TypeAlias = (
    ev.ExecutionPaused | ev.ExecutionResumed | ev.ExecutionCompleted | ev.ExecutionFailed | ev.ExecutionCancelled
)


def _tell_parent(state: Execution, event: _ToParent) -> Iterator[Effect]:
    parent, point = state.facts.parent, state.facts.parent_point
    if parent is None or point is None:
        return
    match event:
        case ev.ExecutionPaused():
            yield TellParent(parent, point, "paused")
        case ev.ExecutionResumed():
            yield TellParent(parent, point, "resumed")
        case ev.ExecutionCompleted():
            yield TellParent(parent, point, "closed", output=event.output)
        case ev.ExecutionFailed():
            yield TellParent(parent, point, "closed", error=event.error)
        case ev.ExecutionCancelled():
            message = event.reason or "The child execution was cancelled."
            error = ev.Error(code="child_cancelled", message=message, retryable=False)
            yield TellParent(parent, point, "closed", error=error)
        case _:
            assert_never(event)


def _effects_of_point(state: Execution, event: ev.AnyEvent) -> Iterator[Effect]:
    match event:
        case ev.PausePointOpened():
            yield from _opened(state, event)
        case ev.PausePointReminded():
            yield Notify(event.point, "reminded")
        case ev.PausePointEscalated():
            yield Notify(event.point, "escalated")
        case ev.PausePointAnswered():
            yield ClosePoint(event.point, "answered")
        case ev.PausePointApplied():
            yield ClosePoint(event.point, "applied")
        case ev.PausePointExpired():
            yield ClosePoint(event.point, "expired")
            if event.child:
                yield TellChild(event.child, "cancel", _EXPIRED)
        case ev.PausePointCancelled():
            yield ClosePoint(event.point, "cancelled")
            if event.child:
                yield TellChild(event.child, "cancel", event.reason)
        case _:
            pass


def _opened(state: Execution, event: ev.PausePointOpened) -> Iterator[Effect]:
    point = state.points.get(event.point)
    if point is None:
        return  # it was settled in the same decision
    yield OpenPoint(point)
    node = state.planned(event.node).node
    if isinstance(node, ChildWorkflow):
        given = event.details.get("input")
        child = str(event.details["child"])
        yield StartChild(event.point, node.workflow, node.version, given, False, child)  # noqa: FBT003 - waited for
    elif isinstance(node, Callback) and node.call is not None:
        attempt = state.node(event.node).attempt
        yield Call(event.node, node.call, attempt, event.details.get("input"))
    elif event.kind in ("approval", "form"):
        yield Notify(event.point, "opened")
