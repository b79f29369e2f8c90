"""Queries about pause points: lists of them, one by its place, and which answers wait for their turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.core.engine.commands import Answer
from layover.ports.view_records import PointFilter
from layover.runtime.queries.answer_queue import positions
from layover.runtime.queries.views import context_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import PointRow, Reserved
    from layover.ports.store import Store
    from layover.runtime.dispatch.driver import Driver
    from layover.runtime.queries.queries import Queries

_DEEPEST = 10  # of the children of children whose points are listed


class PointQueries:
    """Queries about pause points; none changes anything."""

    def __init__(self, store: Store, driver: Driver, queries: Queries) -> None:
        self._store = store
        self._driver = driver
        self._queries = queries

    async def list(
        self, execution_id: str | None = None, *, status: Sequence[str] = ("open",), children: bool = False
    ) -> Sequence[PointRow]:
        """Return pause points, the oldest first; with `children`, also those of the executions that one waits for."""
        if execution_id is None:
            return await self._store.queries.list_points(PointFilter(status=tuple(status)))
        found = await self.of(execution_id, status)
        waiting = [one.point.child for one in found if one.point.child] if children else []
        for _ in range(_DEEPEST):
            if not waiting:
                break
            inner = [row for child in waiting for row in await self.of(child, status)]
            found = [*found, *inner]
            waiting = [one.point.child for one in inner if one.point.child]
        return sorted(found, key=lambda one: (one.point.opened_at, one.point.id))

    async def of(self, execution_id: str, status: Sequence[str]) -> Sequence[PointRow]:
        """Return all points of one execution, which may be more than a page of them."""
        wanted = PointFilter(execution_id=execution_id, status=tuple(status))
        found: Sequence[PointRow] = await self._store.queries.list_points(wanted)
        page = found
        while len(page) == wanted.limit:
            wanted = replace(wanted, after=(page[-1].point.opened_at, page[-1].point.id))
            page = await self._store.queries.list_points(wanted)
            found = [*found, *page]
        return found

    async def find(self, execution_id: str, context_id: str) -> PointRow | None:
        """Return the newest pause point of a place in an execution; None if it was never waited there."""
        row, cached = await self._queries.load(execution_id)
        open_here = [point.id for point in cached.state.points.rows.values() if context_of(point) == context_id]
        for point in open_here:
            found = await self._store.queries.find_point(point)
            if found is not None:
                return found
        rows = await self.of(row.head.execution_id, ())
        here = [one for one in rows if context_of(one.point) == context_id]
        return max(here, key=lambda one: (one.point.opened_at, one.closed_at or 0), default=None)

    async def queue(self, execution_id: str) -> dict[str, int]:
        """Return the places of points whose answers wait for their turn, counted from 1, by the ids of the points."""
        row, cached = await self._queries.load(execution_id)
        unread = await self._store.commands.list_after(row.head.execution_id, row.head.commands_done)
        return positions(cached.state, unread)

    async def position_of(self, taken: Reserved) -> int | None:
        """Return the place of an answer that was just taken.

        If it was taken together with its execution, which had no owner, only answers that came with it are before it.
        One that can still be taken back has no place yet.
        """
        if taken.point.is_revocable:
            return None
        active = self._driver.active.get(taken.execution_id) if taken.claimed is not None else None
        if taken.claimed is None or active is None or active.state.facts.gate != "open":
            return (await self.queue(taken.execution_id)).get(taken.point.id)
        return sum(command.kind == Answer.__name__ for command in taken.claimed.commands)
