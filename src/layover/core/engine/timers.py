"""A table of moments that has the earliest at hand, however many there are.

The heap beside the rows is no part of the state: it is made when it is first asked for, made again after the table has
gone back, and may hold moments that are no longer in the rows; they are passed over when they come up.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from layover.core.engine.tables import Table

if TYPE_CHECKING:
    from layover.core.engine.tables import UndoLog

_MOST_PASSED_OVER = 64


class Timers(Table[str, int]):
    """When time has something to do, by what it is to be done for: a node or a point."""

    __slots__ = ("_heap", "_made_at", "_undo_log")

    def __init__(self, undo_log: UndoLog) -> None:
        super().__init__(undo_log)
        self._undo_log = undo_log
        self._heap: list[tuple[int, str]] | None = None
        self._made_at = 0

    def put(self, key: str, value: int) -> None:
        """Set a timer, or set it anew."""
        super().put(key, value)
        heap = self._heap
        if heap is not None:
            heappush(heap, (value, key))
            if len(heap) > 2 * len(self.rows) + _MOST_PASSED_OVER:
                self._heap = None

    def earliest(self) -> int | None:
        """Return the first moment at which something is to be done."""
        heap, rows = self._moments(), self.rows
        while heap and rows.get(heap[0][1]) != heap[0][0]:
            heappop(heap)
        return heap[0][0] if heap else None

    def due(self, now: int) -> list[str]:
        """Return what is to be done by now, in the order in which it came due."""
        heap, rows = self._moments(), self.rows
        found: list[tuple[int, str]] = []
        while heap and heap[0][0] <= now:
            moment = heappop(heap)
            if rows.get(moment[1]) == moment[0] and moment not in found[-1:]:
                found.append(moment)
        for moment in found:  # they stay until an event says that they were done
            heappush(heap, moment)
        return [key for _, key in found]

    def _moments(self) -> list[tuple[int, str]]:
        if self._heap is None or self._made_at != self._undo_log.reverts:
            self._heap = [(at, key) for key, at in self.rows.items()]
            self._made_at = self._undo_log.reverts
            heapify(self._heap)
        return self._heap
