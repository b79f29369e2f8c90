"""One execution, to act on and to read."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, Self

from msgspec import UNSET
from msgspec.structs import replace

from layover.interface.arguments import (
    EVENT_ORDERS,
    EVENT_TYPES,
    NODE_STATUSES,
    POINT_STATUSES,
    UNTIL,
    EventOrder,
    Until,
    check_word,
    check_words,
)
from layover.interface.bounds import (
    CONTEXT_ID,
    check_act,
    check_answer,
    check_mapping,
    check_number,
    check_text,
    checked_map,
    refused,
)
from layover.interface.durations import Duration, seconds_of
from layover.interface.handle import Handle
from layover.interface.listing import Listing
from layover.interface.pause_point_handle import PausePointHandle, listed_points
from layover.interface.requests import EventQuery, ForkRequest, NodeQuery, PointAnswer, PointQuery
from layover.interface.resume_times import OF_PAUSE, OF_RESUME, check_before, resume_time
from layover.model.executions import Execution

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from datetime import datetime

    from layover.core.moments import Moment
    from layover.errors import Failure
    from layover.model.executions import (
        Event,
        Graph,
        Lease,
        Leg,
        LogLine,
        NodeExecution,
        Progress,
        ReplayStep,
        WaitingOn,
        Why,
    )
    from layover.model.forks import ForkPlan
    from layover.model.pause_ends import ResumeSignal
    from layover.model.repeat_plans import RepeatPlan
    from layover.model.resumes import ResumeEntry

_NEXT_LINES: Final = 1.0  # seconds until log lines are looked for again
_LAST_LINES: Final = 1.5  # seconds within which the last ones are written


class ExecutionHandle(Handle[Execution]):
    """An execution: its methods act, `info` is what was last read of it, and so are the fields of that.

    Each act is durable when it returns, and refreshes the handle.
    """

    __slots__ = ()

    if TYPE_CHECKING:  # the fields of `info`
        id: str
        workflow: str
        version: int | None
        status: str  # no Literal: a type checker would not believe that it changes
        outcome: str
        outcome_reason: str
        input: Any
        output: Any
        error: Failure | None
        variables: dict[str, Any]
        tags: tuple[str, ...]
        priority: int
        correlation_id: str | None
        parent_id: str | None
        forked_from: str | None
        forked_at: int | None
        trigger: Any
        trigger_cursors: dict[str, str]
        user: str | None
        created_at: Moment
        started_at: Moment | None
        finished_at: Moment | None
        duration_ms: int | None
        paused_at: Moment | None
        paused_reason: str | None
        paused_node: str | None
        resume_at: Moment | None
        resume_on: ResumeSignal | None
        breakpoints: dict[str, str]
        next_nodes: tuple[str, ...]
        resume_count: int
        last_resumed_at: Moment | None
        resume_data: Any
        nodes_executed: int
        notifications_sent: int | None
        last_seq: int
        waiting_on: tuple[WaitingOn, ...]
        lease: Lease | None
        hash: str
        response: Any
        closed: bool

    def __repr__(self) -> str:
        return f"<execution {self.info.id} of {self.info.workflow}: {self.info.status}>"

    async def refresh(self) -> Self:
        """Read the execution anew."""
        self.info = await self._backend.executions.get(self.info.id)
        return self

    async def result(self, *, timeout: Duration | None = None) -> Any:  # noqa: ASYNC109 - the backend keeps to it
        """Return the output once there is one; raise ExecutionFailed, ExecutionCancelled or WaitTimeout."""
        return await self._backend.executions.result(self.info.id, seconds_of("timeout", timeout))

    async def wait(self, until: Until = "end", *, timeout: Duration | None = None) -> Self:  # noqa: ASYNC109 - the backend keeps to it
        """Wait until nothing runs (`rest`), a person is awaited (`people`) or it is closed (`end`)."""
        check_word("until", until, UNTIL)
        self.info = await self._backend.executions.wait(self.info.id, until, seconds_of("timeout", timeout))
        return self

    async def pause(  # noqa: PLR0913 - each is named where it is given
        self,
        reason: str = "",
        *,
        before: str | None = None,
        until: datetime | None = None,
        until_cron: str | None = None,
        zone: str | None = None,
        resume_on: ResumeSignal | Mapping[str, object] | None = None,
        idempotency_key: str | None = None,
    ) -> Self:
        """Hold it: nothing starts from now on, and running calls come to their end.

        With `until`, at the next time of a cron line in a time zone, or when the signal `resume_on` arrives, it goes on
        by itself; one that is held already gets that end of its pause.

        With `before` it goes on until it comes to that node, and pauses there, once: an id of the graph, or in a scope
        a context id.
        """
        check_act(reason, idempotency_key)
        end = resume_time(OF_PAUSE, until, until_cron, zone, resume_on)
        if before is not None:
            check_text("before", before, CONTEXT_ID, 1)
            check_before(end)
            executions = self._backend.executions
            self.info = await executions.set_breakpoint(self.info.id, before, reason, idempotency_key)
            return self
        self.info = await self._backend.executions.pause(self.info.id, reason, idempotency_key, end)
        return self

    async def clear_breakpoint(self, node: str | None = None) -> Self:
        """Do not pause it before a node, or (without one) before any; the breakpoints of its workflow stay."""
        check_text("node", node, CONTEXT_ID, 1)
        self.info = await self._backend.executions.clear_breakpoint(self.info.id, node)
        return self

    async def resume(  # noqa: PLR0913 - each is named where it is given
        self,
        data: Mapping[str, object] | None = None,
        *,
        approved: bool | None = None,
        reason: str = "",
        at: datetime | None = None,
        cron: str | None = None,
        zone: str | None = None,
        on: ResumeSignal | Mapping[str, object] | None = None,
        idempotency_key: str | None = None,
    ) -> Self:
        """Let it go on; `data` becomes part of its variables, `approved` decides its only open approval.

        With `at`, or with the next time of a `cron` line in a time zone, it goes on by itself then: `resume_at`. With
        `on` it goes on when that signal arrives (`signal`, and perhaps `key` and `filter`): `resume_on`.
        """
        check_act(reason, idempotency_key)
        check_mapping("data", data)
        when = resume_time(OF_RESUME, at, cron, zone, on)
        if when is None:
            self.info = await self._backend.executions.resume(self.info.id, data, approved, reason, idempotency_key)
            return self
        if data is not None or approved is not None:
            raise refused("data", "a pause that ends by itself takes no data and no decision")
        self.info = await self._backend.executions.schedule_resume(self.info.id, when, reason, idempotency_key)
        return self

    async def clear_resume(self) -> Self:
        """Let a pause that was set to end by itself last until it is resumed."""
        self.info = await self._backend.executions.schedule_resume(self.info.id, None, "", None)
        return self

    async def cancel(self, reason: str = "", *, idempotency_key: str | None = None) -> Self:
        """End it."""
        check_act(reason, idempotency_key)
        self.info = await self._backend.executions.cancel(self.info.id, reason, idempotency_key)
        return self

    async def retry(self, *, reason: str = "", idempotency_key: str | None = None) -> Self:
        """Go on from what failed, or from what waits for an operator."""
        check_act(reason, idempotency_key)
        self.info = await self._backend.executions.retry(self.info.id, reason, idempotency_key)
        return self

    async def rewind(self, to: str, *, reason: str = "", idempotency_key: str | None = None) -> Self:
        """Drop the results of a node and of all that came after it, and go on from there."""
        check_act(reason, idempotency_key)
        check_text("to", to, CONTEXT_ID)
        self.info = await self._backend.executions.rewind(self.info.id, to, reason, idempotency_key)
        return self

    async def fork(
        self,
        from_: str | int | None = None,
        *,
        input: object = UNSET,  # noqa: A002 - as everywhere
        version: int | None = None,
        id: str | None = None,  # noqa: A002 - as everywhere
        reason: str = "",
        idempotency_key: str | None = None,
    ) -> ExecutionHandle:
        """Begin another execution with results of this one, and return it; this one stays as it is.

        It goes on from a node, or after the event of a number; without either, after the newest event. Without an
        `input` or a `version` it has those of this one.
        """
        check_act(reason, idempotency_key)
        wanted = _fork_request(from_, input, version)
        wanted = replace(wanted, id=id, reason=reason, idempotency_key=idempotency_key)
        return ExecutionHandle(self._backend, await self._backend.executions.fork(self.info.id, wanted))

    async def plan_fork(self, from_: str | int | None = None, *, version: int | None = None) -> ForkPlan:
        """Return what `fork` would keep and repeat; nothing is changed."""
        return await self._backend.executions.plan_fork(self.info.id, _fork_request(from_, UNSET, version))

    async def run_now(
        self, context_id: str | None = None, *, reason: str = "", idempotency_key: str | None = None
    ) -> Self:
        """Let a node go on that waits for time: a delay, a sleep, or another attempt.

        Without a node, all of them go on, or the start that was delayed.
        """
        check_act(reason, idempotency_key)
        check_text("context_id", context_id, CONTEXT_ID, 1)
        self.info = await self._backend.executions.run_now(self.info.id, context_id, reason, idempotency_key)
        return self

    async def cancel_retry(self, context_id: str, *, reason: str = "", idempotency_key: str | None = None) -> Self:
        """Make no further attempt of a node that is to be tried again: its last failure is final."""
        check_act(reason, idempotency_key)
        check_text("context_id", context_id, CONTEXT_ID, 1)
        self.info = await self._backend.executions.cancel_retry(self.info.id, context_id, reason, idempotency_key)
        return self

    async def move(
        self,
        version: int,
        *,
        map: Mapping[str, str] | None = None,  # noqa: A002 - as everywhere
        reason: str = "",
        idempotency_key: str | None = None,
    ) -> Self:
        """Go on by another version of the workflow; `map` has the new ids of nodes by their old ones.

        WrongState (`cannot_move`) says why it cannot: it stands at a node that the version does not have, or it runs.
        """
        check_act(reason, idempotency_key)
        check_number("version", version, 1)
        names = checked_map(map)
        self.info = await self._backend.executions.move(self.info.id, version, names, reason, idempotency_key)
        return self

    async def plan_retry(self) -> RepeatPlan:
        """Return what `retry` would repeat, as things stand; nothing is changed."""
        return await self._backend.executions.plan_retry(self.info.id)

    async def plan_rewind(self, to: str) -> RepeatPlan:
        """Return what `rewind` to a node would repeat, drop and close, as things stand; nothing is changed."""
        check_text("to", to, CONTEXT_ID)
        return await self._backend.executions.plan_rewind(self.info.id, to)

    async def point(self, context_id: str) -> PausePointHandle:
        """Return the newest pause point at a context id."""
        return PausePointHandle(self._backend, await self._backend.points.at(self.info.id, context_id))

    def points(self, *, status: str | Sequence[str] = ("open",), children: bool = False) -> Listing[PausePointHandle]:
        """Return its pause points, the oldest first; with `children`, also those of executions that it waits for."""
        statuses = check_words("status", status, POINT_STATUSES)
        return listed_points(self._backend, PointQuery(execution_id=self.info.id, status=statuses, children=children))

    async def answer(self, context_id: str, data: object = None, *, comment: str = "") -> PausePointHandle:
        """Answer the pause point at a context id."""
        check_answer(comment, None)
        point = await self._backend.points.at(self.info.id, context_id)
        answered = await self._backend.points.answer(point.id, PointAnswer(data=data, comment=comment))
        return PausePointHandle(self._backend, answered)

    def history(
        self,
        *,
        since: int = 0,
        until: int | None = None,
        context_id: str | None = None,
        type: str | Sequence[str] = (),  # noqa: A002 - as everywhere
        order: EventOrder = "oldest",
    ) -> Listing[Event]:
        """Return the stored events from the number `since` to `until`, the oldest first or the newest.

        With `context_id` they are those of that node, and of its pause points. `type` is such as `NodeFailed`.
        """
        check_number("since", since, 0)
        check_number("until", until, 0)
        check_text("context_id", context_id, CONTEXT_ID, 1)
        check_word("order", order, EVENT_ORDERS)
        types = check_words("type", type, EVENT_TYPES)
        wanted = EventQuery(since=since, until=until, context_id=context_id, type=types, order=order)
        executions, id_ = self._backend.executions, self.info.id
        return Listing(lambda limit, cursor: executions.history(id_, wanted, limit, cursor))

    def events(self, *, since: int = 0) -> AsyncIterator[Event]:
        """Return events from a number on as they are written; it ends when the execution closes."""
        check_number("since", since, 0)
        return self._backend.executions.events(self.info.id, since)

    def watch(self, *, since: int = 0) -> AsyncIterator[Event | Progress | LogLine]:
        """Return events from a number on as they are written, progress as it is reported, log lines as they are kept.

        It ends as `events` do. Progress is live: what was reported before, or between two looks, is not told. Log lines
        are for those who may debug, if the engine or server that is asked keeps them (`node_logs`).
        """
        check_number("since", since, 0)
        return self._backend.executions.watch(self.info.id, since)

    def logs(self, *, node: str | None = None, follow: bool = False) -> AsyncIterator[LogLine]:
        """Return what its nodes have logged, or one of them; with `follow`, also what they are yet to log.

        Lines are kept if the setting `node_logs` is on. Reading them needs the permission `execution:debug`.
        """
        check_text("node", node, CONTEXT_ID)
        return self._lines(node, follow=follow)

    async def _lines(self, node: str | None, *, follow: bool) -> AsyncIterator[LogLine]:
        executions, cursor = self._backend.executions, None
        while True:
            is_over = not follow or (await executions.get(self.info.id)).closed
            if follow and is_over:
                await asyncio.sleep(_LAST_LINES)  # they are written a moment after the end
            while (page := await executions.logs(self.info.id, node, cursor)).items:
                cursor = page.next
                for line in page.items:
                    yield line
            if is_over:
                return
            await asyncio.sleep(_NEXT_LINES)

    def nodes(
        self, *, parent: str | None = None, status: str | Sequence[str] = (), context_id: str | None = None
    ) -> Listing[NodeExecution]:
        """Return what became of the nodes that were reached, in that order.

        `parent` is the context id of a container: those right in its scopes. With an empty one, those in no container.
        """
        check_text("parent", parent, CONTEXT_ID)
        check_text("context_id", context_id, CONTEXT_ID)
        wanted = NodeQuery(parent=parent, status=check_words("status", status, NODE_STATUSES), context_id=context_id)
        executions, id_ = self._backend.executions, self.info.id
        return Listing(lambda limit, cursor: executions.nodes(id_, wanted, limit, cursor))

    def legs(self) -> Listing[Leg]:
        """Return the legs in their order: the work between two rests, or what one answer released."""
        executions, id_ = self._backend.executions, self.info.id
        return Listing(lambda limit, cursor: executions.legs(id_, limit, cursor))

    def resume_queue(self) -> Listing[ResumeEntry]:
        """Return the resume queue: what was answered at pause points, in its order, and what became of it."""
        executions, id_ = self._backend.executions, self.info.id
        return Listing(lambda limit, cursor: executions.resume_queue(id_, limit, cursor))

    def replay(self, *, since: int = 0) -> Listing[ReplayStep]:
        """Return its state after each event, from one of them on."""
        check_number("since", since, 0)
        executions, id_ = self._backend.executions, self.info.id
        return Listing(lambda limit, cursor: executions.replay(id_, since, limit, cursor))

    async def graph(self) -> Graph:
        """Return the graph that it runs, with the states of the nodes."""
        return await self._backend.executions.graph(self.info.id)

    async def why(self) -> Why:
        """Return why it stands still."""
        return await self._backend.executions.why(self.info.id)


def _fork_request(start: str | int | None, given: object, version: int | None) -> ForkRequest:
    """Return a fork to ask for, whose fields are as they should be."""
    if isinstance(start, str):
        check_text("from", start, CONTEXT_ID, 1)
    else:
        check_number("from", start, 0)
    check_number("version", version, 1)
    return ForkRequest(start=start, input=given, version=version)
