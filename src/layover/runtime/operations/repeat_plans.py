"""Plans of retries and rewinds: read from the log, nothing is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine import commands as cmd
from layover.core.engine.decide import decide
from layover.core.engine.repeats import repeats_of
from layover.model.repeat_plans import RepeatPlan
from layover.runtime.operations.refusals import does_not_fit

if TYPE_CHECKING:
    from collections.abc import Collection

    from layover.core.engine.state import ExecutionState


def plan_of(
    state: ExecutionState, command: cmd.Retry | cmd.Rewind, now: int, called_before: Collection[str]
) -> RepeatPlan:
    """Return what a command would do to an execution as it is; refuse one that the execution would refuse."""
    found = repeats_of(state, command, now, called_before) if decide(state, command, now) else None
    if found is None:
        raise does_not_fit(state, command)
    changed: set[str] = set()
    if isinstance(command, cmd.Rewind):
        changed = {*command.variables, *command.unset, *command.root_variables, *command.root_unset}
    return RepeatPlan(
        repeated=found.repeated,
        dropped=found.dropped,
        superseded=found.superseded,
        calls=found.calls,
        variables=tuple(sorted(changed)),
    )
