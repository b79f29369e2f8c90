"""What arrives from outside by name and key, and who waits for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.stores.checks import at_most
from layover.stores.memory import auditing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from layover.ports.records import AuditEntry, Signal, Wait
    from layover.stores.memory.database import MemoryDatabase


def keep(db: MemoryDatabase, signal: Signal, audit: AuditEntry | None) -> bool:
    """Keep a signal, unless it is there."""
    if signal.id in db.signals:
        return False
    db.signals[signal.id] = signal
    db.undispatched.add(signal.id)
    auditing.write(db, audit)
    return True


def waits(db: MemoryDatabase, name: str, key: str) -> list[Wait]:
    """Read who waits, in the order of the points."""
    return [db.waits[one] for one in sorted(db.waits) if one[:2] == (name, key)]


def signals(db: MemoryDatabase, name: str, key: str, since: int) -> list[Signal]:
    """Read the signals of a name and key since a moment."""
    return _by_age(one for one in db.signals.values() if (one.name, one.key) == (name, key) and one.at >= since)


def undispatched(db: MemoryDatabase, before: int, most: int) -> list[Signal]:
    """Read signals whose waits have not all been told."""
    found = _by_age(db.signals[id_] for id_ in sorted(db.undispatched))
    return [signal for signal in found if signal.at < before][: at_most(most)]


def dispatched(db: MemoryDatabase, ids: Sequence[str]) -> None:
    """Note that all who waited have been told."""
    db.undispatched.difference_update(ids)


def forget(db: MemoryDatabase, before: int, most: int) -> int:
    """Delete old signals, the oldest first."""
    told = _by_age(one for one in db.signals.values() if one.id not in db.undispatched and one.at < before)
    for signal in told[: at_most(most)]:
        del db.signals[signal.id]
    return len(told[: at_most(most)])


def _by_age(signals: Iterable[Signal]) -> list[Signal]:
    return sorted(signals, key=lambda signal: (signal.at, signal.id))
