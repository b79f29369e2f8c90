"""Signals, and the pause points that wait for them."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from layover.stores.checks import at_most
from layover.stores.postgres.audit import audit_columns
from layover.stores.postgres.rows import wait_of
from layover.stores.rows import signal_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import AuditRow, Signal, Wait
    from layover.stores.postgres.session import PostgresSession


class PostgresSignals:
    """Signals of a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    async def add(self, signal: Signal, audit: AuditRow | None = None) -> bool:
        """Store a signal, unless it was stored before; return whether it was stored now."""
        db = self._session.db
        values = (signal.id, signal.name, signal.key, signal.at, signal.data)
        if audit is not None:
            return await db.fetchrow("insert_signal_audited", *values, *audit_columns([audit])) is not None
        return await db.fetchrow("insert_signal", *values) is not None

    async def list_waits(self, name: str, key: str) -> list[Wait]:
        """Read the pause points that wait for a signal, in the order of their ids."""
        rows = await self._session.db.fetch("waits_for_signal", name, key)
        return [wait_of(row) for row in sorted(rows, key=itemgetter(1))]

    async def list_since(self, name: str, key: str, since: int) -> list[Signal]:
        """Read the signals of a name and key since a moment."""
        return [signal_of(row) for row in await self._session.db.fetch("signals_since", name, key, since)]

    async def list_undispatched(self, before: int, most: int) -> list[Signal]:
        """Read signals that were not yet sent to all pause points that wait for them."""
        return [signal_of(row) for row in await self._session.db.fetch("undispatched_signals", before, at_most(most))]

    async def mark_dispatched(self, ids: Sequence[str]) -> None:
        """Record that signals were sent to all pause points that wait for them."""
        await self._session.db.fetch("mark_signals_dispatched", ids)

    async def delete_old(self, before: int, most: int) -> int:
        """Delete old signals, oldest first; signals that another instance deletes are not counted."""
        count: int = await self._session.db.fetchval("delete_old_signals", before, at_most(most))
        return count
