"""Monitoring: what operators ask about the whole database. Every answer has a bound, and none goes through a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import Head
    from layover.ports.view_records import ActivityBucket
    from layover.ports.vitals import Vitals


class MonitoringStore(Protocol):
    """What is read of all executions together."""

    async def count_leases(self, until: int, most: int) -> dict[str, int]:
        """Count the executions that instances drive, by instance: leases up to a moment, the latest so many."""

    async def list_timers(self, after: tuple[int, str] | None, limit: int) -> list[Head]:
        """List what is due at a moment and driven by no instance, the earliest first, behind one that was seen."""

    async def read_vitals(self) -> Vitals:
        """Return how carefully the database keeps what is written, as far as it can be asked."""

    async def read_activity(self, starts: Sequence[int], width: int, most: int) -> list[ActivityBucket]:
        """Count what happened in stretches of time of one width; of each, so many rows are looked at."""
