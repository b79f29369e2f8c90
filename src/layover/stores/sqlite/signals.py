"""Signals, and the pause points that wait for them."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from layover.stores.checks import at_most
from layover.stores.rows import signal_of
from layover.stores.sqlite.audit import write_audit
from layover.stores.sqlite.rows import wait_of
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from layover.ports.records import AuditRow, Signal, Wait
    from layover.stores.sqlite.session import SqliteSession


class SqliteSignals:
    """Signals of a file."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session

    async def add(self, signal: Signal, audit: AuditRow | None = None) -> bool:
        """Store a signal."""
        return await self._session.write(lambda db: store_signal(db, signal, audit))

    async def list_waits(self, name: str, key: str) -> list[Wait]:
        """Read the pause points that wait for a signal."""
        return await self._session.read(lambda db: waits(db, name, key))

    async def list_since(self, name: str, key: str, since: int) -> list[Signal]:
        """Read signals."""
        return await self._session.read(lambda db: signals(db, name, key, since))

    async def list_undispatched(self, before: int, most: int) -> list[Signal]:
        """Read signals that were not yet sent to all pause points that wait for them."""
        return await self._session.read(lambda db: undispatched(db, before, most))

    async def mark_dispatched(self, ids: Sequence[str]) -> None:
        """Record that signals were sent to all pause points that wait for them."""
        await self._session.write(lambda db: mark_dispatched(db, ids))

    async def delete_old(self, before: int, most: int) -> int:
        """Delete dispatched signals."""
        return await self._session.write(lambda db: delete_old_signals(db, before, most))


def store_signal(db: apsw.Connection, signal: Signal, audit: AuditRow | None) -> bool:
    """Store a signal, unless it was stored before; return whether it was stored now."""
    values = {"id": signal.id, "name": signal.name, "key": signal.key, "at": signal.at, "data": signal.data}
    db.execute(SQL["insert_signal"], values)
    if db.changes() != 1:
        return False
    write_audit(db, audit)
    return True


def waits(db: apsw.Connection, name: str, key: str) -> list[Wait]:
    """Read the pause points that wait for a signal, in the order of their ids."""
    rows = db.execute(SQL["waits_for_signal"], {"name": name, "key": key})
    return [wait_of(row) for row in sorted(rows, key=itemgetter(1))]


def signals(db: apsw.Connection, name: str, key: str, since: int) -> list[Signal]:
    """Read the signals of a name and key since a moment."""
    return [signal_of(row) for row in db.execute(SQL["signals_since"], {"name": name, "key": key, "since": since})]


def undispatched(db: apsw.Connection, before: int, most: int) -> list[Signal]:
    """Read signals that were not yet sent to all pause points that wait for them."""
    rows = db.execute(SQL["undispatched_signals"], {"before": before, "most": at_most(most)})
    return [signal_of(row) for row in rows]


def mark_dispatched(db: apsw.Connection, ids: Sequence[str]) -> None:
    """Record that signals were sent to all pause points that wait for them."""
    db.executemany(SQL["mark_signals_dispatched"], [{"id": id_} for id_ in ids])


def delete_old_signals(db: apsw.Connection, before: int, most: int) -> int:
    """Delete old signals, oldest first."""
    db.execute(SQL["delete_old_signals"], {"before": before, "most": at_most(most)})
    return db.changes()
