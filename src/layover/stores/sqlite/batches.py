"""Batches and their items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import asdict

from layover.ports.batch_records import LIVE_BATCHES
from layover.stores import batches as shared
from layover.stores.checks import at_most, check_ids
from layover.stores.ids import key, text
from layover.stores.sqlite.audit import write_audit
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

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
    from layover.stores.sqlite.rows import Row
    from layover.stores.sqlite.session import SqliteSession


class SqliteBatches:
    """Batches of a file."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session

    async def create(self, row: BatchRow, audit: AuditRow | None = None) -> bool:
        """Write a new batch."""
        shared.check_batch(row)

        def create(db: apsw.Connection) -> bool:
            if not insert_batch(db, row):
                return False
            write_audit(db, audit)
            return True

        return await self._session.write(create)

    async def find(self, batch_id: str) -> BatchRow | None:
        """Find a batch."""
        check_ids([batch_id])
        return await self._session.read(lambda db: find_batch(db, batch_id))

    async def list_batches(self, wanted: BatchFilter) -> list[BatchRow]:
        """List batches, newest first."""
        after_at, after_id = wanted.after or shared.NEWEST_BATCH
        values = {
            "after_at": after_at,
            "after_id": key(after_id),
            "state": wanted.state,
            "limit": at_most(wanted.limit),
        }
        return await self._session.read(lambda db: [batch_of(row) for row in db.execute(SQL["list_batches"], values)])

    async def list_items(self, wanted: BatchItemFilter) -> list[BatchItemRow]:
        """List items of a batch."""
        check_ids([wanted.batch_id])
        return await self._session.read(lambda db: list_items(db, wanted))

    async def read_due(self) -> int | None:
        """Return when the next batch is due."""

        def read(db: apsw.Connection) -> int | None:
            found: int | None = db.execute(SQL["next_batch_due_at"]).get
            return found

        return await self._session.glance(read)

    async def claim(self, claim: BatchClaim) -> BatchRow | None:
        """Claim the batch that is due first."""
        return await self._session.write(lambda db: claim_batch(db, claim))

    async def advance(self, advance: BatchAdvance) -> BatchRow | None:
        """Write what was done for a claimed batch."""
        shared.check_batch(advance.row)
        shared.check_items((*advance.added, *advance.settled))
        return await self._session.write(lambda db: advance_batch(db, advance))

    async def change(self, change: BatchChange, audit: AuditRow | None = None) -> BatchRow | None:
        """Stop a batch, or have it go on."""
        check_ids([change.id])

        def write(db: apsw.Connection) -> BatchRow | None:
            row = find_batch(db, change.id)
            after = shared.changed(row, change) if row is not None else None
            if after is not None:
                write_progress(db, after)
                write_audit(db, audit)
            return after

        return await self._session.write(write)

    async def delete(self, batch_id: str, most: int, audit: AuditRow | None = None) -> bool:
        """Delete items of a batch, and the batch with the last of them."""
        check_ids([batch_id])

        def delete(db: apsw.Connection) -> bool:
            row = find_batch(db, batch_id)
            if row is None or row.state in LIVE_BATCHES:
                return False
            write_audit(db, audit)
            delete_some(db, batch_id, most)
            return find_batch(db, batch_id) is not None

        return await self._session.write(delete)

    async def delete_old(self, before: int, most: int) -> int:
        """Delete batches that ended before a moment."""

        def delete(db: apsw.Connection) -> int:
            found = db.execute(SQL["old_batch"], {"before": before}).get
            return delete_some(db, text(found), most) if found is not None else 0

        return await self._session.write(delete)


def insert_batch(db: apsw.Connection, row: BatchRow) -> bool:
    """Write a batch; false if there is one of this id."""
    db.execute(SQL["insert_batches"], {**asdict(row), "id": key(row.id)})
    return db.changes() == 1


def insert_items(db: apsw.Connection, batch_id: str, items: Iterable[BatchItemRow]) -> None:
    """Write items of a batch."""
    id_ = key(batch_id)
    db.executemany(SQL["insert_batch_items"], [{**asdict(item), "batch_id": id_} for item in items])


def find_batch(db: apsw.Connection, batch_id: str) -> BatchRow | None:
    """Find a batch."""
    row = db.execute(SQL["batch_by_id"], {"id": key(batch_id)}).fetchone()
    return batch_of(row) if row is not None else None


def list_items(db: apsw.Connection, wanted: BatchItemFilter) -> list[BatchItemRow]:
    """List items of a batch."""
    statement = "list_batch_items" if wanted.state is None else "list_batch_items_in_state"
    values = {
        "batch_id": key(wanted.batch_id),
        "state": wanted.state,
        "after": wanted.after,
        "limit": at_most(wanted.limit),
    }
    return [shared.item_of(row) for row in db.execute(SQL[statement], values)]


def claim_batch(db: apsw.Connection, claim: BatchClaim) -> BatchRow | None:
    """Claim the batch that is due first."""
    found = db.execute(SQL["due_batch"], {"now": claim.now}).fetchone()
    if found is None:
        return None
    row = shared.claimed(batch_of(found), claim)
    write_progress(db, row)
    return row


def advance_batch(db: apsw.Connection, advance: BatchAdvance) -> BatchRow | None:
    """Write what was done for a claimed batch."""
    row = find_batch(db, advance.row.id)
    after = shared.advanced(row, advance) if row is not None else None
    if after is None:
        return None
    write_progress(db, after)
    insert_items(db, after.id, advance.added)
    id_ = key(after.id)
    db.executemany(SQL["settle_batch_items"], [{**asdict(item), "batch_id": id_} for item in advance.settled])
    return after


def write_progress(db: apsw.Connection, row: BatchRow) -> None:
    """Write how far a batch is."""
    values = {name: getattr(row, name) for name in shared.PROGRESS}
    db.execute(SQL["write_batch_progress"], {**values, "id": key(row.id)})


def delete_some(db: apsw.Connection, batch_id: str, most: int) -> int:
    """Delete items of a batch, and the batch itself once none is left; return how many rows that was."""
    id_ = key(batch_id)
    db.execute(SQL["delete_batch_items"], {"id": id_, "most": at_most(most)})
    deleted = db.changes()
    db.execute(SQL["delete_batch"], {"id": id_})
    return deleted + db.changes()


def batch_of(row: Row) -> BatchRow:
    """Return a batch."""
    return shared.batch_of(text(row[0]), row)
