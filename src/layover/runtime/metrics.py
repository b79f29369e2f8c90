"""The metrics that an instance keeps of itself.

Only sums are kept, so it costs the same however long it runs. What can be read from the database is not counted here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING

from layover.core.engine.events import ExecutionResumed, PausePointApplied

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from layover.ports.records import Append

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_PAUSES = (1.0, 10.0, 60.0, 300.0, 900.0, 3_600.0, 14_400.0, 43_200.0, 86_400.0, 259_200.0, 604_800.0)
_SIZES = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0)
_RESUMING = frozenset({ExecutionResumed, PausePointApplied})


class Distribution:
    """A histogram: counts by upper bound, and the sum of all values."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(self.bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value


class Metrics:
    """All metrics of an instance."""

    def __init__(self) -> None:
        self.started = 0
        self.closed: Counter[str] = Counter()  # by status
        self.paused = 0
        self.resumed = 0
        self.resume_errors = 0
        self.takeovers = 0
        self.pause_seconds = Distribution(_PAUSES)
        self.resume_latency = Distribution(SECONDS)
        self.cycle_seconds = Distribution(SECONDS)
        self.commit_seconds = Distribution(SECONDS)
        self.commit_size = Distribution(_SIZES)

    def wrote(self, append: Append, events: Iterable[object], asked_at: list[int], paused_at: int | None) -> int | None:
        """Count what an append of an execution says that was paused since a moment, or not; return since when it is.

        `asked_at` are the moments of the commands that it takes note of.
        """
        if append.new is not None:
            self.started += 1
        for at in asked_at:
            self.resume_latency.observe(max(append.at - at, 0) / 1000)
        if append.closed is not None:
            self.closed[append.status] += 1
        if paused_at is not None:
            self.resumed += sum(type(event) in _RESUMING for event in events)
            if append.status == "paused":
                return paused_at
            self.pause_seconds.observe(max(append.at - paused_at, 0) / 1000)
            return None
        if append.status != "paused":
            return None
        self.paused += 1
        return append.at
