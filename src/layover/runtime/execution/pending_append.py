"""A decision whose append is in flight, and the order of commands if it has to be made again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine import commands as cmd
from layover.core.light_structs import LightStruct

if TYPE_CHECKING:
    from layover.core.engine.effects import Effect
    from layover.core.engine.events import AnyEvent
    from layover.ports.records import Rest

# What an instance tells an execution by itself; everything else comes out of its queue.
OWN = (
    *(cmd.Create, cmd.StartLeg, cmd.Recover, cmd.Wake, cmd.StartQueued, cmd.StopDraining),
    *(cmd.Complete, cmd.Fail, cmd.Probed, cmd.Undone, cmd.Checkpoint, cmd.Record, cmd.Ask, cmd.Sleep),
)


class PendingAppend(LightStruct, gc=False):
    """A decision: its commands, the events, and their effects."""

    tried: list[cmd.AnyCommand]
    events: list[AnyEvent]
    effects: list[Effect]
    rest: Rest | None
    at: int


def in_order(tried: list[cmd.AnyCommand], commands: list[cmd.AnyCommand]) -> list[cmd.AnyCommand]:
    """Insert new commands behind those of the queue and before the inputs of this instance."""
    behind = max((index + 1 for index, one in enumerate(tried) if not isinstance(one, OWN)), default=0)
    return [*tried[:behind], *commands, *tried[behind:]]


def last_pause(tried: list[cmd.AnyCommand]) -> int:
    """Return the index of the last command that closes the gate: commands before it in a step begin no call.

    A call begins once its step is durable, and then so is the pause. The nodes are queued instead, until it is resumed.
    """
    for index in range(len(tried) - 1, 0, -1):
        if type(tried[index]) is cmd.Pause:
            return index
    return 0
