"""Renews the leases of active executions long before they run out, and notices commands that other instances enqueued.

The timeout of an attempt is a part of a lease: on a silent connection it is given up in time for another one, whether
the renewal is not answered or the time that is asked for before it. The
claimer waits until all leases are covered: an instance that could not renew in time (its machine slept, its process was
stopped) would otherwise take over its own executions, and make calls again that are still running.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from layover.ports.commit_points import CommitPoint, reached
from layover.ports.errors import StoreError, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from layover.ports.store import Store
    from layover.runtime.dispatch.active_executions import ActiveExecutions, Leases
    from layover.runtime.dispatch.service import Service
    from layover.runtime.execution.active_execution import ActiveExecution

    Pause = Callable[[float, Callable[[], bool]], Awaitable[None]]  # some seconds, or while there is nothing to do

RENEWALS = 3  # in the length of a lease
ATTEMPTS = 6  # that find time in it, one after the other
AFTER_FAILURE = 30  # parts of a lease that pass between an attempt that failed and the next

_log = logging.getLogger("layover.lease_renewer")


class LeaseRenewer:
    """Renews the leases of the active executions, and no others."""

    def __init__(self, store: Store, leases: Leases, pause: Pause) -> None:
        self._store = store
        self._leases = leases
        self._pause_for = pause
        self._renewing = asyncio.Lock()

    async def renew(self, service: Service) -> None:
        """Renew in a loop, three times per length of a lease."""
        while True:
            if not service.failures:
                await self._pause(self._leases.settings.lease_ttl / RENEWALS)
            async with self._renewing:
                await self.renew_once()
            service.succeeded()

    async def _pause(self, milliseconds: float) -> None:
        await self._pause_for(milliseconds / 1000, lambda: not self._leases.active)

    async def cover(self) -> None:
        """Renew at once unless every lease lasts beyond this moment; raise if some do not then."""
        leases = self._leases
        async with self._renewing:
            await self._in_time(leases.clock.ask(self._store))
            if leases.active.covered_until > leases.clock.latest():
                return  # another instance has just done it
            await self.renew_once()
            if leases.active.covered_until <= leases.clock.latest():
                raise StoreUnavailable("The start of an execution has outlived its lease.", code="uncovered")

    async def renew_once(self) -> None:
        """Renew every lease; drop the executions whose leases were lost."""
        await self._in_time(self._renew())
        leases = self._leases
        leases.active.measure_cover(leases.clock.latest() + leases.settings.lease_ttl)

    async def _in_time(self, attempt: Awaitable[None]) -> None:
        """Wait for what is asked of the store, for as long as an attempt may take."""
        try:
            async with asyncio.timeout(self._leases.settings.lease_ttl / 1000 / ATTEMPTS):
                await attempt
        except TimeoutError as error:
            raise StoreUnavailable("A renewal was not answered in time.", code="too_slow") from error

    async def _renew(self) -> None:
        leases = self._leases
        await leases.clock.ask(self._store)
        until = leases.clock.now() + leases.settings.lease_ttl  # taken before it is sent: it can only be too early
        kept = renewable(leases.active)
        if kept:
            lost = await self._store.claims.renew(leases.instance, [active.lease for active in kept], until)
            reached(CommitPoint.LEASES_RENEWED)
            renewed(kept, lost, until)
            drop(kept, lost)

    async def listen(self, service: Service) -> None:
        """Notice commands that other processes have enqueued for active executions."""
        leases = self._leases
        while True:
            if not service.failures:
                await self._pause(leases.settings.command_poll)
            await self._hear(leases.active)
            service.succeeded()

    async def look(self, execution_ids: Iterable[str]) -> None:
        """Read the commands that other instances have enqueued for active executions."""
        try:
            await self._hear(execution_ids)
        except StoreError as error:  # the listeners look again soon
            _log.warning("look_failed error=%s", error.message)

    async def _hear(self, execution_ids: Iterable[str]) -> None:
        leases = self._leases
        found = [leases.active[id_] for id_ in execution_ids if id_ in leases.active]
        seen = {active.id: active.command_cursor.seen for active in found if active.new is None}
        if not seen:
            return
        for execution_id in await self._store.commands.find_unread(list(seen.items())):
            for command in await self._store.commands.list_after(execution_id, seen[execution_id]):
                leases.active.hear(execution_id, command)


def renewable(active_executions: ActiveExecutions) -> list[ActiveExecution]:
    """Return the active executions that have a durable lease; one that is being created has none yet."""
    return [active for active in list(active_executions.values()) if active.new is None]


def renewed(kept: Sequence[ActiveExecution], lost: Sequence[str], until: int) -> None:
    """Note a renewal; a later one may have finished before it."""
    gone = set(lost)
    for active in kept:
        if active.id not in gone and active.lease_until < until:
            active.lease_until = until


def drop(kept: Sequence[ActiveExecution], lost: Sequence[str]) -> None:
    """Drop the executions whose leases were lost."""
    gone = set(lost)
    for active in kept:
        if active.id in gone and not active.dropped:
            _log.warning("lease_lost execution=%s epoch=%d", active.id, active.epoch)
            active.drop()
