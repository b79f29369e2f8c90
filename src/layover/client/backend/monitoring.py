"""Instances, timers and figures over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.client.requests import get, path_of
from layover.model.diagnosis import Diagnosis
from layover.model.monitoring import DueTimer, RunningInstance, Stats
from layover.model.shared import Page

if TYPE_CHECKING:
    from layover.client.transport import Transport
    from layover.model.monitoring import StatsSpan


class HttpMonitoring:
    """What operators see of a whole database."""

    __slots__ = ("_transport",)

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def instances(self) -> tuple[RunningInstance, ...]:
        """Return the instances that are alive, and those that have left leases behind, by name."""
        return (await self._transport.ask(get(path_of("instances")), Page[RunningInstance])).items

    async def timers(self, limit: int, cursor: str | None) -> Page[DueTimer]:
        """Return a page of what is due at a moment, the earliest first."""
        return await self._transport.ask(get(path_of("timers", limit=limit, cursor=cursor)), Page[DueTimer])

    async def doctor(self) -> Diagnosis:
        """Return what keeps the engine, its database or the executions from working."""
        return await self._transport.ask(get(path_of("doctor")), Diagnosis)

    async def stats(self, span: StatsSpan) -> Stats:
        """Return figures over a stretch of time, and how much waits now."""
        return await self._transport.ask(get(path_of("stats", span=span)), Stats)
