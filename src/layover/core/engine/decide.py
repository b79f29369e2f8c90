"""Commands to events. All rules live behind here; a stale, repeated or late command gives no events.

`decide` leaves the state as it was, however many events it gives. `play` is for callers that commit them: the state has
moved on, and goes back by `state.revert()` if the commit is refused, or stays by `state.undo_log.keep()`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias, assert_never, cast, get_args

from layover.core.engine import (
    calls,
    conversations,
    gate,
    moving,
    points,
    recovery,
    resuming,
    run_now,
    signals,
    starting,
)
from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.activate import complete, start_queued
from layover.core.engine.advance import advance, check_all_scopes
from layover.core.engine.breakpoints import change_breakpoints
from layover.core.engine.decision_context import ENDLESS, DecisionContext
from layover.core.engine.failures import cancel_points
from layover.core.engine.take_backs import take_back
from layover.core.engine.timing import wake
from layover.core.resume_waits import PauseEnd

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from layover.core.engine.free_slots import FreeSlots
    from layover.core.engine.state import ExecutionState, NodeState

# It would wait at two points at once, and it would be unclear from which of them it goes on.
_NO_REST = ev.Error(
    code="cannot_rest", message="A function that waits for a callback can neither ask nor sleep.", retryable=False
)

Handler: TypeAlias = "Callable[[DecisionContext, cmd.AnyCommand], None]"
_FromNode: TypeAlias = (
    cmd.Complete | cmd.Fail | cmd.Probed | cmd.Undone | cmd.Checkpoint | cmd.Record | cmd.Ask | cmd.Sleep
)
_ToPoint: TypeAlias = (
    cmd.Answer | cmd.TakeBack | cmd.Delegate | cmd.Deliver | cmd.Report | cmd.Delivered | cmd.Beat | cmd.CancelPoint
)
_OfConversation: TypeAlias = cmd.ClaimPoint | cmd.ReleaseClaim | cmd.StandIn | cmd.AskBack | cmd.ReplyBack
_FromChild: TypeAlias = cmd.ChildPaused | cmd.ChildResumed
_ByOperator: TypeAlias = (
    cmd.Pause
    | cmd.ScheduleResume
    | cmd.Resume
    | cmd.Cancel
    | cmd.Retry
    | cmd.Rewind
    | cmd.Move
    | cmd.RunNow
    | cmd.CancelRetry
    | cmd.SetBreakpoint
    | cmd.ClearBreakpoint
)
_ByInstance: TypeAlias = cmd.Wake | cmd.Recover | cmd.StartLeg | cmd.StartQueued | cmd.StopDraining


def decide(
    state: ExecutionState, command: cmd.AnyCommand, now: int, slots: FreeSlots | None = None
) -> list[ev.AnyEvent]:
    """Return the events of a command; the state stays as it was."""
    try:
        return play(state, command, now, slots)
    finally:
        state.revert()


def play(
    state: ExecutionState,
    command: cmd.AnyCommand,
    now: int,
    slots: FreeSlots | None = None,
    most: int = ENDLESS,
    with_time_left: Container[str] = (),
) -> list[ev.AnyEvent]:
    """Return the events of a command; the state moves along and can still go back.

    A call without a free call slot stays queued, until `StartQueued` finds a slot for it; `slots.used` says which slots
    were used. After `most` events, ready nodes are left for the next command, whichever it is. Calls `with_time_left`
    do not time out: they have been out for less time than the wall clock says.
    """
    context = DecisionContext(state, now, slots, most, with_time_left)
    if not state.counts.rows["seq"]:
        if isinstance(command, cmd.Create):
            starting.create(context, command)
    elif not state.facts.closed or isinstance(command, cmd.Retry | cmd.Rewind):
        handle(context, command)
    advance(context)
    return context.events


def handle(context: DecisionContext, command: cmd.AnyCommand) -> None:
    """Decide the direct events of a command, without those that follow from them."""
    HANDLERS[type(command)](context, command)


def _handle_instance_command(context: DecisionContext, command: _ByInstance) -> None:
    match command:
        case cmd.Wake():
            wake(context)
        case cmd.StartLeg():
            context.emit(
                ev.LegStarted(
                    cause=command.cause,
                    instance=command.instance,
                    losses=command.losses,
                    traceparent=command.leg_traceparent,
                )
            )
        case cmd.StartQueued():
            start_queued(context, command.node)
        case cmd.Recover() if context.state.facts.gate == "open":
            recovery.recover(context, lost=command.lost)
        case cmd.Recover() | cmd.StopDraining():
            # Behind a closed gate nothing starts again. Only calls are lost with an instance.
            lost = isinstance(command, cmd.StopDraining) or context.state.counts["calls"]
            if context.state.facts.gate == "pausing" and lost:
                gate.rest(context)
        case _:
            assert_never(command)


def _handle_node_command(context: DecisionContext, command: _FromNode) -> None:
    node = context.state.nodes.rows.get(command.node)
    # A late result of an earlier attempt changes nothing.
    if node is not None and node.status == "running" and node.attempt == command.attempt:
        _handle_current_call(context, command, node)


def _handle_current_call(context: DecisionContext, command: _FromNode, node: NodeState) -> None:
    match command:
        case cmd.Complete() if not node.point:
            complete(context, command.node, command.output)
        case cmd.Complete():
            context.emit(ev.NodeHandedOver(node=command.node, output=command.output))
        case cmd.Fail():
            calls.failed(context, command.node, command.error, command)
        case cmd.Probed():
            calls.probed(context, command)
        case cmd.Undone():
            calls.undone(context, command)
        case cmd.Checkpoint():
            context.emit(ev.NodeCheckpointed(node=command.node, data=command.data))
        case cmd.Record():
            if command.key not in node.journal:
                context.emit(ev.NodeRecorded(node=command.node, key=command.key, value=command.value))
        case cmd.Ask() | cmd.Sleep() if node.point:
            calls.failed(context, command.node, _NO_REST)
        case cmd.Ask() | cmd.Sleep():
            points.rest(context, command)
        case _:
            assert_never(command)


def _handle_point_command(context: DecisionContext, command: _ToPoint) -> None:
    match command:
        case cmd.Answer():
            points.answer(context, command)
        case cmd.TakeBack():
            take_back(context, command)
        case cmd.Delegate():
            points.delegate(context, command)
        case cmd.Deliver():
            signals.deliver(context, command)
            resuming.resume_on_signal(context, command)
        case cmd.Report():
            points.report(context, command)
        case cmd.Delivered():
            points.delivered(context, command)
        case cmd.Beat():
            points.beat(context, command)
        case cmd.CancelPoint():
            points.cancel_point(context, command)
        case _:
            assert_never(command)


def _handle_operator_command(context: DecisionContext, command: _ByOperator) -> None:
    match command:
        case cmd.Pause():
            gate.close(context, command)
        case cmd.ScheduleResume():
            gate.schedule(context, PauseEnd(command.at, command.on), command.by)
        case cmd.Resume():
            if context.state.facts.gate != "open":
                event = ev.ExecutionResumed(reason=command.reason, by=command.by, data=command.data)
                resuming.open_gate(context, event)
            recovery.release_incidents(context)
        case cmd.Cancel():
            cancel_points(context, "", command.reason)
            context.emit(ev.ExecutionCancelled(reason=command.reason, by=command.by))
        case cmd.Retry() | cmd.Rewind():
            _reopen(context, command)
        case cmd.RunNow() | cmd.CancelRetry():
            run_now.end_wait(context, command)
        case cmd.SetBreakpoint() | cmd.ClearBreakpoint():
            change_breakpoints(context, command)
        case cmd.Move():
            if moving.move(context, command):
                check_all_scopes(context)
        case _:
            assert_never(command)


def _reopen(context: DecisionContext, command: cmd.Retry | cmd.Rewind) -> None:
    """Reopen an execution, or rewind it; containers whose scopes had settled when it was closed go on."""
    was_closed = bool(context.state.facts.closed)
    if isinstance(command, cmd.Retry):
        recovery.retry(context, command)
    else:
        recovery.rewind(context, command)
    if was_closed and not context.state.facts.closed:
        check_all_scopes(context)


def _admit(context: DecisionContext, _command: cmd.Admit) -> None:
    starting.admit(context)


def _ignore_repeated(_context: DecisionContext, _command: cmd.Create) -> None:
    """Decide nothing: the execution exists."""


# By type: to try one type of struct after the other would take longer than most decisions.
HANDLERS: Final[dict[type[cmd.AnyCommand], Handler]] = cast(
    "dict[type[cmd.AnyCommand], Handler]",
    {
        **dict.fromkeys(get_args(_FromNode), _handle_node_command),
        **dict.fromkeys(get_args(_ToPoint), _handle_point_command),
        **dict.fromkeys(get_args(_OfConversation), conversations.talk),
        **dict.fromkeys(get_args(_FromChild), points.hold),
        **dict.fromkeys(get_args(_ByOperator), _handle_operator_command),
        **dict.fromkeys(get_args(_ByInstance), _handle_instance_command),
        cmd.Admit: _admit,
        cmd.Create: _ignore_repeated,
    },
)
