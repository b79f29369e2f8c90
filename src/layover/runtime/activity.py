"""Figures over time: what happened in each of a number of buckets, and how much waits now.

They are counted from what the database keeps, along indexes and up to a bound for each bucket. Numbers that were
counted a moment ago are given again, so that many who look cost no more than one.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from layover.core.moments import Moment
from layover.metrics.labels import MOST_VALUES
from layover.model.monitoring import QueueLengths, Stats, StatsBucket

if TYPE_CHECKING:
    from layover.model.monitoring import StatsSpan
    from layover.ports.store import Store
    from layover.ports.view_records import ActivityBucket, Gauges
    from layover.runtime.clock import Clock

_MINUTE: Final = 60_000
_BUCKETS: Final[dict[StatsSpan, tuple[int, int]]] = {  # how many of which width
    "hour": (60, _MINUTE),
    "day": (48, 30 * _MINUTE),
    "week": (84, 120 * _MINUTE),
}
_MOST: Final = 5_000  # rows of one kind in one bucket
_FRESH: Final = 5_000  # milliseconds
_DAY: Final = 86_400_000


class Activity:
    """The last figures of each span, and the queries for the next ones."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self.fresh = _FRESH
        self._store = store
        self._clock = clock
        self._found: dict[StatsSpan, tuple[int, Stats]] = {}  # with when they were read, by the clock that never jumps
        self._reading = asyncio.Lock()

    async def stats(self, span: StatsSpan) -> Stats:
        """Return the figures of a span, which may be a few seconds old."""
        async with self._reading:  # those who wait here find what the first has read
            known = self._found.get(span)
            if known is not None and self._clock.running() - known[0] < self.fresh:
                return known[1]
            stats = await self._read(span)
            self._found[span] = self._clock.running(), stats
            return stats

    async def _read(self, span: StatsSpan) -> Stats:
        now = self._clock.now()
        count, width = _BUCKETS[span]
        until = now - now % width + width
        starts = range(until - count * width, until, width)
        buckets = await self._store.monitoring.read_activity(starts, width, _MOST)
        gauges = await self._store.queries.read_gauges(now, now - _DAY, MOST_VALUES)
        return Stats(
            span=span,
            width_ms=width,
            until=Moment.of(until),
            queues=_queues_of(gauges),
            buckets=tuple(map(_bucket_of, buckets)),
        )


def _queues_of(gauges: Gauges) -> QueueLengths:
    return QueueLengths(
        executions=gauges.executions,
        due=gauges.due,
        oldest_due=Moment.maybe(gauges.oldest_due),
        commands=gauges.commands,
        messages=gauges.messages,
        oldest_message=Moment.maybe(gauges.oldest_message),
        oldest_pause=Moment.maybe(gauges.oldest_paused),
        inputs=gauges.pending_inputs,
    )


def _bucket_of(row: ActivityBucket) -> StatsBucket:
    return StatsBucket(
        start=Moment.of(row.start),
        started=row.started,
        finished=row.finished,
        failed=row.failed,
        duration_ms=row.took // row.finished if row.finished else None,
        asked=row.asked,
        answered=row.answered,
        pause_ms=row.waited // row.answered if row.answered else None,
        longest_pause_ms=row.longest_wait if row.answered else None,
        capped=max(row.started, row.finished, row.asked) >= _MOST,
    )
