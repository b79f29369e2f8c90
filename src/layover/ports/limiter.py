"""Rate limits for callers: the protocol of a counter, for one process or for many."""

from __future__ import annotations

from typing import Protocol


class Limiter(Protocol):
    """Counts acts of callers."""

    async def take(self, name: str, limit: int, seconds: float) -> float | None:
        """Count one more under a name, with at most `limit` in any window of so many seconds.

        Return None if it is allowed, else after how many seconds to try again: then it is not counted.
        """
