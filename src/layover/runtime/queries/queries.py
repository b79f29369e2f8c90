"""Queries about single executions: their state, what they wait for, and their log."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.core.context_ids import context_id, parse_context_id, scope_path
from layover.core.engine import events as ev
from layover.core.engine.codec import decode_events
from layover.core.resume_waits import NO_END
from layover.errors import NotFound
from layover.model.executions import Why
from layover.ports.view_records import PointFilter
from layover.runtime.execution.replay import SLICE
from layover.runtime.ids import checked_id
from layover.runtime.plans import is_held_because
from layover.runtime.queries.answer_queue import positions
from layover.runtime.queries.event_search import EventChoice, find_events
from layover.runtime.queries.graphs import graph
from layover.runtime.queries.history import HistoryEntry
from layover.runtime.queries.legs import legs
from layover.runtime.queries.replayed import replayed
from layover.runtime.queries.resume_queue import closed_answers, resume_queue
from layover.runtime.queries.told import told_of
from layover.runtime.queries.tracebacks import failed_child, stored_traceback
from layover.runtime.queries.trigger_cursors import with_trigger_cursors
from layover.runtime.queries.views import view_of
from layover.runtime.queries.waiting_summaries import WaitingSummaries
from layover.runtime.queries.why import reason_of, summed_up, why
from layover.runtime.results.executions import node_of
from layover.runtime.results.failures import failure_of
from layover.runtime.results.progress import progress_of
from layover.tracebacks import Traceback

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.engine.state import ExecutionState
    from layover.core.resume_waits import PauseEnd
    from layover.errors import Failure
    from layover.interface.requests import EventQuery, NodeQuery
    from layover.model.executions import Execution, Graph, Leg, NodeExecution, Progress, ReplayStep, WhyReason
    from layover.model.resumes import ResumeEntry
    from layover.ports.records import PointRow
    from layover.ports.view_records import ExecutionRow
    from layover.runtime.execution.state_cache import CachedState
    from layover.runtime.instance import Instance
    from layover.runtime.queries.log_views import LogView
    from layover.runtime.queries.node_executions import NodeDraft

_DEEPEST = 10  # of the children of children that are asked why
_MOST_ASKED = 100  # executions that are asked for one answer, children included
_MOST_TRACEBACKS = 10  # in one answer about an execution
_MOST_POINTS = 10_000  # of one execution, of which some are at the node whose events are listed
_MOST_ANSWERED = 1_000  # points whose answers the execution has not read
_MOST_POINTS_TOLD = 10  # of one execution
_OF_PEOPLE = frozenset({"approval", "form", "delivery"})  # points that tell somebody
_OF_OTHERS = frozenset({"child", "failed"})  # reasons that another execution has


class Queries:
    """Queries about single executions; none changes anything."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self.waiting = WaitingSummaries(instance.store)

    async def get(self, execution_id: str) -> Execution:
        """Return an execution as it is now."""
        id_, instance = checked_id(execution_id), self._instance
        driver = instance.driver
        if id_ in driver.cache or id_ in driver.ended:
            row = await instance.store.queries.find_execution(id_)
            known = driver.known(row.head) if row is not None else None
            if row is not None and known is not None:
                return await self._with_cursors(view_of(row, known))
        return await self._with_cursors(view_of(*await self.load(id_)))

    async def _with_cursors(self, found: Execution) -> Execution:
        if found.trigger is None:
            return found
        return await with_trigger_cursors(found, self._instance.store.triggers)

    async def count_sent(self, execution_id: str) -> int:
        """Return how many deliveries of an execution were sent."""
        return await self._instance.store.deliveries.count_sent(execution_id)

    async def row(self, execution_id: str) -> ExecutionRow:
        """Return an execution as a list has it, without what its log tells."""
        id_ = checked_id(execution_id)
        row = await self._instance.store.queries.find_execution(id_)
        if row is None:
            raise NotFound(f"There is no execution {id_}.", code="unknown_execution")
        return row

    async def load(self, execution_id: str) -> tuple[ExecutionRow, CachedState]:
        """Return the row of an execution and the state that its log adds up to, both of the same moment."""
        id_ = checked_id(execution_id)
        (loaded,) = await self._instance.store.queries.load([id_])
        if loaded is None:
            raise NotFound(f"There is no execution {id_}.", code="unknown_execution")
        return loaded, await self._instance.driver.state_of(loaded)

    async def history(self, execution_id: str, since: int = 0, limit: int = 1000) -> Sequence[HistoryEntry]:
        """Return events of an execution from a number on."""
        entries = await self._instance.store.queries.read_history(checked_id(execution_id), since, limit)
        found = [
            HistoryEntry(seq=entry.seq + index, at=entry.at, event=event)
            for entry in entries
            for index, event in enumerate(decode_events(entry.events))
        ]
        return [one for one in found if one.seq >= since][:limit]

    async def events(
        self, execution_id: str, numbers: range, wanted: EventQuery, limit: int
    ) -> tuple[Sequence[HistoryEntry], int | None]:
        """Return events with these numbers that are wanted, and the number to go on with: not all of a log is read."""
        points: frozenset[str] = frozenset()
        if wanted.context_id is not None:
            of_execution = PointFilter(execution_id=execution_id, limit=_MOST_POINTS)
            rows = await self._instance.store.queries.list_points(of_execution)
            points = frozenset(row.point.id for row in rows if row.point.node == wanted.context_id)
        return await find_events(self.history, execution_id, numbers, EventChoice(wanted, points), limit)

    async def nodes(
        self, execution_id: str, since: int = 0, limit: int = 1000, *, tracebacks: bool = False
    ) -> Sequence[NodeExecution]:
        """Return what became of the nodes that were reached, in that order, from a position on; the first has 0."""
        first = max(since, 0)
        return await self.nodes_at(execution_id, range(first, first + max(limit, 0)), tracebacks=tracebacks)

    async def node_places(self, execution_id: str, since: int, wanted: NodeQuery) -> Sequence[int]:
        """Return the places of the nodes that are wanted among those that were reached, from a place on."""
        nodes = (await self._log_of(await self.row(execution_id))).nodes
        return [place for place in range(max(since, 0), len(nodes)) if _is_wanted(nodes[place], wanted)]

    async def nodes_at(
        self, execution_id: str, places: Sequence[int], *, tracebacks: bool = False
    ) -> Sequence[NodeExecution]:
        """Return what became of the nodes at places among those that were reached."""
        row = await self.row(execution_id)
        nodes = (await self._log_of(row)).nodes
        found = [node_of(nodes[place], tracebacks=tracebacks) for place in places if place < len(nodes)]
        if not any(node.status == "running" for node in found):
            return found
        reports = {one.node: progress_of(one) for one in await self._instance.progress.of(row.head.execution_id)}
        return [_with_progress(node, reports.get(node.context_id)) for node in found] if reports else found

    async def failures(self, rows: Sequence[ExecutionRow]) -> dict[str, Failure]:
        """Return why executions of a list failed, by the last event of each; without details, which may be long."""
        failed = [row.head for row in rows if row.closed is not None and row.closed.error_code]
        if not failed:
            return {}
        last = await asyncio.gather(*(self.history(head.execution_id, head.last_seq, 1) for head in failed))
        return {
            head.execution_id: replace(failure_of(entry.event.error), details=None)
            for head, entries in zip(failed, last, strict=True)
            for entry in entries
            if isinstance(entry.event, ev.ExecutionFailed)
        }

    async def with_traceback(self, execution_id: str, failure: Failure) -> Failure:
        """Return a failure of an execution with its traceback, if it has one; it may be that of a child."""
        return await self._traced(await self.load(execution_id), failure, _DEEPEST)

    async def _traced(self, loaded: tuple[ExecutionRow, CachedState], failure: Failure, depth: int) -> Failure:
        state = loaded[1].state
        child = failed_child(state, failure.context_id) if failure.context_id and depth else ""
        if not child:
            store = self._instance.store
            found = await stored_traceback(store, state, failure.context_id, lambda: self._log_of(loaded[0]))
            return replace(failure, traceback=found)
        with suppress(NotFound):  # it was purged before its parent
            inner = await self.load(child)
            error = failure_of(inner[1].state.facts.error)
            if error is not None:
                found = (await self._traced(inner, error, depth - 1)).traceback or Traceback()
                where = error.context_id if not found.execution_id else found.context_id
                traceback = replace(found, execution_id=found.execution_id or child, context_id=where)
                return replace(failure, traceback=traceback)
        return failure

    async def legs(self, execution_id: str, since: int = 0, limit: int = 1000) -> Sequence[Leg]:
        """Return the legs in their order, from a position on; the first has 0."""
        row = await self.row(execution_id)
        log = await self._log_of(row)
        return legs(row.head.execution_id, log.around, log.resumes)[max(since, 0) :][: max(limit, 0)]

    async def resume_queue(self, execution_id: str, since: int = 0, limit: int = 1000) -> Sequence[ResumeEntry]:
        """Return the resume queue in the order of its answers, from a position on; the first has 0."""
        store, before = self._instance.store, (await self.row(execution_id)).head
        queued = await store.commands.list_after(before.execution_id, before.commands_done)
        wanted = PointFilter(execution_id=before.execution_id, status=("answered",), limit=_MOST_ANSWERED)
        answered = await store.queries.list_points(wanted) if queued else []
        # The log is read last: an answer that an instance applies meanwhile is in both, and not in neither.
        row, cached = await self.load(execution_id)
        head = row.head
        unread = [command for command in queued if command.n > head.commands_done]
        log = await self._log_of(row)
        answered += await closed_answers(store, head.execution_id, log.closed)
        found = resume_queue(
            head,
            cached.state,
            log.resumes,
            legs(head.execution_id, log.around, log.resumes),
            positions(cached.state, unread),
            answered,
            last_at=log.last_at,
            is_retried=any(node.status == "backoff" for node in log.nodes),
        )
        return found[max(since, 0) :][: max(limit, 0)]

    async def replay(self, execution_id: str, since: int = 0, limit: int = 100) -> Sequence[ReplayStep]:
        """Return the states of an execution after its events, from one of them on."""
        row = await self.row(execution_id)
        return await replayed(self._instance.store, row, self._instance.plans, since, limit)

    async def graph(self, execution_id: str) -> Graph:
        """Return the graph that an execution runs, with what became of its nodes."""
        row, cached = await self.load(execution_id)
        plan = await self._instance.plans.of(row.info.hash)
        log = await self._log_of(row)
        if len(log.nodes) < SLICE:
            return graph(plan, cached.state, log.nodes, row.version)
        return await asyncio.to_thread(graph, plan, cached.state, log.nodes, row.version)

    async def _log_of(self, row: ExecutionRow) -> LogView:
        """Return what the log tells of an execution as its row has it."""
        return await self._instance.log_views.of(row, self._instance.plans)

    async def why(self, execution_id: str, *, tracebacks: bool = False) -> Why:
        """Return what an execution waits for or failed with, and what those wait for that it waits for."""
        own, reasons = await self._reasons(execution_id, _DEEPEST, [_MOST_ASKED], tracebacks=tracebacks)
        if not reasons or reasons[0].kind == "failed":
            return replace(own, reasons=reasons)
        return summed_up(reasons, own.left_out)

    async def why_point(self, row: PointRow) -> Why:
        """Return what a pause point waits for, and whom it told, or why not yet."""
        point, now = row.point, self._instance.clock.now()
        if row.status != "open":
            return Why(summary=f"The pause point at `{point.node}` is {row.shown_status} and waits for nothing.")
        own = reason_of(point)
        told = await told_of(self._instance.store, row.execution_id, point.id, now)
        return summed_up([replace(own, because=told)])

    async def _held_until(self, state: ExecutionState) -> PauseEnd:
        """Return when the pause of its workflow ends by itself, if that is what holds an execution."""
        facts = state.facts
        if facts.gate == "open" or not is_held_because(facts.workflow, facts.paused_reason):
            return NO_END
        noted = await self._instance.store.workflow_status.list_statuses([facts.workflow])
        return noted[0].end if noted else NO_END

    async def _reasons(
        self, execution_id: str, depth: int, left: list[int], *, tracebacks: bool
    ) -> tuple[Why, tuple[WhyReason, ...]]:
        """Return why an execution stands still, followed through its children: `left` is how many more are asked."""
        left[0] -= 1
        instance = self._instance
        row, cached = await self.load(execution_id)
        admission = (
            await instance.store.limits.find_admission(row.head.execution_id) if cached.state.facts.hold else None
        )
        owner, here = row.head.owner, row.head.owner in (None, instance.id)
        own = why(
            row.head,
            cached.state,
            instance.clock.now(),
            admission=admission,
            owner=None if owner is None or here else await instance.store.instances.check_liveness(owner),
            lacking=instance.node_runner.slots.lacking if here else None,
            held_until=await self._held_until(cached.state),
        )
        reasons = own.reasons
        for index, reason in enumerate(own.reasons):
            told = reason
            if tracebacks and reason.failure is not None and index < _MOST_TRACEBACKS:
                traced = await self._traced((row, cached), reason.failure, 0)
                told = replace(told, failure=traced)
            if reason.point is not None and reason.kind in _OF_PEOPLE and index < _MOST_POINTS_TOLD:
                store, now = instance.store, instance.clock.now()
                told = replace(told, because=await told_of(store, row.head.execution_id, reason.point, now))
            if reason.kind in _OF_OTHERS and reason.execution and depth and left[0] > 0:
                with suppress(NotFound):  # it is about to be started
                    _, because = await self._reasons(reason.execution, depth - 1, left, tracebacks=tracebacks)
                    told = replace(told, because=because)
            if told is not reason:
                reasons = (*reasons[:index], told, *reasons[index + 1 :])
        return own, reasons


def _with_progress(node: NodeExecution, progress: Progress | None) -> NodeExecution:
    """Add the progress of the attempt that is running; what another one has reported is old."""
    if progress is None or node.status != "running" or node.attempt != progress.attempt:
        return node
    return replace(node, progress=progress)


def _is_wanted(node: NodeDraft, wanted: NodeQuery) -> bool:
    return (
        (not wanted.status or node.status in wanted.status)
        and wanted.context_id in (None, node.context_id)
        and (wanted.parent is None or _container_of(node.context_id) == wanted.parent)
    )


def _container_of(context: str) -> str:
    """Return the context id of the container whose scope a node is in; empty if it is in none."""
    *outer, innermost = parse_context_id(context).scopes or (None,)
    return context_id(scope_path(outer), innermost.container) if innermost is not None else ""
