"""Named locks, each with an expiry."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from layover.stores.postgres.database import StatementRunner


async def take(db: StatementRunner, name: str, holder: str, now: int, until: int) -> bool:
    """Take a lock that is free or has expired, or renew our own."""
    return await db.fetchrow("take_lock", name, holder, now, until) is not None


async def release(db: StatementRunner, name: str, holder: str) -> None:
    """Release a lock."""
    await db.fetch("release_lock", name, holder)
