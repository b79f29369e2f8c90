"""Commands to events. All rules live behind here; a command that is stale, repeated or too late gives no events.

`decide` leaves the state as it was, however many events it gives. `play` is for whoever commits them: the state has
moved on, and goes back by `state.journal.revert()` if the commit is refused, or stays by `state.journal.keep()`.
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


def decide(state: Execution, command: cmd.AnyCommand, now: int, places: SlotSupply = UNLIMITED) -> list[ev.AnyEvent]:
    """Return what a command leads to; the state stays as it was."""
    try:
        return play(state, command, now, places)
    finally:
        state.journal.revert()


def play(
    state: Execution,
    command: cmd.AnyCommand,
    now: int,
    places: SlotSupply = UNLIMITED,
    most: int = ENDLESS,
    spared: Container[str] = (),
) -> list[ev.AnyEvent]:
    """Return what a command leads to; the state moves along and can still go back.

    A call for which there is no place is left in the queue, until `StartQueued` finds one for it. After so many events
    as there may be at `most`, nodes that are ready are left for the next command; any will do.
    Calls that are `spared` do not time out: they have been out for less long than the calendar says.
    """
    turn = DecisionContext(state, now, places, most, spared)
    if not state.counts.rows["seq"]:
        if isinstance(command, cmd.Create):
            starting.create(turn, command)
    elif not state.facts.closed or isinstance(command, cmd.Retry | cmd.Rewind):
        handle(turn, command)
    advance(turn)
    return turn.events


def handle(turn: DecisionContext, command: cmd.AnyCommand) -> None:
    """Decide what a command leads to by itself, without what follows from that."""
    match command:
        case cmd.Complete() | cmd.Fail() | cmd.Probed() | cmd.Checkpoint() | cmd.Record() | cmd.Ask() | cmd.Sleep():
            node = turn.state.nodes.get(command.node)
            # A late result of an earlier attempt changes nothing.
            if node is not None and node.status == "running" and node.attempt == command.attempt:
                _hear_node(turn, command, node)
        case cmd.Answer() | cmd.Delegate() | cmd.Deliver() | cmd.Report() | cmd.Beat() | cmd.CancelPoint():
            _tell_point(turn, command)
        case cmd.ChildPaused() | cmd.ChildResumed():
            points.hold(turn, command)
        case cmd.Pause() | cmd.Resume() | cmd.Cancel() | cmd.Retry() | cmd.Rewind():
            _obey(turn, command)
        case cmd.Wake() | cmd.Recover() | cmd.StartLeg() | cmd.StartQueued() | cmd.StopDraining():
            _serve_instance(turn, command)
        case cmd.Admit():
            starting.admit(turn)
        case cmd.Create():
            pass  # it has been created before
        case _:
            assert_never(command)


def _serve_instance(turn: DecisionContext, command: _ByInstance) -> None:
    match command:
        case cmd.Wake():
            wake(turn)
        case cmd.StartLeg():
            turn.emit(ev.LegStarted(cause=command.cause, instance=command.instance))
        case cmd.StartQueued():
            start_queued(turn, command.node)
        case cmd.Recover() if turn.state.facts.gate == "open":
            recovery.recover(turn, lost=command.lost)
        case cmd.Recover() | cmd.StopDraining():
            # Behind a closed gate nothing starts again. Of what an instance had, only calls are lost with it.
            lost = isinstance(command, cmd.StopDraining) or turn.state.counts["calls"]
            if turn.state.facts.gate == "pausing" and lost:
                gate.rest(turn)
        case _:
            assert_never(command)


def _hear_node(turn: DecisionContext, command: _FromNode, node: NodeState) -> None:
    match command:
        case cmd.Complete() if not node.point:
            complete(turn, command.node, command.output)
        case cmd.Complete():
            turn.emit(ev.NodeHandedOver(node=command.node, output=command.output))
        case cmd.Fail():
            calls.failed(turn, command.node, command.error, command.bases, command.jitter)
        case cmd.Probed():
            calls.probed(turn, command)
        case cmd.Checkpoint():
            turn.emit(ev.NodeCheckpointed(node=command.node, data=command.data))
        case cmd.Record():
            if command.key not in node.journal:
                turn.emit(ev.NodeRecorded(node=command.node, key=command.key, value=command.value))
        case cmd.Ask() | cmd.Sleep() if node.point:
            calls.failed(turn, command.node, _NO_REST)
        case cmd.Ask() | cmd.Sleep():
            points.rest(turn, command)
        case _:
            assert_never(command)


def _tell_point(turn: DecisionContext, command: _ToPoint) -> None:
    match command:
        case cmd.Answer():
            points.answer(turn, command)
        case cmd.Delegate():
            points.delegate(turn, command)
        case cmd.Deliver():
            signals.deliver(turn, command)
        case cmd.Report():
            points.report(turn, command)
        case cmd.Beat():
            points.beat(turn, command)
        case cmd.CancelPoint():
            points.cancel_point(turn, command)
        case _:
            assert_never(command)


def _obey(turn: DecisionContext, command: _ByOperator) -> None:
    match command:
        case cmd.Pause():
            if turn.state.facts.gate == "open":
                reason = command.reason or f"Paused by {command.by or 'an operator'}"
                turn.emit(ev.ExecutionPausing(reason=reason, by=command.by, order=command.order))
            elif command.order not in (0, turn.state.facts.order):
                turn.emit(ev.ExecutionPauseNoted(order=command.order))
        case cmd.Resume():
            was = turn.state.facts.gate
            if was != "open":
                turn.emit(ev.ExecutionResumed(reason=command.reason, by=command.by, data=command.data))
                if was == "paused":
                    recovery.recover(turn, lost=False)  # what was in doubt
                look_everywhere(turn)
                starting.start(turn)
            recovery.release_incidents(turn)
        case cmd.Cancel():
            cancel_points(turn, "", command.reason)
            turn.emit(ev.ExecutionCancelled(reason=command.reason, by=command.by))
        case cmd.Retry() | cmd.Rewind():
            _reopen(turn, command)
        case _:
            assert_never(command)


def _reopen(turn: DecisionContext, command: cmd.Retry | cmd.Rewind) -> None:
    """Take work up again; what had come to its end when the execution was closed goes on from there."""
    was_closed = bool(turn.state.facts.closed)
    if isinstance(command, cmd.Retry):
        recovery.retry(turn, command)
    else:
        recovery.rewind(turn, command)
    if was_closed and not turn.state.facts.closed:
        look_everywhere(turn)
