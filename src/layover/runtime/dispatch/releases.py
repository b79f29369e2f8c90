"""Releases executions that this instance has claimed, so that any instance can claim them."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Protocol

from layover.ports.errors import StoreError
from layover.ports.hints import Hint
from layover.ports.records import LeaseRow

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from layover.ports.records import Claimed
    from layover.ports.store import Store
    from layover.runtime.clock import Clock
    from layover.runtime.dispatch.listeners import Listeners
    from layover.runtime.dispatch.quarantine import Quarantine

RETRY_LATER = 60_000
RETRY_READING = 1_000

_log = logging.getLogger("layover.driver")


class Others(Protocol):
    """A channel to the other instances."""

    def tell(self, hint: Hint) -> None:
        """Send them a hint; without one they find out by polling."""


class NoOthers:
    """No channel: other instances find out by polling."""

    def tell(self, hint: Hint) -> None:
        """Send nothing."""


class Releases:
    """Writes releases, at once or beside other work."""

    def __init__(
        self, instance: str, store: Store, clock: Clock, listeners: Listeners, quarantine: Quarantine, others: Others
    ) -> None:
        self._instance = instance
        self._store = store
        self._clock = clock
        self._listeners = listeners
        self._quarantine = quarantine
        self._others = others
        self._under_way: set[asyncio.Task[None]] = set()

    def soon(self, release: Coroutine[object, object, None]) -> None:
        """Write a release beside other work."""
        task = asyncio.get_running_loop().create_task(release)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def drain(self) -> None:
        """Wait until no release is under way."""
        if self._under_way:
            await asyncio.wait(self._under_way)

    async def release(self, leases: Sequence[LeaseRow], wake_at: int | None, missing: tuple[str, ...] = ()) -> None:
        """Release executions; they are due at a moment, or at once if commands have come meanwhile."""
        for lease in leases:
            self._quarantine.end(lease.execution_id)
        try:
            await self._store.claims.release(self._instance, leases, wake_at, missing)
        except StoreError as error:  # the leases run out by themselves
            _log.warning("release_failed executions=%d error=%s", len(leases), error.message)
        for lease in leases:
            self._listeners.changed(lease.execution_id)

    async def release_for_later(self, leases: Sequence[LeaseRow], after: int, missing: tuple[str, ...] = ()) -> None:
        """Release what cannot be gone on with here; it is due after some time, whatever it is sent meanwhile."""
        now = self._clock.now()
        for lease in leases:
            self._quarantine.end(lease.execution_id)
        try:
            await self._store.claims.release(self._instance, leases, now + after, missing, held_at=now)
        except StoreError as error:  # the leases run out by themselves
            _log.warning("release_failed executions=%d error=%s", len(leases), error.message)
            return
        for lease in leases:
            self._listeners.changed(lease.execution_id)
        if missing:
            self._others.tell(Hint(kind="due"))


def lease_of(claimed: Claimed) -> LeaseRow:
    """Return the lease on what is not driven yet: its driver has to know what it has lost."""
    head = claimed.head
    return LeaseRow(execution_id=head.execution_id, epoch=head.epoch, takeovers=head.takeovers)
