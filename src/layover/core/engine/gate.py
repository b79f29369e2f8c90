"""The operator's gate: when everything behind it has come to rest, and what became of what was in flight.

In flight are the calls that were out when the gate closed. A child execution is told to pause as well and is waited
for, until it says that it has, or that it is closed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine import events as ev
from layover.core.engine.state import CALLING

if TYPE_CHECKING:
    from layover.core.engine.decision_context import DecisionContext
    from layover.core.engine.state import Execution, Point


def has_drained(state: Execution) -> bool:
    """Whether no call is out and no child at work; what backs off or waits is at rest."""
    counts = state.counts.rows
    return not counts["calls"] and not counts["children"]


def rest(context: DecisionContext) -> None:
    """Decide that the execution is paused; what has not come to rest by now is in doubt."""
    context.emit(ev.ExecutionPaused(fates=_fates(context.state), order=context.state.facts.order))


def calls_out(state: Execution) -> tuple[str, ...]:
    """Return the nodes whose calls are out."""
    return tuple(sorted(name for name, node in state.nodes.rows.items() if node.status in CALLING))


def open_children(state: Execution) -> list[Point]:
    """Return the points that wait for a child execution."""
    points = state.points.rows
    return [points[key] for key in sorted(points) if points[key].kind == "child" and points[key].status == "open"]


def _fates(state: Execution) -> dict[str, ev.Fate]:
    facts = state.facts
    return {name: facts.fates.get(name) or _fate(state, name) for name in facts.in_flight}


def _fate(state: Execution, name: str) -> ev.Fate:
    node = state.nodes.get(name)
    if node is None:
        return "stopped"  # the scope that it was in is gone
    return "in_doubt" if node.status in CALLING else node.status
