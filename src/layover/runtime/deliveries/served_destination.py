"""A destination that is being served: what is in flight, what was claimed ahead, and outcomes that are gathered.

As many are claimed ahead as are sent in a moment, judged by how long the last ones took: a slow receiver gets none, so
that other instances can send them, and a dead instance leaves few behind.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.ports.delivery_records import DeliveryRow
    from layover.runtime.clock import Clock

IN_FLIGHT: Final = 4  # deliveries to one destination at once
_MOST_AHEAD: Final = 16
_AHEAD: Final = 500  # milliseconds in which those that are claimed ahead should be sent
_MOST_GATHERED: Final = 8
_GATHERED_FOR: Final = 100  # milliseconds


class ServedDestination:
    """What is known of a destination while something is sent to it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.task: asyncio.Task[None] | None = None
        self.wake = asyncio.Event()
        self._ahead: deque[tuple[DeliveryRow, int]] = deque()
        self._ahead_until = 0
        self._in_flight: set[str] = set()  # ids
        self._unsettled = 0  # those in flight, and those whose outcome is not written yet
        self._duration: int | None = None  # of a send, in milliseconds
        self._gathered = 0
        self._go = asyncio.Event()

    @property
    def has_room(self) -> bool:
        """Whether more is to be claimed."""
        return not self._ahead and len(self._in_flight) < IN_FLIGHT

    @property
    def room(self) -> int:
        """How many are to be claimed: those that can be sent at once, and those that can be soon after."""
        ahead = 0 if self._duration is None else IN_FLIGHT * _AHEAD // max(self._duration, 1)
        return IN_FLIGHT - len(self._in_flight) + min(ahead, _MOST_AHEAD)

    @property
    def is_at_rest(self) -> bool:
        """Whether everything that was claimed is settled."""
        return not self._unsettled and not self._ahead

    def take(self, rows: Iterable[DeliveryRow], until: int, ahead_until: int) -> None:
        """Take what was claimed until a moment; what has waited until another is not sent any more."""
        self._ahead.extend((row, until) for row in rows)
        self._ahead_until = ahead_until

    def next(self) -> tuple[DeliveryRow, int] | None:
        """Return what is to be sent next, and until when it is claimed, if there is room for it."""
        if not self._ahead or len(self._in_flight) >= IN_FLIGHT:
            return None
        row, until = self._ahead.popleft()
        self._in_flight.add(row.id)
        self._unsettled += 1
        if not self._ahead:
            self._write_gathered()
        return row, until

    def late(self, now: int) -> list[DeliveryRow]:
        """Return what has waited for too long, which is no longer to be sent: its claim may end before it is."""
        return self.drop() if now >= self._ahead_until else []

    def drop(self) -> list[DeliveryRow]:
        """Return what was claimed ahead, which is no longer to be sent."""
        dropped = [row for row, _ in self._ahead]
        self._ahead.clear()
        self._write_gathered()
        return dropped

    def took(self, duration: int) -> None:
        """Note how many milliseconds an attempt took."""
        self._duration = duration if self._duration is None else (3 * self._duration + duration) // 4

    def sent(self, row: DeliveryRow) -> None:
        """Note that one was sent: there is room for another, before this is written."""
        self._in_flight.discard(row.id)
        self.wake.set()

    def settled(self, row: DeliveryRow) -> None:
        """Note that an outcome was written; after one that is not good, only now there is room for another."""
        self._in_flight.discard(row.id)
        self._unsettled -= 1
        self.wake.set()

    async def gather(self, clock: Clock) -> None:
        """Wait for other outcomes to be written together with this one, if some will soon be there."""
        go = self._go
        self._gathered += 1
        if not self._ahead or self._gathered >= _MOST_GATHERED:
            self._write_gathered()
        elif self._gathered == 1:
            await clock.wait(clock.now() + _GATHERED_FOR, go)
            if self._go is go:
                self._write_gathered()
        else:
            await go.wait()

    def _write_gathered(self) -> None:
        self._go.set()
        self._go, self._gathered = asyncio.Event(), 0
