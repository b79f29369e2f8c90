"""What the runtime has to do about events that are durable: make calls, stop them, update rows, send messages.

A pure translation: the runtime carries the effects out after the commit, in this order. A call that is stopped may
still report; the engine recognises by its attempt that the report is stale. A message to another execution carries the
number of the event that it comes from: one event sends at most one message to each execution.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias, assert_never, cast

import msgspec

from layover.core.definitions.node_types import CallNode, ChildWorkflow, Send, WaitSignal
from layover.core.definitions.secret_use import SecretPosition
from layover.core.engine import events as ev
from layover.core.engine.gate import open_children
from layover.core.engine.in_doubt import CallPurpose, purpose_of
from layover.core.engine.letters import sent_of
from layover.core.engine.node_transitions import scope_path
from layover.core.engine.signals import awaited_signals
from layover.core.engine.state import Point
from layover.core.notifications import Sent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from layover.core.engine.state import ExecutionState
    from layover.core.resume_waits import ResumeWait


_MOST_TAKEN: Final = 500  # in one message


class MakeCall(msgspec.Struct, frozen=True, gc=False):
    """Make a call and report its result, with its attempt.

    With a `point` the call gets a callback address. Its `purpose` may be an earlier, lost
    call: a probe asks whether that had its effect, and an undo takes it back.
    `secrets` are the positions in the input that get values just before the call is made.
    """

    node: str
    node_type: str
    attempt: int
    input: object
    timeout_at: int | None = None
    point: str = ""
    purpose: CallPurpose = "work"
    heartbeat: int | None = None
    checkpoint: object = None
    journal: dict[str, object] = {}
    secrets: tuple[SecretPosition, ...] = ()


class StopCalls(msgspec.Struct, frozen=True):
    """Ask the calls in a scope, and in the scopes within it, to stop; the empty path means all."""

    path: str


class StopCall(msgspec.Struct, frozen=True):
    """Ask the call of a node to stop: its node has ended without it."""

    node: str


class OpenPoint(msgspec.Struct, frozen=True):
    """Make a pause point visible."""

    point: Point


class ClosePoint(msgspec.Struct, frozen=True):
    """A pause point waits no longer."""

    point: str
    how: str


class StartChild(msgspec.Struct, frozen=True):
    """Start another workflow under an id; its result is reported to the point, if it is not detached.

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
    """Tell the parent, at the point where it waits, that this execution is paused, has resumed, or is closed."""

    parent: str
    point: str
    what: Literal["paused", "resumed", "closed"]
    output: object = None
    error: ev.Error | None = None
    order: int = 0
    seq: int = 0


class SendLetter(msgspec.Struct, frozen=True):
    """Send something by a destination; its outcome goes to the point, if there is one."""

    point: str
    sent: Sent
    seq: int


class Scan(msgspec.Struct, frozen=True):
    """Look for signals that came before their point was open, from a moment on.

    The wait of an operator has the id of the execution in place of that of a point.
    """

    point: str
    signals: tuple[tuple[str, str], ...]
    since: int
    seq: int
    taken: tuple[str, ...] = ()  # signals that need not be found, as the execution has taken them; not always all


class LogFailure(msgspec.Struct, frozen=True):
    """Log that a node failed, or the undo of its lost call."""

    event: ev.NodeFailed | ev.NodeUndoFailed


class Close(msgspec.Struct, frozen=True):
    """The execution is closed: wake the callers that wait for its end."""

    status: str


Effect: TypeAlias = (
    MakeCall
    | StopCalls
    | StopCall
    | OpenPoint
    | ClosePoint
    | StartChild
    | TellChild
    | TellParent
    | Scan
    | SendLetter
    | LogFailure
    | Close
)
_EffectsOf: TypeAlias = "Callable[[ExecutionState, ev.AnyEvent, int], Iterable[Effect]]"

_ENDS: dict[type[ev.DomainEvent], str] = {
    ev.PausePointApplied: "applied",
    ev.PausePointExpired: "expired",
    ev.PausePointCancelled: "cancelled",
}
_EXPIRED = "The deadline passed, and the parent execution no longer waits for this one."


