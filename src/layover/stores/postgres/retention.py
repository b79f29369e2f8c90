"""Purging executions that have ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.stores.checks import at_most

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.stores.postgres.database import Database, StatementRunner, Transaction


async def purgeable_executions(db: StatementRunner, before: int, most: int, workflow: str | None) -> list[str]:
    """Return executions that closed before a moment and have nothing left to do, oldest first."""
    return [row[0] for row in await db.fetch("purgeable_executions", before, at_most(most), workflow)]


async def purge(db: Database, execution_ids: Sequence[str], before: int | None) -> int:
    """Delete all there is of executions that are done.

    The second statement begins after the heads are locked. What it sees does not change: rows are added to an execution
    only under the lock of its head. A parent adds nothing that matters either: the start of a child is in the outbox of
    the parent before the child exists, or never.
    """

    async def delete(tx: Transaction) -> int:
        closed = [row[0] for row in await tx.fetch("lock_closed_heads", execution_ids)]
        count: int = await tx.fetchval("purge_executions", closed, before) if closed else 0
        return count

    return await db.transact(delete)
