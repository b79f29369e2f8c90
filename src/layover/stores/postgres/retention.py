"""Purging executions that have ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.stores.checks import at_most, check_ids
from layover.stores.postgres import weekly_partitions
from layover.stores.postgres.audit import write_audit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import AuditRow
    from layover.stores.postgres.database import Transaction
    from layover.stores.postgres.session import PostgresSession


class PostgresRetention:
    """Deletes executions of a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    async def list_purgeable(self, before: int, most: int, workflow: str | None = None) -> list[str]:
        """Return executions that closed before a moment and have nothing left to do, oldest first."""
        return [row[0] for row in await self._session.db.fetch("purgeable_executions", before, at_most(most), workflow)]

    async def purge(
        self, execution_ids: Sequence[str], before: int | None = None, audit: AuditRow | None = None
    ) -> int:
        """Delete all there is of executions that are done.

        The second statement begins after the heads are locked. What it sees does not change: rows are added to an
        execution only under the lock of its head. A parent adds nothing that matters either: the start of a child is in
        the outbox of the parent before the child exists, or never.
        """
        check_ids(execution_ids)

        async def delete(tx: Transaction) -> int:
            closed = [row[0] for row in await tx.fetch("lock_closed_heads", execution_ids)]
            count: int = await tx.fetchval("purge_executions", closed, before) if closed else 0
            if count:
                await write_audit(tx, audit)
            return count

        return await self._session.db.transact(delete)

    async def purge_weeks(self, before: int | None) -> int:
        """Purge whole weeks, and drop empty partitions."""
        db = self._session.db
        count = await weekly_partitions.purge_weeks(db, before) if before is not None else 0
        await weekly_partitions.drop_empty(db, self._session.now())
        return count
