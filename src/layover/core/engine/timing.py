"""Time: when something is due, and what happens then.

The moment is a pure function of the state: the start, the earliest retry, timeout, heartbeat, deadline, reminder or
escalation, or the end of the execution's own timeout. Behind a closed gate nothing comes due but its scheduled opening
and the end of the longest pause; timers that came due meanwhile act when the gate opens, in the order in which they
came due.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine import calls
from layover.core.engine import events as ev
from layover.core.engine.activate import attempt
from layover.core.engine.failures import TIMEOUT, cancel_points
from layover.core.engine.gate import longest_pause_ends
from layover.core.engine.points import act_on_time
from layover.core.engine.resuming import resume_on_time
from layover.core.engine.starting import start
from layover.core.engine.state import PEOPLE

if TYPE_CHECKING:
    from layover.core.engine.decision_context import DecisionContext
    from layover.core.engine.state import ExecutionState


def wake_at(state: ExecutionState) -> int | None:
    """Return the next moment at which something is due; None if only an outside event can move the execution."""
    facts = state.facts
    if facts.closed:
        return None
    if facts.gate != "open":
        ends = longest_pause_ends(state)
        return facts.resume_at if ends is None else ends if facts.resume_at is None else min(ends, facts.resume_at)
    if not facts.started_at:
        return None if facts.hold else facts.start_at
    due = state.timers.earliest() if state.timers.rows else None
    end = _end_of_time(state) if state.timed else None
    return min(due, end) if due is not None and end is not None else due if end is None else end


def wake(context: DecisionContext) -> None:
    """Do what is due."""
    state = context.state
    if state.facts.gate != "open":
        due, scheduled = wake_at(state), state.facts.resume_at
        if due is not None and due <= context.now and due == scheduled:
            resume_on_time(context)
        elif due is not None and due <= context.now:
            _fail_execution(context, "pause_expired", "The execution was paused for longer than `max_pause` allows.")
        return
    start(context)
    end = _end_of_time(state)
    if end is not None and end <= context.now:
        _fail_execution(context, "timeout", "The execution took longer than its timeout.")
        return
    for key in state.timers.due(context.now):
        if state.facts.closed:
            return
        if key in context.with_time_left:
            continue
        while state.timers.get(key) is not None and state.timers[key] <= context.now:
            _act(context, key)


def _act(context: DecisionContext, key: str) -> None:
    point = context.state.points.get(key)
    if point is not None:
        act_on_time(context, point)
    elif context.state.node(key).status == "backoff":
        attempt(context, key, context.state.planned(key), "retried")
    else:
        calls.failed(context, key, TIMEOUT)


def _end_of_time(state: ExecutionState) -> int | None:
    """Return when the timeout of the execution ends, if it has one and is at work."""
    facts, timeout = state.facts, state.plan.definition.settings.timeout
    if timeout is None or facts.active_since is None:
        return None
    return facts.active_since + timeout - facts.active_ms


def _fail_execution(context: DecisionContext, code: str, message: str) -> None:
    cancel_points(context, "")
    context.emit(ev.ExecutionFailed(error=ev.Error(code=code, message=message, retryable=False)))


def paused_since(state: ExecutionState) -> int | None:
    """Return since when the execution is paused or a person has been awaited, whichever is longest; None if neither."""
    facts = state.facts
    if state.status != "paused":
        return None
    if facts.gate != "open":
        return facts.paused_at
    asked = [one.opened_at for one in state.points.rows.values() if one.status == "open" and one.kind in PEOPLE]
    if state.counts["people"] > len(asked):  # the others are failed calls that wait for an operator
        asked += [node.started_at for node in state.nodes.rows.values() if node.status == "incident"]
    return min(asked, default=None)
