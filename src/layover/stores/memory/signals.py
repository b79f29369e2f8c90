"""Signals, and the pause points that wait for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.records import Wait
from layover.stores.checks import at_most
from layover.stores.memory.audit import write_audit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from layover.ports.records import AuditRow, Signal
    from layover.stores.memory.database import MemoryDatabase
    from layover.stores.memory.session import MemorySession


class MemorySignals:
    """Signals in memory."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def add(self, signal: Signal, audit: AuditRow | None = None) -> bool:
        """Store a signal."""
        return store_signal(await self._session.turn(), signal, audit)

    async def list_waits(self, name: str, key: str) -> list[Wait]:
        """Read the pause points that wait for a signal."""
        return waits(await self._session.turn(), name, key)

    async def list_since(self, name: str, key: str, since: int) -> list[Signal]:
        """Read signals."""
        return signals(await self._session.turn(), name, key, since)

    async def list_undispatched(self, before: int, most: int) -> list[Signal]:
        """Read signals that were not yet sent to all pause points that wait for them."""
        return undispatched(await self._session.turn(), before, most)

    async def mark_dispatched(self, ids: Sequence[str]) -> None:
        """Record that signals were sent to all pause points that wait for them."""
        mark_dispatched(await self._session.turn(), ids)

    async def delete_old(self, before: int, most: int) -> int:
        """Delete dispatched signals."""
        return delete_old_signals(await self._session.turn(), before, most)


def store_signal(db: MemoryDatabase, signal: Signal, audit: AuditRow | None) -> bool:
    """Store a signal, unless it was stored before; return whether it was stored now."""
    if signal.id in db.signals:
        return False
    db.signals[signal.id] = signal
    db.undispatched.add(signal.id)
    write_audit(db, audit)
    return True


def waits(db: MemoryDatabase, name: str, key: str) -> list[Wait]:
    """Read the pause points and the workflows that wait for a signal, in the order of their ids."""
    points = [
        (point, db.waits[found, with_, point]) for found, with_, point in db.waits if (found, with_) == (name, key)
    ]
    workflows = [
        (one.workflow, Wait(execution_id="", point="", workflow=one.workflow))
        for one in db.workflow_statuses.values()
        if one.resume_on is not None and one.resume_on.awaited == (name, key)
    ]
    return [wait for _, wait in sorted([*points, *workflows], key=lambda pair: pair[0])]


def signals(db: MemoryDatabase, name: str, key: str, since: int) -> list[Signal]:
    """Read the signals of a name and key since a moment."""
    return _by_age(one for one in db.signals.values() if (one.name, one.key) == (name, key) and one.at >= since)


def undispatched(db: MemoryDatabase, before: int, most: int) -> list[Signal]:
    """Read signals that were not yet sent to all pause points that wait for them."""
    found = _by_age(db.signals[id_] for id_ in sorted(db.undispatched))
    return [signal for signal in found if signal.at < before][: at_most(most)]


def mark_dispatched(db: MemoryDatabase, ids: Sequence[str]) -> None:
    """Record that signals were sent to all pause points that wait for them."""
    db.undispatched.difference_update(ids)


def delete_old_signals(db: MemoryDatabase, before: int, most: int) -> int:
    """Delete old signals, oldest first."""
    old = _by_age(one for one in db.signals.values() if one.id not in db.undispatched and one.at < before)
    for signal in old[: at_most(most)]:
        del db.signals[signal.id]
    return len(old[: at_most(most)])


def _by_age(signals: Iterable[Signal]) -> list[Signal]:
    return sorted(signals, key=lambda signal: (signal.at, signal.id))
