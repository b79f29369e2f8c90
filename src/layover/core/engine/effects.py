"""What the world outside has to do about events that have become durable: make calls, stop them, keep its rows.

A pure translation: whoever runs the engine does these things after the commit, in this order. A call that is stopped
may still report; the engine tells by its attempt that nobody waits for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import msgspec

from layover.core.definitions.node_types import Callback, ChildWorkflow
from layover.core.engine import events as ev
from layover.core.engine.movement import scope_path
from layover.core.engine.state import Point

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from layover.core.engine.state import Execution


class Call(msgspec.Struct, frozen=True):
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
    """Start another workflow; what it comes to is reported to the point."""

    point: str
    workflow: str
    version: int | None
    input: object
    detached: bool


class Notify(msgspec.Struct, frozen=True):
    """Tell the people who are asked: a point was opened, it is time to remind, more are asked."""

    point: str
    why: str


class Close(msgspec.Struct, frozen=True):
    """The execution is closed: tell whoever waits for it."""

    status: str


Effect: TypeAlias = Call | StopCalls | OpenPoint | ClosePoint | StartChild | Notify | Close


def effects(state: Execution, events: Iterable[ev.AnyEvent]) -> list[Effect]:
    """Return what is to be done about events that the state has taken in."""
    return [effect for event in events for effect in _effects_of(state, event)]


def _effects_of(state: Execution, event: ev.AnyEvent) -> Iterator[Effect]:
    match event:
        case ev.NodeStarted():
            node = state.node(event.node)
            # A later event of the same decision may have ended it, and a container makes no call.
            if node.status == "running" and node.attempt == event.attempt:
                node_type = state.planned(event.node).node.type
                yield Call(event.node, node_type, event.attempt, event.input, event.timeout_at)
        case ev.ScopeClosed(end="failed" | "cancelled"):
            yield StopCalls(scope_path(event.node, event.key))
        case ev.NodeRewound():
            yield StopCalls(event.node.partition(":")[2])
        case ev.ExecutionCompleted() | ev.ExecutionFailed() | ev.ExecutionCancelled():
            yield StopCalls("")
            yield Close(state.status)
        case _:
            yield from _effects_of_point(state, event)


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
        case ev.PausePointCancelled():
            yield ClosePoint(event.point, "cancelled")
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
        yield StartChild(event.point, node.workflow, node.version, given, node.detached)
    elif isinstance(node, Callback) and node.call is not None:
        attempt = state.node(event.node).attempt
        yield Call(event.node, node.call, attempt, event.details.get("input"))
    elif event.kind in ("approval", "form"):
        yield Notify(event.point, "opened")
