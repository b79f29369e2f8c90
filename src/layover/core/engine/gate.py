"""The operator's gate: when everything behind it has come to rest, and the fate of the calls in flight.

In flight are the calls that were out when the gate closed. A child execution is told to pause as well, and the pause
is complete when every child has confirmed it or is closed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine import events as ev
from layover.core.engine.state import CALLING
from layover.core.resume_waits import PauseEnd

if TYPE_CHECKING:
    from layover.core.engine import commands as cmd
    from layover.core.engine.decision_context import DecisionContext
    from layover.core.engine.state import ExecutionState, Point


def has_drained(state: ExecutionState) -> bool:
    """Whether no call is out and no child is running; nodes in backoff or waiting are at rest."""
    counts = state.counts.rows
    return not counts["calls"] and not counts["children"]


def close(context: DecisionContext, command: cmd.Pause) -> None:
    """Decide what a pause does: it closes the gate, or changes when a closed one opens by itself."""
    facts = context.state.facts
    if facts.gate == "open":
        reason = command.reason or f"Paused by {command.by or 'an operator'}"
        context.emit(
            ev.ExecutionPausing(
                reason=reason,
                by=command.by,
                order=command.order,
                resume_at=command.resume_at,
                resume_on=command.resume_on,
            )
        )
        return
    if command.order not in (0, facts.order):
        context.emit(ev.ExecutionPauseNoted(order=command.order))
    end = PauseEnd(command.resume_at, command.resume_on)
    if end.is_set:
        schedule(context, end, command.by)


def schedule(context: DecisionContext, end: PauseEnd, by: str | None) -> None:
    """Decide when a closed gate opens by itself."""
    facts = context.state.facts
    if facts.gate != "open" and not end.is_same(facts.resume_end):
        context.emit(ev.ExecutionResumeScheduled(at=end.at, on=end.on, by=by))


def longest_pause_ends(state: ExecutionState, now: int = 0) -> int | None:
    """Return when the pause of an operator, or one that begins now, fails the execution; None if it may last."""
    longest = state.plan.definition.settings.max_pause
    since = state.facts.paused_at if state.facts.gate != "open" else now
    return since + longest if isinstance(longest, int) else None


def rest(context: DecisionContext) -> None:
    """Decide that the execution is paused; calls that are still out are in doubt."""
    context.emit(ev.ExecutionPaused(fates=_fates(context.state), order=context.state.facts.order))


def calls_out(state: ExecutionState) -> tuple[str, ...]:
    """Return the nodes whose calls are out."""
    return tuple(sorted(name for name, node in state.nodes.rows.items() if node.status in CALLING))


def open_children(state: ExecutionState) -> list[Point]:
    """Return the points that wait for a child execution."""
    points = state.points.rows
    return [points[key] for key in sorted(points) if points[key].kind == "child" and points[key].status == "open"]


def _fates(state: ExecutionState) -> dict[str, ev.Fate]:
    facts = state.facts
    return {name: facts.fates.get(name) or _fate(state, name) for name in facts.in_flight}


def _fate(state: ExecutionState, name: str) -> ev.Fate:
    node = state.nodes.get(name)
    if node is None:
        return "stopped"  # its scope is gone
    return "in_doubt" if node.status in CALLING else node.status
