"""Batches and their items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import astuple

from layover.ports.batch_records import LIVE_BATCHES
from layover.stores import batches as shared
from layover.stores.checks import at_most, check_ids
from layover.stores.postgres.audit import write_audit

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    from layover.stores.postgres.database import Row, StatementRunner, Transaction
    from layover.stores.postgres.session import PostgresSession


class PostgresBatches:
    """Batches of a schema. Whoever changes a batch or its items locks its row first."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    async def create(self, row: BatchRow, audit: AuditRow | None = None) -> bool:
        """Write a new batch."""
        shared.check_batch(row)

        async def create(tx: Transaction) -> bool:
            if not await insert_batch(tx, row):
                return False
            await write_audit(tx, audit)
            return True

        return await self._session.db.transact(create)

    async def find(self, batch_id: str) -> BatchRow | None:
        """Find a batch."""
        check_ids([batch_id])
        row = await self._session.db.fetchrow("batch_by_id", batch_id)
        return batch_of(row) if row is not None else None

    async def list_batches(self, wanted: BatchFilter) -> list[BatchRow]:
        """List batches, newest first."""
        after = wanted.after or shared.NEWEST_BATCH
        check_ids([after[1]])
        rows = await self._session.db.fetch("list_batches", *after, wanted.state, at_most(wanted.limit))
        return [batch_of(row) for row in rows]

    async def list_items(self, wanted: BatchItemFilter) -> list[BatchItemRow]:
        """List items of a batch."""
        check_ids([wanted.batch_id])
        return await list_items(self._session.db, wanted)

    async def read_due(self) -> int | None:
        """Return when the next batch is due."""
        found: int | None = await self._session.db.fetchval("next_batch_due_at")
        return found

    async def claim(self, claim: BatchClaim) -> BatchRow | None:
        """Claim the batch that is due first."""

        async def take(tx: Transaction) -> BatchRow | None:
            found = await tx.fetchrow("lock_due_batch", claim.now)
            if found is None:
                return None
            row = shared.claimed(batch_of(found), claim)
            await write_progress(tx, row)
            return row

        return await self._session.db.transact(take)

    async def advance(self, advance: BatchAdvance) -> BatchRow | None:
        """Write what was done for a claimed batch."""
        shared.check_batch(advance.row)
        shared.check_items((*advance.added, *advance.settled))

        async def write(tx: Transaction) -> BatchRow | None:
            row = await _locked(tx, advance.row.id)
            after = shared.advanced(row, advance) if row is not None else None
            if after is None:
                return None
            await write_progress(tx, after)
            await insert_items(tx, after.id, advance.added)
            if advance.settled:
                rows = ((after.id, one.n, one.state, one.code, one.reason, one.at) for one in advance.settled)
                await tx.fetch("settle_batch_items", *map(list, zip(*rows, strict=True)))
            return after

        return await self._session.db.transact(write)

    async def change(self, change: BatchChange, audit: AuditRow | None = None) -> BatchRow | None:
        """Stop a batch, or have it go on."""
        check_ids([change.id])

        async def write(tx: Transaction) -> BatchRow | None:
            row = await _locked(tx, change.id)
            after = shared.changed(row, change) if row is not None else None
            if after is not None:
                await write_progress(tx, after)
                await write_audit(tx, audit)
            return after

        return await self._session.db.transact(write)

    async def delete(self, batch_id: str, most: int, audit: AuditRow | None = None) -> bool:
        """Delete items of a batch, and the batch with the last of them."""
        check_ids([batch_id])

        async def delete(tx: Transaction) -> bool:
            row = await _locked(tx, batch_id)
            if row is None or row.state in LIVE_BATCHES:
                return False
            await write_audit(tx, audit)
            await _delete_some(tx, batch_id, most)
            return await tx.fetchrow("batch_by_id", batch_id) is not None

        return await self._session.db.transact(delete)

    async def delete_old(self, before: int, most: int) -> int:
        """Delete batches that ended before a moment."""

        async def delete(tx: Transaction) -> int:
            found = await tx.fetchval("old_batch", before)
            row = await _locked(tx, found) if found is not None else None
            if row is None or row.ended_at is None or row.ended_at >= before:
                return 0
            return await _delete_some(tx, row.id, most)

        return await self._session.db.transact(delete)


async def insert_batch(db: StatementRunner, row: BatchRow) -> bool:
    """Write a batch; false if there is one of this id."""
    return await db.fetchrow("insert_batches", *astuple(row)) is not None


async def insert_items(db: StatementRunner, batch_id: str, items: Sequence[BatchItemRow]) -> None:
    """Write items of a batch."""
    if items:
        await db.fetch("insert_batch_items", batch_id, *map(list, zip(*map(astuple, items), strict=True)))


async def list_items(db: StatementRunner, wanted: BatchItemFilter) -> list[BatchItemRow]:
    """List items of a batch."""
    values = (wanted.batch_id, wanted.after, at_most(wanted.limit))
    if wanted.state is None:
        rows = await db.fetch("list_batch_items", *values)
    else:
        rows = await db.fetch("list_batch_items_in_state", *values, wanted.state)
    return [shared.item_of(row) for row in rows]


async def write_progress(db: StatementRunner, row: BatchRow) -> None:
    """Write how far a batch is."""
    await db.fetch("write_batch_progress", row.id, *(getattr(row, name) for name in shared.PROGRESS))


async def _locked(tx: Transaction, batch_id: str) -> BatchRow | None:
    row = await tx.fetchrow("lock_batch", batch_id)
    return batch_of(row) if row is not None else None


async def _delete_some(tx: Transaction, batch_id: str, most: int) -> int:
    """Delete items of a batch, and the batch itself once none is left; return how many rows that was."""
    deleted: int = await tx.fetchval("delete_batch_items", batch_id, at_most(most))
    return deleted + (await tx.fetchrow("delete_batch", batch_id) is not None)


def batch_of(row: Row) -> BatchRow:
    """Return a batch."""
    return shared.batch_of(row[0], row)
