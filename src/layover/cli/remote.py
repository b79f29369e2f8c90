"""Executions behind a server, as commands ask for them; who asks is known there by the key."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self, TypeVar

import msgspec

from layover.api.resources.shared import Page
from layover.cli.client import MOST_SHOWN
from layover.cli.exits import Stop
from layover.client import ApiError, AsyncClient

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from types import TracebackType

    from layover.api.resources.executions import (
        Event,
        Execution,
        ExecutionSummary,
        Graph,
        Leg,
        NodeExecution,
        Why,
    )
    from layover.api.resources.points import PausePoint
    from layover.api.resources.signals_and_callbacks import Delivered
    from layover.cli.options import Who

T = TypeVar("T")

_PAGE = 100  # as many as a server gives at once
_FOR_PEOPLE = ("approval", "form")


class Remote:
    """A server, asked from `async with` to its end."""

    def __init__(self, url: str, key: str | None) -> None:
        self._client = AsyncClient(url, key=key)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.close()

    is_applied = True  # a server answers when it has applied what was asked, or has waited long enough for that

    # Looking

    async def get(self, execution_id: str) -> Execution:
        """Return an execution as it is."""
        return await self._client.executions.get(execution_id)

    async def list(
        self,
        *,
        workflow: str | None = None,
        status: Sequence[str] = (),
        tag: str | None = None,
        where: Mapping[str, object] | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[ExecutionSummary]:
        """Return executions, newest first, as many pages of them as it takes; `where` is what their input contains."""
        conditions = _conditions(where)
        found: list[ExecutionSummary] = []
        while True:
            page = await self._client.executions.list(
                workflow=workflow,
                status=status,
                tag=tag,
                where=conditions,
                limit=min(limit - len(found), _PAGE),
                cursor=cursor,
            )
            found += page.items
            cursor = page.next
            if cursor is None or len(found) >= limit:
                return Page(items=found, next=cursor)

    async def history(self, execution_id: str, since: int = 0) -> Sequence[Event]:
        """Return the log of an execution from a number on."""
        return [event async for event in self._client.executions.each_event(execution_id, since=since)]

    async def nodes(self, execution_id: str) -> Sequence[NodeExecution]:
        """Return what became of the nodes that were reached first."""
        return await _first(self._client.executions.each_node(execution_id))

    async def legs(self, execution_id: str) -> Sequence[Leg]:
        """Return the stretches of work of an execution."""
        return await _first(self._client.executions.each_leg(execution_id))

    async def graph(self, execution_id: str) -> Graph:
        """Return the graph that an execution goes through."""
        return await self._client.executions.graph(execution_id)

    async def points(self, execution_id: str) -> Sequence[PausePoint]:
        """Return all pause points of an execution, the oldest first."""
        return [point async for point in self._client.points.each(execution_id=execution_id)]

    async def inbox(self, who: Who | None) -> Sequence[PausePoint]:
        """Return what waits for people, the oldest first; of persons, a server knows only the caller."""
        open_ = self._client.points.each(status=("open",), for_="me" if who is not None else None)
        return [point async for point in open_ if point.kind in _FOR_PEOPLE]

    async def point(self, point_id: str) -> PausePoint | None:
        """Find a pause point, be it closed."""
        try:
            return await self._client.points.get(point_id)
        except ApiError as error:
            if error.code in ("unknown_point", "malformed_id"):
                return None
            raise

    async def why(self, execution_id: str) -> Why:
        """Return what an execution waits for."""
        return await self._client.executions.why(execution_id)

    async def now(self) -> int:
        """Return the time of this machine, by which it is told how long something has been going on."""
        return time.time_ns() // 1_000_000

    # Acting

    async def answer(
        self, point_id: str, data: object, *, approved: bool | None = None, comment: str = ""
    ) -> PausePoint:
        """Answer a pause point."""
        return await self._client.points.answer(point_id, data, approved=approved, comment=comment or None)

    async def delegate(self, point_id: str, to: str) -> PausePoint:
        """Let somebody else decide at an approval."""
        return await self._client.points.delegate(point_id, to)

    async def pause(self, execution_id: str, reason: str = "") -> Execution:
        """Hold an execution."""
        return await self._client.executions.pause(execution_id, reason or None)

    async def resume(self, execution_id: str, data: dict[str, object] | None = None, reason: str = "") -> Execution:
        """Let an execution go on."""
        return await self._client.executions.resume(execution_id, data, reason or None)

    async def cancel(self, execution_id: str, reason: str = "") -> Execution:
        """End an execution."""
        return await self._client.executions.cancel(execution_id, reason or None)

    async def retry(self, execution_id: str) -> Execution:
        """Go on from what failed."""
        return await self._client.executions.retry(execution_id)

    async def rewind(self, execution_id: str, to: str, reason: str = "") -> Execution:
        """Go back to a node."""
        return await self._client.executions.rewind(execution_id, to, reason or None)

    async def deliver(self, name: str, key: str, data: object, signal_id: str | None) -> Delivered:
        """Bring a signal."""
        return await self._client.signals.send(name, key, data, id=signal_id)


def _conditions(where: Mapping[str, object] | None) -> Sequence[str]:
    """Return what an input has to contain as a condition."""
    if not where:
        return ()
    try:
        return (f"input={msgspec.json.encode(where).decode()}",)
    except (ValueError, RecursionError) as error:
        raise Stop(f"--where: this cannot be looked for: {error}.") from error


async def _first(parts: AsyncIterator[T]) -> list[T]:
    """Return as many parts of an execution as are shown; no more pages are asked for than hold them."""
    found: list[T] = []
    async for part in parts:
        found.append(part)
        if len(found) == MOST_SHOWN:
            break
    return found
