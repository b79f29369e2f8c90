"""Counting requests: by what answered them and never by their path, which may hold a token."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.metrics.distribution import Distribution
from layover.metrics.families import SECONDS

if TYPE_CHECKING:
    from layover.metrics.samples import Samples


class RequestMetrics:
    """How long requests took, by method, route and class of status: as many numbers as there are answers to give."""

    def __init__(self) -> None:
        self._seconds: dict[tuple[str, str, int], Distribution] = {}

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one."""
        key = method, route, status // 100
        found = self._seconds.get(key)
        if found is None:
            found = self._seconds[key] = Distribution(SECONDS)
        found.observe(seconds)

    def add_to(self, samples: Samples) -> None:
        """Add all to the metrics of this process."""
        for (method, route, hundreds), seconds in self._seconds.items():
            labels = method, route, f"{hundreds}xx"
            samples.add_distribution("layover_http_request_duration_seconds", seconds, *labels)
