"""What one process counts by itself."""

from __future__ import annotations

from collections import OrderedDict, deque
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_NAMES = 10_000


class LocalLimiter:
    """Counts in memory, exactly: it keeps the moments of the last so many of each name.

    Names that nothing was heard of for longest are forgotten when there are too many.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._moments: OrderedDict[str, deque[float]] = OrderedDict()

    async def take(self, name: str, limit: int, seconds: float) -> float | None:
        """Count one more, if there were not too many."""
        now = self._clock()
        moments = self._moments.get(name)
        if moments is None or moments.maxlen != limit:
            moments = self._moments[name] = deque(moments or (), maxlen=limit)
            if len(self._moments) > _MOST_NAMES:
                self._moments.popitem(last=False)
        self._moments.move_to_end(name)
        if len(moments) == limit:
            wait = moments[0] + seconds - now
            if wait > 0:
                return wait
        moments.append(now)
        return None
