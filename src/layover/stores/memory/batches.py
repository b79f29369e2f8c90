"""Batches and their items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.batch_records import LIVE_BATCHES
from layover.stores import batches as shared
from layover.stores.checks import at_most, check_ids
from layover.stores.memory.audit import write_audit

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
    from layover.stores.memory.database import MemoryDatabase
    from layover.stores.memory.session import MemorySession


class MemoryBatches:
    """Batches in memory."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def create(self, row: BatchRow, audit: AuditRow | None = None) -> bool:
        """Write a new batch."""
        shared.check_batch(row)
        db = await self._session.turn()
        if row.id in db.batches:
            return False
        db.batches[row.id], db.batch_items[row.id] = row, {}
        write_audit(db, audit)
        return True

    async def find(self, batch_id: str) -> BatchRow | None:
        """Find a batch."""
        check_ids([batch_id])
        return (await self._session.turn()).batches.get(batch_id)

    async def list_batches(self, wanted: BatchFilter) -> list[BatchRow]:
        """List batches, newest first."""
        after = wanted.after or shared.NEWEST_BATCH
        check_ids([after[1]])
        rows = (await self._session.turn()).batches.values()
        found = [row for row in rows if (row.created_at, row.id) < after and wanted.state in (None, row.state)]
        return sorted(found, key=lambda row: (row.created_at, row.id), reverse=True)[: at_most(wanted.limit)]

    async def list_items(self, wanted: BatchItemFilter) -> list[BatchItemRow]:
        """List items of a batch."""
        check_ids([wanted.batch_id])
        items = (await self._session.turn()).batch_items.get(wanted.batch_id, {})
        found = [items[n] for n in sorted(items) if n > wanted.after and wanted.state in (None, items[n].state)]
        return found[: at_most(wanted.limit)]

    async def read_due(self) -> int | None:
        """Return when the next batch is due."""
        rows = (await self._session.turn()).batches.values()
        return min((row.due_at for row in rows if row.state in LIVE_BATCHES), default=None)

    async def claim(self, claim: BatchClaim) -> BatchRow | None:
        """Claim the batch that is due first."""
        db = await self._session.turn()
        due = [row for row in db.batches.values() if row.state in LIVE_BATCHES and row.due_at <= claim.now]
        if not due:
            return None
        row = shared.claimed(min(due, key=lambda row: (row.due_at, row.id)), claim)
        db.batches[row.id] = row
        return row

    async def advance(self, advance: BatchAdvance) -> BatchRow | None:
        """Write what was done for a claimed batch."""
        shared.check_batch(advance.row)
        shared.check_items((*advance.added, *advance.settled))
        db = await self._session.turn()
        row = db.batches.get(advance.row.id)
        after = shared.advanced(row, advance) if row is not None else None
        if after is not None:
            db.batches[after.id] = after
            db.batch_items[after.id].update({item.n: item for item in (*advance.added, *advance.settled)})
        return after

    async def change(self, change: BatchChange, audit: AuditRow | None = None) -> BatchRow | None:
        """Stop a batch, or have it go on."""
        check_ids([change.id])
        db = await self._session.turn()
        row = db.batches.get(change.id)
        after = shared.changed(row, change) if row is not None else None
        if after is not None:
            db.batches[after.id] = after
            write_audit(db, audit)
        return after

    async def delete(self, batch_id: str, most: int, audit: AuditRow | None = None) -> bool:
        """Delete items of a batch, and the batch with the last of them."""
        check_ids([batch_id])
        db = await self._session.turn()
        row = db.batches.get(batch_id)
        if row is None or row.state in LIVE_BATCHES:
            return False
        write_audit(db, audit)
        _delete_some(db, batch_id, most)
        return batch_id in db.batches

    async def delete_old(self, before: int, most: int) -> int:
        """Delete batches that ended before a moment."""
        db = await self._session.turn()
        old = [(row.ended_at, row.id) for row in db.batches.values() if row.ended_at is not None]
        first = min((one for one in old if one[0] < before), default=None)
        return _delete_some(db, first[1], most) if first is not None else 0


def _delete_some(db: MemoryDatabase, batch_id: str, most: int) -> int:
    items = db.batch_items[batch_id]
    gone = sorted(items)[: at_most(most)]
    for n in gone:
        del items[n]
    if items:
        return len(gone)
    del db.batches[batch_id], db.batch_items[batch_id]
    return len(gone) + 1
