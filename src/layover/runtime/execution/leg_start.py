"""What a leg of an execution begins with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine import commands as cmd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.engine.state import ExecutionState
    from layover.ports.records import Claimed


def first_inputs(
    state: ExecutionState, claimed: Claimed, commands: Sequence[cmd.AnyCommand], instance: str, max_takeovers: int
) -> list[cmd.AnyCommand]:
    """Return what a leg begins with: commands are obeyed, calls that were out are made again, due timers fire.

    Nothing starts after a pause or cancel that was accepted while it had no driver. Behind a closed gate the loss is
    noted first: the resume that may be among the commands makes the calls again.
    What reopens a closed execution begins the leg itself, and makes again the calls that were out.
    """
    if state.facts.closed:
        return [*commands]
    lost = bool(state.counts["calls"])
    cause = "recovered" if lost else "commands" if commands else "woken"
    losses = claimed.head.takeovers
    inputs: list[cmd.AnyCommand] = [cmd.StartLeg(cause=cause, instance=instance, losses=losses)]
    if losses > max_takeovers:
        reason = f"It lost {losses} instances in a row; resume it when the cause is found."
        return [*inputs, cmd.Pause(reason=reason), cmd.StopDraining(), *commands]
    if not lost:
        return [*inputs, *commands]
    recover = cmd.Recover(lost=claimed.taken_over or losses > state.counts["losses"])
    is_open = state.facts.gate == "open"
    return [*inputs, *commands, recover] if is_open else [*inputs, recover, *commands]
