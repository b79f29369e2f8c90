"""What arrives from outside by name and key, and who waits for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import astuple

from layover.stores.checks import at_most
from layover.stores.postgres.rows import signal_of, wait_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import AuditEntry, Signal, Wait
    from layover.stores.postgres.database import StatementRunner


async def store_signal(db: StatementRunner, signal: Signal, audit: AuditEntry | None) -> bool:
    """Keep a signal, unless it is there."""
    values = (signal.id, signal.name, signal.key, signal.at, signal.data)
    if audit is not None:
        return await db.fetchrow("insert_signal_audited", *values, *astuple(audit)) is not None
    return await db.fetchrow("insert_signal", *values) is not None


async def waits(db: StatementRunner, name: str, key: str) -> list[Wait]:
    """Read who waits, in the order of the points."""
    return [wait_of(row) for row in await db.fetch("waits_for_signal", name, key)]


async def signals(db: StatementRunner, name: str, key: str, since: int) -> list[Signal]:
    """Read the signals of a name and key since a moment."""
    return [signal_of(row) for row in await db.fetch("signals_since", name, key, since)]


async def undispatched(db: StatementRunner, before: int, most: int) -> list[Signal]:
    """Read signals whose waits have not all been told."""
    return [signal_of(row) for row in await db.fetch("undispatched_signals", before, at_most(most))]


async def mark_dispatched(db: StatementRunner, ids: Sequence[str]) -> None:
    """Note that all who waited have been told."""
    await db.fetch("mark_signals_dispatched", ids)


async def delete_old_signals(db: StatementRunner, before: int, most: int) -> int:
    """Delete old signals, the oldest first; those that somebody else deletes are theirs to count."""
    count: int = await db.fetchval("delete_old_signals", before, at_most(most))
    return count
