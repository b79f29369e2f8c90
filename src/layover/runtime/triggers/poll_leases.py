"""Leases of polls: short, like those of executions, and renewed for as long as a source is asked.

The end of a lease is the trigger's next moment, so another instance polls when the holder has died, or stands still for
longer than that. A lease ends with the write that names its epoch; one that was lost meanwhile lets no write pass.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import msgspec

from layover.ports.commit_points import CommitPoint, reached
from layover.ports.errors import StoreError
from layover.ports.trigger_records import PollLease, RenewedPoll, TriggerMove

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from layover.ports.store import Store
    from layover.ports.trigger_records import TriggerRow
    from layover.runtime.clock import Clock

_RENEWALS = 3  # in the length of a lease

_log = logging.getLogger("layover.triggers")


class PollLeases:
    """The leases of one instance; `ttl` is how long they last, in milliseconds."""

    def __init__(self, name: str, store: Store, clock: Clock, ttl: int) -> None:
        self._name = name
        self._store = store
        self._clock = clock
        self._ttl = ttl

    async def take(self, row: TriggerRow) -> TriggerRow | None:
        """Lease a trigger; None if another instance was first, or it has changed."""
        now = self._clock.now()
        until = now + self._ttl
        move = msgspec.structs.replace(unchanged(row, now, until), owner=self._name)
        if not await self._store.triggers.move(move):
            return None
        reached(CommitPoint.POLL_LEASED)
        return msgspec.structs.replace(row, epoch=row.epoch + 1, owner=self._name, next_at=until)

    @asynccontextmanager
    async def renewed(self, row: TriggerRow) -> AsyncIterator[None]:
        """Renew a lease meanwhile; if it is lost, what is done under it is cancelled."""
        polling = asyncio.current_task()
        renewing = asyncio.get_running_loop().create_task(self._renew(row, polling), name=f"renew poll {row.id}")
        try:
            yield
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)

    async def _renew(self, row: TriggerRow, polling: asyncio.Task[object] | None) -> None:
        while True:
            await self._clock.wait(self._clock.now() + self._ttl // _RENEWALS, asyncio.Event())
            until = self._clock.now() + self._ttl  # taken before it is sent: it can only be too early
            renewal = RenewedPoll(trigger_id=row.id, owner=self._name, epoch=row.epoch, until=until)
            with suppress(StoreError):  # it is tried again; if the lease runs out, nothing of the poll is kept
                if await self._store.triggers.renew_poll(renewal):
                    continue
                _log.warning("poll_lease_lost trigger=%s/%s", row.workflow, row.name)
                if polling is not None:
                    polling.cancel()
                return

    async def release(self, row: TriggerRow) -> None:
        """Give back a lease that is still ours: the trigger is due at once."""
        with suppress(StoreError):
            known = await self._store.triggers.find(row.id)
            if known is not None and (known.owner, known.epoch) == (self._name, row.epoch):
                now = self._clock.now()
                await self._store.triggers.move(unchanged(known, now, now))


def unchanged(row: TriggerRow, now: int, next_at: int) -> TriggerMove:
    """Return a move that only changes when a trigger is due next."""
    return TriggerMove(
        trigger_id=row.id,
        expected_seq=row.seq,
        at=now,
        state=row.state,
        reason=row.reason,
        next_at=next_at,
        cursor=row.cursor,
        failures=row.failures,
        lease=PollLease(epoch=row.epoch, cursor=row.cursor),
    )
