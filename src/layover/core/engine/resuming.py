"""Opening the gate: what was held goes on, be it by an operator, or at the moment or by the signal that one had set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine import events as ev
from layover.core.engine import recovery, starting
from layover.core.engine.advance import check_all_scopes

if TYPE_CHECKING:
    from layover.core.engine import commands as cmd
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
    _resume_as_set(context, "Its pause was set to end.")


def resume_on_signal(context: DecisionContext, command: cmd.Deliver) -> None:
    """Open the gate if this is the signal that was set for it."""
    wait = context.state.facts.resume_on
    if wait is None or command.point:  # what a point found in its mailbox may be older than the pause
        return
    at = context.now if command.at is None else command.at
    signal = {"id": command.id, "name": command.name, "key": command.key, "data": command.data, "at": at}
    if wait.takes(signal, context.now):
        _resume_as_set(context, f"Its pause was set to end with the signal `{command.name}`.")


def _resume_as_set(context: DecisionContext, reason: str) -> None:
    event = ev.ExecutionResumed(reason=reason, by=context.state.facts.resume_by, scheduled=True)
    open_gate(context, event)
    recovery.release_incidents(context)
