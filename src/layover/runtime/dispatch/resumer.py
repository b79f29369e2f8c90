"""Resumes executions that were claimed: from a cached state, or from the log."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from layover.core.engine.timing import wake_at
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.errors import StoreError, StoreUnavailable
from layover.runtime.dispatch.releases import RETRY_LATER, RETRY_READING, lease_of
from layover.runtime.execution.missing_functions import missing_types

if TYPE_CHECKING:
    from layover.ports.records import Claimed, Claims
    from layover.ports.store import Store
    from layover.ports.view_records import Loaded
    from layover.runtime.calls.node_runner import NodeRunner
    from layover.runtime.dispatch.driver import Driver
    from layover.runtime.dispatch.quarantine import Quarantine
    from layover.runtime.dispatch.releases import Releases
    from layover.runtime.execution.state_cache import CachedState

_IN_ONE_GO = 32

_log = logging.getLogger("layover.driver")


class TakenUp:
    """What became of claimed executions."""

    __slots__ = ("errors", "resumed", "skipped")

    def __init__(self) -> None:
        self.resumed = 0
        self.skipped = 0  # put off, lost again, or without their functions here
        self.errors = 0


class Resumer:
    """Hands claimed executions to the driver, or releases them if they cannot be driven."""

    def __init__(
        self, store: Store, driver: Driver, node_runner: NodeRunner, quarantine: Quarantine, releases: Releases
    ) -> None:
        self._store = store
        self._driver = driver
        self._node_runner = node_runner
        self._quarantine = quarantine
        self._releases = releases

    async def take(self, claims: Claims, lease_until: int, *, due: bool = False) -> TakenUp:
        """Resume claimed executions. If one was `due`, a caller may be waiting for it on another instance."""
        if claims.claimed:
            reached(CommitPoint.CLAIM_COMMITTED)
        driver, taken_up = self._driver, TakenUp()
        unknown: list[Claimed] = []
        wanted, put_off = self._quarantine.sort(claims.claimed)
        taken_up.skipped += len(put_off)
        for claimed, wait in put_off:  # before a suspect is driven: if it ends this instance, they are not lost with it
            await self._releases.release_for_later([lease_of(claimed)], wait)
            driver.hint(driver.clock.now() + wait)
        for index, claimed in enumerate(wanted, start=1):
            if index % _IN_ONE_GO == 0:
                await asyncio.sleep(0)  # what has been decided is written while the rest is
            cached = driver.cache.take(claimed.head)
            if cached is None:
                unknown.append(claimed)
                continue
            try:
                await self._go_on_if_it_can(claimed, cached, lease_until, taken_up, due=due)
            except Exception as error:  # noqa: BLE001 - a fault of ours must not leave it claimed and not driven
                await self._unusable(claimed, error, taken_up)
        if unknown:
            await self._load(unknown, lease_until, taken_up, due=due)
        return taken_up

    async def _load(self, claims: list[Claimed], lease_until: int, taken_up: TakenUp, *, due: bool) -> None:
        try:
            found = await self._store.queries.load([claimed.head.execution_id for claimed in claims])
        except StoreUnavailable as error:
            _log.warning("load_failed executions=%d error=%s", len(claims), error.message, exc_info=error)
            taken_up.errors += len(claims)
            await self._releases.release_for_later([lease_of(one) for one in claims], RETRY_READING)
            return
        except Exception as error:  # noqa: BLE001 - whatever it is, nothing stays claimed and not driven
            if len(claims) == 1:
                await self._unusable(claims[0], error, taken_up)
            else:
                for one in claims:  # the one that cannot be read must not stop the others
                    await self._load([one], lease_until, taken_up, due=due)
            return
        for claimed, loaded in zip(claims, found, strict=True):
            try:
                cached = await self._driver.state_of(_require_rows(loaded, claimed.head.execution_id))
                cached = await self._driver.timed(claimed.head, cached)
                reached(CommitPoint.STATE_LOADED)
                await self._go_on_if_it_can(claimed, cached, lease_until, taken_up, due=due)
            except Exception as error:  # noqa: BLE001 - one log that cannot be read must not stop the others
                await self._unusable(claimed, error, taken_up)

    async def _unusable(self, claimed: Claimed, error: Exception, taken_up: TakenUp) -> None:
        """Release an execution that cannot be resumed; it is tried again, in case the cause goes away.

        It is tried again soon if the only cause is that the store did not answer.
        """
        taken_up.errors += 1
        unanswered = isinstance(error, StoreUnavailable)
        level = logging.WARNING if unanswered else logging.ERROR
        _log.log(level, "load_failed execution=%s error=%s", claimed.head.execution_id, error, exc_info=error)
        after = RETRY_READING if unanswered else RETRY_LATER
        await self._releases.release_for_later([lease_of(claimed)], after)

    async def _regained(self, claimed: Claimed) -> int | None:
        """Renew a lease that may have run out, or will soon; return its new end, or None if it is lost or given back.

        Perhaps only the clock makes it look so, because the database last told its time in a slow reply: it is asked
        again. What cannot be driven by it all the same is given back, not kept until the lease is over.
        """
        driver = self._driver
        await driver.clock.ask(self._store)
        until = driver.clock.now() + driver.settings.lease_ttl
        if await self._store.claims.renew(driver.instance, [lease_of(claimed)], until):
            return None
        if driver.is_over(until):
            await self._releases.release_for_later([lease_of(claimed)], RETRY_READING)
            return None
        return until

    async def _go_on_if_it_can(
        self, claimed: Claimed, cached: CachedState, lease_until: int, taken_up: TakenUp, *, due: bool
    ) -> None:
        driver = self._driver
        if driver.is_short(lease_until):
            regained = await self._regained(claimed)
            if regained is None:
                self._quarantine.end(claimed.head.execution_id)
                taken_up.skipped += 1
                return  # it is due, or another instance has it
            lease_until = regained
        wakes = wake_at(cached.state)
        missing = missing_types(cached.state, self._node_runner.slots.can_run)
        is_known = missing == claimed.head.missing  # else a leg writes it down, with since when
        if claimed.commands or (wakes is not None and wakes <= driver.clock.now()) or not missing or not is_known:
            driver.go_on(claimed, cached, lease_until).taken_up = due
            taken_up.resumed += 1
            return
        taken_up.skipped += 1
        _log.warning("functions_missing execution=%s types=%s", claimed.head.execution_id, ",".join(missing))
        await self._releases.release([lease_of(claimed)], wakes, missing)


def _require_rows(loaded: Loaded | None, execution_id: str) -> Loaded:
    if loaded is None:
        raise StoreError(f"The execution {execution_id} has no rows.")
    return loaded
