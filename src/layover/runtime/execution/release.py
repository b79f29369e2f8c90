"""How an active execution is released: it rests, has nothing to do, is put off, or was lost to another instance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from layover.core.light_structs import LightStruct
from layover.runtime.calls.call_out import CallOwner
from layover.runtime.execution.host import HostedExecution
from layover.runtime.execution.leg_tracing import end_leg
from layover.runtime.execution.unknown_commands import mark_of

if TYPE_CHECKING:
    from layover.ports.records import QueuedCommand, Rest
    from layover.runtime.calls.calls_out import CallsOut
    from layover.runtime.calls.slots import CallSlots
    from layover.runtime.execution.held_lease import HeldLease
    from layover.runtime.execution.host import Host
    from layover.runtime.execution.state_cache import CachedState
    from layover.runtime.execution.waiters import Waiters
    from layover.runtime.execution.wake_up import WakeUp

RETRY_LATER: Final = 60_000


class Releasable(CallOwner, HostedExecution, Protocol):
    """An execution with calls, and a host."""


class Release(LightStruct):
    """Ends what belongs to an execution here, and gives it to the driver."""

    _host: Host
    _call_slots: CallSlots
    _calls: CallsOut
    _lease: HeldLease
    _wake_up: WakeUp
    _waiters: Waiters

    def rest(self, owner: Releasable, cached: CachedState, rest: Rest) -> None:
        """Let it rest: its lease was given back with its last append."""
        if self._calls:
            self._calls.stop_within("")
        if owner.leg_span is not None:
            end_leg(owner.leg_span, cached.state, rest)
        self._end(owner)
        self._host.rested(owner, cached, rest)

    def give_back(self, owner: Releasable, wake_at: int | None) -> None:
        """Give it back unchanged: there was nothing to do."""
        self._end(owner)
        self._host.forget(owner)
        self._host.give_back(self._lease.record, wake_at)

    def put_off(self, owner: Releasable, after: int = RETRY_LATER, missing: tuple[str, ...] = ()) -> None:
        """Release what cannot go on; it is tried again, in case the cause goes away."""
        self.drop(owner)
        self._host.put_off(self._lease.unchanged(), after, missing)

    def hold_back(self, owner: Releasable, command: QueuedCommand) -> None:
        """Release an execution with a command that this release cannot read, for an instance that can."""
        self.put_off(owner, missing=(mark_of(command),))

    def drop(self, owner: Releasable) -> None:
        """Drop it: another instance has claimed it."""
        self._end(owner)
        if self._calls:
            self._calls.stop_within("")
        self._host.forget(owner)

    def _end(self, owner: Releasable) -> None:
        self._lease.is_over = True
        if owner.leg_span is not None and owner.new is None:  # of one that was never created nothing is told
            owner.leg_span.end("dropped")
        if self._calls.on_entered is not None:
            self._calls.give_up_shutting()
        self._call_slots.leave_queue(owner)
        self._wake_up.end()
        self._waiters.end()
