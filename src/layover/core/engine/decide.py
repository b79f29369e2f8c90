"""Commands to events. All rules live here; a command that is stale, repeated or too late gives no events.

`decide` leaves the state as it was, however many events it gives. `play` is for whoever commits them: the state has
moved on, and goes back by `state.journal.revert()` if the commit is refused, or stays by `state.journal.keep()`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.advance import advance, look_everywhere
from layover.core.engine.begin import complete, start_call
from layover.core.engine.failures import attempt_failed, cancel_points, fail
from layover.core.engine.points import answer, expire
from layover.core.engine.turn import Turn

if TYPE_CHECKING:
    from layover.core.engine.state import Execution, NodeState

_TIMEOUT = ev.Error(code="timeout", type="TimeoutError", message="The attempt took longer than its timeout.")


def decide(state: Execution, command: cmd.AnyCommand, now: int) -> list[ev.AnyEvent]:
    """Return what a command leads to; the state stays as it was."""
    try:
        return play(state, command, now)
    finally:
        state.journal.revert()


def play(state: Execution, command: cmd.AnyCommand, now: int) -> list[ev.AnyEvent]:
    """Return what a command leads to; the state moves along and can still go back."""
    turn = Turn(state, now)
    if isinstance(command, cmd.Create):
        _create(turn, command)
    elif state.counts["seq"] and not state.facts.closed:
        _handle(turn, command)
    advance(turn)
    return turn.events


def wake_at(state: Execution) -> int | None:
    """Return when time itself will have something to do: a pure function of the state."""
    facts = state.facts
    if facts.closed:
        return None
    if facts.gate != "open":
        longest = state.plan.definition.settings.max_pause
        return facts.paused_at + longest if isinstance(longest, int) else None
    return min(state.timers.rows.values(), default=None)


def _create(turn: Turn, command: cmd.Create) -> None:
    if turn.state.counts["seq"]:
        return
    plan = turn.state.plan
    turn.emit(
        ev.ExecutionCreated(
            id=command.id,
            workflow=plan.definition.name,
            hash=plan.hash,
            input=command.input,
            trigger=command.trigger,
            user=command.user,
        )
    )
    turn.emit(ev.ExecutionStarted())


def _handle(turn: Turn, command: cmd.AnyCommand) -> None:
    match command:
        case cmd.Complete() | cmd.Fail() | cmd.Checkpoint() | cmd.Record():
            if _is_current(turn, command.node, command.attempt):
                _take_report(turn, command)
        case cmd.Wake():
            _wake(turn)
        case cmd.Answer():
            answer(turn, command)
        case cmd.Pause():
            if turn.state.facts.gate == "open":
                turn.emit(ev.ExecutionPausing(reason=command.reason or f"Paused by {command.by}", by=command.by))
        case cmd.Resume():
            _resume(turn, command)
        case cmd.Cancel():
            cancel_points(turn, "", command.reason)
            turn.emit(ev.ExecutionCancelled(reason=command.reason, by=command.by))
        case cmd.Recover():
            _recover(turn)
        case cmd.Create():
            pass  # it exists already
        case _:
            assert_never(command)


def _take_report(turn: Turn, report: cmd.Complete | cmd.Fail | cmd.Checkpoint | cmd.Record) -> None:
    """Take what a running node has to say."""
    match report:
        case cmd.Complete():
            complete(turn, report.node, report.output)
        case cmd.Fail():
            attempt_failed(turn, report.node, report.error, report.bases, report.jitter)
        case cmd.Checkpoint():
            turn.emit(ev.NodeCheckpointed(node=report.node, data=report.data))
        case cmd.Record():
            if report.key not in turn.state.node(report.node).journal:
                turn.emit(ev.NodeRecorded(node=report.node, key=report.key, value=report.value))
        case _:
            assert_never(report)


def _is_current(turn: Turn, name: str, attempt: int) -> bool:
    """Whether a call is still the one that is waited for: a late result of an earlier attempt changes nothing."""
    node = turn.state.nodes.get(name)
    return node is not None and node.status == "running" and node.attempt == attempt


def _resume(turn: Turn, command: cmd.Resume) -> None:
    """Open the gate, or release what waits for an operator after its last attempt."""
    if turn.state.facts.gate != "open":
        turn.emit(ev.ExecutionResumed(reason=command.reason, by=command.by, data=command.data))
        look_everywhere(turn)
        return
    for name in sorted(name for name, node in turn.state.nodes.rows.items() if node.status == "incident"):
        _start_again(turn, name, "retried")


def _wake(turn: Turn) -> None:
    """Do what is due, in the order in which it came due. Behind a closed gate only the longest pause acts."""
    state = turn.state
    if state.facts.gate != "open":
        due = wake_at(state)
        if due is not None and due <= turn.now:
            cancel_points(turn, "")
            message = "The execution was paused for longer than it may be."
            turn.emit(ev.ExecutionFailed(error=ev.Error(code="pause_expired", message=message, retryable=False)))
        return
    due_now = sorted((at, key) for key, at in state.timers.rows.items() if at <= turn.now)
    for _, key in due_now:
        if state.facts.closed or key not in state.timers:
            continue  # what came due before it has settled it
        point = state.points.get(key)
        if point is not None:
            expire(turn, point)
        elif state.node(key).status == "backoff":
            _start_again(turn, key, "retried")
        else:
            attempt_failed(turn, key, _TIMEOUT)


def _recover(turn: Turn) -> None:
    for name, node in sorted(turn.state.nodes.rows.items()):
        if turn.state.facts.closed or turn.state.nodes.get(name) is not node:
            continue
        if node.status == "running":
            _recover_call(turn, name, node)
        elif node.status == "scheduled":
            start_call(turn, name, turn.state.planned(name), node.attempt)


def _recover_call(turn: Turn, name: str, node: NodeState) -> None:
    most = turn.state.plan.definition.settings.max_recoveries
    if node.recoveries >= most:
        message = f"Its instance was lost {node.recoveries + 1} times while it ran."
        fail(turn, name, ev.Error(code="max_recoveries", message=message, retryable=False, attempt=node.attempt))
    else:
        _start_again(turn, name, "recovered")


def _start_again(turn: Turn, name: str, cause: ev.Cause) -> None:
    planned = turn.state.planned(name)
    attempt = turn.state.node(name).attempt + 1
    turn.emit(ev.NodeScheduled(node=name, node_type=planned.node.type, attempt=attempt, cause=cause))
    start_call(turn, name, planned, attempt)
