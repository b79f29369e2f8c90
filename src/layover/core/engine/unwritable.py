"""The decision that is left when the store refuses the events of a decision for good.

The reports of calls and the answers of people are kept, and the execution fails with the reason before anything follows
from them. A report that was kept is not asked for again: a retry of the execution goes on behind it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.decide import handle
from layover.core.engine.decision_context import DecisionContext
from layover.core.engine.failures import cancel_points
from layover.core.engine.free_slots import FreeSlots
from layover.core.engine.points import apply, next_answered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.engine.state import ExecutionState

_REPORTS: Final = (
    cmd.Complete,
    cmd.Probed,
    cmd.Undone,
    cmd.Record,
    cmd.Checkpoint,
    cmd.Answer,
    cmd.Report,
    cmd.Deliver,
)


def fail_unwritable(
    state: ExecutionState, commands: Sequence[cmd.AnyCommand], error: ev.Error, now: int
) -> list[ev.AnyEvent]:
    """Return the reports that are kept, and the failure; the state moves along and can still go back."""
    context = DecisionContext(state, now, FreeSlots(0))  # nothing is called any more
    if not state.facts.closed:
        _keep_reports(context, commands)
        _end(context, error)
    return context.events


def _keep_reports(context: DecisionContext, commands: Sequence[cmd.AnyCommand]) -> None:
    state = context.state
    for command in commands:
        if isinstance(command, _REPORTS):
            handle(context, command)
    while state.facts.gate == "open" and not state.facts.closed and (point := next_answered(context)) is not None:
        apply(context, point)


def _end(context: DecisionContext, error: ev.Error) -> None:
    if not context.state.facts.closed:  # a report may have ended it
        cancel_points(context, "")
        context.emit(ev.ExecutionFailed(error=error))
