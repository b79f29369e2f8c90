"""Deleting what nobody needs any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.stores.checks import at_most

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.stores.postgres.database import Database, StatementRunner, Transaction


async def purgeable_executions(db: StatementRunner, before: int, most: int, workflow: str | None) -> list[str]:
    """Read executions that were closed before a moment and are done with everything, the oldest first."""
    return [row[0] for row in await db.fetch("purgeable_executions", before, at_most(most), workflow)]


async def purge(db: Database, execution_ids: Sequence[str], before: int | None) -> int:
    """Delete all there is of executions that are done.

    The second statement begins when the heads are locked: what it sees then stays so, for only whoever has the head of
    an execution can add to what belongs to it. Of a parent no more can come either that matters here: the start of a
    child is in its outbox before the child is there, or never.
    """

    async def delete(tx: Transaction) -> int:
        closed = [row[0] for row in await tx.fetch("lock_closed_heads", execution_ids)]
        count: int = await tx.fetchval("purge_executions", closed, before) if closed else 0
        return count

    return await db.transact(delete)
