"""When an active execution is woken next: by its own timers, the end of a drain, of a leg, or of a wait for a slot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.engine.timing import wake_at
from layover.core.light_structs import LightStruct
from layover.runtime.execution.missing_functions import queued_types

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.core.engine.state import ExecutionState
    from layover.runtime.calls.calls_out import CallsOut
    from layover.runtime.execution.alarm import Alarm
    from layover.runtime.execution.environment import Environment
    from layover.runtime.execution.leg_buffer import LegBuffer
    from layover.runtime.execution.slot_queue import SlotQueue

_LOOK_AGAIN: Final = 1_000  # milliseconds: while a call has time left, it is not known what else is due when


class WakeUp(LightStruct):
    """Sets the alarm of an execution to the next moment at which it has something to do."""

    _environment: Environment
    _state: ExecutionState
    _calls: CallsOut
    _leg_buffer: LegBuffer
    _slot_queue: SlotQueue
    _ring: Callable[[], None]
    _alarm: Alarm

    def set(self) -> None:
        """Set the alarm to the next timer that comes due while calls are running."""
        state, settings = self._state, self._environment.settings
        due = wake_at(state)
        if due is not None and due <= (now := self._environment.clock.now()):
            later = self._calls.next_timeout(now, _LOOK_AGAIN)
            if later is not None and later <= now:
                self._environment.loop.call_soon(self._ring)  # after others
                later = now + _LOOK_AGAIN
            due = later or due
        if state.facts.gate == "pausing":
            due = min(self.drained_by(), self.drained_by() if due is None else due)
        if self._leg_buffer.count:
            flush_at = self._leg_buffer.since + settings.leg_flush
            due = flush_at if due is None else min(due, flush_at)
        if self._slot_queue.since and (until := self._slot_queue.waits_until(settings.give_back_after)) is not None:
            due = until if due is None else min(due, until)
        self._alarm.set(due)

    def end(self) -> None:
        """Never wake it again."""
        self._alarm.end()
        self._ring = _nobody

    def drained_by(self) -> int:
        """Return until when a pause waits for running calls, without those that wait for the gate to open."""
        return self._state.facts.paused_at + (0 if self._calls.are_held() else self._environment.settings.drain)

    def is_drained(self, now: int) -> bool:
        """Return whether a pause has waited for running calls as long as it may."""
        return self._state.facts.gate == "pausing" and self.drained_by() <= now

    def gave_up_slots(self, now: int) -> tuple[str, ...]:
        """Return the node types whose call slots an execution has only waited for, and for too long; else nothing."""
        until, due = self._slot_queue.waits_until(self._environment.settings.give_back_after), wake_at(self._state)
        if until is None or until > now or (due is not None and due <= now):
            return ()
        if self._state.queue.rows:  # it has more to do than to wait
            return ()
        types = queued_types(self._state)
        if any(map(self._environment.node_runner.slots.has_slot, types)):  # it is about to have its turn
            self._slot_queue.since = now
            return ()
        return types


def _nobody() -> None:
    pass
