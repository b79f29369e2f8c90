"""The part of the door that is about the whole database: instances, timers, figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from layover.interface.arguments import check_word
from layover.interface.listing import Listing
from layover.model.monitoring import StatsSpan

if TYPE_CHECKING:
    from layover.interface.backend import Backend
    from layover.model.diagnosis import Diagnosis
    from layover.model.monitoring import DueTimer, RunningInstance, Stats

STATS_SPANS = get_args(StatsSpan)


class MonitoringDoor:
    """What a program can ask about the whole database."""

    _backend: Backend

    async def instances(self) -> tuple[RunningInstance, ...]:
        """Return the instances that have the database open, by name, with how many executions each drives."""
        return await self._backend.monitoring.instances()

    def timers(self) -> Listing[DueTimer]:
        """Return what is due at a moment and driven by no instance, the earliest first."""
        return Listing(self._backend.monitoring.timers)

    async def doctor(self) -> Diagnosis:
        """Return what keeps the engine, its database or the executions from working, and what to do; it needs `admin`.

        Of open executions the newest 10,000 are looked at, for five seconds at most, and what was found is given again
        for as long.
        """
        return await self._backend.monitoring.doctor()

    async def stats(self, span: StatsSpan = "hour") -> Stats:
        """Return figures over the last hour, day or week, and how much waits now.

        An hour has 60 buckets of a minute, a day 48 of half an hour, a week 84 of two hours.
        """
        check_word("span", span, STATS_SPANS)
        return await self._backend.monitoring.stats(span)
