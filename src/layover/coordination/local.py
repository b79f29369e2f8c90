"""What one process counts by itself."""

from __future__ import annotations

from collections import OrderedDict, deque
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_NAMES = 10_000
_MOST_MOMENTS = 1_000_000


class LocalLimiter:
    """Counts in memory, exactly: it keeps the moments of the last so many of each name.

    Names that nothing was heard of for longest are forgotten when there are too many, or too many moments of them.
    """

    def __init__(
        self,
        clock: Callable[[], float] = monotonic,
        *,
        most_names: int = _MOST_NAMES,
        most_moments: int = _MOST_MOMENTS,
    ) -> None:
        self._clock = clock
        self._most_names = most_names
        self._most_moments = most_moments
        self._moments: OrderedDict[str, deque[float]] = OrderedDict()
        self._count = 0

    @property
    def size(self) -> tuple[int, int]:
        """How many names are known, and how many moments in all."""
        return len(self._moments), self._count

    async def take(self, name: str, limit: int, seconds: float) -> float | None:
        """Count one more, if there were not too many."""
        now = self._clock()
        moments = self._moments.get(name)
        if moments is None:
            moments = self._moments[name] = deque()
        self._moments.move_to_end(name)
        while moments and moments[0] + seconds <= now:
            moments.popleft()
            self._count -= 1
        if len(moments) >= limit:
            return moments[len(moments) - limit] + seconds - now
        moments.append(now)
        self._count += 1
        while len(self._moments) > self._most_names or (self._count > self._most_moments and len(self._moments) > 1):
            _, forgotten = self._moments.popitem(last=False)
            self._count -= len(forgotten)
        return None
