"""Waits for time that an operator ends: a delay, a sleep, another attempt, or the start goes on before its time.

Only what waits for nothing but time can be run now: a deadline belongs to a question, and a limit to its holders.
Behind a closed gate nothing starts, so nothing is run now either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.context_ids import journal_id
from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.activate import attempt
from layover.core.engine.calls import stop_undoing
from layover.core.engine.failures import fail
from layover.core.engine.in_doubt import purpose_of
from layover.core.engine.points import expire
from layover.core.engine.starting import start

if TYPE_CHECKING:
    from layover.core.engine.decision_context import DecisionContext
    from layover.core.engine.state import ExecutionState, Point


def waits_for_time(state: ExecutionState) -> tuple[str, ...]:
    """Return the nodes that wait for nothing but time, behind an open gate; by context id."""
    if state.facts.gate != "open" or state.facts.closed:
        return ()
    due = (key for key in state.timers.rows if state.nodes.get(key) is not None and state.node(key).status == "backoff")
    asleep = (point.node for point in state.points.rows.values() if _is_asleep(point))
    return tuple(sorted((*due, *asleep)))


def end_wait(context: DecisionContext, command: cmd.RunNow | cmd.CancelRetry) -> None:
    """Let what waits for time go on at once, or fail instead of being tried again."""
    if isinstance(command, cmd.RunNow):
        _run_now(context, command)
    else:
        _cancel_retry(context, command)


def _run_now(context: DecisionContext, command: cmd.RunNow) -> None:
    """Let a node go on that waits for time, or all of them, or the start."""
    state = context.state
    if not command.node and _is_delayed(state):
        context.emit(ev.WaitSkipped(reason=command.reason, by=command.by))
        start(context)
        return
    for name in waits_for_time(state):
        # What one of them leads to may have ended another one.
        if command.node in ("", name, _address(state, name)) and name in waits_for_time(state):
            _go_on(context, name, command)


def _cancel_retry(context: DecisionContext, command: cmd.CancelRetry) -> None:
    """Take the last failure of a node as final, if it was to be tried again."""
    state, name = context.state, command.node
    node = state.nodes.get(name)
    if node is not None and node.status == "backoff" and node.error is not None and state.facts.gate == "open":
        context.emit(ev.RetryCancelled(node=name, reason=command.reason, by=command.by))
        if purpose_of(state, name) == "undo":
            stop_undoing(context, name, node.error)
        else:
            fail(context, name, node.error)


def _go_on(context: DecisionContext, name: str, command: cmd.RunNow) -> None:
    state = context.state
    context.emit(ev.WaitSkipped(node=name, reason=command.reason, by=command.by))
    point = state.points.get(state.node(name).point)
    if point is not None:
        expire(context, point)
    else:
        attempt(context, name, state.planned(name), "retried")


def _is_delayed(state: ExecutionState) -> bool:
    """Return whether nothing but its moment keeps an execution from starting."""
    facts = state.facts
    return not facts.started_at and not facts.hold and facts.gate == "open" and facts.start_at is not None


def _is_asleep(point: Point) -> bool:
    return point.kind == "timer" and point.status == "open"


def _address(state: ExecutionState, name: str) -> str:
    """Return where a function sleeps, which has its key in it: `charge/night`."""
    point = state.points.get(state.node(name).point)
    return journal_id(name, point.key) if point is not None and point.key else name
