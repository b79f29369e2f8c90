"""Queries about single executions: their state, their waits, and their log."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.core.errors import LayoverError
from layover.core.payloads import own
from layover.ports.errors import StoreUnavailable
from layover.ports.records import PausedFilter, PointFilter
from layover.runtime.errors import UnknownExecution
from layover.runtime.execution.replay import SLICE, batches
from layover.runtime.ids import checked_id
from layover.runtime.operations.workflow_status import WorkflowStatuses
from layover.runtime.queries.answer_queue import positions
from layover.runtime.queries.graphs import Graph, graph
from layover.runtime.queries.views import Execution, context_of, execution_view
from layover.runtime.queries.why import Why, summed_up, why

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from layover.ports.records import ExecutionRow, PointRow
    from layover.runtime.execution.state_cache import CachedState
    from layover.runtime.queries.legs import Leg
    from layover.runtime.queries.log_views import LogView
    from layover.runtime.queries.node_executions import NodeExecution
    from layover.runtime.queries.why import Reason

_log = logging.getLogger("layover")

_DEEPEST = 10  # of the children of children that are asked why
_MOST_ASKED = 100  # executions that are asked for one answer, children included


class Queries(WorkflowStatuses):
    """The queries of an engine about single executions; none changes anything."""

    async def get(self, execution_id: str) -> Execution:
        """Return an execution as it is now."""
        id_, driver = checked_id(execution_id), self.instance.driver
        if id_ in driver.cache or id_ in driver.ended:
            row = await self.row(id_)
            known = driver.known(row.head)
            if known is not None:
                return _viewed(row, known)
        return _viewed(*await self._load(id_))

    async def row(self, execution_id: str) -> ExecutionRow:
        """Return an execution as a list has it, without what its log tells."""
        id_ = checked_id(execution_id)
        row = await self.instance.store.get(id_)
        if row is None:
            raise UnknownExecution(f"There is no execution {id_}.")
        return row

    async def paused(
        self, workflow: str | None = None, after: tuple[int, str] | None = None, limit: int = 50
    ) -> Sequence[Execution]:
        """Return executions that are paused, for an operator or for a person, the one paused longest first.

        `after` goes on behind one that was seen: its `paused_at` and id.
        """
        found: dict[str, Execution] = {}
        while len(found) < limit:
            wanted = PausedFilter(workflow=workflow, after=after, limit=limit - len(found))
            rows = await self.instance.store.paused(wanted)
            async for one in self._still_paused(rows):
                found.setdefault(one.id, one)  # it may have gone on and come back behind the others
            if len(rows) < wanted.limit:
                break
            after = (rows[-1].head.paused_at or 0, rows[-1].head.execution_id)
        return list(found.values())

    async def _still_paused(self, rows: Sequence[ExecutionRow]) -> AsyncIterator[Execution]:
        """Read executions that were listed as paused; one that has gone on since stands elsewhere, if anywhere."""
        instance = self.instance
        for batch in batches(rows):
            states = await instance.store.load([row.head.execution_id for row in batch])
            for row, loaded in zip(batch, states, strict=True):
                if loaded is None or loaded.head.status != "paused" or loaded.head.paused_at != row.head.paused_at:
                    continue
                try:
                    cached = await instance.driver.state_of(loaded)
                except StoreUnavailable:
                    raise
                except LayoverError as error:  # one log that cannot be read must not hide the others
                    _log.error("load_failed execution=%s error=%s", row.head.execution_id, error)
                    continue
                yield _viewed(loaded, cached)
                await asyncio.sleep(0)  # whatever else is to be done is not held up by a hundred logs

    async def nodes(self, execution_id: str, since: int = 0, limit: int = 1000) -> Sequence[NodeExecution]:
        """Return what became of the nodes that were reached, in that order, from a position on; the first has 0."""
        log = await self._log_of(await self.row(execution_id))
        return [_own(node) for node in log.nodes[max(since, 0) :][: max(limit, 0)]]

    async def legs(self, execution_id: str, since: int = 0, limit: int = 1000) -> Sequence[Leg]:
        """Return the stretches of work between two rests, in their order, from a position on; the first has 0."""
        log = await self._log_of(await self.row(execution_id))
        return log.legs[max(since, 0) :][: max(limit, 0)]

    async def graph(self, execution_id: str) -> Graph:
        """Return the graph that an execution runs, with what became of its nodes."""
        row, cached = await self._load(execution_id)
        plan = await self.instance.plans.of(row.info.hash)
        log = await self._log_of(row)
        if len(log.nodes) < SLICE:
            return graph(plan, cached.state, log.nodes, row.version)
        return await asyncio.to_thread(graph, plan, cached.state, log.nodes, row.version)

    async def _log_of(self, row: ExecutionRow) -> LogView:
        """Return what the log tells of an execution as its row has it."""
        return await self.instance.log_views.of(row, await self.instance.plans.of(row.info.hash))

    async def points(
        self, execution_id: str | None = None, *, status: Sequence[str] = ("open",), children: bool = False
    ) -> Sequence[PointRow]:
        """Return pause points, the oldest first; with `children`, also those of the executions that one waits for."""
        if execution_id is None:
            return await self.instance.store.points(PointFilter(status=tuple(status)))
        found = await self._points_of(execution_id, status)
        waiting = [one.point.child for one in found if one.point.child] if children else []
        for _ in range(_DEEPEST):
            if not waiting:
                break
            inner = [row for child in waiting for row in await self._points_of(child, status)]
            found = [*found, *inner]
            waiting = [one.point.child for one in inner if one.point.child]
        return sorted(found, key=lambda one: (one.point.opened_at, one.point.id))

    async def _points_of(self, execution_id: str, status: Sequence[str]) -> Sequence[PointRow]:
        """Return all points of one execution, which may be more than a page of them."""
        wanted = PointFilter(execution_id=execution_id, status=tuple(status))
        found: Sequence[PointRow] = await self.instance.store.points(wanted)
        page = found
        while len(page) == wanted.limit:
            wanted = replace(wanted, after=(page[-1].point.opened_at, page[-1].point.id))
            page = await self.instance.store.points(wanted)
            found = [*found, *page]
        return found

    async def find_point(self, execution_id: str, context_id: str) -> PointRow | None:
        """Return the newest pause point of a place in an execution; None if it was never waited there."""
        row, cached = await self._load(execution_id)
        open_here = [point.id for point in cached.state.points.rows.values() if context_of(point) == context_id]
        for point in open_here:
            found = await self.instance.store.point(point)
            if found is not None:
                return found
        rows = await self._points_of(row.head.execution_id, ())
        here = [one for one in rows if context_of(one.point) == context_id]
        return max(here, key=lambda one: (one.point.opened_at, one.closed_at or 0), default=None)

    async def queue(self, execution_id: str) -> dict[str, int]:
        """Return the places of points whose answers wait for their turn, counted from 1, by the ids of the points."""
        row, cached = await self._load(execution_id)
        unread = await self.instance.store.commands(row.head.execution_id, row.head.commands_done)
        return positions(cached.state, unread)

    async def counts(self) -> dict[str, int]:
        """Return how many executions there are, by status."""
        return await self.instance.store.counts()

    async def why(self, execution_id: str) -> Why:
        """Return what an execution waits for, and what those wait for that it waits for."""
        own, reasons = await self._reasons(execution_id, _DEEPEST, [_MOST_ASKED])
        return summed_up(reasons, own.left_out) if reasons else own

    async def _reasons(self, execution_id: str, depth: int, left: list[int]) -> tuple[Why, tuple[Reason, ...]]:
        """Return why an execution stands still, followed through its children: `left` is how many more are asked."""
        left[0] -= 1
        instance = self.instance
        row, cached = await self._load(execution_id)
        admission = await instance.store.admission(row.head.execution_id) if cached.state.facts.hold else None
        owner, here = row.head.owner, row.head.owner in (None, instance.id)
        own = why(
            row.head,
            cached.state,
            instance.clock.now(),
            admission=admission,
            owner=None if owner is None or here else await instance.store.liveness(owner),
            lacking=instance.node_runner.lacking if here else None,
        )
        reasons = own.reasons
        for index, reason in enumerate(own.reasons):
            if reason.kind == "child" and reason.execution and depth and left[0] > 0:
                with suppress(UnknownExecution):  # it is about to be started
                    _, because = await self._reasons(reason.execution, depth - 1, left)
                    reasons = (*reasons[:index], replace(reason, because=because), *reasons[index + 1 :])
        return own, reasons

    async def _load(self, execution_id: str) -> tuple[ExecutionRow, CachedState]:
        """Return the row of an execution and the state that its log adds up to, both of the same moment."""
        id_ = checked_id(execution_id)
        (loaded,) = await self.instance.store.load([id_])
        if loaded is None:
            raise UnknownExecution(f"There is no execution {id_}.")
        return loaded, await self.instance.driver.state_of(loaded)


def _viewed(row: ExecutionRow, cached: CachedState) -> Execution:
    return execution_view(row.info, cached.state, row.finished_at, head=row.head, version=row.version)


def _own(node: NodeExecution) -> NodeExecution:
    """Return what is told of a node for somebody who may do with it what they like."""
    return replace(
        node, input=own(node.input), output=own(node.output), attempts=[replace(one) for one in node.attempts]
    )
