"""The lease of one active execution: as long as it lasts, no other instance can drive the execution."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from layover.core.light_structs import LightStruct
from layover.ports.errors import StoreError

if TYPE_CHECKING:
    from layover.ports.records import LeaseRow
    from layover.runtime.clock import Clock

_log = logging.getLogger("layover.active_execution")


class Cover(Protocol):
    """Renews leases."""

    async def cover(self) -> None:
        """Renew at once unless every lease lasts beyond this moment; raise if some do not then."""


class HeldLease(LightStruct):
    """A lease, when it runs out, and how many instances were lost under it."""

    record: LeaseRow
    until: int
    _clock: Clock
    _cover: Cover
    is_over: bool = False  # the execution is no longer driven here, whatever the lease says
    takeovers: int = 0  # instances that it lost in a row, as long as it has made no progress here

    def is_valid(self) -> bool:
        """Return whether the lease still lasts; on any thread."""
        return not self.is_over and self._clock.latest() < self.until

    async def regain(self) -> bool:
        """Renew a lease that has run out; false if another instance has claimed the execution."""
        try:
            await self._cover.cover()
        except StoreError as error:
            record = self.record
            _log.warning("lease_over execution=%s epoch=%d error=%s", record.execution_id, record.epoch, error.message)
        return self.is_valid()

    def unchanged(self) -> LeaseRow:
        """Return the lease of an execution that is let go of without progress: it keeps the losses that it has."""
        return replace(self.record, takeovers=self.takeovers)
