"""Batches: one act on many items, done page by page by any instance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from layover.ports.batch_records import (
        BatchAdvance,
        BatchChange,
        BatchClaim,
        BatchFilter,
        BatchItemFilter,
        BatchItemRow,
        BatchRow,
    )
    from layover.ports.records import AuditRow


class BatchStore(Protocol):
    """Batches and their items."""

    async def create(self, row: BatchRow, audit: AuditRow | None = None) -> bool:
        """Write a new batch, without items; false if there is one of this id."""

    async def find(self, batch_id: str) -> BatchRow | None:
        """Find a batch."""

    async def list_batches(self, wanted: BatchFilter) -> list[BatchRow]:
        """List batches, newest first."""

    async def list_items(self, wanted: BatchItemFilter) -> list[BatchItemRow]:
        """List items of a batch in the order of their numbers."""

    async def read_due(self) -> int | None:
        """Return when the next batch is due, if one is yet to be worked on."""

    async def claim(self, claim: BatchClaim) -> BatchRow | None:
        """Claim the batch that is due first, if one is."""

    async def advance(self, advance: BatchAdvance) -> BatchRow | None:
        """Write what was done for a claimed batch, with its items; None if another instance has claimed it since."""

    async def change(self, change: BatchChange, audit: AuditRow | None = None) -> BatchRow | None:
        """Stop a batch, or have it go on; None if it is not in a state that allows it.

        One that goes on is due at once, under a new epoch. A canary that has failed is over then.
        """

    async def delete(self, batch_id: str, most: int, audit: AuditRow | None = None) -> bool:
        """Delete at most so many items of a batch that is neither worked on nor to be; return whether some are left.

        The batch goes with its last items.
        """

    async def delete_old(self, before: int, most: int) -> int:
        """Delete batches that ended before a moment, at most so many items of them; return how many rows that was."""
