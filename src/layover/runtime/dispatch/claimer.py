"""Claims due executions. It sleeps until the next one comes due, or until a hint names an earlier moment."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from layover.ports.records import Claim
from layover.runtime.execution.unknown_commands import READABLE, kinds_in

if TYPE_CHECKING:
    from layover.nodes.registry import Registry
    from layover.ports.records import Head
    from layover.ports.store import Store
    from layover.runtime.dispatch.claim_schedule import ClaimSchedule
    from layover.runtime.dispatch.driver import Driver
    from layover.runtime.dispatch.resumer import Resumer
    from layover.runtime.dispatch.service import Service
    from layover.runtime.metrics import Metrics

_MOST_AT_ONCE = 100

_log = logging.getLogger("layover.claimer")


class Claimer:
    """Claims due executions while the driver has room for them."""

    def __init__(
        self,
        store: Store,
        driver: Driver,
        resumer: Resumer,
        schedule: ClaimSchedule,
        registry: Registry,
        metrics: Metrics,
    ) -> None:
        self._store = store
        self._driver = driver
        self._resumer = resumer
        self._schedule = schedule
        self._registry = registry
        self._metrics = metrics
        self._stopped = asyncio.Event()
        self._queue_is_long = False

    def stop(self) -> None:
        """Claim no more; a claim in flight is still taken up, so that it can be released."""
        self._stopped.set()
        self._driver.freed.set()
        self._schedule.hint(0)

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
        self._look_at_queue()
        suspect = driver.quarantine.due()
        most = 1 if suspect else min(driver.room, _MOST_AT_ONCE)
        if most <= 0:
            driver.freed.clear()
            await driver.freed.wait()
            return True
        began = driver.loop.time()
        await driver.clock.ask(self._store)
        now = await driver.claiming_time()
        self._schedule.next_at = now + driver.settings.poll
        lease_until = now + driver.settings.lease_ttl
        types, slots = self._types_with_places()
        self._schedule.expect_others(types)  # a slot may become free while the claim is on its way
        claim = Claim(
            instance=driver.instance,
            now=now,
            lease_until=lease_until,
            most=most,
            types=types | READABLE,
            waiting=slots or None,  # without places only those are wanted that wait for none
            execution_id=suspect or None,
        )
        claims = await self._store.claims.claim(claim)
        if suspect and not claims.claimed:
            driver.quarantine.gone(suspect)
        waited = [claimed.head.missing for claimed in claims.claimed if claimed.head.missing]
        self._schedule.expect(types, is_more=bool(suspect) or len(waited) >= slots)
        if claims.next_due is not None:
            self._schedule.hint(max(claims.next_due, now))
        self._note_takeovers([claimed.head for claimed in claims.claimed if claimed.taken_over])
        taken_up = await self._resumer.take(claims, lease_until, due=True)
        level = logging.INFO if claims.claimed else logging.DEBUG
        if _log.isEnabledFor(level):
            counts = taken_up.resumed, taken_up.skipped, taken_up.errors
            _log.log(level, "claim_cycle resumed=%d skipped=%d errors=%d", *counts)
        self._metrics.cycle_seconds.observe(driver.loop.time() - began)
        return len(claims.claimed) == most or any(map(kinds_in, waited))  # these have taken no place from others

    def _note_takeovers(self, heads: list[Head]) -> None:
        """Count the executions whose instance was lost."""
        self._metrics.takeovers += len(heads)
        for head in heads:
            _log.warning(
                "lease_taken_over execution=%s workflow=%s epoch=%d takeovers=%d",
                *(head.execution_id, head.workflow, head.epoch, head.takeovers),
            )

    def _look_at_queue(self) -> None:
        """Warn once when many executions wait for call slots here, and say once that it is over."""
        waiting, most = self._driver.node_runner.slots.queue.longest, self._driver.settings.queue_warning
        if waiting > most and not self._queue_is_long:
            self._queue_is_long = True
            _log.warning("queue_long waiting=%d threshold=%d", waiting, most)
        elif self._queue_is_long and waiting <= most // 2:
            self._queue_is_long = False
            _log.info("queue_short waiting=%d threshold=%d", waiting, most)

    def _types_with_places(self) -> tuple[frozenset[str], int]:
        """Return the node types that have free call slots, and how many slots at most.

        Executions that wait here may have taken the slot that became free. One released execution is claimed all the
        same and goes before them, since it has waited longer.
        """
        count = self._driver.node_runner.slots.count
        slots = {name: count(name) for name in self._registry.names()}
        freed = self._schedule.take_freed()
        types = frozenset(name for name, free in slots.items() if free > 0 or name in freed)
        return types, max([1 if freed else 0, *slots.values()])

    async def _sleep(self) -> None:
        """Wait for the next moment, or for a hint at an earlier one."""
        schedule, clock = self._schedule, self._driver.clock
        while schedule.next_at > clock.now() and not self._stopped.is_set():
            await schedule.wait(clock)
