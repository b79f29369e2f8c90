"""Writes the search index: the terms of executions that have come to rest or to their end.

Steps only mark what they change, in a statement that they execute anyway. This reads what is marked, newest first: at
once when nothing is active here, half of the time beside executions that leave the processor time, and a hundredth of
the time at most beside those that need all of it. Marks are removed with the terms, in one transaction, and only of
executions that have not moved on meanwhile. One instance at a time does it. An execution that cannot be read gets a
term by which every search looks at it, and holds up no other.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from layover.ports.errors import StoreUnavailable
from layover.ports.search_records import ExecutionTerms
from layover.runtime.execution.replay import whole_log
from layover.runtime.queries.search_documents import UNREADABLE, read_nodes, terms_of_execution

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from layover.core.search_terms import Terms
    from layover.ports.records import Head
    from layover.ports.search_records import Age
    from layover.ports.store import Store
    from layover.ports.view_records import Loaded
    from layover.runtime.dispatch.driver import Driver
    from layover.runtime.dispatch.service import Service
    from layover.runtime.machine import Machine
    from layover.runtime.plans import Plans
    from layover.runtime.queries.log_views import LogViews

_LOCK: Final = "indexer"
_LOOK_EVERY: Final = 60_000  # milliseconds: what others have marked, and left behind
_AT_ONCE: Final = 200  # executions of one transaction
_AT_ONCE_BUSY: Final = 20
_EVENTS: Final = 5_000  # of their logs together, unless one has more
_EVENTS_BUSY: Final = 500
_SHARE: Final = 100  # times as long as a batch took, it waits before the next one where executions need all the time
_PAUSE: Final = 50  # milliseconds that it waits beside executions at least, in which it sees what they need
_ROUND: Final = 1_000  # executions; then it begins anew with the newest

_log = logging.getLogger("layover.indexer")


class Indexer:
    """Indexes what is marked, for as long as the instance lives."""

    def __init__(self, store: Store, driver: Driver, plans: Plans, views: LogViews, machine: Machine) -> None:
        self._machine = machine
        self._store = store
        self._driver = driver
        self._plans = plans
        self._views = views
        self._hinted = asyncio.Event()
        self._looks_next = 0
        self._rests = self._rests_known = 0

    def hint(self) -> None:
        """Say that an execution has come to rest."""
        self._rests += 1
        self._hinted.set()

    async def run(self, service: Service) -> None:
        """Index in a loop."""
        while True:
            if not service.failures:
                await self._sleep()
            await self.index_all()
            service.succeeded()

    async def _sleep(self) -> None:
        clock = self._driver.clock
        await clock.wait(self._looks_next, self._hinted)
        self._rests_known = self._rests
        await clock.wait(clock.now() + self._driver.settings.index_after, asyncio.Event())
        self._hinted.clear()
        self._looks_next = clock.now() + _LOOK_EVERY

    async def index_all(self) -> int:
        """Index what is marked, unless another instance does; return how many executions that was."""
        total = 0
        while count := await self._index_newest():
            total += count
        return total

    async def _index_newest(self) -> int:
        """Index the newest executions that are marked, each once; return how many they were."""
        seen = count = 0
        holds = False
        after: Age | None = None
        try:
            while seen < _ROUND:
                is_busy, began = self._is_busy(), self._driver.clock.running()
                found = await self._store.search_terms.list_unindexed(after, _AT_ONCE_BUSY if is_busy else _AT_ONCE)
                holds = bool(found) and await self._is_ours()
                if not holds:
                    break
                for batch in await self._batches([id_ for _, id_ in found], _EVENTS_BUSY if is_busy else _EVENTS):
                    count += await self._index(batch)
                    if is_busy:
                        await self._give_way(self._driver.clock.running() - began)
                        began = self._driver.clock.running()
                seen, after = seen + len(found), found[-1]
        finally:
            if holds or seen:
                await self._store.locks.release(_LOCK, self._driver.instance)
        return count

    def _is_busy(self) -> bool:
        """Return whether something is active, or was since this was asked last: at single moments nothing may be."""
        known, self._rests_known = self._rests_known, self._rests
        return bool(self._driver.active) or known != self._rests

    async def _give_way(self, took: int) -> None:
        """Wait as long as a batch took, and far longer if the processor was needed meanwhile: here, or by others."""
        clock, pause = self._driver.clock, max(took, _PAUSE)
        began, worked = clock.running(), self._machine.worked()
        await clock.wait(clock.now() + pause, asyncio.Event())
        waited = clock.running() - began
        if 2 * (self._machine.worked() - worked) > waited or 4 * (waited - pause) > pause:
            await clock.wait(clock.now() + _SHARE * took, asyncio.Event())

    async def _is_ours(self) -> bool:
        """Take the lock, or extend it."""
        now = self._driver.clock.now()
        return await self._store.locks.acquire(_LOCK, self._driver.instance, now, now + self._driver.settings.lease_ttl)

    async def _batches(self, ids: Sequence[str], most: int) -> list[list[str]]:
        """Divide executions so that logs that are read together do not have too many events."""
        return list(_divided([head for head in await self._store.queries.read_heads(ids) if head is not None], most))

    async def _index(self, ids: Sequence[str]) -> int:
        found: list[ExecutionTerms] = []
        for loaded in await self._store.queries.load(ids):
            if loaded is not None:
                head = loaded.head
                terms = await self._terms(loaded)
                found.append(ExecutionTerms(execution_id=head.execution_id, last_seq=head.last_seq, terms=terms))
                await asyncio.sleep(0)
        return await self._store.search_terms.save(found) if found else 0

    async def _terms(self, loaded: Loaded) -> Terms:
        try:
            nodes = await read_nodes(loaded, self._views, self._plans, whole_log(loaded))
            cached = self._driver.known(loaded.head) or await self._driver.state_of(loaded)
            return terms_of_execution(cached.state, loaded, nodes)
        except StoreUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - one log that cannot be read must not hold up the others
            _log.warning("not_indexed execution=%s error=%r", loaded.head.execution_id, error)
            return UNREADABLE


def _divided(heads: Sequence[Head], most: int) -> Iterator[list[str]]:
    batch: list[str] = []
    events = 0
    for head in heads:
        if batch and events + head.last_seq + 1 > most:
            yield batch
            batch, events = [], 0
        batch.append(head.execution_id)
        events += head.last_seq + 1
    if batch:
        yield batch
