"""Executions: starting, reading, waiting, and what operators do.

A server waits for a while only before it answers. What is waited for longer is asked for again.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from layover.client.event_stream import EventStream
from layover.client.requests import ask_plan, delete, get, path_of, post
from layover.core.definitions.durations import format_duration
from layover.core.moments import moment
from layover.core.payloads import plain
from layover.errors import MissingFunctions, NotAllowed, WaitTimeout
from layover.interface.arguments import EXECUTION_STATUSES
from layover.interface.door import result_of
from layover.interface.open_points import with_open_points
from layover.interface.reached import is_reached
from layover.interface.requests import ResumeTime
from layover.model.deploy_plans import MoveBody
from layover.model.executions import (
    Event,
    Execution,
    ExecutionCounts,
    ExecutionSummary,
    Graph,
    Leg,
    LogLine,
    NodeExecution,
    PauseBody,
    Progress,
    ReplayStep,
    ResumeBody,
    RetryBody,
    RewindBody,
    StartBody,
    Why,
)
from layover.model.forks import ForkBody, ForkPlan
from layover.model.node_searches import FoundNode
from layover.model.pause_ends import signal_body
from layover.model.points import PausePoint
from layover.model.repeat_plans import RepeatPlan
from layover.model.resumes import ResumeEntry
from layover.model.scheduled_retries import CancelRetryBody, RunNowBody, ScheduledRetry
from layover.model.shared import Body, Page, ReasonBody, encode

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from layover.client.transport import Transport
    from layover.core.engine.state import ExecutionStatus
    from layover.interface.arguments import Until
    from layover.interface.requests import (
        EventQuery,
        ExecutionQuery,
        ForkRequest,
        NodeQuery,
        NodeSearch,
        StartRequest,
    )

_LONGEST_WAIT: Final = 25.0  # seconds; a server would wait for a minute, proxies between often hang up before that
_REACHED: Final = 200  # the status of an execution that is as it was waited for


class HttpExecutions:
    """Executions of a server."""

    __slots__ = ("_transport",)

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def start(self, request: StartRequest) -> Execution:
        """Start an execution; return it when it is as asked for, or when the time for that is over."""
        loop = asyncio.get_running_loop()
        begun, until = loop.time(), request.until
        wait = _wait(request.timeout) if until is not None else 0.0
        body = StartBody(
            workflow=request.workflow,
            version=request.version,
            input=plain(request.input),
            id=request.id,
            on_conflict=request.on_conflict,
            tags=[*request.tags],
            priority=request.priority,
            delay=format_duration(request.delay) if request.delay is not None else None,
            correlation_id=request.correlation_id,
            trigger=plain(request.trigger),
            wait=_text(wait) if wait else None,
            until=until or "people",
        )
        answered = await self._transport.send(post(path_of("executions"), body, request.idempotency_key, longer=wait))
        found = self._transport.read(answered, Execution)
        if answered.is_replayed and found.user is None:  # the key is another user's, and so is what it started
            return found
        if not answered.is_replayed and (until is None or is_reached(found, until)):
            return found
        left = None if request.timeout is None else request.timeout - (loop.time() - begun)
        try:
            return await self._with_points(await self._reached(found.id, until, left))
        except NotAllowed:  # to start is not to read
            return found

    async def get(self, execution_id: str) -> Execution:
        """Return an execution as it is."""
        return await self._transport.ask(get(path_of("executions", execution_id)), Execution)

    async def wait(self, execution_id: str, until: Until, timeout: float | None) -> Execution:  # noqa: ASYNC109 - as the interface
        """Return an execution once it is as asked for; raise WaitTimeout when that takes too long."""
        found, is_reached = await self._poll(execution_id, until, timeout)
        if not is_reached:
            raise WaitTimeout(f"The execution {found.id} is not as it was waited for: it is {found.status}.")
        return found

    async def result(self, execution_id: str, timeout: float | None) -> Any:  # noqa: ASYNC109 - as the interface
        """Return the output of an execution once it is there; raise what it failed with."""
        return result_of((await self._poll(execution_id, "end", timeout))[0])

    async def list(self, wanted: ExecutionQuery, limit: int, cursor: str | None) -> Page[ExecutionSummary]:
        """Return a page of executions, the newest first, or the one paused longest first."""
        path = path_of(
            "executions",
            workflow=wanted.workflow,
            status=wanted.status,
            tag=wanted.tag,
            parent_id=wanted.parent_id,
            where=wanted.where,
            contains=encode(wanted.contains).decode() if wanted.contains is not None else None,
            correlation_id=wanted.correlation_id,
            error_code=wanted.error_code,
            since=moment(wanted.since),
            until=moment(wanted.until),
            min_duration=_length(wanted.min_duration),
            max_duration=_length(wanted.max_duration),
            min_resumes=wanted.min_resumes,
            resumed=wanted.resumed,
            user=wanted.user,
            on=wanted.on,
            node_type=wanted.node_type,
            q=wanted.q,
            order=wanted.order if wanted.order != "created" else None,
            limit=limit,
            cursor=cursor,
        )
        return await self._transport.ask(get(path), Page[ExecutionSummary])

    async def counts(self) -> dict[ExecutionStatus, int]:
        """Return how many executions there are, by status."""
        found = await self.waiting_counts()
        counted = {status: getattr(found, status) for status in EXECUTION_STATUSES}
        return {status: count for status, count in counted.items() if count}

    async def waiting_counts(self) -> ExecutionCounts:
        """Return how many executions there are, by status and by what they wait on."""
        return await self._transport.ask(get(path_of("executions", "counts")), ExecutionCounts)

    async def pause(
        self, execution_id: str, reason: str, idempotency_key: str | None, until: ResumeTime | None = None
    ) -> Execution:
        """Hold an execution, perhaps until a time."""
        end = until or ResumeTime()
        body = PauseBody(
            reason=reason or None, until=end.at, until_cron=end.cron, zone=end.zone, resume_on=signal_body(end.on)
        )
        return await self._act(execution_id, "pause", body, idempotency_key)

    async def schedule_resume(
        self, execution_id: str, when: ResumeTime | None, reason: str, idempotency_key: str | None
    ) -> Execution:
        """Set when an execution that is held goes on by itself; None: it no longer does."""
        if when is None:
            answered = await self._transport.send(delete(path_of("executions", execution_id, "resume")))
            return await self._transport.newest(answered, Execution, self._as_it_is)
        body = ResumeBody(reason=reason or None, at=when.at, cron=when.cron, zone=when.zone, on=signal_body(when.on))
        return await self._act(execution_id, "resume", body, idempotency_key)

    async def resume(
        self,
        execution_id: str,
        data: Mapping[str, object] | None,
        approved: bool | None,  # noqa: FBT001 - as the interface
        reason: str,
        idempotency_key: str | None,
    ) -> Execution:
        """Let an execution go on; `approved` decides its only open approval."""
        given = None if data is None else {name: plain(value) for name, value in data.items()}
        body = ResumeBody(resume_data=given, reason=reason or None, approved=approved)
        return await self._act(execution_id, "resume", body, idempotency_key)

    async def cancel(self, execution_id: str, reason: str, idempotency_key: str | None) -> Execution:
        """End an execution."""
        return await self._act(execution_id, "cancel", ReasonBody(reason=reason or None), idempotency_key)

    async def retry(self, execution_id: str, reason: str, idempotency_key: str | None) -> Execution:
        """Go on from what failed."""
        return await self._act(execution_id, "retry", RetryBody(reason=reason or None), idempotency_key)

    async def rewind(self, execution_id: str, to: str, reason: str, idempotency_key: str | None) -> Execution:
        """Drop the results of a node and of all that came after it, and go on from there."""
        return await self._act(execution_id, "rewind", RewindBody(to=to, reason=reason or None), idempotency_key)

    async def fork(self, execution_id: str, request: ForkRequest) -> Execution:
        """Begin an execution with results of another one."""
        path = path_of("executions", execution_id, "fork")
        return await self._transport.ask(post(path, _fork_body(request), request.idempotency_key), Execution)

    async def plan_fork(self, execution_id: str, request: ForkRequest) -> ForkPlan:
        """Return what a fork would keep and repeat."""
        body = replace(_fork_body(request), dry_run=True)
        return await self._transport.ask(ask_plan(path_of("executions", execution_id, "fork"), body), ForkPlan)

    async def run_now(self, execution_id: str, node: str | None, reason: str, idempotency_key: str | None) -> Execution:
        """Let a node go on that waits for time; without one, all of them, or the start."""
        body = RunNowBody(context_id=node, reason=reason or None)
        return await self._act(execution_id, "run-now", body, idempotency_key)

    async def set_breakpoint(self, execution_id: str, node: str, reason: str, idempotency_key: str | None) -> Execution:
        """Pause an execution before a node, once."""
        return await self._act(execution_id, "pause", PauseBody(reason=reason or None, before=node), idempotency_key)

    async def clear_breakpoint(self, execution_id: str, node: str | None) -> Execution:
        """Do not pause an execution before a node, or before any."""
        path = path_of("executions", execution_id, "breakpoints", node=node)
        answered = await self._transport.send(delete(path))
        return await self._transport.newest(answered, Execution, self._as_it_is)

    async def cancel_retry(self, execution_id: str, node: str, reason: str, idempotency_key: str | None) -> Execution:
        """Make no further attempt of a node that is to be tried again."""
        body = CancelRetryBody(context_id=node, reason=reason or None)
        return await self._act(execution_id, "cancel-retry", body, idempotency_key)

    async def retries(self, workflow: str | None, limit: int, cursor: str | None) -> Page[ScheduledRetry]:
        """Return a page of the attempts that open executions are to make later."""
        path = path_of("retries", workflow=workflow, limit=limit, cursor=cursor)
        return await self._transport.ask(get(path), Page[ScheduledRetry])

    async def plan_retry(self, execution_id: str) -> RepeatPlan:
        """Return what a retry would repeat."""
        path = path_of("executions", execution_id, "retry")
        return await self._transport.ask(ask_plan(path, RetryBody(dry_run=True)), RepeatPlan)

    async def move(
        self, execution_id: str, version: int, map_: Mapping[str, str], reason: str, idempotency_key: str | None
    ) -> Execution:
        """Go on by another version of the workflow."""
        body = MoveBody(version=version, map=dict(map_), reason=reason or None)
        return await self._act(execution_id, "move", body, idempotency_key)

    async def plan_rewind(self, execution_id: str, to: str) -> RepeatPlan:
        """Return what a rewind to a node would repeat and drop."""
        path = path_of("executions", execution_id, "rewind")
        return await self._transport.ask(ask_plan(path, RewindBody(to=to, dry_run=True)), RepeatPlan)

    async def history(self, execution_id: str, wanted: EventQuery, limit: int, cursor: str | None) -> Page[Event]:
        """Return a page of the log."""
        path = path_of(
            "executions",
            execution_id,
            "history",
            since=wanted.since or None,
            until=wanted.until,
            context_id=wanted.context_id,
            type=wanted.type,
            order=None if wanted.order == "oldest" else wanted.order,
            limit=limit,
            cursor=cursor,
        )
        return await self._transport.ask(get(path), Page[Event])

    def events(self, execution_id: str, since: int) -> AsyncIterator[Event]:
        """Return events as they are written, until the execution closes."""
        return EventStream(self._transport, execution_id, since).events()

    def watch(self, execution_id: str, since: int) -> AsyncIterator[Event | Progress | LogLine]:
        """Return events as they are written, and progress as it is reported, until the execution closes."""
        return EventStream(self._transport, execution_id, since).watch()

    async def logs(self, execution_id: str, node: str | None, cursor: str | None) -> Page[LogLine]:
        """Return a page of what nodes have logged; an empty one is behind all that there is so far."""
        path = path_of("executions", execution_id, "logs", node=node, cursor=cursor)
        return await self._transport.ask(get(path), Page[LogLine])

    async def nodes(self, execution_id: str, wanted: NodeQuery, limit: int, cursor: str | None) -> Page[NodeExecution]:
        """Return a page of the nodes that were reached."""
        path = path_of(
            *("executions", execution_id, "nodes"),
            parent=wanted.parent,
            status=wanted.status,
            context_id=wanted.context_id,
            limit=limit,
            cursor=cursor,
        )
        return await self._transport.ask(get(path), Page[NodeExecution])

    async def search_nodes(self, wanted: NodeSearch, limit: int, cursor: str | None) -> Page[FoundNode]:
        """Return a page of nodes of all executions."""
        path = path_of(
            "node-executions",
            workflow=wanted.workflow,
            tag=wanted.tag,
            node=wanted.node,
            type=wanted.type,
            where=wanted.where,
            status=wanted.status,
            error_code=wanted.error_code,
            since=moment(wanted.since),
            until=moment(wanted.until),
            min_duration=_length(wanted.min_duration),
            max_duration=_length(wanted.max_duration),
            min_resumes=wanted.min_resumes,
            limit=limit,
            cursor=cursor,
        )
        return await self._transport.ask(get(path), Page[FoundNode])

    async def legs(self, execution_id: str, limit: int, cursor: str | None) -> Page[Leg]:
        """Return a page of the legs."""
        path = path_of("executions", execution_id, "legs", limit=limit, cursor=cursor)
        return await self._transport.ask(get(path), Page[Leg])

    async def resume_queue(self, execution_id: str, limit: int, cursor: str | None) -> Page[ResumeEntry]:
        """Return a page of the resume queue."""
        path = path_of("executions", execution_id, "resume-queue", limit=limit, cursor=cursor)
        return await self._transport.ask(get(path), Page[ResumeEntry])

    async def replay(self, execution_id: str, since: int, limit: int, cursor: str | None) -> Page[ReplayStep]:
        """Return a page of the states after each event."""
        path = path_of("executions", execution_id, "replay", since=since or None, limit=limit, cursor=cursor)
        return await self._transport.ask(get(path), Page[ReplayStep])

    async def graph(self, execution_id: str) -> Graph:
        """Return the graph that an execution runs, with the states of its nodes."""
        return await self._transport.ask(get(path_of("executions", execution_id, "graph")), Graph)

    async def why(self, execution_id: str) -> Why:
        """Return why an execution stands still."""
        return await self._transport.ask(get(path_of("executions", execution_id, "why")), Why)

    # How it is asked for

    async def _act(self, execution_id: str, act: str, body: Body, key: str | None) -> Execution:
        answered = await self._transport.send(post(path_of("executions", execution_id, act), body, key))
        return await self._transport.newest(answered, Execution, self._as_it_is)

    async def _reached(self, execution_id: str, until: Until | None, left: float | None) -> Execution:
        """Return an execution that was started when it is as asked for; past the time, return it as it is."""
        if until is None:
            return await self._as_it_is(execution_id)
        try:
            return (await self._poll(execution_id, until, left))[0]
        except MissingFunctions:
            if left is None:
                raise
            return await self._as_it_is(execution_id)

    async def _as_it_is(self, execution_id: str) -> Execution:
        """Return an execution as acts return it: without what is only counted where one is read."""
        return replace(await self.get(execution_id), notifications_sent=None)

    async def _with_points(self, found: Execution) -> Execution:
        """Add the open points to an execution at rest, as a server does that has just started it."""
        if found.status not in ("waiting", "paused"):
            return found
        path = path_of("pause-points", execution_id=found.id, status="open", limit=100)
        return with_open_points(found, (await self._transport.ask(get(path), Page[PausePoint])).items)

    async def _poll(self, execution_id: str, until: Until, timeout: float | None) -> tuple[Execution, bool]:  # noqa: ASYNC109 - the server keeps to it
        """Ask for an execution until it is as wanted, or the time is over; return it, and whether it is."""
        transport, loop = self._transport, asyncio.get_running_loop()
        ends = None if timeout is None else loop.time() + timeout
        while True:
            wait = _wait(None if ends is None else max(ends - loop.time(), 0.0))
            asked = loop.time()
            answered = await transport.send(
                get(path_of("executions", execution_id, wait=_text(wait), until=until), longer=wait)
            )
            found = transport.read(answered, Execution)
            if answered.status == _REACHED:
                return found, True
            if ends is not None and loop.time() >= ends:
                return found, False
            if loop.time() - asked < wait / 2:  # a server that stops does not wait: another one may
                await transport.sleep(transport.limits.wait_after(1, None))


def _fork_body(request: ForkRequest) -> ForkBody:
    return ForkBody(
        start=request.start,
        input=UNSET if request.input is UNSET else plain(request.input),
        version=request.version,
        id=request.id,
        reason=request.reason or None,
    )


def _length(milliseconds: int | None) -> str | None:
    return None if milliseconds is None else f"{milliseconds}ms"


def _wait(left: float | None) -> float:
    """Return how many seconds a server is asked to wait, of those that are left."""
    return _LONGEST_WAIT if left is None else min(left, _LONGEST_WAIT)


def _text(seconds: float) -> str:
    return format_duration(max(round(seconds * 1000), 1))  # without any wait, the server would not look what is so
