"""The executions that this instance drives, by id, and until when all of their leases last."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from layover.runtime.execution.active_execution import ActiveExecution

if TYPE_CHECKING:
    from layover.ports.records import Head, QueuedCommand
    from layover.runtime.calls.call_out import CallOut
    from layover.runtime.clock import Clock
    from layover.runtime.execution.host import HostedExecution
    from layover.runtime.settings import RuntimeSettings


class ActiveExecutions(dict[str, ActiveExecution]):
    """The active executions; `freed` is set when there is room for another one."""

    __slots__ = ("covered_until", "freed")

    def __init__(self) -> None:
        super().__init__()
        self.freed = asyncio.Event()
        self.covered_until = 0  # the leases of all of them last at least so long

    def add(self, active: ActiveExecution) -> None:
        """Add an execution with its lease."""
        self[active.id] = active
        self.covered_until = min(self.covered_until, active.held_lease.until)

    def remove(self, active: HostedExecution) -> bool:
        """Remove an execution; false if it is not among them, or was replaced by a later leg."""
        if self.get(active.id) is not active:
            return False
        del self[active.id]
        self.freed.set()
        return True

    def measure_cover(self, if_none: int) -> None:
        """Note the earliest end of all leases, after a renewal."""
        self.covered_until = min((active.lease_until for active in self.values()), default=if_none)

    def own_head(self, execution_id: str) -> Head | None:
        """Return the head of an execution that is driven here, as it stands in the store as long as the lease lasts."""
        active = self.get(execution_id)
        return active.head() if active is not None and active.has_lease() else None

    def calls_of(self, execution_id: str) -> list[CallOut] | None:
        """Return the running calls of an execution; None if it is not driven here."""
        active = self.get(execution_id)
        return list(active.calls.values()) if active is not None else None

    def hear(self, execution_id: str, command: QueuedCommand) -> None:
        """Pass a durable command to an execution, if it is still active here."""
        active = self.get(execution_id)
        if active is not None:
            active.hear(command)


class Leases(NamedTuple):
    """Whose leases are renewed, and by what time."""

    instance: str
    active: ActiveExecutions
    clock: Clock
    settings: RuntimeSettings
