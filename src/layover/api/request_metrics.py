"""Counting requests: by what answered them and never by their path, which may hold a token."""

from __future__ import annotations

from layover.runtime.metrics import SECONDS, Distribution


class RequestMetrics:
    """How long requests took, by method, route and status: as many numbers as there are answers to give."""

    def __init__(self) -> None:
        self.seconds: dict[tuple[str, str, int], Distribution] = {}

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one."""
        found = self.seconds.get((method, route, status))
        if found is None:
            found = self.seconds[method, route, status] = Distribution(SECONDS)
        found.observe(seconds)
