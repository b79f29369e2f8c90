"""Renews the leases of active executions long before they run out, and notices commands that other instances enqueued.

The timeout of a renewal is a part of a lease: on a silent connection it is given up in time for another attempt. The
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
    from collections.abc import Iterable, Sequence

    from layover.ports.store import Store
    from layover.runtime.dispatch.driver import Driver
    from layover.runtime.dispatch.service import Service
    from layover.runtime.execution.active_execution import ActiveExecution

RENEWALS = 3  # in the length of a lease
ATTEMPTS = 6  # that find time in it, one after the other
AFTER_FAILURE = 30  # parts of a lease that pass between an attempt that failed and the next

_log = logging.getLogger("layover.lease_renewer")


class LeaseRenewer:
    """Renews the leases of the active executions, and no others."""

    def __init__(self, store: Store, driver: Driver) -> None:
        self._store = store
        self._driver = driver
        self._renewing = asyncio.Lock()
        driver.cover = self.cover

    async def renew(self, service: Service) -> None:
        """Renew in a loop, three times per length of a lease."""
        while True:
            if not service.failures:
                await self._pause(self._driver.settings.lease_ttl / RENEWALS)
            async with self._renewing:
                await self.renew_once()
            service.succeeded()

    async def _pause(self, milliseconds: float) -> None:
        await self._driver.machine.pause(milliseconds / 1000, lambda: not self._driver.active)

    async def cover(self) -> None:
        """Renew at once unless every lease lasts beyond this moment; raise if some do not then."""
        driver = self._driver
        async with self._renewing:
            await driver.clock.ask(self._store)
            if driver.covered_until > driver.clock.latest():
                return  # somebody else has just seen to it
            await self.renew_once()
            if driver.covered_until <= driver.clock.latest():
                raise StoreUnavailable("The start of an execution has outlived its lease.", code="uncovered")

    async def renew_once(self) -> None:
        """Renew every lease; drop the executions whose leases were lost."""
        driver = self._driver
        await driver.clock.ask(self._store)
        until = driver.clock.now() + driver.settings.lease_ttl  # taken before it is sent: it can only be too early
        kept = renewable(driver)
        if kept:
            try:
                async with asyncio.timeout(driver.settings.lease_ttl / 1000 / ATTEMPTS):
                    lost = await self._store.renew(driver.instance, [active.lease for active in kept], until)
            except TimeoutError as error:
                raise StoreUnavailable("A renewal was not answered in time.", code="too_slow") from error
            reached(CommitPoint.LEASES_RENEWED)
            renewed(kept, lost, until)
            drop(kept, lost)
        driver.measure_cover()

    async def listen(self, service: Service) -> None:
        """Notice commands that other processes have enqueued for active executions."""
        driver = self._driver
        while True:
            if not service.failures:
                await self._pause(driver.settings.command_poll)
            await self._hear(driver.active)
            service.succeeded()

    async def look(self, execution_ids: Iterable[str]) -> None:
        """Read the commands that other instances have enqueued for active executions."""
        try:
            await self._hear(execution_ids)
        except StoreError as error:  # whoever listens looks again soon
            _log.warning("look_failed error=%s", error.message)

    async def _hear(self, execution_ids: Iterable[str]) -> None:
        driver = self._driver
        found = [driver.active[id_] for id_ in execution_ids if id_ in driver.active]
        seen = {active.id: active.command_cursor.seen for active in found if active.new is None}
        if not seen:
            return
        for execution_id in await self._store.unread(list(seen.items())):
            for command in await self._store.commands(execution_id, seen[execution_id]):
                driver.hear(execution_id, command)


def renewable(driver: Driver) -> list[ActiveExecution]:
    """Return the active executions that have a durable lease; one that is being created has none yet."""
    return [active for active in list(driver.active.values()) if active.new is None]


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
