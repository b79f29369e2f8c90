"""Opening the gate: what was held goes on, be it by an operator or at the moment that one had set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine import events as ev
from layover.core.engine import recovery, starting
from layover.core.engine.advance import check_all_scopes

if TYPE_CHECKING:
    from layover.core.engine.decision_context import DecisionContext


def open_gate(context: DecisionContext, event: ev.ExecutionResumed) -> None:
    """Open the gate of an execution; calls that were in doubt are made again."""
    was_paused = context.state.facts.gate == "paused"
    context.emit(event)
    if was_paused:
        recovery.recover(context, lost=False)
    check_all_scopes(context)
    starting.start(context)


def resume_on_time(context: DecisionContext) -> None:
    """Open the gate at the moment that was set for it."""
    event = ev.ExecutionResumed(reason="Its pause was set to end.", by=context.state.facts.resume_by, scheduled=True)
    open_gate(context, event)
    recovery.release_incidents(context)
