"""Deletes executions some time after their end, and expired signals, replies, audit entries, deliveries and batches.

It works in small batches, on one instance at a time, and only when there is something to delete, so that a purge never
holds up other work.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import msgspec

from layover.errors import LayoverError
from layover.ports.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from layover.ports.store import Store
    from layover.runtime.audit.retention import AuditRetention
    from layover.runtime.dispatch.driver import Driver
    from layover.runtime.dispatch.service import Service
    from layover.runtime.plans import Plans

_AT_ONCE = 100
_TRIGGER_EVENTS_FOR = 30 * 86_400_000  # milliseconds that the log of a trigger is kept
_BODIES_FOR = 7 * 86_400_000  # that what was sent is kept
_DELIVERIES_FOR = 30 * 86_400_000  # that it is known that it was sent, or was not
_BATCHES_FOR = 30 * 86_400_000  # that a batch that has ended is kept
_ITEMS_AT_ONCE = 1_000
_LOCK = "janitor"  # a row in the database: instances of earlier releases know it by this name

_log = logging.getLogger("layover.purger")


class Purger:
    """Purges now and then, for as long as the instance lives."""

    def __init__(self, store: Store, driver: Driver, plans: Plans, audit: AuditRetention) -> None:
        self._store = store
        self._driver = driver
        self._plans = plans
        self._audit = audit

    async def run(self, service: Service) -> None:
        """Purge in a loop."""
        while True:
            if not service.failures:
                await self._sleep()
            await self.clean()
            service.succeeded()

    async def _sleep(self) -> None:
        clock = self._driver.clock
        await clock.wait(clock.now() + self._driver.settings.purge_every, asyncio.Event())

    async def clean(self) -> int:
        """Delete what has expired, unless another instance is purging; return how many executions that was."""
        if not await self._is_ours():
            return 0
        count = 0
        try:
            async for deleted in self._batches():
                count += deleted
                if not await self._is_ours():
                    break
        finally:
            await self._store.locks.release(_LOCK, self._driver.instance)
        if count:
            _log.info("purged executions=%d", count)
        return count

    async def _batches(self) -> AsyncIterator[int]:
        """Delete in batches; yield the number of executions of each."""
        store, settings, now = self._store, self._driver.settings, self._driver.clock.now()
        found = await horizons(store, self._plans, now, settings.retention)
        is_all = len(found) == len(await store.definitions.list_versions())
        yield await store.retention.purge_weeks(min((before for _, before in found), default=None) if is_all else None)
        for workflow, before in found:
            async for deleted in purge_workflow(store, workflow, before):
                yield deleted
        while await store.signals.delete_old(now - settings.signal_retention, _AT_ONCE):
            yield 0
        while await store.idempotency.delete_expired(now, _AT_ONCE):
            yield 0
        while await store.sessions.delete_expired(now, _AT_ONCE):
            yield 0
        if settings.audit_retention is not None:
            async for _ in self._audit.purge(now - settings.audit_retention, now, _AT_ONCE):
                yield 0
        while await store.triggers.delete_old(now, now - _TRIGGER_EVENTS_FOR, _AT_ONCE):
            yield 0
        while await store.deliveries.delete_old(now - _BODIES_FOR, now - _DELIVERIES_FOR, _AT_ONCE):
            yield 0
        while await store.batches.delete_old(now - _BATCHES_FOR, _ITEMS_AT_ONCE):
            yield 0
        await store.limits.delete_unused_rates(now)

    async def _is_ours(self) -> bool:
        """Take the lock, or extend it."""
        now = self._driver.clock.now()
        return await self._store.locks.acquire(_LOCK, self._driver.instance, now, now + self._driver.settings.lease_ttl)


async def horizons(store: Store, plans: Plans, now: int, retention: int | None) -> list[tuple[str, int]]:
    """Return, for each workflow, the moment before which closed executions are deleted.

    That is by the retention of its newest version, or else by one for all; without any it is kept for ever. So it is
    where no instance can read what the workflow says about it.
    """
    found: list[tuple[str, int]] = []
    for version in await store.definitions.list_versions():
        try:
            own = (await plans.of(version.hash)).definition.settings.retention
        except StoreError:
            raise
        except (LayoverError, msgspec.MsgspecError) as error:
            _log.warning("retention_unknown workflow=%s error=%s", version.workflow, error)
            continue
        kept_for = retention if own is None else own
        if kept_for is not None:
            found.append((version.workflow, now - kept_for))
    return found


async def purge_workflow(store: Store, workflow: str, before: int) -> AsyncIterator[int]:
    """Delete executions of a workflow that ended before a moment, batch by batch; say how many each time."""
    while found := await store.retention.list_purgeable(before, _AT_ONCE, workflow):
        deleted = await store.retention.purge(found, before)
        yield deleted
        if not deleted:
            return  # they were taken up again meanwhile, or another instance deletes them
