"""When occasions are expanded: at once, unless enough waits for their destinations already.

Many executions may open pauses in one moment, more than a destination takes in minutes. To expand them all at once
would slow down the executions that run, and nobody would be told earlier. So once a destination has a long queue, only
a few occasions are expanded for it in each window of time, and the others are put off to the windows that follow. They
stay in the outbox; when the queue is no longer long, occasions are expanded at once.

How many are put off to one window follows from how fast the queue has become shorter: a quick receiver gets as many as
it takes, and an occasion for a slow one is put off only a few times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

LONG: Final = 200  # deliveries that wait for a destination
WINDOW: Final = 250  # milliseconds
AT_ONCE: Final = 12  # occasions that are expanded in a window for a destination with a long queue
_LEAST_PUT_OFF: Final = 18  # to one window
_MOST_KNOWN: Final = 1_000  # destinations


class _Queue:
    """What waits for a destination, as it was at the beginning of a window, and what was added since."""

    def __init__(self, begins: int, waiting: int, before: _Queue | None) -> None:
        self.begins = begins
        self.waiting = waiting
        self.expanded = 0
        # Those that were put off have their windows.
        self.next_window: int = before.next_window if before is not None else 0
        self.put_off: int = before.put_off if before is not None else 0  # to that window
        self.per_window: int = before.judge(begins, waiting) if before is not None else LONG  # until more is known

    def expand_at(self, now: int) -> int:
        """Return when to expand one more occasion."""
        if self.waiting < LONG:
            self.waiting += 1
            return now
        if self.expanded < AT_ONCE:
            self.expanded += 1
            return now
        if self.next_window <= now:
            self.next_window, self.put_off = self.begins + WINDOW, 0
        elif self.put_off >= self.per_window:
            self.next_window, self.put_off = self.next_window + WINDOW, 0
        self.put_off += 1
        return self.next_window

    def judge(self, now: int, waiting: int) -> int:
        """Return how many to put off to one window, given what waits at the beginning of the next one."""
        if waiting < LONG // 2:
            return LONG  # it may take more than it was given
        taken = (self.waiting + self.expanded - waiting) * WINDOW // max(now - self.begins, WINDOW)
        # Rather too many than too few, and fewer only by and by: a few that are put off twice cost less than a receiver
        # that waits, and the first sends take long.
        return min(max(taken * 3 // 2, self.per_window * 3 // 4, _LEAST_PUT_OFF), LONG)


class WaitingDeliveries(Protocol):
    """What tells how long the queues are: a store of deliveries."""

    async def count_waiting(self, destination: str, most: int, /) -> int:
        """Return how many deliveries to a destination can be claimed once they are due; at most so many."""


class ExpansionPace:
    """Tells when to expand occasions, by what waits for their destinations."""

    def __init__(self, deliveries: WaitingDeliveries) -> None:
        self._deliveries = deliveries
        self._queues: dict[str, _Queue] = {}

    async def expand_at(self, destinations: Iterable[str], now: int) -> int:
        """Return when to expand an occasion: now, if any of its destinations may soon have nothing to do."""
        moments = [(await self._queue(name, now)).expand_at(now) for name in dict.fromkeys(destinations)]
        return min(moments, default=now)

    async def _queue(self, name: str, now: int) -> _Queue:
        known = self._queues.get(name)
        if known is not None and known.begins <= now < known.begins + WINDOW:
            return known
        if known is None and len(self._queues) >= _MOST_KNOWN:
            self._queues.clear()
        fresh = self._queues[name] = _Queue(now, await self._deliveries.count_waiting(name, LONG), known)
        return fresh
