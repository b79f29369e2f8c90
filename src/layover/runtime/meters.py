"""What an instance counts and measures of itself while it works, for whoever looks after it.

Only sums are kept, so it costs the same however long it runs. What can be read from the database is not counted here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_PAUSES = (1.0, 10.0, 60.0, 300.0, 900.0, 3_600.0, 14_400.0, 43_200.0, 86_400.0, 259_200.0, 604_800.0)
_SIZES = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0)


class Distribution:
    """How often a value was within which bounds, and the sum of all."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(self.bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value


class Meters:
    """All of them."""

    def __init__(self) -> None:
        self.started = 0
        self.closed: Counter[str] = Counter()  # by status
        self.paused = 0
        self.resumed = 0
        self.resume_errors = 0
        self.takeovers = 0
        self.pause_seconds = Distribution(_PAUSES)
        self.resume_latency = Distribution(_SECONDS)
        self.cycle_seconds = Distribution(_SECONDS)
        self.commit_seconds = Distribution(_SECONDS)
        self.commit_size = Distribution(_SIZES)
        self.requests: dict[tuple[str, str, int], Distribution] = {}  # by method, route and status

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request by what answered it: never by its path, which may hold a token."""
        found = self.requests.get((method, route, status))
        if found is None:
            found = self.requests[method, route, status] = Distribution(_SECONDS)
        found.observe(seconds)