def effects(state: ExecutionState, events: Sequence[ev.AnyEvent]) -> list[Effect]:
    """Return the effects of the last events that the state has applied."""
    made: list[Effect] = []
    new_children: set[object] = set()
    first = state.counts.rows["seq"] - len(events)
    for seq, event in enumerate(events, first):
        kind = type(event)
        if kind is ev.NodeStarted:
            started = _effect_of_start(state, event, seq)  # type: ignore[arg-type]  # by the line above
            if started is not None:
                made.append(started)
        elif kind is ev.ExecutionPausing:
            later = sum(1 for one in events[seq - first + 1 :] if isinstance(one, ev.ExecutionPausing))
            made.extend(_pause_children(state, event, seq, state.facts.pauses - later))  # type: ignore[arg-type]
            made.extend(_scan_for_resume(state, event.resume_on, seq))  # type: ignore[union-attr]
        elif kind in _EFFECTS:
            made.extend(_EFFECTS[kind](state, event, seq))
            if isinstance(event, ev.PausePointOpened) and event.kind == "child":
                new_children.add(event.details["child"])
    return _drop_messages_before_start(made, new_children) if new_children else made


def _drop_messages_before_start(made: list[Effect], new_children: set[object]) -> list[Effect]:
    """Drop messages to a child before its start, and all messages to a child that is never started."""
    kept: list[Effect] = []
    for effect in made:
        if isinstance(effect, StartChild):
            new_children.discard(effect.child)
        if not (isinstance(effect, TellChild) and effect.child in new_children):
            kept.append(effect)
    return kept


def _pause_children(state: ExecutionState, event: ev.ExecutionPausing, seq: int, order: int) -> Iterator[Effect]:
    for point in open_children(state):
        yield TellChild(point.child, "pause", event.reason, order=order, seq=seq)


def _scan_for_resume(state: ExecutionState, wait: ResumeWait | None, seq: int) -> Iterable[Effect]:
    """Look for the signal that ends a pause, if it has come since the operator asked for that."""
    if wait is None:
        return ()
    return (Scan(state.facts.id, (wait.awaited,), wait.since + 1, seq),)


def _of_scheduled_resume(state: ExecutionState, event: ev.ExecutionResumeScheduled, seq: int) -> Iterable[Effect]:
    return _scan_for_resume(state, event.on, seq)


def _effect_of_start(state: ExecutionState, event: ev.NodeStarted, seq: int) -> Effect | None:
    node, planned = state.node(event.node), state.planned(event.node)
    kind = planned.node
    if isinstance(kind, ChildWorkflow):  # a child with a waiting parent has a point instead
        child = state.child_id(event.node, event.attempt)
        return StartChild("", kind.workflow, kind.version, event.input, True, child, seq)  # noqa: FBT003 - detached
    if isinstance(kind, Send):
        return SendLetter("", sent_of(event.input, awaited=False), seq)
    # A later event of the same decision may have ended the node, and a container makes no call.
    if node.status != "running" or node.attempt != event.attempt:
        return None
    called, heartbeat = (kind.type, kind.heartbeat) if isinstance(kind, CallNode) else (planned.calls, None)
    return MakeCall(
        event.node,
        called,
        event.attempt,
        event.input,
        event.timeout_at,
        node.point,
        purpose_of(state, event.node) if node.doubt else "work",
        heartbeat,
        node.checkpoint,
        node.journal,
        planned.secrets,
    )


def _of_failed_node(_state: ExecutionState, event: ev.NodeFailed | ev.NodeUndoFailed, _seq: int) -> Iterable[Effect]:
    return (LogFailure(event),)


def _of_closed_scope(_state: ExecutionState, event: ev.ScopeClosed, _seq: int) -> Iterable[Effect]:
    return (StopCalls(scope_path(event.node, event.key)),) if event.end in ("failed", "cancelled") else ()


def _of_rewound_node(_state: ExecutionState, event: ev.NodeRewound, _seq: int) -> Iterable[Effect]:
    return (StopCalls(event.node.partition(":")[2]),)


_Closing: TypeAlias = ev.ExecutionCompleted | ev.ExecutionFailed | ev.ExecutionCancelled


def _of_close(state: ExecutionState, event: _Closing, seq: int) -> Iterable[Effect]:
    return (StopCalls(""), Close(state.status), *_tell_parent(state, event, seq))


def _of_noted_pause(state: ExecutionState, event: ev.ExecutionPauseNoted, seq: int) -> Iterable[Effect]:
    # One that is still pausing tells its parent once it is paused.
    return _tell_parent(state, event, seq) if state.facts.gate != "pausing" else ()


def _of_resume(state: ExecutionState, event: ev.ExecutionResumed, seq: int) -> Iterable[Effect]:
    told = (TellChild(point.child, "resume", event.reason, seq=seq) for point in open_children(state))
    return (*told, *_tell_parent(state, event, seq))


