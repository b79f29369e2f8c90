"""The state of an active execution: commands are decided on it, and a decision can still be undone.

The call slots that are free go into a decision as a value, and come out as those that it used. A decision is undone if
its append is refused, and made again with the commands that it had not seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.engine import commands as cmd
from layover.core.engine.decide import play
from layover.core.engine.effects import effects
from layover.core.engine.free_slots import FreeSlots
from layover.core.engine.timing import paused_since, wake_at
from layover.core.engine.unwritable import fail_unwritable
from layover.ports.records import Rest
from layover.runtime.execution.call_slots import ReservedSlots
from layover.runtime.execution.missing_functions import missing_types
from layover.runtime.execution.pending_append import PendingAppend, last_pause

if TYPE_CHECKING:
    from layover.core.engine import events as ev
    from layover.core.engine.state import ExecutionState
    from layover.runtime.calls.calls_out import CallsOut
    from layover.runtime.execution.environment import Environment
    from layover.runtime.execution.state_cache import CachedState

_NO_SLOTS: Final = FreeSlots(0)  # nothing is ever used of it
_WAKE: Final = cmd.Wake()


class Decider:
    """Decides commands, and says whether the execution rests then."""

    __slots__ = (
        "_breakpoints",
        "_call_slots",
        "_calls",
        "_clock",
        "_most",
        "last_at",
        "parked",
        "slots",
        "state",
        "unwritable",
    )

    def __init__(self, environment: Environment, cached: CachedState, calls: CallsOut, *, parked: bool) -> None:
        self.state: ExecutionState = cached.state
        self.state.undos = environment.node_runner.undos
        self.last_at = cached.last_at
        self.parked = parked  # it is begun here, and driven by any instance that has room for it
        self.slots = ReservedSlots(environment.node_runner.slots)
        self.unwritable: ev.Error | None = None  # why what follows cannot be written
        self._calls = calls
        self._clock = environment.clock
        self._call_slots = environment.node_runner.slots
        self._most = environment.settings.step_events
        self._breakpoints = environment.breakpoints

    def now(self) -> int:
        """Return the time. Clocks of instances differ a little; within one log time never goes back."""
        self.last_at = now = max(self.last_at, self._clock.now())
        return now

    def decide(self, tried: list[cmd.AnyCommand], now: int, reserved: FreeSlots | None = None) -> PendingAppend:
        """Decide commands, with all that has come due: nothing due is left undone at a rest.

        With `reserved` slots no others are used: on another thread none can be taken.
        """
        state, most, late = self.state, self._most, self._calls.with_time_left
        if self.unwritable is not None:
            events = fail_unwritable(state, tried, self.unwritable, now)
            return PendingAppend(tried, events, effects(state, events), self._resting(now), now)
        slots = reserved or (_NO_SLOTS if self.parked else self._call_slots.free())
        held = last_pause(tried) if len(tried) > 1 else 0
        state.breakpoints = self._breakpoints.of(state.plan.definition.name)
        first = tried[0]
        events = play(state, first, now, _NO_SLOTS if held else slots, most, late() if type(first) is cmd.Wake else ())
        for index, command in enumerate(tried[1:], start=1):
            usable = _NO_SLOTS if index < held else slots
            events.extend(play(state, command, now, usable, most, late() if type(command) is cmd.Wake else ()))
        while (due := wake_at(state)) is not None and due <= now:
            more = play(state, _WAKE, now, slots, most, late())
            if not more:
                break
            events.extend(more)
        if slots.used and reserved is None:
            self.slots.reserve(slots.used)
        return PendingAppend(tried, events, effects(state, events), self._resting(now), now)

    def _resting(self, now: int) -> Rest | None:
        """Return how this step releases the execution; None if it does not."""
        state, facts = self.state, self.state.facts
        if state.counts.rows["calls"] and facts.gate == "open" and not facts.closed:
            return None  # by far the most frequent
        if state.resting:
            return Rest(wake_at=wake_at(state), paused_at=paused_since(state))
        if state.counts["calls"]:
            return None
        if self.parked or self._call_slots.is_closed:
            return Rest(wake_at=now)  # what is queued, or ready, is for another instance
        missing = missing_types(state, self._call_slots.can_run)
        return Rest(wake_at=wake_at(state), missing=missing) if missing else None

    def undo(self) -> None:
        """Undo a decision whose append was refused."""
        self.state.revert()
        self._calls.set_gate(is_shut=self.state.facts.gate != "open")
        self.slots.give_back()
