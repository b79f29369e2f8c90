"""Claims due executions. It sleeps until the next one comes due, or until a hint names an earlier moment."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from layover.ports.records import Claim
from layover.runtime.execution.unknown_commands import READABLE, kinds_in

if TYPE_CHECKING:
    from layover.nodes.registry import Registry
    from layover.ports.store import Store
    from layover.runtime.dispatch.driver import Driver
    from layover.runtime.dispatch.service import Service
    from layover.runtime.metrics import Metrics

_MOST_AT_ONCE = 100


class Claimer:
    """Claims due executions while the driver has room for them."""

    def __init__(self, store: Store, driver: Driver, registry: Registry, metrics: Metrics) -> None:
        self._store = store
        self._driver = driver
        self._registry = registry
        self._metrics = metrics
        self._hinted = asyncio.Event()
        self._next = 0
        self._stopped = asyncio.Event()
        self._expected: frozenset[str] = frozenset()  # types that executions may wait for which nobody drives
        self._freed: frozenset[str] = frozenset()  # types that places which became free since the last look can be for
        driver.on_due = self.hint

    def hint(self, at: int) -> None:
        """Wake up at a moment, if that is earlier than planned."""
        if at < self._next:
            self._next = at
            self._hinted.set()

    def stop(self) -> None:
        """Claim no more; a claim in flight is still taken up, so that it can be released."""
        self._stopped.set()
        self._driver.freed.set()
        self.hint(0)

    async def run(self, service: Service) -> None:
        """Claim until told to stop."""
        while not self._stopped.is_set():
            more = await self._claim()
            service.succeeded()
            if not more:
                await self._sleep()

    async def _claim(self) -> bool:
        """Claim due executions; return whether there may be more."""
        driver = self._driver
        suspect = driver.quarantine.due()
        most = 1 if suspect else min(driver.room, _MOST_AT_ONCE)
        if most <= 0:
            driver.freed.clear()
            await driver.freed.wait()
            return True
        began = driver.loop.time()
        await driver.clock.ask(self._store)
        now = await driver.claiming_time()
        self._next = now + driver.settings.poll
        lease_until = now + driver.settings.lease_ttl
        types, slots = self._types_with_places()
        wish = Claim(
            instance=driver.instance,
            now=now,
            lease_until=lease_until,
            most=most,
            types=types | READABLE,
            waiting=slots or None,  # without places only those are wanted that wait for none
            execution_id=suspect or None,
        )
        claims = await self._store.claim(wish)
        if suspect and not claims.claimed:
            driver.quarantine.gone(suspect)
        waited = [claimed.head.missing for claimed in claims.claimed if claimed.head.missing]
        self._expect(types, is_more=bool(suspect) or len(waited) >= slots)
        if claims.next_due is not None:
            self._next = min(self._next, max(claims.next_due, now))
        self._metrics.takeovers += sum(claimed.taken_over for claimed in claims.claimed)
        await driver.take(claims, lease_until, due=True)
        self._metrics.cycle_seconds.observe(driver.loop.time() - began)
        return len(claims.claimed) == most or any(map(kinds_in, waited))  # these have taken no place from others

    # What waits for places

    def _types_with_places(self) -> tuple[frozenset[str], int]:
        """Return the node types that have free call slots, and how many slots at most.

        Executions that wait here may have taken the slot that became free. One released execution is claimed all the
        same and goes before them, since it has waited longer.
        """
        node_runner = self._driver.node_runner
        slots = {name: node_runner.slots(name) for name in self._registry.names()}
        freed, self._freed = self._freed, frozenset()
        types = frozenset(name for name, free in slots.items() if free > 0 or name in freed)
        return types, max([1 if freed else 0, *slots.values()])

    def _expect(self, types: frozenset[str], *, is_more: bool) -> None:
        """Note the node types to claim for as soon as a slot becomes free."""
        left_out = self._registry.names() - types
        self._expected = self._expected | types if is_more else self._expected - types
        self._expected |= left_out
        self._driver.node_runner.on_room = self._room if self._expected else None

    def _room(self, threaded: bool) -> None:  # noqa: FBT001 - as the caller tells it
        """Claim executions that wait for a call slot, now that one is free."""
        usable = self._expected if threaded else self._expected - self._registry.threaded
        if usable:
            self._freed |= usable
            self.hint(0)

    async def _sleep(self) -> None:
        """Wait for the next moment, or for a hint at an earlier one."""
        clock = self._driver.clock
        while self._next > clock.now() and not self._stopped.is_set():
            self._hinted.clear()
            await clock.wait(self._next, self._hinted)
