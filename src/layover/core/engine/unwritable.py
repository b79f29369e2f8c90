"""What is left to decide when the store refuses for good what a decision led to.

Then what calls and people have reported is kept, and the execution fails with the reason before anything follows from
it. A report that was kept is not asked for again: whoever retries the execution goes on behind it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.decide import handle
from layover.core.engine.decision_context import DecisionContext
from layover.core.engine.failures import cancel_points
from layover.core.engine.points import apply, next_answered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.engine.state import Execution

_REPORTS: Final = (cmd.Complete, cmd.Probed, cmd.Record, cmd.Checkpoint, cmd.Answer, cmd.Report, cmd.Deliver)


class _NoCalls:
    def take(self, node_type: str) -> bool:  # noqa: ARG002 - nothing is called any more
        return False


_NO_CALLS: Final = _NoCalls()


def fail_unwritable(state: Execution, told: Sequence[cmd.AnyCommand], error: ev.Error, now: int) -> list[ev.AnyEvent]:
    """Return what is kept of what was told, and the failure; the state moves along and can still go back."""
    context = DecisionContext(state, now, _NO_CALLS)
    if not state.facts.closed:
        _keep_reports(context, told)
        _end(context, error)
    return context.events


def _keep_reports(context: DecisionContext, told: Sequence[cmd.AnyCommand]) -> None:
    state = context.state
    for command in told:
        if isinstance(command, _REPORTS):
            handle(context, command)
    while state.facts.gate == "open" and not state.facts.closed and (point := next_answered(context)) is not None:
        apply(context, point)


def _end(context: DecisionContext, error: ev.Error) -> None:
    if not context.state.facts.closed:  # what was reported may have ended it
        cancel_points(context, "")
        context.emit(ev.ExecutionFailed(error=error))
