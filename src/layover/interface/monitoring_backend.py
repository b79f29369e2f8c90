"""What the door needs of a backend to look at a whole database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from layover.model.diagnosis import Diagnosis
    from layover.model.monitoring import DueTimer, RunningInstance, Stats, StatsSpan
    from layover.model.shared import Page


class MonitoringBackend(Protocol):
    """Instances, timers, figures."""

    async def instances(self) -> tuple[RunningInstance, ...]:
        """Return the instances that are alive, and those that have left leases behind, by name."""

    async def timers(self, limit: int, cursor: str | None) -> Page[DueTimer]:
        """Return a page of what is due at a moment, the earliest first."""

    async def doctor(self) -> Diagnosis:
        """Return what keeps the engine, its database or the executions from working."""

    async def stats(self, span: StatsSpan) -> Stats:
        """Return figures over a stretch of time, and how much waits now."""
