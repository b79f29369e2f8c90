"""The metrics that are read from the database: how many executions wait, and for how long.

A scrape never waits long for them. They are read one query at a time, and seldom enough to take a fiftieth of the time
at most; if the database does not answer soon, the last numbers are given again, and their age says so.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from layover.errors import LayoverError
from layover.metrics.labels import MOST_VALUES, OTHER
from layover.metrics.samples import Samples
from layover.ports.trigger_records import TRIGGER_STATES
from layover.runtime.deliveries.gauges import DeliveryGauges, read_delivery_gauges

if TYPE_CHECKING:
    from layover.ports.store import Store
    from layover.ports.view_records import Gauges
    from layover.runtime.clock import Clock

_log = logging.getLogger("layover.metrics")

_FRESH: Final = 5_000  # milliseconds for which numbers are given again
_SHARE: Final = 50  # or so many times as long as it took to read them
_PATIENCE: Final = 1.0  # seconds that a scrape waits for new ones
_TIMEOUT: Final = 10.0  # seconds after which a query is given up
_DAY: Final = 86_400_000


class StoreGauges:
    """The last numbers, and the query for the next ones."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self.fresh = _FRESH
        self.patience = _PATIENCE
        self._store = store
        self._clock = clock
        self._found: Gauges | None = None
        self._deliveries = DeliveryGauges()
        self._instances = 0
        self._read_at = 0  # by the clock that never jumps
        self._next_at = 0  # the same
        self.reading: asyncio.Task[None] | None = None
        self.failures = 0

    async def samples(self) -> Samples:
        """Return the numbers: new ones, if the last ones are old and the database answers soon."""
        if self.reading is None and self._clock.running() >= self._next_at:
            self.reading = asyncio.get_running_loop().create_task(self._read(), name="layover gauges")
            self.reading.add_done_callback(self._has_read)
        if self.reading is not None:
            await asyncio.wait([self.reading], timeout=self.patience)
        samples = Samples()
        samples.add("layover_store_gauges_failures_total", self.failures)
        if self._found is not None:
            samples.add("layover_store_gauges_age_seconds", (self._clock.running() - self._read_at) / 1000)
            samples.add("layover_instances", self._instances)
            _add(samples, self._found, self._clock.now())
            self._deliveries.add_to(samples, self._clock.now())
        return samples

    async def stop(self) -> None:
        """Give up a query that is running."""
        if self.reading is not None:
            self.reading.cancel()
            await asyncio.wait([self.reading])

    async def _read(self) -> None:
        now, began = self._clock.now(), self._clock.running()
        try:
            async with asyncio.timeout(_TIMEOUT):
                found = await self._store.queries.read_gauges(now, now - _DAY, MOST_VALUES)
                deliveries = await read_delivery_gauges(self._store.deliveries)
                others = await self._store.instances.list_others()
        except (LayoverError, TimeoutError) as error:
            self.failures += 1
            _log.warning("gauges_not_read error=%r", error)
        else:
            self._found, self._instances, self._read_at = found, len(others) + 1, began
            self._deliveries = deliveries
        ended = self._clock.running()
        self._next_at = ended + max(self.fresh, _SHARE * (ended - began))

    def _has_read(self, _: asyncio.Task[None]) -> None:
        self.reading = None


def _add(samples: Samples, found: Gauges, now: int) -> None:
    for status, count in found.executions.items():
        samples.add("layover_executions", count, status)
    for workflow, count in found.paused.items():
        samples.add("layover_executions_paused", count, workflow)
    if len(found.paused) >= MOST_VALUES:
        others = found.executions.get("paused", 0) - sum(found.paused.values())
        samples.add("layover_executions_paused", max(others, 0), OTHER)
    for state in TRIGGER_STATES:
        samples.add("layover_trigger_state", found.triggers.get(state, 0), state)
    for trigger, count in found.pending_inputs.items():
        samples.add("layover_trigger_pending", count, trigger)
    for name, value in (
        ("layover_executions_paused_over_a_day", found.paused_long),
        ("layover_executions_due", found.due),
        ("layover_commands_queued", found.commands),
        ("layover_outbox_messages", found.messages),
        ("layover_executions_unindexed", found.unindexed),
        ("layover_oldest_pause_age_seconds", _age(found.oldest_paused, now)),
        ("layover_oldest_due_age_seconds", _age(found.oldest_due, now)),
        ("layover_outbox_oldest_age_seconds", _age(found.oldest_message, now)),
    ):
        samples.add(name, value)
    if found.size is not None:
        samples.add("layover_store_size_bytes", found.size)
    if found.free is not None:
        samples.add("layover_store_free_bytes", found.free)


def _age(since: int | None, now: int) -> float:
    return max(now - since, 0) / 1000 if since is not None else 0.0
