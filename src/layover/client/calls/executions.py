"""Executions: beginning them, looking at them, and what operators do to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from layover.api.resources.executions import (
    Event,
    Execution,
    ExecutionSummary,
    Graph,
    Leg,
    NodeExecution,
    PausedExecutions,
    ResumeBody,
    RewindBody,
    StartBody,
    Why,
)
from layover.api.resources.shared import EmptyBody, Page, ReasonBody
from layover.client.requests import ClientRequest, path_of, post
from layover.core.definitions.durations import parse_duration

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from layover.client.transport import Transport

_LONGEST_WAIT = 60.0  # seconds that a server waits at most


class Executions:
    """Executions of a server."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def start(  # noqa: PLR0913 - each is named where it is given
        self,
        workflow: str,
        input: object = None,  # noqa: A002 - as the wire has it
        *,
        version: int | None = None,
        id: str | None = None,  # noqa: A002 - as everybody says
        tags: Sequence[str] = (),
        priority: int = 0,
        delay: str | None = None,
        correlation_id: str | None = None,
        trigger: object = None,
        wait: str | None = None,
        key: str | None = None,
    ) -> Execution:
        """Begin an execution; with `wait` (at most 60s), return when it has ended, or a person is awaited.

        The same `key` again is the same execution.
        """
        body = StartBody(
            workflow=workflow,
            version=version,
            input=input,
            id=id,
            tags=[*tags],
            priority=priority,
            delay=delay,
            correlation_id=correlation_id,
            trigger=trigger,
            wait=wait,
        )
        ask = post(path_of("executions"), body, key, longer=_seconds(wait))
        return await self._transport.ask(ask, Execution)

    async def get(self, execution_id: str) -> Execution:
        """Return an execution as it is."""
        return await self._transport.ask(
            ClientRequest(method="GET", path=path_of("executions", execution_id)), Execution
        )

    async def list(  # noqa: PLR0913 - each is named where it is given
        self,
        *,
        workflow: str | None = None,
        status: Sequence[str] = (),
        tag: str | None = None,
        where: Sequence[str] = (),
        parent_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[ExecutionSummary]:
        """Return a page of executions, newest first; `where` are conditions such as `input.total>100`."""
        path = path_of(
            "executions",
            workflow=workflow,
            status=[*status],
            tag=tag,
            where=[*where],
            parent_id=parent_id,
            limit=limit,
            cursor=cursor,
        )
        return await self._transport.ask(ClientRequest(method="GET", path=path), Page[ExecutionSummary])

    async def each(
        self,
        *,
        workflow: str | None = None,
        status: Sequence[str] = (),
        tag: str | None = None,
        where: Sequence[str] = (),
        parent_id: str | None = None,
    ) -> AsyncIterator[ExecutionSummary]:
        """Return executions, newest first, page after page."""
        cursor: str | None = None
        while True:
            page = await self.list(
                workflow=workflow,
                status=status,
                tag=tag,
                where=where,
                parent_id=parent_id,
                limit=100,
                cursor=cursor,
            )
            for one in page.items:
                yield one
            cursor = page.next
            if cursor is None:
                return

    async def paused(
        self, *, workflow: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> PausedExecutions:
        """Return the executions that wait for a person, the one that has waited longest first."""
        path = path_of("executions", "paused", workflow=workflow, limit=limit, cursor=cursor)
        return await self._transport.ask(ClientRequest(method="GET", path=path), PausedExecutions)

    async def history(
        self,
        execution_id: str,
        *,
        since: int = 0,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[Event]:
        """Return a page of the log of an execution, from a number on."""
        path = path_of("executions", execution_id, "history", since=since or None, limit=limit, cursor=cursor)
        return await self._transport.ask(ClientRequest(method="GET", path=path), Page[Event])

    async def each_event(self, execution_id: str, *, since: int = 0) -> AsyncIterator[Event]:
        """Return the log of an execution as it is, from a number on, page after page."""
        cursor: str | None = None
        while True:
            page = await self.history(execution_id, since=since, limit=100, cursor=cursor)
            for one in page.items:
                yield one
            cursor = page.next
            if cursor is None:
                return

    async def stream(self, execution_id: str, *, since: int = 0) -> AsyncIterator[Event]:
        """Follow an execution: its events from a number on as they are written, until its end."""
        async for one in self._transport.follow(execution_id, since):
            yield one

    async def nodes(
        self, execution_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> Page[NodeExecution]:
        """Return a page of what became of the nodes that were reached."""
        path = path_of("executions", execution_id, "nodes", limit=limit, cursor=cursor)
        return await self._transport.ask(ClientRequest(method="GET", path=path), Page[NodeExecution])

    async def each_node(self, execution_id: str) -> AsyncIterator[NodeExecution]:
        """Return what became of the nodes that were reached, page after page."""
        cursor: str | None = None
        while True:
            page = await self.nodes(execution_id, limit=100, cursor=cursor)
            for one in page.items:
                yield one
            cursor = page.next
            if cursor is None:
                return

    async def legs(self, execution_id: str, *, limit: int | None = None, cursor: str | None = None) -> Page[Leg]:
        """Return a page of the stretches of work of an execution, in their order."""
        path = path_of("executions", execution_id, "legs", limit=limit, cursor=cursor)
        return await self._transport.ask(ClientRequest(method="GET", path=path), Page[Leg])

    async def each_leg(self, execution_id: str) -> AsyncIterator[Leg]:
        """Return the stretches of work of an execution, in their order, page after page."""
        cursor: str | None = None
        while True:
            page = await self.legs(execution_id, limit=100, cursor=cursor)
            for one in page.items:
                yield one
            cursor = page.next
            if cursor is None:
                return

    async def graph(self, execution_id: str) -> Graph:
        """Return the graph of an execution, with the states of its nodes."""
        return await self._transport.ask(
            ClientRequest(method="GET", path=path_of("executions", execution_id, "graph")), Graph
        )

    async def why(self, execution_id: str) -> Why:
        """Return what an execution waits for."""
        return await self._transport.ask(
            ClientRequest(method="GET", path=path_of("executions", execution_id, "why")), Why
        )

    async def pause(self, execution_id: str, reason: str | None = None, *, key: str | None = None) -> Execution:
        """Hold an execution: nothing of it starts until it is resumed."""
        ask = post(path_of("executions", execution_id, "pause"), ReasonBody(reason=reason), key)
        return await self._transport.ask(ask, Execution)

    async def resume(
        self,
        execution_id: str,
        data: dict[str, Any] | None = None,
        reason: str | None = None,
        *,
        approved: bool | None = None,
        key: str | None = None,
    ) -> Execution:
        """Let an execution go on; the data becomes part of its variables. `approved` decides its only approval."""
        body = ResumeBody(resume_data=data, reason=reason, approved=approved)
        return await self._transport.ask(post(path_of("executions", execution_id, "resume"), body, key), Execution)

    async def cancel(self, execution_id: str, reason: str | None = None, *, key: str | None = None) -> Execution:
        """End an execution."""
        ask = post(path_of("executions", execution_id, "cancel"), ReasonBody(reason=reason), key)
        return await self._transport.ask(ask, Execution)

    async def retry(self, execution_id: str, *, key: str | None = None) -> Execution:
        """Go on with an execution from what failed."""
        return await self._transport.ask(
            post(path_of("executions", execution_id, "retry"), EmptyBody(), key), Execution
        )

    async def rewind(
        self, execution_id: str, to: str, reason: str | None = None, *, key: str | None = None
    ) -> Execution:
        """Drop the results of a node and of all that came after it, and go on from there."""
        ask = post(path_of("executions", execution_id, "rewind"), RewindBody(to=to, reason=reason), key)
        return await self._transport.ask(ask, Execution)


def _seconds(wait: str | None) -> float:
    """Return for how long a server is asked to wait; what is no length of time is for the server to refuse."""
    try:
        return min(parse_duration(wait) / 1000, _LONGEST_WAIT) if wait is not None else 0.0
    except ValueError:
        return 0.0