_ToParent: TypeAlias = (
    ev.ExecutionPaused
    | ev.ExecutionPauseNoted
    | ev.ExecutionResumed
    | ev.ExecutionCompleted
    | ev.ExecutionFailed
    | ev.ExecutionCancelled
)


def _tell_parent(state: ExecutionState, event: _ToParent, seq: int) -> Iterable[Effect]:
    parent, point = state.facts.parent, state.facts.parent_point
    if parent is None or point is None:
        return ()
    match event:
        case ev.ExecutionPaused() | ev.ExecutionPauseNoted():
            return (TellParent(parent, point, "paused", order=event.order, seq=seq),)
        case ev.ExecutionResumed():
            return (TellParent(parent, point, "resumed", seq=seq),)
        case ev.ExecutionCompleted():
            return (TellParent(parent, point, "closed", output=event.output, seq=seq),)
        case ev.ExecutionFailed():
            return (TellParent(parent, point, "closed", error=event.error, seq=seq),)
        case ev.ExecutionCancelled():
            message = event.reason or "The child execution was cancelled."
            error = ev.Error(code="child_cancelled", message=message, retryable=False)
            return (TellParent(parent, point, "closed", error=error, seq=seq),)
        case _:
            assert_never(event)


def _of_answer(_state: ExecutionState, event: ev.PausePointAnswered, _seq: int) -> Iterable[Effect]:
    return (ClosePoint(event.point, "answered"),)


_PointEnd: TypeAlias = ev.PausePointApplied | ev.PausePointExpired | ev.PausePointCancelled


def _of_point_end(_state: ExecutionState, event: _PointEnd, seq: int) -> Iterable[Effect]:
    made: list[Effect] = [ClosePoint(event.point, _ENDS[type(event)])]
    if event.call:
        made.append(StopCall(event.call))
    if not isinstance(event, ev.PausePointApplied) and event.child:
        reason = event.reason if isinstance(event, ev.PausePointCancelled) else _EXPIRED
        made.append(TellChild(event.child, "cancel", reason, seq=seq))
    return made


def _of_opening(state: ExecutionState, event: ev.PausePointOpened, seq: int) -> Iterator[Effect]:
    point = state.points.rows.get(event.point)
    if point is None:
        return  # it was settled in the same decision
    yield OpenPoint(point)
    node = state.planned(event.node).node
    if isinstance(node, ChildWorkflow):
        given = event.details.get("input")
        child = str(event.details["child"])
        yield StartChild(event.point, node.workflow, node.version, given, False, child, seq)  # noqa: FBT003 - waited for
    elif isinstance(node, Send):
        yield SendLetter(event.point, sent_of(event.details, awaited=True), seq)
    elif isinstance(node, WaitSignal):
        since = point.opened_at - node.lookback
        yield Scan(event.point, awaited_signals(point), since, seq, _taken(state, since) if node.lookback else ())


def _of_signalled(state: ExecutionState, event: ev.PausePointSignalled, seq: int) -> Iterable[Effect]:
    point = state.points.rows.get(event.point)
    if point is None:
        return ()
    return (Scan(event.point, awaited_signals(point), event.since, seq, _taken(state, event.since)),)


def _taken(state: ExecutionState, since: int) -> tuple[str, ...]:
    """Return the newest of the signals that were taken, the oldest of them first."""
    found = sorted((one.at, id_) for id_, one in state.taken.rows.items() if one.at >= since)
    return tuple(id_ for _, id_ in found[-_MOST_TAKEN:])


# By type; the events that are not here have no effects.
_EFFECTS: Final[dict[type[ev.DomainEvent], _EffectsOf]] = cast(
    "dict[type[ev.DomainEvent], _EffectsOf]",
    {
        ev.NodeFailed: _of_failed_node,
        ev.NodeUndoFailed: _of_failed_node,
        ev.ScopeClosed: _of_closed_scope,
        ev.NodeRewound: _of_rewound_node,
        ev.ExecutionCompleted: _of_close,
        ev.ExecutionFailed: _of_close,
        ev.ExecutionCancelled: _of_close,
        ev.ExecutionPaused: _tell_parent,
        ev.ExecutionPauseNoted: _of_noted_pause,
        ev.ExecutionResumed: _of_resume,
        ev.ExecutionResumeScheduled: _of_scheduled_resume,
        ev.PausePointOpened: _of_opening,
        ev.PausePointSignalled: _of_signalled,
        ev.PausePointAnswered: _of_answer,
        ev.PausePointApplied: _of_point_end,
        ev.PausePointExpired: _of_point_end,
        ev.PausePointCancelled: _of_point_end,
    },
)
