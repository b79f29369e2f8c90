"""What has something to do is not put off for long: an instance that could not read it for a moment tries again soon.

An execution that no instance drives is due when its next timer is, or at once if it has work or commands. One that is
put off for a minute instead is not due, so no poll misses it; its caller does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.records import CLOSED

if TYPE_CHECKING:
    from layover.ports.records import Head
    from layover.testing.simulation.world import World

_LONG = 30_000  # milliseconds


class PutOff:
    """Looks at executions that are ready, and not due."""

    def __init__(self, world: World) -> None:
        self._world = world

    def look(self) -> None:
        """Look at all of them; where the database refuses what is written, being put off may be right."""
        world = self._world
        if world.mixture.refused:
            return
        soon = world.database.clock() + _LONG
        for id_, head in world.database.heads.items():
            if _is_ready(head) and (head.wake_at is None or head.wake_at > soon):
                world.oracle.breaks("PROMPT", f"{id_} ({head.workflow}, {head.status}) is put off until {head.wake_at}")


def _is_ready(head: Head) -> bool:
    """Return whether an execution without a driver has something to do, and is neither a suspect nor held back."""
    if head.owner is not None or head.status in CLOSED or head.missing or head.takeovers:
        return False
    return head.status == "running" or head.commands_seq > head.commands_done
