"""Commands to events. All rules live behind here; a command that is stale, repeated or too late gives no events.

`decide` leaves the state as it was, however many events it gives. `play` is for whoever commits them: the state has
moved on, and goes back by `state.undo_log.revert()` if the commit is refused, or stays by `state.undo_log.keep()`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, assert_never

from layover.core.engine import calls, gate, points, recovery, signals, starting
from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.activate import complete, start_queued
from layover.core.engine.advance import advance, look_everywhere
from layover.core.engine.decision_context import ENDLESS, UNLIMITED, DecisionContext, SlotSupply
from layover.core.engine.failures import cancel_points
from layover.core.engine.timing import wake

if TYPE_CHECKING:
    from collections.abc import Container

    from layover.core.engine.state import Execution, NodeState

# It would wait at two points at once, and nobody could say which of them it goes on from.
_NO_REST = ev.Error(
    code="cannot_rest", message="A function that is to be replied to can neither ask nor sleep.", retryable=False
)

_FromNode: TypeAlias = cmd.Complete | cmd.Fail | cmd.Probed | cmd.Checkpoint | cmd.Record | cmd.Ask | cmd.Sleep
_ToPoint: TypeAlias = cmd.Answer | cmd.Delegate | cmd.Deliver | cmd.Report | cmd.Beat | cmd.CancelPoint
_ByOperator: TypeAlias = cmd.Pause | cmd.Resume | cmd.Cancel | cmd.Retry | cmd.Rewind
_ByInstance: TypeAlias = cmd.Wake | cmd.Recover | cmd.StartLeg | cmd.StartQueued | cmd.StopDraining


def decide(state: Execution, command: cmd.AnyCommand, now: int, slots: SlotSupply = UNLIMITED) -> list[ev.AnyEvent]:
    """Return what a command leads to; the state stays as it was."""
    try:
        return play(state, command, now, slots)
    finally:
        state.undo_log.revert()


def play(
    state: Execution,
    command: cmd.AnyCommand,
    now: int,
    slots: SlotSupply = UNLIMITED,
    most: int = ENDLESS,
    with_time_left: Container[str] = (),
) -> list[ev.AnyEvent]:
    """Return what a command leads to; the state moves along and can still go back.

    A call for which there is no place is left in the queue, until `StartQueued` finds one for it. After so many events
    as there may be at `most`, nodes that are ready are left for the next command; any will do.
    Calls that are `spared` do not time out: they have been out for less long than the calendar says.
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
    """Decide what a command leads to by itself, without what follows from that."""
    match command:
        case cmd.Complete() | cmd.Fail() | cmd.Probed() | cmd.Checkpoint() | cmd.Record() | cmd.Ask() | cmd.Sleep():
            node = context.state.nodes.get(command.node)
            # A late result of an earlier attempt changes nothing.
            if node is not None and node.status == "running" and node.attempt == command.attempt:
                _hear_node(context, command, node)
        case cmd.Answer() | cmd.Delegate() | cmd.Deliver() | cmd.Report() | cmd.Beat() | cmd.CancelPoint():
            _tell_point(context, command)
        case cmd.ChildPaused() | cmd.ChildResumed():
            points.hold(context, command)
        case cmd.Pause() | cmd.Resume() | cmd.Cancel() | cmd.Retry() | cmd.Rewind():
            _obey(context, command)
        case cmd.Wake() | cmd.Recover() | cmd.StartLeg() | cmd.StartQueued() | cmd.StopDraining():
            _serve_instance(context, command)
        case cmd.Admit():
            starting.admit(context)
        case cmd.Create():
            pass  # it has been created before
        case _:
            assert_never(command)


def _serve_instance(context: DecisionContext, command: _ByInstance) -> None:
    match command:
        case cmd.Wake():
            wake(context)
        case cmd.StartLeg():
            context.emit(ev.LegStarted(cause=command.cause, instance=command.instance))
        case cmd.StartQueued():
            start_queued(context, command.node)
        case cmd.Recover() if context.state.facts.gate == "open":
            recovery.recover(context, lost=command.lost)
        case cmd.Recover() | cmd.StopDraining():
            # Behind a closed gate nothing starts again. Of what an instance had, only calls are lost with it.
            lost = isinstance(command, cmd.StopDraining) or context.state.counts["calls"]
            if context.state.facts.gate == "pausing" and lost:
                gate.rest(context)
        case _:
            assert_never(command)


def _hear_node(context: DecisionContext, command: _FromNode, node: NodeState) -> None:
    match command:
        case cmd.Complete() if not node.point:
            complete(context, command.node, command.output)
        case cmd.Complete():
            context.emit(ev.NodeHandedOver(node=command.node, output=command.output))
        case cmd.Fail():
            calls.failed(context, command.node, command.error, command.bases, command.jitter)
        case cmd.Probed():
            calls.probed(context, command)
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


def _tell_point(context: DecisionContext, command: _ToPoint) -> None:
    match command:
        case cmd.Answer():
            points.answer(context, command)
        case cmd.Delegate():
            points.delegate(context, command)
        case cmd.Deliver():
            signals.deliver(context, command)
        case cmd.Report():
            points.report(context, command)
        case cmd.Beat():
            points.beat(context, command)
        case cmd.CancelPoint():
            points.cancel_point(context, command)
        case _:
            assert_never(command)


def _obey(context: DecisionContext, command: _ByOperator) -> None:
    match command:
        case cmd.Pause():
            if context.state.facts.gate == "open":
                reason = command.reason or f"Paused by {command.by or 'an operator'}"
                context.emit(ev.ExecutionPausing(reason=reason, by=command.by, order=command.order))
            elif command.order not in (0, context.state.facts.order):
                context.emit(ev.ExecutionPauseNoted(order=command.order))
        case cmd.Resume():
            was = context.state.facts.gate
            if was != "open":
                context.emit(ev.ExecutionResumed(reason=command.reason, by=command.by, data=command.data))
                if was == "paused":
                    recovery.recover(context, lost=False)  # what was in doubt
                look_everywhere(context)
                starting.start(context)
            recovery.release_incidents(context)
        case cmd.Cancel():
            cancel_points(context, "", command.reason)
            context.emit(ev.ExecutionCancelled(reason=command.reason, by=command.by))
        case cmd.Retry() | cmd.Rewind():
            _reopen(context, command)
        case _:
            assert_never(command)


def _reopen(context: DecisionContext, command: cmd.Retry | cmd.Rewind) -> None:
    """Take work up again; what had come to its end when the execution was closed goes on from there."""
    was_closed = bool(context.state.facts.closed)
    if isinstance(command, cmd.Retry):
        recovery.retry(context, command)
    else:
        recovery.rewind(context, command)
    if was_closed and not context.state.facts.closed:
        look_everywhere(context)
