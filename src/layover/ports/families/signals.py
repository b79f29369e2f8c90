"""Signals: what arrives from outside by name and key, and the pause points that wait for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import AuditRow, Signal, Wait


class SignalStore(Protocol):
    """The mailbox of signals.

    A signal is stored before its waiters are looked up; a wait is written before signals are looked up for it. Each
    looks after its own commit, so one of the two sees the other. Neither look is forgotten: until it is done, the
    signal is undispatched, and the scan of the wait is a message in the outbox.
    """

    async def add(self, signal: Signal, audit: AuditRow | None = None) -> bool:
        """Store a signal, undispatched; return false if one with this id is there."""

    async def list_waits(self, name: str, key: str) -> list[Wait]:
        """Read the pause points that wait for signals of a name and key."""

    async def list_since(self, name: str, key: str, since: int) -> list[Signal]:
        """Read the signals of a name and key that came at a moment or later, the oldest first."""

    async def list_undispatched(self, before: int, most: int) -> list[Signal]:
        """Read signals from before a moment that were not sent to all pause points that wait, the oldest first."""

    async def mark_dispatched(self, ids: Sequence[str]) -> None:
        """Record that signals were sent to all pause points that waited for them."""

    async def delete_old(self, before: int, most: int) -> int:
        """Delete dispatched signals from before a moment; return how many."""
