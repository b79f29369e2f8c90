"""How often somebody may do something: the seam to whatever counts it, for one process or for many."""

from __future__ import annotations

from typing import Protocol


class Limiter(Protocol):
    """Counts what callers do."""

    async def take(self, name: str, limit: int, seconds: float) -> float | None:
        """Count one more under a name, of which there may be `limit` in any so many seconds.

        Return None if it may be done, else after how many seconds it is worth trying again: then it is not counted.
        """
