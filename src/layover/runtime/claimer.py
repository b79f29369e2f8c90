"""Taking up what is due. It sleeps exactly until the next thing comes due, or somebody hints at something earlier."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from layover.ports.errors import StoreError
from layover.ports.records import Claim
from layover.runtime.unreadable import READABLE

if TYPE_CHECKING:
    from layover.nodes.registry import Registry
    from layover.ports.store import Store
    from layover.runtime.driver import Driver
    from layover.runtime.meters import Meters

_MOST_AT_ONCE = 100
_AFTER_FAILURE = 0.5

_log = logging.getLogger("layover.claimer")


class Claimer:
    """Claims due executions for as long as there is room for them."""

    def __init__(self, store: Store, driver: Driver, registry: Registry, meters: Meters) -> None:
        self._store = store
        self._driver = driver
        self._registry = registry
        self._meters = meters
        self.failing = False
        self._hinted = asyncio.Event()
        self._next = 0
        self._stopped = asyncio.Event()
        driver.on_due = self.hint

    def hint(self, at: int) -> None:
        """Look again at a moment, if that is earlier than planned."""
        if at < self._next:
            self._next = at
            self._hinted.set()

    def stop(self) -> None:
        """Claim no more; what is just being claimed is still taken up, so that it can be given back."""
        self._stopped.set()
        self._driver.freed.set()
        self.hint(0)

    async def run(self) -> None:
        """Claim until told to stop."""
        while not self._stopped.is_set():
            try:
                more = await self._claim()
                self.failing = False
            except StoreError as error:
                self.failing = True
                _log.warning("claim_failed error=%s", error.message)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stopped.wait(), _AFTER_FAILURE)
                continue
            if not more:
                await self._sleep()

    async def _claim(self) -> bool:
        """Take what is due; return whether there may be more."""
        driver = self._driver
        most = min(driver.room, _MOST_AT_ONCE)
        if most <= 0:
            driver.freed.clear()
            await driver.freed.wait()
            return True
        began = driver.loop.time()
        driver.clock.set(await self._store.now())
        now = await driver.claiming_time()
        self._next = now + driver.settings.poll
        lease_until = now + driver.settings.lease_ttl
        types = self._registry.names() | READABLE
        wish = Claim(instance=driver.instance, now=now, lease_until=lease_until, most=most, types=types)
        claims = await self._store.claim(wish)
        if claims.next_due is not None:
            self._next = min(self._next, max(claims.next_due, now))
        self._meters.takeovers += sum(claimed.taken_over for claimed in claims.claimed)
        await driver.take(claims, lease_until, due=True)
        self._meters.cycle_seconds.observe(driver.loop.time() - began)
        return len(claims.claimed) == most

    async def _sleep(self) -> None:
        """Wait for the next moment, or for a hint at an earlier one."""
        clock = self._driver.clock
        while self._next > clock.now() and not self._stopped.is_set():
            self._hinted.clear()
            await clock.wait(self._next, self._hinted)
