"""A table of moments with the earliest at hand, however many there are.

The heap beside the rows is not part of the state: it is built when it is first needed, built again after the table has
gone back, and may hold moments that are no longer in the rows; they are skipped when they come up.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from layover.core.engine.tables import Table

_MOST_PASSED_OVER = 64


class Timers(Table[str, int], gc=False):
    """The next moment at which something is due, by node or point."""

    _heap: list[tuple[int, str]] | None = None
    _made_at: int = 0

    def put(self, key: str, value: int) -> None:
        """Set a timer, or set it anew."""
        Table.put(self, key, value)
        heap = self._heap
        if heap is not None:
            heappush(heap, (value, key))
            if len(heap) > 2 * len(self.rows) + _MOST_PASSED_OVER:
                self._heap = None

    def earliest(self) -> int | None:
        """Return the first moment at which something is due."""
        heap, rows = self._moments(), self.rows
        while heap and rows.get(heap[0][1]) != heap[0][0]:
            heappop(heap)
        return heap[0][0] if heap else None

    def due(self, now: int) -> list[str]:
        """Return the nodes and points that are due by now, in the order in which they came due."""
        heap, rows = self._moments(), self.rows
        found: list[tuple[int, str]] = []
        while heap and heap[0][0] <= now:
            moment = heappop(heap)
            if rows.get(moment[1]) == moment[0] and moment not in found[-1:]:
                found.append(moment)
        for moment in found:  # they stay until an event removes them
            heappush(heap, moment)
        return [key for _, key in found]

    def _moments(self) -> list[tuple[int, str]]:
        if self._heap is None or self._made_at != self.undo_log.reverts:
            self._heap = [(at, key) for key, at in self.rows.items()]
            self._made_at = self.undo_log.reverts
            heapify(self._heap)
        return self._heap
