"""Keeping what is driven: leases are renewed long before they run out, and commands sent by others are noticed."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from layover.ports.commit_points import CommitPoint, reached
from layover.ports.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.ports.store import Store
    from layover.runtime.driver import Driver

_log = logging.getLogger("layover.keeper")


class Keeper:
    """Renews exactly the leases of what is driven here."""

    def __init__(self, store: Store, driver: Driver) -> None:
        self._store = store
        self._driver = driver

    async def renew(self) -> None:
        """Renew again and again, three times in the length of a lease."""
        while True:
            await asyncio.sleep(self._driver.settings.lease_ttl / 3000)
            try:
                await self.renew_once()
            except StoreError as error:
                _log.warning("renewal_failed error=%s", error.message)

    async def renew_once(self) -> None:
        """Renew every lease; what was lost is dropped."""
        driver = self._driver
        driver.clock.set(await self._store.now())
        until = driver.clock.now() + driver.settings.lease_ttl  # taken before it is sent: it can only be too early
        kept = [driven for driven in driver.driven.values() if driven.new is None]
        if not kept:
            return
        leases = [driven.lease for driven in kept]
        lost = set(await self._store.renew(driver.instance, leases, until))
        reached(CommitPoint.LEASES_RENEWED)
        for driven in kept:
            if driven.id not in lost:
                driven.lease_until = until
            elif not driven.dropped:
                _log.warning("lease_lost execution=%s epoch=%d", driven.id, driven.epoch)
                driven.drop()

    async def listen(self) -> None:
        """Notice commands that other processes have sent to what is driven here."""
        driver = self._driver
        while True:
            await asyncio.sleep(driver.settings.command_poll / 1000)
            await self.look(list(driver.driven))

    async def look(self, execution_ids: Iterable[str]) -> None:
        """Look whether executions that are driven here have commands that others have sent."""
        driver = self._driver
        found = [driver.driven[id_] for id_ in execution_ids if id_ in driver.driven]
        seen = {driven.id: driven.heard.seen for driven in found if driven.new is None}
        if not seen:
            return
        try:
            for execution_id in await self._store.unread(list(seen.items())):
                for command in await self._store.commands(execution_id, seen[execution_id]):
                    driver.hear(execution_id, command)
        except StoreError as error:
            _log.warning("poll_failed error=%s", error.message)
