"""Executions as one user starts, reads and waits for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from layover.core.moments import Moment
from layover.core.payloads import plain
from layover.errors import AlreadyExists, ExecutionFailed, InvalidInput, MissingFunctions, WaitTimeout
from layover.interface.door import result_of
from layover.interface.open_points import with_open_points
from layover.interface.reached import is_reached
from layover.interface.requests import ExecutionQuery
from layover.model.executions import (
    Event,
    Execution,
    ExecutionCounts,
    ExecutionSummary,
    Leg,
    LogLine,
    NodeExecution,
    Progress,
    ReplayStep,
)
from layover.model.shared import Page
from layover.ports.records import CLOSED
from layover.ports.view_records import ExecutionFilter
from layover.runtime.ids import checked_id, id_from_key, is_point_id
from layover.runtime.operations.executions import check_same_input
from layover.runtime.operations.start_options import Options
from layover.runtime.operations.timeouts import WaitLimit
from layover.runtime.queries.changes import LineWatch, next_change
from layover.runtime.queries.node_search import NodePlace, find_nodes
from layover.runtime.queries.retries import find_retries
from layover.runtime.results.executions import event_of, summary_of
from layover.runtime.results.log_lines import lines_of
from layover.runtime.results.points import point_of
from layover.runtime.results.progress import progress_of
from layover.service.actor import DEBUG, READ
from layover.service.control import ControlService
from layover.service.cursors import cursor_of, malformed_cursor, parsed
from layover.service.pages import MOST, fitting
from layover.service.visible import without_data

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from layover.core.engine.state import ExecutionStatus
    from layover.interface.arguments import Until
    from layover.interface.requests import EventQuery, ForkRequest, NodeQuery, NodeSearch, StartRequest
    from layover.model.executions import Graph, Why
    from layover.model.forks import ForkPlan
    from layover.model.node_searches import FoundNode
    from layover.model.resumes import ResumeEntry
    from layover.model.scheduled_retries import ScheduledRetry
    from layover.ports.records import Head
    from layover.runtime.results.waiting import ListRest

_START: Final = "execution.start"
_FORK: Final = "execution.fork"
_AT_REST: Final = frozenset({"waiting", "paused"})
_AHEAD: Final = 100  # events that are read at once
_FILTERS: Final = tuple(sorted({*ExecutionQuery.__struct_fields__} - {"where", "contains", "node_type", "order"}))
_ONLY_PAUSED: Final = ExecutionQuery(order="paused")
_SHARED: Final = tuple(sorted({*ExecutionSummary.__struct_fields__} & {*Execution.__struct_fields__}))
_MOST_AWAITED: Final = 10_000  # points or executions that are counted of one kind
_PLACE_DIGITS: Final = 12
_CHUNKS: Final = 4  # of log lines, each of up to some hundred


class ExecutionService(ControlService):
    """Executions: starting, reading, waiting; what operators do is in `Control`."""

    __slots__ = ()

    async def start(self, request: StartRequest) -> Execution:
        """Start an execution; return it when it is as asked for, or when the time for that is over."""
        actor = self._actor
        actor.require("execution:start")
        bounded = request.timeout is not None or actor.stopping is not None
        found = await self._started(request, until=None if bounded else request.until)
        if request.until is not None and bounded:
            found = await self._waited(found.id, request.until, request.timeout)
        elif found.version is None:
            found = await actor.runtime.queries.get(found.id)  # which of the versions it has is only known to the store
        if found.error is None and found.user == actor.by and not _lacks_points(found):
            return found
        return await self.describe_start(found)

    async def describe_start(self, found: Execution) -> Execution:
        """Return an execution as a start answers it: with its open points, if it is at rest."""
        if found.user != self._actor.by:  # the key is another user's: what they sent and got is not told
            return without_data(found)
        return await self._explained(await self._with_points(found))

    async def get(self, execution_id: str) -> Execution:
        """Return an execution as it is, and how many deliveries of it were sent."""
        found = await self.peek(execution_id)
        return replace(found, notifications_sent=await self._actor.runtime.queries.count_sent(found.id))

    async def peek(self, execution_id: str) -> Execution:
        """Return an execution as it is."""
        self._actor.require(*READ)
        found = await self._actor.runtime.queries.get(execution_id)
        return found if found.error is None else await self._explained(found)

    async def wait(self, execution_id: str, until: Until, timeout: float | None) -> Execution:  # noqa: ASYNC109 - as the interface
        """Return an execution once it is as asked for; raise WaitTimeout when that takes too long."""
        self._actor.require(*READ)
        runtime = self._actor.runtime
        if timeout is None and self._actor.stopping is None:
            return await self._explained(await runtime.executions.wait(execution_id, until))
        found = await self._limit(timeout).wait_for(runtime.executions.wait(execution_id, until))
        if found is not None:
            return await self._explained(found)
        found = await runtime.queries.get(execution_id)
        if not is_reached(found, until):
            raise WaitTimeout(f"The execution {execution_id} is not as it was waited for: it is {found.status}.")
        return await self._explained(found)

    async def result(self, execution_id: str, timeout: float | None) -> Any:  # noqa: ASYNC109 - as the interface
        """Return the output of an execution once it is there; raise what it failed with."""
        self._actor.require(*READ)
        runtime = self._actor.runtime
        try:
            if timeout is None:
                return await runtime.executions.result(execution_id)
            ended = await self._limit(timeout).wait_for(_one(runtime.executions.result(execution_id)))
        except ExecutionFailed as error:
            if not self._actor.may_debug:
                raise
            failure = await runtime.queries.with_traceback(execution_id, error.error)
            raise ExecutionFailed(error.execution_id, failure) from None
        return ended[0] if ended is not None else result_of(await self.get(execution_id))

    async def list(self, wanted: ExecutionQuery, limit: int, cursor: str | None) -> Page[ExecutionSummary]:
        """Return a page of executions, the newest first, or the one paused longest first."""
        self._actor.require(*READ)
        if wanted.order == "paused":
            return await self._paused(wanted, limit, cursor)
        chosen = ExecutionFilter(
            **{name: getattr(wanted, name) for name in _FILTERS}, after=_after(cursor), limit=min(limit, MOST)
        )
        found = await self._actor.runtime.lists.find(chosen, wanted.contains, wanted.where, wanted.node_type)
        following = cursor_of(*found.after) if found.after is not None else None
        failures = await self._actor.runtime.queries.failures(found.rows)
        rests = await self._actor.runtime.queries.waiting.of_rows(found.rows)
        ids = [row.head.execution_id for row in found.rows]
        items = tuple(
            summary_of(row, failures.get(id_), rests.get(id_)) for id_, row in zip(ids, found.rows, strict=True)
        )
        return Page(items=items, next=following)

    async def paused(self, workflow: str | None, limit: int, cursor: str | None) -> Page[Execution]:
        """Return a page of paused executions, the one paused longest first."""
        self._actor.require(*READ)
        most = min(limit, MOST)
        found = await self._actor.runtime.lists.paused(workflow, _after(cursor), most + 1)
        items = fitting(found[:most], self._actor.page_bytes)
        last = items[-1] if len(items) < len(found) else None
        at = last.paused_at.milliseconds if last is not None and last.paused_at is not None else 0
        return Page(items=items, next=cursor_of(at, last.id) if last is not None else None)

    async def counts(self) -> dict[ExecutionStatus, int]:
        """Return how many executions there are, by status."""
        self._actor.require(*READ)
        return await self._actor.runtime.lists.counts()

    async def waiting_counts(self) -> ExecutionCounts:
        """Return how many executions there are, by status and by what they wait on."""
        awaited = await self._actor.runtime.instance.store.queries.count_awaited(_MOST_AWAITED)
        return ExecutionCounts(**await self.counts(), on=awaited.executions, more=awaited.more)

    async def fork(self, execution_id: str, request: ForkRequest) -> Execution:
        """Begin an execution with results of another one, which the user has to be allowed to read."""
        actor, key = self._actor, request.idempotency_key
        actor.require("execution:start")
        actor.require(*READ)
        origin = checked_id(execution_id)
        asked = (request.start, None if request.input is UNSET else [request.input], request.version)
        await actor.check_key(_FORK, origin, key, *asked, request.id)
        instance, act_key = actor.runtime.instance, actor.key(_FORK, origin, key)
        if request.id is not None:
            id_ = checked_id(request.id)
        else:
            id_ = (
                id_from_key(origin, act_key) if act_key is not None else instance.machine.ids.new(instance.clock.now())
            )
        known: dict[str, Any] = {
            "origin": origin,
            "from": request.start,
            "reason": request.reason or None,
        }
        audit = actor.entry(_FORK, execution_id=id_, key=act_key, **known)
        return await actor.runtime.forks.fork(origin, request, id_, Options(user=actor.by), audit)

    async def plan_fork(self, execution_id: str, request: ForkRequest) -> ForkPlan:
        """Return what a fork would keep and repeat; nothing is changed."""
        self._actor.require("execution:start")
        self._actor.require(*READ)
        return await self._actor.runtime.forks.plan(execution_id, request)

    async def retries(self, workflow: str | None, limit: int, cursor: str | None) -> Page[ScheduledRetry]:
        """Return a page of the attempts that open executions are to make later."""
        self._actor.require(*READ)
        runtime = self._actor.runtime
        found = await find_retries(runtime.lists, runtime.queries, workflow, _after(cursor), min(limit, MOST))
        return Page(items=found.retries, next=cursor_of(*found.after) if found.after is not None else None)

    async def history(self, execution_id: str, wanted: EventQuery, limit: int, cursor: str | None) -> Page[Event]:
        """Return a page of the log; of one that is filtered, a page may have few events while more are left."""
        self._actor.require(*READ)
        queries = self._actor.runtime.queries
        head = (await queries.row(execution_id)).head
        last = head.last_seq if wanted.until is None else min(wanted.until, head.last_seq)
        first, position = wanted.since, _position(cursor, head.execution_id, -1)
        if position >= 0 and wanted.order == "oldest":
            first = max(first, position)
        elif position >= 0:
            last = min(last, position)
        numbers = range(first, max(first, last + 1))
        found, following = await queries.events(head.execution_id, numbers, wanted, min(limit, MOST))
        items = fitting([event_of(one) for one in found], self._actor.page_bytes)
        if len(items) < len(found):
            following = found[len(items)].seq
        return Page(items=items, next=cursor_of(following, head.execution_id) if following is not None else None)

    async def events(self, execution_id: str, since: int) -> AsyncIterator[Event]:
        """Return events as they are written, until the execution closes."""
        self._actor.require(*READ)
        runtime, id_ = self._actor.runtime, checked_id(execution_id)
        await runtime.queries.row(id_)

        def has_more(head: Head) -> bool:
            return head.last_seq >= since or head.status in CLOSED

        while True:
            entries = await runtime.queries.history(id_, since, _AHEAD)
            for entry in entries:
                yield event_of(entry)
            since += len(entries)
            if len(entries) == _AHEAD:
                continue
            head = await runtime.instance.listeners.until(id_, has_more)
            if head is None or (head.status in CLOSED and head.last_seq < since):
                return

    async def watch(self, execution_id: str, since: int) -> AsyncIterator[Event | Progress | LogLine]:
        """Return events as they are written, progress as it is reported, lines as they are kept, until it closes."""
        self._actor.require(*READ)
        runtime, id_ = self._actor.runtime, checked_id(execution_id)
        await runtime.queries.row(id_)
        lines = LineWatch(runtime.instance, id_, may_read=self._actor.may_debug)
        with runtime.instance.progress.watch(id_) as progress:
            while True:
                entries = await runtime.queries.history(id_, since, _AHEAD)
                for entry in entries:
                    yield event_of(entry)
                since += len(entries)
                if len(entries) == _AHEAD:
                    continue
                change = await next_change(runtime.instance, id_, since, progress, timeout=lines.between)
                for row in progress.take():
                    yield progress_of(row)
                for line in await lines.take():
                    yield line
                if change.is_over(since):
                    return

    async def logs(self, execution_id: str, node: str | None, cursor: str | None) -> Page[LogLine]:
        """Return a page of what nodes have logged; `next` is where to go on, also for lines that are yet to come."""
        self._actor.require(*DEBUG)
        runtime, id_ = self._actor.runtime, checked_id(execution_id)
        await runtime.queries.row(id_)
        after = _chunk(cursor, id_)
        chunks = await runtime.instance.store.node_reports.read_logs(id_, after, node, _CHUNKS)
        lines = tuple(line for chunk in chunks for line in lines_of(chunk))
        return Page(items=lines, next=f"{id_}.{chunks[-1].id}" if chunks else None)

    async def nodes(self, execution_id: str, wanted: NodeQuery, limit: int, cursor: str | None) -> Page[NodeExecution]:
        """Return a page of the nodes that were reached."""
        self._actor.require(*READ)
        id_, most = checked_id(execution_id), min(limit, MOST)
        since = _position(cursor, id_)
        places = await self._actor.runtime.queries.node_places(id_, since, wanted)
        chosen = places[:most]
        found = await self._actor.runtime.queries.nodes_at(id_, chosen, tracebacks=self._actor.may_debug)
        items = fitting(found, self._actor.page_bytes)
        # A node may be in another state by the next page, so that its cursor is a place among all of them.
        return Page(items=items, next=cursor_of(places[len(items)], id_) if len(items) < len(places) else None)

    async def search_nodes(self, wanted: NodeSearch, limit: int, cursor: str | None) -> Page[FoundNode]:
        """Return a page of nodes of all executions, those of the newest execution first."""
        self._actor.require(*READ)
        chosen = ExecutionFilter(
            workflow=wanted.workflow,
            tag=wanted.tag,
            since=wanted.since,
            until=wanted.until,
            min_resumes=wanted.min_resumes,
            limit=min(limit, MOST),
        )
        begin, instance = _node_place(cursor), self._actor.runtime.instance
        found = await find_nodes(instance, chosen, wanted, begin, tracebacks=self._actor.may_debug)
        items = fitting([one for one, _ in found.nodes], self._actor.page_bytes)
        following = found.nodes[len(items)][1] if len(items) < len(found.nodes) else found.following
        return Page(items=items, next=_node_cursor(following) if following is not None else None)

    async def legs(self, execution_id: str, limit: int, cursor: str | None) -> Page[Leg]:
        """Return a page of the legs."""
        self._actor.require(*READ)
        id_, most = checked_id(execution_id), min(limit, MOST)
        since = _position(cursor, id_)
        found = await self._actor.runtime.queries.legs(id_, since, most + 1)
        items = tuple(found[:most])
        return Page(items=items, next=_behind(items, since, len(found), id_))

    async def resume_queue(self, execution_id: str, limit: int, cursor: str | None) -> Page[ResumeEntry]:
        """Return a page of the resume queue."""
        self._actor.require(*READ)
        id_, most = checked_id(execution_id), min(limit, MOST)
        since = _position(cursor, id_)
        found = await self._actor.runtime.queries.resume_queue(id_, since, most + 1)
        items = fitting(found[:most], self._actor.page_bytes)
        return Page(items=items, next=_behind(items, since, len(found), id_))

    async def replay(self, execution_id: str, since: int, limit: int, cursor: str | None) -> Page[ReplayStep]:
        """Return a page of the states after each event."""
        self._actor.require(*READ)
        runtime, id_ = self._actor.runtime, checked_id(execution_id)
        since = _position(cursor, id_, since)
        found = await runtime.queries.replay(id_, since, min(limit, MOST))
        items = fitting(found, self._actor.page_bytes)
        last = items[-1].event.seq if items else since
        more = bool(items) and last < (await runtime.queries.row(id_)).head.last_seq
        return Page(items=items, next=cursor_of(last + 1, id_) if more else None)

    async def graph(self, execution_id: str) -> Graph:
        """Return the graph that an execution runs, with the states of its nodes."""
        self._actor.require(*READ)
        return await self._actor.runtime.queries.graph(execution_id)

    async def why(self, execution_id: str) -> Why:
        """Return why an execution stands still, or why it failed."""
        self._actor.require(*READ)
        return await self._actor.runtime.queries.why(execution_id, tracebacks=self._actor.may_debug)

    # How it is started

    async def _started(self, request: StartRequest, until: Until | None) -> Execution:
        """Start it under its own id, or under one that belongs to the idempotency key, or under any."""
        actor, key, workflow = self._actor, request.idempotency_key, request.workflow
        own_id, operations = request.id is not None, actor.runtime.operations
        if request.id is not None:
            id_ = checked_id(request.id)
        elif key is not None:
            id_ = id_from_key(workflow, key)
        else:
            instance = operations.instance
            id_ = instance.machine.ids.new(instance.clock.now())
        act_key = actor.key(_START, "", key) if key is not None else None
        try:
            found = await operations.executions.start(
                workflow,
                request.input,
                id=id_,
                version=request.version,
                on_conflict=request.on_conflict if own_id else "return",
                wait=until,
                points=True,
                options=Options(
                    user=actor.by,
                    tags=request.tags,
                    priority=request.priority,
                    correlation_id=request.correlation_id,
                    delay=request.delay,
                    trigger=request.trigger,
                ),
                audit=actor.entry(_START, execution_id=id_, key=act_key, workflow=workflow),
            )
        except AlreadyExists:
            if key is None or not await actor.has_done(_START, id_, act_key):
                raise
            found = await actor.runtime.queries.get(id_)
        if key is not None:
            check_same_input(found, plain(request.input))
        return found

    async def _waited(self, execution_id: str, until: Until, timeout: float | None) -> Execution:  # noqa: ASYNC109 - as the interface
        """Return an execution when nothing more is to be waited for, or when the time is over."""
        runtime = self._actor.runtime
        try:
            found = await self._limit(timeout).wait_for(runtime.executions.wait(execution_id, until))
        except MissingFunctions:
            found = None
        return found or await runtime.queries.get(execution_id)

    def _limit(self, timeout: float | None) -> WaitLimit:
        return WaitLimit(timeout, self._actor.stopping)

    async def _with_points(self, found: Execution) -> Execution:
        """Add the open points to an execution at rest, and the first response that one of them has for the caller."""
        if not _lacks_points(found):
            return found
        rows = await self._actor.runtime.points.list(found.id)
        return with_open_points(found, map(point_of, rows))

    async def _paused(self, wanted: ExecutionQuery, limit: int, cursor: str | None) -> Page[ExecutionSummary]:
        if replace(wanted, workflow=None) != _ONLY_PAUSED:
            raise InvalidInput("`order`: paused executions can only be chosen by workflow.", code="invalid_parameter")
        page = await self.paused(wanted.workflow, limit, cursor)
        rests = await self._actor.runtime.queries.waiting.of_executions(page.items)
        return Page(items=tuple(_summary(one, rests.get(one.id)) for one in page.items), next=page.next)


def _lacks_points(found: Execution) -> bool:
    """Return whether an execution is at rest, and its open points are still to be read."""
    return found.pause_points is UNSET and found.status in _AT_REST


async def _one(result: Any) -> tuple[Any]:
    """Return a result that may be None as something that is not."""
    return (await result,)


def _summary(found: Execution, rest: ListRest | None) -> ExecutionSummary:
    return ExecutionSummary(
        **{name: getattr(found, name) for name in _SHARED},
        updated_at=Moment.of(rest.updated_at) if rest is not None else found.created_at,
        waiting_summary=rest.waiting if rest is not None else None,
    )


def _after(cursor: str | None) -> tuple[int, str] | None:
    if cursor is None:
        return None
    at, id_ = parsed(cursor)
    try:
        return at, checked_id(id_)
    except InvalidInput as error:
        raise malformed_cursor() from error


def _position(cursor: str | None, execution_id: str, since: int = 0) -> int:
    """Return where a page of an execution begins: behind a cursor of that list, or at `since`."""
    if cursor is None:
        return since
    position, of = parsed(cursor)
    if of != execution_id:
        raise malformed_cursor()
    return position


def _node_cursor(place: NodePlace) -> str:
    return cursor_of(place.created_at, f"{place.execution_id}/{place.place}")


def _node_place(cursor: str | None) -> NodePlace | None:
    """Return where a page of nodes begins."""
    if cursor is None:
        return None
    at, where = parsed(cursor)
    id_, _, place = where.partition("/")
    if not place.isdecimal() or len(place) > _PLACE_DIGITS:
        raise malformed_cursor()
    try:
        return NodePlace(at, checked_id(id_), int(place))
    except InvalidInput as error:
        raise malformed_cursor() from error


def _chunk(cursor: str | None, execution_id: str) -> str:
    """Return the id of the chunk behind which a page of log lines begins."""
    if cursor is None:
        return ""
    of, _, after = cursor.partition(".")
    if of != execution_id or not is_point_id(after):
        raise malformed_cursor()
    return after


def _behind(items: Sequence[object], since: int, found: int, execution_id: str) -> str | None:
    """Return the cursor behind a page, unless nothing was found that is not on it."""
    return cursor_of(since + len(items), execution_id) if found > len(items) else None
