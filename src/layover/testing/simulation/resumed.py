"""Resuming a workflow resumes every execution that its pause held, also if others paused and resumed it meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine import events as ev
from layover.ports.records import CLOSED
from layover.runtime.plans import is_held_because

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.testing.simulation.oracle import Oracle
    from layover.testing.simulation.world import World


class ResumedWorkflows:
    """Knows which executions have been let go of with their workflow, until that is paused again."""

    def __init__(self, world: World, oracle: Oracle) -> None:
        self._world = world
        self._oracle = oracle
        self._let_go: dict[str, str] = {}  # workflows, by execution

    def pauses(self, workflow: str) -> None:
        """Note that a caller is about to pause a workflow."""
        self._let_go = {id_: name for id_, name in self._let_go.items() if name != workflow}

    def told(self, workflow: str, known: Sequence[str]) -> None:
        """Note that a caller was told that a workflow is resumed, and which executions it had then."""
        heads = self._world.database.heads
        self._let_go.update((id_, workflow) for id_ in known if heads[id_].workflow == workflow)

    def look(self) -> None:
        """Look whether something is held all the same, although it has read all that it was sent."""
        database = self._world.database
        for id_, workflow in list(self._let_go.items()):
            head = database.heads[id_]
            if head.status in CLOSED:
                del self._let_go[id_]
            elif head.status == "paused" and head.owner is None and head.commands_done == head.commands_seq:
                status = database.workflow_statuses.get(workflow)
                if (status is None or status.state == "active") and self._is_held(id_, workflow):
                    self._oracle.breaks("RESUMED_GOES_ON", f"{id_} is held by a pause of {workflow}, which goes on")

    def _is_held(self, id_: str, workflow: str) -> bool:
        for one in reversed(self._oracle.log(id_)):
            if isinstance(one, ev.ExecutionResumed | ev.ExecutionReopened):
                return False
            if isinstance(one, ev.ExecutionPausing):
                return is_held_because(workflow, one.reason)
        return False
